"""Cyclic coordinate descent on the softmax objective in the manner of the 2007 paper: the readable reference.

With all other coefficients fixed the loss of document i in the coefficient of class k is ln(1 + e^−r) or ln(1 + e^r) of
the log odds r of class k against all others, so that the steps (18) to (20) of the binary algorithm hold as they stand.
All coefficients are departures δ from the modes of their priors; the intercepts are the last row.
"""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._sparse import Compressed
from bayesift._typing import FloatArray, Int64Array
from bayesift.linear._clg import curvature_bound, tentative_step
from bayesift.linear._penalty import Penalties
from bayesift.linear._softmax import class_scores


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
def descend(
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
