"""Single fits: every solver at the first tolerance that reaches the quality asked for, on one core."""

from __future__ import annotations

import time
from statistics import median

from threadpoolctl import threadpool_limits

from benchmarks.multinomial.problem import Problem, problems
from benchmarks.multinomial.solvers import SOLVERS, Ours, Solver
from benchmarks.timing import show

#: A solver's time counts when its objective is this near to the best known, relatively.
QUALITY = 1e-5
#: Solvers that take this many times as long as ours are timed once, and given up if they are not there by then.
FAR_BEHIND, GIVEN_UP = 5.0, 100.0


def timed(solver: Solver, tolerance: float) -> tuple[float, float]:
    """Seconds of one fit and its objective."""
    start = time.perf_counter()
    found = solver.solve(tolerance)
    return time.perf_counter() - start, solver.problem.objective(*found)


def seconds_to(solver: Solver, target: float, repeats: int, ours: float) -> tuple[float, bool]:
    """Median seconds at the loosest tolerance that is good enough, and whether there is one."""
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


def run(kind: str, repeats: int, free: bool = False) -> None:
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
