"""Passes over the corpus: fields under a belief of independent weights, hashes, and products of rows."""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._typing import FloatArray, Int32Array, Int64Array


@kernel
def field_moments(
    indptr: Int32Array, indices: Int32Array, data: FloatArray, mean: FloatArray, variance: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return m₀ + Σ_j x_ij m_j and v₀ + Σ_j x_ij² v_j of every row; the constant's m₀ and v₀ stand last."""
    n = indptr.shape[0] - 1
    means, variances = np.empty(n), np.empty(n)
    for i in range(n):
        first, second = mean[-1], variance[-1]
        for k in range(indptr[i], indptr[i + 1]):
            first += data[k] * mean[indices[k]]
            second += data[k] * data[k] * variance[indices[k]]
        means[i], variances[i] = first, second
    return means, variances


@kernel
def moved_fields(
    columns: tuple[Int32Array, Int32Array, FloatArray],
    moved: Int64Array,
    steps: FloatArray,
    growths: FloatArray,
    means: FloatArray,
    variances: FloatArray,
) -> None:
    """Add Σ_j x_ij s_j to the means and Σ_j x_ij² g_j to the variances, over the columns that moved by s_j and g_j."""
    indptr, indices, data = columns
    for place in range(moved.shape[0]):
        j, step, growth = moved[place], steps[place], growths[place]
        for k in range(indptr[j], indptr[j + 1]):
            means[indices[k]] += data[k] * step
            variances[indices[k]] += data[k] * data[k] * growth


@kernel
def smallest_hashes(indptr: Int32Array, indices: Int32Array, hashes: Int64Array) -> Int64Array:
    """Return the least hash of the columns of every row under each hash function (MinHash); rows × functions."""
    n, n_functions = indptr.shape[0] - 1, hashes.shape[1]
    least = np.full((n, n_functions), np.iinfo(np.int64).max, dtype=np.int64)
    for i in range(n):
        for k in range(indptr[i], indptr[i + 1]):
            for j in range(n_functions):
                least[i, j] = min(least[i, j], hashes[indices[k], j])
    return least


@kernel
def pair_products(
    indptr: Int32Array, indices: Int32Array, data: FloatArray, first: Int64Array, second: Int64Array
) -> FloatArray:
    """Return the inner product of the rows of every pair; columns are sorted within rows."""
    result = np.zeros(first.shape[0])
    for pair in range(first.shape[0]):
        i, i_end = indptr[first[pair]], indptr[first[pair] + 1]
        j, j_end = indptr[second[pair]], indptr[second[pair] + 1]
        while i < i_end and j < j_end:
            if indices[i] == indices[j]:
                result[pair] += data[i] * data[j]
                i += 1
                j += 1
            elif indices[i] < indices[j]:
                i += 1
            else:
                j += 1
    return result
