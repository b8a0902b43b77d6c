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
def _times(C: FloatArray, sign: float, taken: FloatArray, x: FloatArray, out: FloatArray) -> None:
    """Take sign vvᵀ from C, then fill out = Cx, in one pass over C; two rows at a time spare passes over v and out."""
    size = x.shape[0]
    out[:] = 0.0
    for i in range(0, size - 1, 2):
        a, b, p, q = C[i], C[i + 1], x[i], x[i + 1]
        e, f = sign * taken[i], sign * taken[i + 1]
        if sign == 0.0:
            if p != 0.0 or q != 0.0:
                for j in range(size):
                    out[j] += p * a[j] + q * b[j]
        elif p == 0.0 and q == 0.0:
            for j in range(size):
                a[j] -= e * taken[j]
                b[j] -= f * taken[j]
        else:
            for j in range(size):
                a_j, b_j = a[j] - e * taken[j], b[j] - f * taken[j]
                a[j], b[j] = a_j, b_j
                out[j] += p * a_j + q * b_j
    if size % 2:
        a, p, e = C[size - 1], x[size - 1], sign * taken[size - 1]
        for j in range(size):
            a[j] -= e * taken[j]
            out[j] += p * a[j]


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
    size = mean.shape[0]
    x, direction, taken = np.zeros(size), np.empty(size), np.zeros(size)
    # What a document takes from C waits for the pass over C that the next one needs anyway.
    sign, total = 0.0, 0.0
    for i in order:
        columns, values = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        for k in range(columns.shape[0]):
            x[columns[k]] = values[k]
        _times(C, sign, taken, x, direction)
        field, variance = 0.0, 0.0
        for k in range(columns.shape[0]):
            x[columns[k]] = 0.0
            field += values[k] * mean[columns[k]]
            variance += values[k] * direction[columns[k]]
        variance = max(variance, 0.0)
        log_z, gain, shrink = moments(y[i], field, variance, sigma, kappa)
        total += log_z
        sign = np.sign(shrink) if abs(shrink) * variance > NOTHING else 0.0
        root = np.sqrt(abs(shrink))
        for j in range(size):
            mean[j] += gain * direction[j]
            taken[j] = root * direction[j]
        if keep < 1.0:
            take_away(shrink, direction, size, C)
            sign = 0.0
            for j in range(size):
                mean[j] = prior_mean[j] + keep * (mean[j] - prior_mean[j])
                for k in range(size):
                    C[j, k] = keep * keep * C[j, k] + (1.0 - keep * keep) * prior_C[j, k]
    x[:] = 0.0
    _times(C, sign, taken, x, direction)
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
    """Return xᵀCx of every document."""
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
