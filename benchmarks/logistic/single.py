"""Single fits: every solver at the first tolerance that reaches the quality asked for, on one core."""

from __future__ import annotations

from statistics import median

import numpy as np

from benchmarks.logistic.problem import QUALITY, Problem, single_fits
from benchmarks.logistic.solvers import SOLVERS, Ours, Solver
from benchmarks.timing import show, take_turns


def best_known(problem: Problem) -> float:
    """Least objective: ours with a certified gap far below the quality asked for."""
    return problem.objective(*Ours(problem).solve(1e-8))


def first_good_tolerance(solver: Solver, target: float) -> float | None:
    """Loosest tolerance at which the objective is good enough, or None."""
    for tolerance in solver.tolerances:
        if solver.problem.objective(*solver.solve(tolerance)) <= target:
            return tolerance
    return None


def compare(problem: Problem, repeats: int) -> dict[str, float]:
    """Median seconds of every solver that gets there."""
    target = best_known(problem) * (1.0 + QUALITY)
    candidates = {}
    for kind in SOLVERS:
        if kind.takes(problem):
            solver = kind(problem)
            tolerance = first_good_tolerance(solver, target)
            if tolerance is not None:
                candidates[kind.name] = lambda solver=solver, tolerance=tolerance: solver.solve(tolerance)
    return {name: median(times) for name, times in take_turns(candidates, repeats, problem.name).items()}


def run(kind: str, repeats: int) -> None:
    """Print times and the ratio to the best peer for the sixteen problems of a kind."""
    names = [solver.name for solver in SOLVERS if kind in solver.kinds]
    rows, ratios = [], []
    for problem in single_fits(kind):
        seconds = compare(problem, repeats)
        best = min(value for name, value in seconds.items() if name != Ours.name)
        ratios.append(best / seconds[Ours.name])
        cells = [f"{1e3 * seconds[name]:.1f}" if name in seconds else "-" for name in names]
        rows.append((problem.name, *cells, f"{ratios[-1]:.2f}"))
    rows.append(("median", *[""] * len(names), f"{np.median(ratios):.2f}"))
    rows.append(("least", *[""] * len(names), f"{min(ratios):.2f}"))
    title = f"Single {kind} fits on ModApte, milliseconds to {QUALITY:g} of the best objective, one thread"
    show(title, ("category, penalty", *names, "best peer / ours"), rows)
