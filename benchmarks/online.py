"""The online perceptron: an update beside reading and writing the covariance once, and all of Reuters in one call."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import numpy as np
import scipy.sparse as sp

from bayesift._kernel import kernel
from bayesift._sparse import compressed
from bayesift._typing import FloatArray, Int64Array
from bayesift.datasets import load
from bayesift.online import BayesianPerceptron, prior_belief
from bayesift.online.belief import learn
from bayesift.select import likelihood_ratio
from bayesift.text import TextVectorizer
from benchmarks.measuring import show

UPDATES, PER_TURN, TURNS = 2000, 100, 20


@kernel
def read_and_write(C: FloatArray, times: int) -> None:
    """Read and write every number of a matrix: the least that an update of all of it can cost."""
    for t in range(times):
        factor = 1.0 + 1e-9 * (t % 3 - 1)
        for i in range(C.shape[0]):
            row = C[i]
            for j in range(row.shape[0]):
                row[j] *= factor


def stream(n_features: int, filled: float) -> tuple[sp.csr_matrix, FloatArray]:
    """Return random documents of unit length with this share of their features, and labels that stay in doubt."""
    random = np.random.default_rng(0)
    X = sp.random(UPDATES, n_features, filled, format="csr", random_state=random, data_rvs=random.standard_normal)
    X = sp.diags(1 / np.maximum(np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel()), 1e-9)) @ X
    return X, random.choice([-1.0, 1.0], UPDATES)


def cpu_seconds(work: Callable[[], Any]) -> float:
    """Return the processor time of this process: a turn is so short that another process in it would count for much."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def updates(n_features: int, filled: float, repeats: int) -> tuple[str, ...]:
    """Time updates of a full covariance, and as many readings and writings of it, in short turns."""
    X, y = stream(n_features, filled)
    rows, belief = compressed(X), prior_belief(n_features)
    same = np.ones((n_features, n_features))
    ours, least = [], []
    for turn in range(TURNS * repeats + 1):
        order = np.arange(turn * PER_TURN, (turn + 1) * PER_TURN) % UPDATES
        ours.append(cpu_seconds(partial(learn, belief, rows, y, order, own=True)) / PER_TURN)
        least.append(cpu_seconds(partial(read_and_write, same, PER_TURN)) / PER_TURN)
    # The first turn may compile.
    ratios = [mine / memory for mine, memory in zip(ours[1:], least[1:], strict=True)]
    return (
        f"{n_features} features, {filled:.0%} filled",
        f"{1e6 * median(ours[1:]):.1f}",
        f"{1e6 * median(least[1:]):.1f}",
        f"{median(ratios):.2f}",
    )


def informative_columns(X: sp.csr_matrix, Y: sp.csr_matrix) -> list[Int64Array]:
    """Return for each category the columns with Dunning's −2 ln λ above 12.13, at most the 300 best."""
    best = ((row, np.argsort(-row, kind="stable")[:300]) for row in likelihood_ratio(X, Y))
    return [np.sort(places[row[places] > 12.13]) for row, places in best]


def reuters() -> list[tuple[str, ...]]:
    """Fit all ModApte categories in three passes."""
    collection = load("reuters21578")
    vectorizer = TextVectorizer("ltc", stop_words="smart", stemmer="porter", token_pattern="[a-z]+")
    X, Y = vectorizer.fit_transform(collection.train.texts), collection.indicator("train")
    columns = informative_columns(X, Y)
    rows = []
    for n_jobs in (1, 2):
        wall, cpu = time.perf_counter(), time.process_time()
        BayesianPerceptron(features=columns, n_jobs=n_jobs).fit(X, Y)
        spent = time.perf_counter() - wall, time.process_time() - cpu
        rows.append((f"n_jobs={n_jobs}", f"{spent[0]:.1f}", f"{spent[1]:.1f}"))
    return rows


def run(repeats: int) -> None:
    """Print the tables."""
    show(
        "One update of a full covariance C, beside reading and writing C once",
        ("", "update, µs", "C once, µs", "ratio"),
        [updates(n, filled, repeats) for n in (100, 300, 1000) for filled in (0.1, 1.0)],
    )
    show("Reuters ModApte: 90 categories, 9,603 documents, 3 passes", ("", "seconds", "CPU seconds"), reuters())
