"""Beliefs with a full or a diagonal covariance: one pass over documents, and what they say of others."""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._typing import FloatArray, Int64Array, UInt32Array
from bayesift.online._moments import moments

#: A share of a variance that is lost to rounding; (Cx)_i² ≤ C_ii xᵀCx bounds every entry of the update by it.
NOTHING = 5e-17


@kernel(error_model="numpy")
def take_away(shrink: float, direction: FloatArray, size: int, C: FloatArray) -> None:
    """C ← C − shrink vvᵀ for the first ``size`` rows and columns; entries ij and ji get the same bits."""
    root = np.sqrt(abs(shrink))
    for i in range(size):
        direction[i] *= root
    for i in range(size):
        scaled = direction[i] if shrink > 0.0 else -direction[i]
        row = C[i]
        for j in range(size):
            row[j] -= scaled * direction[j]


@kernel(error_model="numpy")
def _times(C: FloatArray, columns: UInt32Array, values: FloatArray, out: FloatArray) -> float:
    """Fill out = Cx and return xᵀCx, at least 0; four rows at a time spare three of four passes over ``out``."""
    out[:] = 0.0
    whole = columns.shape[0] // 4 * 4
    for k in range(0, whole, 4):
        a, b, c, d = C[columns[k]], C[columns[k + 1]], C[columns[k + 2]], C[columns[k + 3]]
        p, q, r, s = values[k], values[k + 1], values[k + 2], values[k + 3]
        for j in range(out.shape[0]):
            out[j] += (p * a[j] + q * b[j]) + (r * c[j] + s * d[j])
    for k in range(whole, columns.shape[0]):
        a, p = C[columns[k]], values[k]
        for j in range(out.shape[0]):
            out[j] += p * a[j]
    variance = 0.0
    for k in range(columns.shape[0]):
        variance += values[k] * out[columns[k]]
    return max(variance, 0.0)


@kernel(error_model="numpy")
def learn_full(
    indptr: UInt32Array,
    indices: UInt32Array,
    data: FloatArray,
    y: FloatArray,
    order: Int64Array,
    mean: FloatArray,
    C: FloatArray,
    sigma: float,
    kappa: float,
    keep: float,
    prior_mean: FloatArray,
    prior_C: FloatArray,
) -> float:
    """Update mean and C by the documents in this order; return Σ ln Z.

    With keep < 1 the weights drift after each document: a ← m₀ + keep (a − m₀) + noise that leaves N(m₀, C₀) as it is.
    """
    direction = np.empty(mean.shape[0])
    total = 0.0
    for i in order:
        columns, values = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        field = 0.0
        for k in range(columns.shape[0]):
            field += values[k] * mean[columns[k]]
        variance = _times(C, columns, values, direction)
        log_z, gain, shrink = moments(y[i], field, variance, sigma, kappa)
        total += log_z
        for j in range(mean.shape[0]):
            mean[j] += gain * direction[j]
        if abs(shrink) * variance > NOTHING:
            take_away(shrink, direction, mean.shape[0], C)
        if keep < 1.0:
            for j in range(mean.shape[0]):
                mean[j] = prior_mean[j] + keep * (mean[j] - prior_mean[j])
                for k in range(mean.shape[0]):
                    C[j, k] = keep * keep * C[j, k] + (1.0 - keep * keep) * prior_C[j, k]
    return total


@kernel(error_model="numpy")
def learn_diagonal(
    indptr: UInt32Array,
    indices: UInt32Array,
    data: FloatArray,
    y: FloatArray,
    order: Int64Array,
    mean: FloatArray,
    C: FloatArray,
    sigma: float,
    kappa: float,
    keep: float,
    prior_mean: FloatArray,
    prior_C: FloatArray,
) -> float:
    """The same for independent weights with the variances C: only those of the document's own columns move."""
    total = 0.0
    for i in order:
        field, variance = 0.0, 0.0
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            field += data[k] * mean[j]
            variance += data[k] * data[k] * C[j]
        log_z, gain, shrink = moments(y[i], field, variance, sigma, kappa)
        total += log_z
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            direction = C[j] * data[k]
            mean[j] += gain * direction
            C[j] -= shrink * direction * direction
        if keep < 1.0:
            for j in range(mean.shape[0]):
                mean[j] = prior_mean[j] + keep * (mean[j] - prior_mean[j])
                C[j] = keep * keep * C[j] + (1.0 - keep * keep) * prior_C[j]
    return total


@kernel(error_model="numpy")
def full_variances(indptr: UInt32Array, indices: UInt32Array, data: FloatArray, C: FloatArray) -> FloatArray:
    """Give xᵀCx of every document."""
    result = np.zeros(indptr.shape[0] - 1)
    for i in range(result.shape[0]):
        total = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            row, inner = C[indices[k]], 0.0
            for m in range(indptr[i], indptr[i + 1]):
                inner += row[indices[m]] * data[m]
            total += data[k] * inner
        result[i] = max(total, 0.0)
    return result
