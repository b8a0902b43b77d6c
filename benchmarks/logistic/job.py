"""The real job: all categories, ten rates on two of ten folds, then the final fit; LIBLINEAR looped the same way."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import track

from bayesift.linear import BayesianLogisticRegression
from bayesift.linear._base import VALIDATION_GAP
from bayesift.linear._fit.problem import SolverOptions, design_of
from bayesift.linear._fit.variance import WarmStarts, assign_folds
from benchmarks.logistic.problem import GRID, QUALITY, Problem, matrix
from benchmarks.logistic.solvers import Liblinear, Ours
from benchmarks.measuring import show

FOLDS, RUNS = 10, 2
FINAL_TOLERANCE = 1e-5
#: LIBLINEAR's tolerances, from loose to tight: weak penalties need more than its usual ones.
TOLERANCES = (*Liblinear.tolerances, 1e-6, 1e-7, 1e-8)


class Part(NamedTuple):
    """What LIBLINEAR fits on one set of documents: the rates with the first tolerances that are good enough."""

    problem: Problem
    rates: list[float]
    tolerances: list[float]
    errors: list[float]

    def run(self) -> None:
        """Hand the documents over once, then train; this is what is timed."""
        solver = Liblinear(self.problem)
        for rate, tolerance in zip(self.rates, self.tolerances, strict=True):
            solver.problem = self.problem._replace(weight=rate)
            solver.solve(tolerance)


class Plan(NamedTuple):
    """The fits of a category, and how far ours are from the best: for the search, then the final one."""

    parts: list[Part]
    search_errors: list[float]
    final_error: float


def ours(collection: str) -> float:
    """Return the seconds of our estimator with its default choice of the variance."""
    X, Y, _ = matrix(collection)
    model = BayesianLogisticRegression(intercept_variance="same", folds=FOLDS, runs=RUNS, tol=FINAL_TOLERANCE)
    start = time.perf_counter()
    model.fit(X, (Y > 0).astype(int))
    return time.perf_counter() - start


def plan(collection: str, n_categories: int) -> list[Plan]:
    """Prepare the fits of a sample of categories: data of the folds, the rate chosen, tolerances."""
    X, Y, _ = matrix(collection)
    sample = np.linspace(0, Y.shape[1] - 1, n_categories).astype(int)
    marks = design_of(X).row_hashes
    todo = track(sample, f"tolerances, {collection}", transient=True, console=Console(stderr=True))
    return [_plan_category(X, np.ascontiguousarray(Y[:, category]), marks) for category in todo]


def _plan_category(X: np.ndarray, y: np.ndarray, marks: np.ndarray) -> Plan:
    fold = assign_folds(y, marks, FOLDS, np.random.default_rng(0))
    scores = np.zeros(len(GRID))
    parts, errors = [], []
    for run in range(RUNS):
        training, held = np.flatnonzero(fold != run), np.flatnonzero(fold == run)
        problem = Problem("", X[training], y[training], "laplace", 1.0)
        warm_starts = WarmStarts()
        part = _part(problem, GRID)
        for place, rate in enumerate(GRID):
            at_rate = problem._replace(weight=rate)
            best, beta = _best(at_rate)
            errors.append(_our_error(at_rate, best, VALIDATION_GAP, warm_starts))
            scores[place] -= np.logaddexp(0.0, -y[held] * (X[held] @ beta[:-1] + beta[-1])).sum()
        parts.append(part)
    final = Problem("", X, y, "laplace", GRID[int(np.argmax(scores))])
    parts.append(_part(final, (final.weight,)))
    return Plan(parts, errors, _our_error(final, _best(final)[0], FINAL_TOLERANCE, WarmStarts()))


def _best(problem: Problem) -> tuple[float, np.ndarray]:
    coef, intercept = Ours(problem).solve(1e-9)
    return problem.objective(coef, intercept), np.append(coef, intercept)


def _part(problem: Problem, rates: tuple[float, ...]) -> Part:
    """Find the first tolerance of LIBLINEAR that is good enough for each rate, or the last there is."""
    part = Part(problem, list(rates), [], [])
    solver = Liblinear(problem)
    for rate in rates:
        solver.problem = problem._replace(weight=rate)
        best, _ = _best(solver.problem)
        for tolerance in TOLERANCES:
            error = solver.problem.objective(*solver.solve(tolerance)) / best - 1.0
            if error <= QUALITY:
                break
        part.tolerances.append(tolerance)
        part.errors.append(error)
    return part


def _our_error(problem: Problem, best: float, tolerance: float, warm_starts: WarmStarts) -> float:
    """Return the distance to the best of the fit that the estimator makes at this place of the grid."""
    variance = 2.0 / problem.weight**2
    options = SolverOptions("newton", tolerance, 1000)
    beta = Ours(problem).fit.solve(options, warm_starts.guess(variance)).beta
    warm_starts.add(variance, beta)
    return problem.objective(beta[:-1], float(beta[-1])) / best - 1.0


def liblinear(plans: list[Plan]) -> float:
    """Return the seconds of all planned fits on two threads (it releases the lock); both sides start from a matrix."""

    def run_category(category: Plan) -> None:
        for part in category.parts:
            part.run()

    start = time.perf_counter()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run_category, plans))
    return time.perf_counter() - start


def run(repeats: int) -> None:
    """Print the ratios for both collections, and the quality behind them."""
    times, quality = [], []
    for collection, sample in (("reuters21578", 18), ("20newsgroups", 4)):
        n_categories = matrix(collection)[1].shape[1]
        plans = plan(collection, sample)
        ours(collection)
        rounds = [(ours(collection), liblinear(plans) * n_categories / sample) for _ in range(min(repeats, 3))]
        mine, theirs = np.median(rounds, axis=0)
        ratio = np.median([peer / own for own, peer in rounds])
        times.append((collection, f"{mine:.1f}", f"{theirs:.0f}", f"{ratio:.1f}"))
        errors = {
            "bayesift, search": [error for one in plans for error in one.search_errors],
            "bayesift, final": [one.final_error for one in plans],
            "LIBLINEAR": [error for one in plans for part in one.parts for error in part.errors],
        }
        for name, values in errors.items():
            within = np.mean(np.array(values) <= QUALITY)
            quality.append((f"{collection}, {name}", f"{max(np.median(values), 0):.0e}", f"{within:.1%}"))
    show(
        "All categories, ten rates on two of ten folds, then the final fit; two threads, seconds",
        ("collection", "bayesift", "LIBLINEAR (from a sample)", "ratio"),
        times,
    )
    show("Objectives, relative distance to the best", ("", "median", f"within {QUALITY:g}"), quality)
