"""Single fits: every solver at the first tolerance that reaches the quality asked for, on one core."""

from __future__ import annotations

import time
from statistics import median

import numpy as np

from benchmarks.logistic.problem import QUALITY, Problem, single_fits
from benchmarks.logistic.solvers import SOLVERS, Ours, Solver
from benchmarks.measuring import show, take_turns

#: Solvers that take this many times as long as ours are timed once, and given up if they are not there by then.
FAR_BEHIND = 20.0


def best_known(problem: Problem) -> float:
    """Return the least objective: ours with a certified gap far below the quality asked for."""
    return problem.objective(*Ours(problem).solve(1e-8))


def first_good_tolerance(solver: Solver, target: float, patience: float) -> tuple[float, float] | None:
    """Return the loosest tolerance with a good enough objective, and its seconds; None if it takes too long."""
    for tolerance in solver.tolerances:
        start = time.perf_counter()
        good = solver.problem.objective(*solver.solve(tolerance)) <= target
        seconds = time.perf_counter() - start
        if good:
            return tolerance, seconds
        if seconds > patience:
            return None
    return None


def compare(problem: Problem, repeats: int) -> dict[str, float]:
    """Return the median seconds of every solver that gets there; one run must do for those that are far behind."""
    target = best_known(problem) * (1.0 + QUALITY)
    candidates, results, ours = {}, {}, 0.0
    for kind in SOLVERS:
        if not kind.takes(problem):
            continue
        solver = kind(problem)
        solver.solve(solver.tolerances[0])
        found = first_good_tolerance(solver, target, FAR_BEHIND * ours if ours else np.inf)
        if found is None:
            continue
        tolerance, seconds = found
        ours = ours or seconds
        if seconds > FAR_BEHIND * ours:
            results[kind.name] = seconds
        else:
            candidates[kind.name] = lambda solver=solver, tolerance=tolerance: solver.solve(tolerance)
    turns = take_turns(candidates, repeats, problem.name)
    return results | {name: median(times) for name, times in turns.items()}


def run(kind: str, repeats: int, free: bool = False) -> None:
    """Print times and the ratio to the best peer for the sixteen problems of a kind, if a peer is there."""
    problems = single_fits(kind, free)
    names = [solver.name for solver in SOLVERS if solver.takes(problems[0])]
    if names == [Ours.name]:
        return
    rows, ratios = [], []
    for problem in problems:
        seconds = compare(problem, repeats)
        best = min((value for name, value in seconds.items() if name != Ours.name), default=np.inf)
        ratios.append(best / seconds[Ours.name])
        cells = [f"{1e3 * seconds[name]:.1f}" if name in seconds else "-" for name in names]
        rows.append((problem.name, *cells, f"{ratios[-1]:.2f}"))
    rows.append(("median", *[""] * len(names), f"{np.median(ratios):.2f}"))
    rows.append(("least", *[""] * len(names), f"{min(ratios):.2f}"))
    intercept = "free" if free else "penalised"
    title = f"Single {kind} fits on ModApte, {intercept} intercept, ms to {QUALITY:g} of the best objective, one thread"
    show(title, ("category, penalty", *names, "best peer / ours"), rows)
