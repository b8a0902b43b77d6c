"""Softmax regression on 20 Newsgroups beside scikit-learn's saga and L-BFGS and R's glmnet, at equal quality.

Every solver counts at the first tolerance that reaches the quality asked for, on one core.
"""

from __future__ import annotations

import time
import warnings
from abc import ABC, abstractmethod
from functools import cache
from statistics import median
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp
from threadpoolctl import threadpool_limits

from bayesift.datasets import load
from bayesift.linear import BayesianMultinomialRegression
from bayesift.text import TextVectorizer
from benchmarks import glmnet
from benchmarks.measuring import show

#: Laplace rates and Gaussian precisions. At smaller ones the peers take many minutes.
WEIGHTS = {"laplace": (10.0, 3.16, 1.0), "gaussian": (10.0, 1.0, 0.1)}


class Problem(NamedTuple):
    """All classes with a penalty; the intercepts are penalised like other coefficients, as in 2007, or ``free``."""

    name: str
    X: sp.csr_matrix
    y: np.ndarray
    kind: str  # "laplace" with a rate, or "gaussian" with a precision
    weight: float
    free: bool = False

    def objective(self, coef: np.ndarray, intercept: np.ndarray) -> float:
        """Return the sum of losses plus penalties, computed here and never by a solver."""
        beta = coef if self.free else np.column_stack([coef, intercept])
        z = self.X @ coef.T + intercept
        loss = np.sum(logsumexp(z, axis=1) - z[np.arange(self.y.size), self.y])
        penalty = np.abs(beta).sum() if self.kind == "laplace" else 0.5 * np.square(beta).sum()
        return float(loss + self.weight * penalty)


@cache
def matrix() -> tuple[sp.csr_matrix, np.ndarray]:
    """Return training documents (log TF × IDF, cosine; every word a term) and their classes."""
    data = load("20newsgroups")
    X = TextVectorizer("lsc").fit_transform(data.train.texts)
    return sp.csr_matrix(X), np.asarray(data.indicator("train").argmax(axis=1)).ravel()


def problems(kind: str, free: bool) -> list[Problem]:
    """Return problems with three strengths of the penalty."""
    X, y = matrix()
    return [Problem(f"{weight:g}", X, y, kind, weight, free) for weight in WEIGHTS[kind]]


Coefficients = tuple[np.ndarray, np.ndarray]


class Solver(ABC):
    """What the runner asks: a name, tolerances from loose to tight, and the kinds it solves."""

    name: ClassVar[str]
    kinds: ClassVar[tuple[str, ...]] = ("laplace", "gaussian")
    tolerances: ClassVar[tuple[float, ...]] = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    @classmethod
    def takes(cls, problem: Problem) -> bool:
        """Tell whether it solves this kind, with penalised intercepts."""
        return problem.kind in cls.kinds and not problem.free

    @abstractmethod
    def solve(self, tolerance: float) -> Coefficients:
        """Fit; this is what is timed."""


class Ours(Solver):
    """The default solver of Bayesift."""

    name = "bayesift"

    @classmethod
    def takes(cls, problem: Problem) -> bool:
        """Take every problem."""
        return True

    def solve(self, tolerance: float) -> Coefficients:
        """Fit with a relative duality gap of ``tolerance``."""
        problem = self.problem
        variance = 2.0 / problem.weight**2 if problem.kind == "laplace" else 1.0 / problem.weight
        intercept: Any = np.inf if problem.free else "same"
        model = BayesianMultinomialRegression(
            problem.kind, variance, intercept_variance=intercept, tol=tolerance, n_jobs=1
        ).fit(problem.X, problem.y)
        return model.class_coef_, model.class_intercept_


class _ScikitLearn(Solver):
    """LogisticRegression on the matrix with a column of ones, so that intercepts are penalised."""

    solver: ClassVar[str]
    max_iter: ClassVar[int] = 2000

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.X = sp.csr_matrix(sp.hstack([problem.X, np.ones((problem.X.shape[0], 1))]))

    def solve(self, tolerance: float) -> Coefficients:
        """Fit without an intercept of its own."""
        from sklearn.linear_model import LogisticRegression

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ratio = {"l1_ratio": 1.0} if self.problem.kind == "laplace" else {}
            model: Any = LogisticRegression(
                C=1.0 / self.problem.weight,
                fit_intercept=False,
                solver=self.solver,
                tol=tolerance,
                max_iter=self.max_iter,
                random_state=0,
                **ratio,
            ).fit(self.X, self.problem.y)
        return model.coef_[:, :-1], model.coef_[:, -1]


class Saga(_ScikitLearn):
    """scikit-learn's saga."""

    name = "sklearn saga"
    solver = "saga"
    kinds = ("laplace",)
    # Minutes, in which it is within 1e-4 of the best at the smallest rate.
    max_iter = 300


class Lbfgs(_ScikitLearn):
    """scikit-learn's L-BFGS."""

    name = "sklearn lbfgs"
    solver = "lbfgs"
    kinds = ("gaussian",)


class GlmnetOfR(Solver):
    """R's glmnet, down a path of ten penalties; the data are in its process before the clock starts."""

    name = "glmnet"
    kinds = ("laplace",)
    tolerances = (1e-4, 1e-6, 1e-8)

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.session = glmnet.Glmnet(problem.X.tocsc(), problem.y, "multinomial", 1.0)
        indicator = np.eye(problem.y.max() + 1)[problem.y]
        self.largest = float(np.abs(problem.X.T @ (indicator - indicator.mean(axis=0))).max())

    @classmethod
    def takes(cls, problem: Problem) -> bool:
        """Take only unpenalised intercepts: glmnet leaves out a column of ones."""
        return problem.free and problem.kind in cls.kinds and glmnet.there()

    def solve(self, tolerance: float) -> Coefficients:
        """Fit in the process of R."""
        beta = self.session.fit(self.problem.weight, tolerance, self.largest)
        return beta[:, 1:], beta[:, 0]


SOLVERS: tuple[type[Solver], ...] = (Ours, Saga, Lbfgs, GlmnetOfR)


#: A solver's time counts when its objective is this near to the best known, relatively.
QUALITY = 1e-5
#: Solvers that take this many times as long as ours are timed once, and given up if they are not there by then.
FAR_BEHIND, GIVEN_UP = 5.0, 100.0


def timed(solver: Solver, tolerance: float) -> tuple[float, float]:
    """Return the seconds of one fit and its objective."""
    start = time.perf_counter()
    found = solver.solve(tolerance)
    return time.perf_counter() - start, solver.problem.objective(*found)


def seconds_to(solver: Solver, target: float, repeats: int, ours: float) -> tuple[float, bool]:
    """Return the median seconds at the loosest tolerance that is good enough, and whether there is one."""
    seconds = 0.0
    for tolerance in solver.tolerances:
        seconds, reached = timed(solver, tolerance)
        if reached <= target:
            if seconds <= FAR_BEHIND * ours:
                seconds = median(timed(solver, tolerance)[0] for _ in range(repeats))
            return seconds, True
        if seconds > GIVEN_UP * ours:
            break
    return seconds, False


def compare(problem: Problem, repeats: int) -> tuple[str, ...]:
    """Return a row: the penalty, non-zero coefficients, seconds of all solvers, ratio of the peer's to ours."""
    best = Ours(problem)
    coef, intercept = best.solve(1e-8)
    target = problem.objective(coef, intercept) * (1.0 + QUALITY)
    ours, _ = seconds_to(best, target, repeats, float("inf"))
    cells, peers = [f"{ours:.2f}"], []
    for kind in SOLVERS[1:]:
        if kind.takes(problem):
            seconds, there = seconds_to(kind(problem), target, repeats, ours)
            peers.append(seconds)
            cells.append(f"{seconds:.1f}" if there else f"> {seconds:.1f}")
    return (problem.name, str((coef != 0).sum()), *cells, f"{min(peers) / ours:.1f}")


def run_kind(kind: str, repeats: int, free: bool = False) -> None:
    """Print seconds and ratios for all strengths of the penalty of a kind; intercepts are penalised, or free."""
    todo = problems(kind, free)
    names = [solver.name for solver in SOLVERS if solver.takes(todo[0])]
    if len(names) == 1:
        return
    with threadpool_limits(1):
        rows = [compare(problem, repeats) for problem in todo]
    title = (
        f"All 20 classes of 20 Newsgroups, {kind} priors, intercepts {'free' if free else 'penalised'}, "
        f"seconds to {QUALITY:g} of the best objective, one thread"
    )
    show(title, ("penalty", "non-zero", *names, "peer / ours"), rows)


def run(repeats: int) -> None:
    """Print all tables."""
    run_kind("laplace", repeats)
    run_kind("gaussian", repeats)
    # Beside glmnet, where R has it.
    run_kind("laplace", repeats, free=True)
