"""Matrices like those of texts, of any size: columns by Zipf's law, weights by tf and idf, a planted sparse model.

Rows are made block by block from seeds of their own, so that a matrix of a billion entries needs no more memory than a
block, and the first rows of a large matrix are those of a small one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numba import njit

#: Rows of a block.
BLOCK = 20_000


class Twin(NamedTuple):
    """How large a matrix is, and what it is made of.

    With the default law a row of 330 words has about 295 different ones, as the problem of 847,000 × 359,000 has that
    users wrote about.
    """

    n_rows: int = 847_000
    n_columns: int = 359_000
    words: float = 330.0
    exponent: float = 1.05
    shift: float = 20.0
    planted: int = 500
    seed: int = 0

    def probabilities(self) -> np.ndarray:
        """Return how often each column is drawn: Zipf's law, with Mandelbrot's shift."""
        law = (np.arange(self.n_columns) + self.shift) ** -self.exponent
        return law / law.sum()

    def model(self) -> np.ndarray:
        """Return the planted coefficients: columns of middling frequency, either sign."""
        random = np.random.default_rng(self.seed)
        places = random.choice(np.arange(50, min(self.n_columns, 60_000)), self.planted, replace=False)
        beta = np.zeros(self.n_columns)
        beta[places] = random.choice([-1.0, 1.0], self.planted) * random.gamma(4.0, 3.0, self.planted)
        return beta

    def blocks(self) -> Iterator[tuple[sp.csr_matrix, np.ndarray]]:
        """Return blocks of rows and their labels 0 and 1."""
        law = self.probabilities()
        accept, other = _alias(law)
        # About the share of the documents that hold a word at least once.
        idf = np.log((1.0 + 1.0) / (-np.expm1(-self.words * law) + 1.0 / 847_000)).clip(0.0)
        beta = self.model()
        for number, first in enumerate(range(0, self.n_rows, BLOCK)):
            random = np.random.default_rng([self.seed, number])
            size = min(BLOCK, self.n_rows - first)
            lengths = np.maximum(random.lognormal(np.log(self.words) - 0.125, 0.5, size), 1.0).astype(np.int64)
            starts, columns, counts = _draw(lengths, accept, other, int(random.integers(2**31)))
            values = (1.0 + np.log(counts)) * idf[columns]
            rows = np.repeat(np.arange(size), np.diff(starts))
            norms = np.sqrt(np.bincount(rows, values**2, size))
            values = (values / np.maximum(norms, 1e-12)[rows]).astype(np.float32)
            matrix = sp.csr_matrix((values, columns, starts), shape=(size, self.n_columns))
            matrix.has_canonical_format = True
            scores = 2.0 * (matrix @ beta)
            yield matrix, (random.random(size) < 1.0 / (1.0 + np.exp(-scores))).astype(np.int64)


def _alias(law: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the tables of Walker's method: a column is kept with its probability, else another one is taken."""
    size = law.size
    accept, other = law * size, np.arange(size)
    small, large = list(np.flatnonzero(accept < 1.0)), list(np.flatnonzero(accept >= 1.0))
    while small and large:
        low, high = small.pop(), large[-1]
        other[low] = high
        accept[high] -= 1.0 - accept[low]
        if accept[high] < 1.0:
            small.append(large.pop())
    return accept, other.astype(np.int32)


@njit(cache=True)
def _draw(lengths, accept, other, seed):
    """Draw the words of every row; return compressed rows of counts, columns in order."""
    np.random.seed(seed)  # noqa: NPY002  (numba's own)
    columns, counts = np.empty(lengths.sum(), np.int32), np.empty(lengths.sum(), np.float64)
    starts = np.zeros(lengths.size + 1, np.int64)
    at = 0
    for i in range(lengths.size):
        words = np.empty(lengths[i], np.int32)
        for k in range(lengths[i]):
            column = np.random.randint(0, accept.size)  # noqa: NPY002
            kept = np.random.random() < accept[column]  # noqa: NPY002
            words[k] = column if kept else other[column]
        words.sort()
        for k in range(lengths[i]):
            if k > 0 and words[k] == words[k - 1]:
                counts[at - 1] += 1.0
            else:
                columns[at] = words[k]
                counts[at] = 1.0
                at += 1
        starts[i + 1] = at
    return starts, columns[:at], counts[:at]
