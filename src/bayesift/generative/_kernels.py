"""Compiled loops over documents: sums to learn from, and log probabilities of new documents.

Sums take the documents in their order and add them one at a time, so that learning in batches gives the same bits as
learning at once.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from bayesift._kernel import kernel
from bayesift._special_kernels import log_rising
from bayesift._threads import in_blocks
from bayesift._typing import AnyArray, FloatArray, Int64Array


@kernel
def add_rows(
    indptr: AnyArray,
    indices: AnyArray,
    values: FloatArray,
    start: Int64Array,
    sums: Int64Array,
    weights: FloatArray,
    total: FloatArray,
) -> None:
    """Add w_i x_ij to total[j, g] for every sum g of document i."""
    for i in range(indptr.shape[0] - 1):
        for m in range(start[i], start[i + 1]):
            g = sums[m]
            for k in range(indptr[i], indptr[i + 1]):
                total[indices[k], g] += weights[i] * values[k]


@kernel
def add_weights(start: Int64Array, sums: Int64Array, weights: FloatArray, total: FloatArray) -> None:
    """Add w_i to total[g] for every sum g of document i."""
    for i in range(start.shape[0] - 1):
        for m in range(start[i], start[i + 1]):
            total[sums[m]] += weights[i]


@kernel
def add_categories(
    codes: Int64Array, start: Int64Array, sums: Int64Array, weights: FloatArray, total: FloatArray
) -> None:
    """Add w_i to total[code_i, g] for every sum g of document i; a negative code is a missing value."""
    for i in range(codes.shape[0]):
        if codes[i] >= 0:
            for m in range(start[i], start[i + 1]):
                total[codes[i], sums[m]] += weights[i]


@kernel
def add_moments(
    X: FloatArray,
    start: Int64Array,
    sums: Int64Array,
    weights: FloatArray,
    count: FloatArray,
    mean: FloatArray,
    squares: FloatArray,
) -> None:
    """Update number, mean and squared distances from the mean of every group and column, without cancellation."""
    for i in range(X.shape[0]):
        if weights[i] > 0:
            for m in range(start[i], start[i + 1]):
                g = sums[m]
                for j in range(X.shape[1]):
                    x = X[i, j]
                    if not np.isnan(x):
                        count[g, j] += weights[i]
                        away = x - mean[g, j]
                        mean[g, j] += away * (weights[i] / count[g, j])
                        squares[g, j] += weights[i] * away * (x - mean[g, j])


class LogTable(NamedTuple):
    """Logarithms of probabilities, features × groups, with those of probability 0 told apart from the finite ones."""

    logs: FloatArray
    never: AnyArray | None


def log_table(probabilities: FloatArray) -> LogTable:
    """Take logarithms; where a probability is 0, keep that as a mark of its own and 0 as its logarithm."""
    never = probabilities <= 0
    if not never.any():
        return LogTable(np.log(probabilities), None)
    return LogTable(np.log(np.where(never, 1.0, probabilities)), never.astype(np.float64))


def with_values(X: sp.csr_matrix, values: FloatArray) -> sp.csr_matrix:
    """Return a matrix with other values at the places of the stored ones."""
    return sp.csr_matrix((values, X.indices, X.indptr), shape=X.shape)


def split_missing(X: sp.csr_matrix) -> tuple[sp.csr_matrix, sp.csr_matrix | None]:
    """Return the values with zeros for the missing ones, and where values are missing (None where none is)."""
    missing = np.isnan(X.data)
    if not missing.any():
        return X, None
    return with_values(X, np.where(missing, 0.0, X.data)), with_values(X, missing.astype(np.float64))


@kernel
def _dot_rows(
    first: int, last: int, indptr: AnyArray, indices: AnyArray, values: FloatArray, table: FloatArray, out: FloatArray
) -> None:
    n_groups = np.uint64(table.shape[1])
    flat = table.ravel()
    total = np.zeros(table.shape[1])
    for i in range(first, last):
        for g in range(n_groups):
            total[g] = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            row = np.uint64(indices[k]) * n_groups
            for g in range(n_groups):
                total[g] += values[k] * flat[row + g]
        for g in range(n_groups):
            out[i, g] = total[g]


def dot(X: sp.csr_matrix, table: FloatArray, n_jobs: int | None) -> FloatArray:
    """Return X @ table for a contiguous table, on several threads."""
    out = np.empty((X.shape[0], table.shape[1]))

    def work(first: int, last: int) -> None:
        _dot_rows(first, last, X.indptr, X.indices, X.data, table, out)

    in_blocks(work, X.shape[0], X.nnz * table.shape[1], n_jobs)
    return out


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
