"""Coordinate ascent on the dual of logistic regression with Gaussian priors, one document at a time.

At the dual point u the coefficients are δ = V Xᵀ(y∘u) with V the prior variances. The best u_i for the others fixed is
s_i σ(−ρ_i) where ρ = r_i + a (s σ(−ρ) − u_i), r_i the margin now and a = x_iᵀVx_i: a monotone equation in ρ with slope
at least one, solved by Newton from the last ρ_i.
"""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._sparse import Compressed
from bayesift._special_kernels import exp_negative
from bayesift._typing import FloatArray, UInt32Array

#: Margins need no more than this of accuracy in a pass: the next pass starts from them.
_ROUGH = 1e-2

# Knuth's generator of 64 bits, of which the upper half is used.
_MULTIPLIER, _INCREMENT, _HALF = np.uint64(6364136223846793005), np.uint64(1442695040888963407), np.uint64(33)


@kernel(inline="always", error_model="numpy")
def sigmoid(x):  # type: ignore[no-untyped-def]
    """1 / (1 + e^−x)."""
    e = exp_negative(-abs(x))
    return 1.0 / (1.0 + e) if x >= 0.0 else e / (1.0 + e)


@kernel(inline="always", error_model="numpy")
def solve_margin(fixed, a, x):  # type: ignore[no-untyped-def]
    """Solve x = fixed + a σ(−x) roughly by Newton from x, kept between the bounds that its errors have shown."""
    low = fixed
    high = fixed + a
    x = min(max(x, low), high)
    for _ in range(20):
        t = sigmoid(-x)
        gap = x - fixed - a * t
        if gap > 0.0:
            high = x
        else:
            low = x
        step = gap / (1.0 + a * t * (1.0 - t))
        x -= step
        if not low <= x <= high:
            x = 0.5 * (low + high)
        elif abs(step) <= _ROUGH:
            break
    return x


@kernel(inline="always")
def row_dot(indices, data, first, end, b):  # type: ignore[no-untyped-def]
    """Σ_k data_k b[indices_k]; four running sums hide the latency of an addition."""
    z0 = 0.0
    z1 = 0.0
    z2 = 0.0
    z3 = 0.0
    k = first
    while k + np.uint32(4) <= end:
        z0 += data[k] * b[indices[k]]
        z1 += data[k + np.uint32(1)] * b[indices[k + np.uint32(1)]]
        z2 += data[k + np.uint32(2)] * b[indices[k + np.uint32(2)]]
        z3 += data[k + np.uint32(3)] * b[indices[k + np.uint32(3)]]
        k += np.uint32(4)
    while k < end:
        z0 += data[k] * b[indices[k]]
        k += np.uint32(1)
    return (z0 + z1) + (z2 + z3)


@kernel
def shuffle(order: UInt32Array, seed: np.uint64) -> np.uint64:
    """Shuffle in place by a linear congruential generator; return its next state."""
    for i in range(order.shape[0] - 1, 0, -1):
        seed = seed * _MULTIPLIER + _INCREMENT
        j = np.int64(seed >> _HALF) % (i + 1)
        order[i], order[j] = order[j], order[i]
    return seed


@kernel
def document_curvatures(documents: Compressed, variance: FloatArray) -> FloatArray:
    """Return a_i = Σ_j v_j x_ij² plus the intercept's variance."""
    indptr, indices, data = documents
    n = indptr.shape[0] - 1
    out = np.full(n, variance[-1])
    for i in range(n):
        for k in range(indptr[i], indptr[i + 1]):
            out[i] += variance[indices[k]] * data[k] * data[k]
    return out


@kernel(error_model="numpy")
def dual_pass(
    documents: Compressed,
    y: FloatArray,
    s: FloatArray,
    offset: FloatArray,
    variance: FloatArray,
    curvature: FloatArray,
    order: UInt32Array,
    b: FloatArray,
    u: FloatArray,
    rho: FloatArray,
) -> None:
    """Visit the documents in the given order once; b, u and rho are overwritten."""
    indptr, indices, data = documents
    last = b.shape[0] - 1
    # One variance for all columns spares reading it at every entry.
    common = variance[0]
    for j in range(last):
        if variance[j] != common:
            common = -1.0
            break
    for i in order:
        first = indptr[i]
        end = indptr[i + np.uint32(1)]
        z = b[last] + offset[i] + row_dot(indices, data, first, end, b)
        a = curvature[i]
        rho[i] = solve_margin(y[i] * z - a * u[i], a * s[i], rho[i])
        new = s[i] * sigmoid(-rho[i])
        step = y[i] * (new - u[i])
        u[i] = new
        if common > 0.0:
            for k in range(first, end):
                b[indices[k]] += data[k] * (common * step)
        else:
            for k in range(first, end):
                b[indices[k]] += variance[indices[k]] * data[k] * step
        b[last] += variance[last] * step
