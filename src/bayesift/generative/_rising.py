"""Log probabilities of counts under Dirichlet distributions: sums of ln Γ(a+x) − ln Γ(a), without logarithms of each.

For a whole number x the difference is the log of a(a+1)…(a+x−1). The factors of a document are multiplied up, and
powers of 2 taken out from time to time, so that one logarithm is needed in the end.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp

from bayesift._kernel import kernel
from bayesift._special_kernels import log_rising
from bayesift._threads import in_blocks
from bayesift._typing import AnyArray, FloatArray, Int64Array

#: Whole numbers up to this one are multiplied out.
_FACTORS = 64


@kernel
def _take_exponents(bits: Int64Array, exponent: FloatArray, i: int) -> None:
    """Bring products back to between 1 and 2, and count the powers of 2 taken out of them."""
    for g in range(bits.shape[0]):
        exponent[i, g] += (bits[g] >> 52) - 1023
        bits[g] = (bits[g] & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000


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
    mantissa: FloatArray,
    exponent: FloatArray,
    scores: FloatArray,
) -> None:
    """Multiply up the rows from ``first`` to ``last``; so many factors in a row cannot leave the range of numbers."""
    n_groups = np.uint64(counts.shape[1])
    flat = counts.ravel()
    product = np.ones(counts.shape[1])
    bits = product.view(np.int64)
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
                    _take_exponents(bits, exponent, i)
                    done = 0
        for g in range(n_groups):
            mantissa[i, g] = product[g]
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
    n_factors = max(int(300 / largest), 1)
    mantissa, exponent = np.empty_like(scores), np.zeros_like(scores)

    def multiply(first: int, last: int) -> None:
        _rising_rows(first, last, X.indptr, X.indices, X.data, counts, prior, n_factors, mantissa, exponent, scores)

    in_blocks(multiply, X.shape[0], X.nnz * counts.shape[1], n_jobs)
    np.log(mantissa, out=mantissa)
    exponent *= math.log(2)
    scores += exponent
    scores += mantissa
    return scores
