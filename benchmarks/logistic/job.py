"""The real job: all categories, ten rates on two of ten folds, then the final fit; LIBLINEAR looped the same way."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from bayesift.linear import BayesianLogisticRegression
from bayesift.linear._choice import deal_folds
from benchmarks.logistic.problem import GRID, Problem, matrix
from benchmarks.logistic.solvers import Liblinear
from benchmarks.timing import show

#: Tolerances of LIBLINEAR for scoring a rate and for the final fit, of the quality that ours reaches for each.
SCORING, FINAL = 1e-2, 1e-3


def ours(collection: str) -> float:
    """Seconds of our estimator with its default choice of the variance."""
    X, Y, _ = matrix(collection)
    start = time.perf_counter()
    BayesianLogisticRegression(intercept_variance="same", tol=1e-5).fit(X, (Y > 0).astype(int))
    return time.perf_counter() - start


def liblinear(collection: str, n_categories: int) -> float:
    """Seconds for a sample of the categories, scaled up to all; two threads (the library releases the lock)."""
    X, Y, _ = matrix(collection)
    sample = np.linspace(0, Y.shape[1] - 1, n_categories).astype(int)
    start = time.perf_counter()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda category: _one_category(X, np.ascontiguousarray(Y[:, category])), sample))
    return (time.perf_counter() - start) * Y.shape[1] / n_categories


def _one_category(X: object, y: np.ndarray) -> None:
    fold = deal_folds(y, 10, np.random.default_rng(0))
    scores = np.zeros(len(GRID))
    for run in range(2):
        training, held = np.flatnonzero(fold != run), np.flatnonzero(fold == run)
        part = Liblinear(Problem("", X[training], y[training], "laplace", 1.0))
        for place, rate in enumerate(GRID):
            part.problem = part.problem._replace(weight=rate)
            coef, intercept = part.solve(SCORING)
            scores[place] -= np.logaddexp(0.0, -y[held] * (X[held] @ coef + intercept)).sum()
    Liblinear(Problem("", X, y, "laplace", GRID[int(np.argmax(scores))])).solve(FINAL)


def run(repeats: int) -> None:
    """Print the ratios for both collections."""
    rows = []
    for collection, sample in (("reuters21578", 18), ("20newsgroups", 4)):
        ours(collection)
        mine = float(np.median([ours(collection) for _ in range(min(repeats, 3))]))
        theirs = liblinear(collection, sample)
        rows.append((collection, f"{mine:.1f}", f"{theirs:.0f}", f"{theirs / mine:.1f}"))
    show(
        "All categories, ten rates on two of ten folds, then the final fit; two threads, seconds",
        ("collection", "bayesift", "LIBLINEAR (from a sample)", "ratio"),
        rows,
    )
