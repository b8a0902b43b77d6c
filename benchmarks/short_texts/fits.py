"""Single fits beside LIBLINEAR: seconds of the processor to come near the best objective known, on one core."""

from __future__ import annotations

import time
from statistics import median

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.logistic.problem import QUALITY, Problem
from benchmarks.logistic.single import best_known, first_good_tolerance
from benchmarks.logistic.solvers import Liblinear, Ours, Solver
from benchmarks.measuring import show
from benchmarks.short_texts.rows import LABELS, make_rows, matrices

#: Laplace rates and Gaussian precisions, from the strongest.
PENALTIES = {"laplace": (3.16, 1.0, 0.316), "gaussian": (1.0, 0.1)}
#: Our default tolerance, a certificate that LIBLINEAR does not give.
CERTIFIED = 1e-6


def seconds_of(solver: Solver, tolerance: float, repeats: int) -> float:
    """Return the median of the processor's seconds for a fit."""
    taken = []
    for _ in range(repeats):
        start = time.process_time()
        solver.solve(tolerance)
        taken.append(time.process_time() - start)
    return median(taken)


def run_fits(n: int, repeats: int) -> None:
    """Print the seconds of fits of the first and the third label, the easiest and the hardest of the four."""
    data = matrices(make_rows(n))
    rows = []
    for kind, penalties in PENALTIES.items():
        for label in (0, 2):
            y = np.where(data.y == label, 1.0, -1.0)
            for penalty in penalties:
                problem = Problem(f"{kind}, {LABELS[label]}, {penalty:g}", data.X, y, kind, penalty)
                with threadpool_limits(1):
                    target = best_known(problem) * (1.0 + QUALITY)
                    found = []
                    for solver in (Ours(problem), Liblinear(problem)):
                        good = first_good_tolerance(solver, target, np.inf)
                        found.append(seconds_of(solver, good[0], repeats) if good else np.inf)
                    exact = seconds_of(Ours(problem), CERTIFIED, repeats)
                cells = (f"{value:.3f}" for value in (*found, exact))
                rows.append((problem.name, *cells, f"{found[1] / found[0]:.2f}"))
    title = f"{n:,} rows: single fits, seconds of one core to {QUALITY:g} of the best objective"
    show(title, ("penalty", Ours.name, Liblinear.name, f"bayesift to a gap of {CERTIFIED:g}", "LIBLINEAR / ours"), rows)
