"""Log probabilities of counts under Dirichlet distributions: sums of ln Γ(a+x) − ln Γ(a), without logarithms of each.

For a whole number x the difference is the log of a(a+1)…(a+x−1). The factors of a document are multiplied up, and a
logarithm is taken only once for as many of them as fit into a floating-point number.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp

from bayesift._kernel import kernel
from bayesift._typing import AnyArray, FloatArray
from bayesift.generative._blocks import in_blocks

#: Whole numbers up to this one are multiplied out.
_FACTORS = 64
#: From here on Stirling's formula has 14 digits.
_LARGE = 10.0


@kernel
def _stirling_rest(z: float) -> float:
    """What Stirling's formula leaves of ln Γ(z) for z ≥ 10."""
    square = 1.0 / (z * z)
    return (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188)))) / z


@kernel
def log_rising(a: float, x: float) -> float:
    """Return ln Γ(a+x) − ln Γ(a) for a > 0 and x ≥ 0; keeps its digits where a is large."""
    if a < _LARGE:
        return math.lgamma(a + x) - math.lgamma(a)
    stirling = (a - 0.5) * math.log1p(x / a) + x * math.log(a + x) - x
    return stirling + _stirling_rest(a + x) - _stirling_rest(a)


@kernel
def _take_logs(product: FloatArray, scores: FloatArray, i: int) -> None:
    """Move the products to the scores of a row where one comes near the ends of what a number can hold."""
    low = product[0]
    high = product[0]
    for g in range(product.shape[0]):
        low = min(low, product[g])
        high = max(high, product[g])
    if low < 1e-150 or high > 1e150:
        for g in range(product.shape[0]):
            scores[i, g] += math.log(product[g])
            product[g] = 1.0


@kernel
def _rising_rows(
    first: int,
    last: int,
    indptr: AnyArray,
    indices: AnyArray,
    values: FloatArray,
    counts: FloatArray,
    prior: FloatArray,
    n_factors: int,
    scores: FloatArray,
) -> None:
    """Score the rows from ``first`` to ``last``; at most ``n_factors`` factors cannot carry 10±150 out of range."""
    n_groups = np.uint64(counts.shape[1])
    flat = counts.ravel()
    product = np.ones(counts.shape[1])
    for i in range(first, last):
        done = 0
        for k in range(indptr[i], indptr[i + 1]):
            x = values[k]
            j = np.uint64(indices[k])
            row = j * n_groups
            if x > _FACTORS or x != math.floor(x):
                for g in range(n_groups):
                    scores[i, g] += log_rising(flat[row + g] + prior[j], x)
                continue
            for t in range(int(x)):
                shift = prior[j] + t
                for g in range(n_groups):
                    product[g] *= flat[row + g] + shift
                done += 1
                if done == n_factors:
                    _take_logs(product, scores, i)
                    done = 0
        for g in range(n_groups):
            scores[i, g] += math.log(product[g])
            product[g] = 1.0


def rising_scores(
    X: sp.csr_matrix, counts: FloatArray, prior: FloatArray, bounds: tuple[float, float], n_jobs: int | None
) -> FloatArray:
    """Return Σ_j ln Γ(a_jg + x_ij) − ln Γ(a_jg), a_jg = counts_jg + prior_j, for all documents and groups.

    Parameters
    ----------
    X : csr_matrix of shape (n_documents, n_features)
        Values of at least 0, none missing.
    counts : array of shape (n_features, n_groups), contiguous
        At least 0.
    prior : array of shape (n_features,)
        At least 0.
    bounds : pair of float
        Between which all a_jg lie; the lower one above 0.
    n_jobs : int or None
        Threads.
    """
    scores = np.zeros((X.shape[0], counts.shape[1]))
    largest = max(abs(math.log10(bounds[0])), math.log10(max(bounds[1], 1.0) + _FACTORS))
    n_factors = max(int(150 / largest), 1)

    def score(first: int, last: int) -> None:
        _rising_rows(first, last, X.indptr, X.indices, X.data, counts, prior, n_factors, scores)

    in_blocks(score, X.shape[0], X.nnz * counts.shape[1], n_jobs)
    return scores
