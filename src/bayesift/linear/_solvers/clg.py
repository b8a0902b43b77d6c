"""The cyclic coordinate descent of Genkin, Lewis & Madigan (2007) to the letter: the readable reference.

Coordinate j takes one Newton-like step per pass, with a curvature that bounds the loss within a trust region Δ_j
(their equations 18 to 20). All coefficients are departures δ from the modes of their priors, so a mode is at 0; the
intercept is the last coordinate and has the value 1 in every document.

The same for the softmax objective: with all other coefficients fixed the loss of document i in the coefficient of class
k is ln(1 + e^−r) or ln(1 + e^r) of the log odds r of class k against all others, so that the steps (18) to (20) of the
binary algorithm hold as they stand. The intercepts are the last row of the coefficients.
"""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._sparse import Compressed
from bayesift._typing import FloatArray, Int64Array, UInt32Array
from bayesift.linear._losses import class_scores
from bayesift.linear._solvers.duality import Penalties


@kernel
def curvature_bound(r: float, radius: float) -> float:
    """F(r, δ): the greatest curvature of ln(1 + e^−r) within δ of the margin r (18)."""
    distance = abs(r) - radius
    if distance <= 0.0:
        return 0.25
    return 1.0 / (2.0 + np.exp(distance) + np.exp(-distance))


@kernel
def tentative_step(delta: float, g: float, G: float, l1: float, l2: float, low: float, high: float) -> float:
    """Δv_j for the slope g and the curvature bound G: (19) for a Gaussian, (20) with its three cases for a Laplace."""
    if G + l2 == 0.0:
        return 0.0
    if l1 == 0.0:
        step = (g - l2 * delta) / (G + l2)
    elif delta != 0.0:
        sign = 1.0 if delta > 0.0 else -1.0
        step = (g - l1 * sign) / G
        # A step across the mode stops at it.
        if sign * (delta + step) < 0.0:
            step = -delta
    elif g > l1 and high > 0.0:
        step = (g - l1) / G
    elif g < -l1 and low < 0.0:
        step = (g + l1) / G
    else:
        step = 0.0
    return min(max(step, low - delta), high - delta)


@kernel
def clg(
    indptr: UInt32Array,
    indices: UInt32Array,
    data: FloatArray,
    y: FloatArray,
    s: FloatArray,
    offset: FloatArray,
    delta: FloatArray,
    l1: FloatArray,
    l2: FloatArray,
    low: FloatArray,
    high: FloatArray,
    epsilon: float,
    max_passes: int,
) -> tuple[int, bool]:
    """Minimise from the start ``delta``, which is overwritten; return the passes and whether they converged.

    Converged is when Σ_i |Δr_i| / (1 + Σ_i |r_i|) ≤ ε over a pass.
    """
    d = delta.shape[0] - 1
    documents = np.arange(y.shape[0]).astype(np.uint32)
    ones = np.ones(y.shape[0])
    r = y * (offset + delta[d])
    for j in range(d):
        for k in range(indptr[j], indptr[j + 1]):
            r[indices[k]] += y[indices[k]] * data[k] * delta[j]
    trust = np.ones(d + 1)
    before = np.empty_like(r)
    for passes in range(1, max_passes + 1):
        before[:] = r
        for j in range(d + 1):
            if low[j] == high[j]:
                continue
            if j < d:
                rows, values = indices[indptr[j] : indptr[j + 1]], data[indptr[j] : indptr[j + 1]]
            else:
                rows, values = documents, ones
            g, G = 0.0, 0.0
            for k in range(rows.shape[0]):
                i, x = rows[k], values[k]
                g += s[i] * x * y[i] / (1.0 + np.exp(r[i]))
                G += s[i] * x * x * curvature_bound(r[i], trust[j] * abs(x))
            step = tentative_step(delta[j], g, G, l1[j], l2[j], low[j], high[j])
            step = min(max(step, -trust[j]), trust[j])
            if step != 0.0:
                for k in range(rows.shape[0]):
                    r[rows[k]] += y[rows[k]] * values[k] * step
                delta[j] += step
            trust[j] = max(2.0 * abs(step), 0.5 * trust[j])
        if np.abs(r - before).sum() <= epsilon * (1.0 + np.abs(r).sum()):
            return passes, True
    return max_passes, False


@kernel
def log_odds(z: FloatArray, k: int) -> float:
    """Log odds of class k against all others for the scores z of one document."""
    top = -np.inf
    for other in range(z.shape[0]):
        if other != k:
            top = max(top, z[other])
    total = 0.0
    for other in range(z.shape[0]):
        if other != k:
            total += np.exp(z[other] - top)
    return z[k] - top - np.log(total)


@kernel
def softmax_clg(
    columns: Compressed,
    codes: Int64Array,
    s: FloatArray,
    offset: FloatArray,
    delta: FloatArray,
    prior: Penalties,
    epsilon: float,
    max_passes: int,
) -> tuple[int, bool]:
    """Minimise from the start ``delta``, which is overwritten; return the passes and whether they converged.

    Converged is when Σ_ik |Δz_ik| / (1 + Σ_ik |z_ik|) ≤ ε over a pass.
    """
    indptr, indices, data = columns
    l1, l2, low, high = prior
    d = delta.shape[0] - 1
    documents = np.arange(codes.shape[0]).astype(np.uint32)
    ones = np.ones(codes.shape[0])
    z = np.empty_like(offset)
    class_scores(columns, delta, offset, z)
    trust = np.ones_like(delta)
    for passes in range(1, max_passes + 1):
        before = z.copy()
        for j in range(d + 1):
            if j < d:
                rows, values = indices[indptr[j] : indptr[j + 1]], data[indptr[j] : indptr[j + 1]]
            else:
                rows, values = documents, ones
            for k in range(z.shape[1]):
                if low[j, k] == high[j, k]:
                    continue
                g, G = 0.0, 0.0
                for e in range(rows.shape[0]):
                    i, x = rows[e], values[e]
                    r = log_odds(z[i], k)
                    g += s[i] * x / (1.0 + np.exp(r)) if codes[i] == k else -s[i] * x / (1.0 + np.exp(-r))
                    G += s[i] * x * x * curvature_bound(r, trust[j, k] * abs(x))
                step = tentative_step(delta[j, k], g, G, l1[j, k], l2[j, k], low[j, k], high[j, k])
                step = min(max(step, -trust[j, k]), trust[j, k])
                if step != 0.0:
                    for e in range(rows.shape[0]):
                        z[rows[e], k] += values[e] * step
                    delta[j, k] += step
                trust[j, k] = max(2.0 * abs(step), 0.5 * trust[j, k])
        change = size = 0.0
        for i in range(z.shape[0]):
            for k in range(z.shape[1]):
                change += abs(z[i, k] - before[i, k])
                size += abs(z[i, k])
        if change <= epsilon * (1.0 + size):
            return passes, True
    return max_passes, False
