"""Documents of a class as histograms: how many have a word more than t times.

Everything a Dirichlet compound multinomial distribution needs of them is there: for whole counts

    Σ_i [ψ(α + x_i) − ψ(α)] = Σ_t n(x > t) / (α + t),

and n(x > t) changes only where t is a count that occurs, so that a word has few steps however many documents there are.
Between two counts that occur, the sum is a difference of digamma functions; this holds for fractions too.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from bayesift._kernel import kernel
from bayesift._typing import AnyArray, FloatArray, Int64Array

#: Counts up to this one are sorted by counting.
_SMALL = 64


class Histogram(NamedTuple):
    """The words of a class (``words``), the steps of each (``start``), and the lengths of the documents.

    In step k, ``above[k]`` documents have the word more than t times, for every t from ``low[k]`` to ``high[k]`` − 1.
    """

    words: Int64Array
    start: Int64Array
    low: FloatArray
    high: FloatArray
    above: FloatArray
    lengths: FloatArray
    weights: FloatArray

    @property
    def documents(self) -> FloatArray:
        """Weight of the documents that have each word."""
        return self.above[self.start[:-1]]


@kernel
def _by_word(
    indptr: AnyArray, indices: AnyArray, values: FloatArray, rows: Int64Array, weights: FloatArray, n_features: int
) -> tuple[Int64Array, Int64Array, FloatArray, FloatArray]:
    """Collect the counts of every word that occurs, with the weights of their documents."""
    place = np.zeros(n_features + 1, np.int64)
    for row in rows:
        for k in range(indptr[row], indptr[row + 1]):
            if values[k] > 0 and weights[row] > 0:
                place[indices[k] + 1] += 1
    n_words = 0
    for j in range(n_features):
        n_words += place[j + 1] > 0
        place[j + 1] += place[j]
    words, start = np.empty(n_words, np.int64), np.zeros(n_words + 1, np.int64)
    found = 0
    for j in range(n_features):
        if place[j + 1] > place[j]:
            words[found] = j
            found += 1
            start[found] = place[j + 1]
    counts, heavy = np.empty(place[n_features]), np.empty(place[n_features])
    for row in rows:
        for k in range(indptr[row], indptr[row + 1]):
            if values[k] > 0 and weights[row] > 0:
                t = place[indices[k]]
                place[indices[k]] = t + 1
                counts[t] = values[k]
                heavy[t] = weights[row]
    return words, start, counts, heavy


@kernel
def _steps(
    start: Int64Array, counts: FloatArray, heavy: FloatArray
) -> tuple[Int64Array, FloatArray, FloatArray, FloatArray]:
    """Turn the counts of each word into steps of the number of documents with more."""
    n_words = start.shape[0] - 1
    step, used = np.zeros(n_words + 1, np.int64), 0
    low, high, above = np.empty(counts.shape[0]), np.empty(counts.shape[0]), np.empty(counts.shape[0])
    small = np.zeros(_SMALL + 1)
    for w in range(n_words):
        total = 0.0
        most = 0.0
        whole = True
        for k in range(start[w], start[w + 1]):
            total += heavy[k]
            most = max(most, counts[k])
            whole = whole and counts[k] == math.floor(counts[k])
        before = 0.0
        if whole and most <= _SMALL:
            for k in range(start[w], start[w + 1]):
                small[int(counts[k])] += heavy[k]
            for t in range(1, int(most) + 1):
                if small[t] > 0:
                    low[used], high[used], above[used] = before, t, total
                    used += 1
                    total -= small[t]
                    small[t] = 0.0
                    before = float(t)
        else:
            for place in np.argsort(counts[start[w] : start[w + 1]]):
                k = start[w] + place
                if counts[k] > before:
                    low[used], high[used], above[used] = before, counts[k], total
                    used += 1
                    before = counts[k]
                total -= heavy[k]
        step[w + 1] = used
    return step, low[:used].copy(), high[:used].copy(), above[:used].copy()


def histogram(X: sp.csr_matrix, totals: FloatArray, rows: Int64Array, weights: FloatArray) -> Histogram:
    """Count the documents ``rows`` of a matrix; ``totals`` and ``weights`` are those of all rows."""
    words, start, counts, heavy = _by_word(X.indptr, X.indices, X.data, rows, weights, X.shape[1])
    step, low, high, above = _steps(start, counts, heavy)
    long, own = totals[rows], weights[rows]
    kept = (long > 0) & (own > 0)
    lengths, place = np.unique(long[kept], return_inverse=True)
    amounts = np.zeros(lengths.size)
    np.add.at(amounts, place, own[kept])
    return Histogram(words, step, low, high, above, lengths, amounts)
