"""Sums over documents in compiled loops.

Every loop takes the documents in their order and adds to the sums one at a time, so that learning in batches gives the
same bits as learning at once.
"""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
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
