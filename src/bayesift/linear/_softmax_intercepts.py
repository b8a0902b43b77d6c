"""The intercepts of all classes: few numbers, moved to their optimum beside every step of the others."""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._typing import BoolArray, FloatArray, Int64Array
from bayesift.linear._softmax_objective import solve_small
from bayesift.linear._softmax_search import State, smooth_search

#: Newton steps at most.
_STEPS = 20


@kernel
def intercept_curvature(s: FloatArray, p: FloatArray, own: FloatArray, free: BoolArray) -> FloatArray:
    """Second derivatives Σ_i s_i (diag p_i − p_i p_iᵀ) + diag(own) of the objective in the free intercepts.

    Fixed intercepts have a one on the diagonal. Where all are free and none is penalised the matrix gets what it lacks
    in the direction of equal numbers, in which there is nothing to move.
    """
    n, n_classes = p.shape
    out = np.zeros((n_classes, n_classes))
    for i in range(n):
        for k in range(n_classes):
            t = s[i] * p[i, k]
            for j in range(k + 1):
                out[k, j] -= t * p[i, j]
            out[k, k] += t
    size = 1e-300
    for k in range(n_classes):
        size += out[k, k]
    lift = size / n_classes
    for k in range(n_classes):
        if not free[k] or own[k] > 0.0:
            lift = 0.0
    for k in range(n_classes):
        for j in range(k + 1):
            coupled = free[k] and free[j]
            out[k, j] = out[j, k] = out[k, j] + lift if coupled else 0.0
        out[k, k] = out[k, k] + own[k] + 1e-14 * size if free[k] else 1.0
    return out


@kernel
def intercept_slopes(r: FloatArray, intercept: FloatArray, own: FloatArray, free: BoolArray) -> FloatArray:
    """How fast the objective falls as each intercept rises; 0 for fixed ones."""
    slope = -own * intercept
    for i in range(r.shape[0]):
        for k in range(r.shape[1]):
            slope[k] += r[i, k]
    for k in range(slope.shape[0]):
        slope[k] = slope[k] if free[k] else 0.0
    return slope


@kernel(error_model="numpy")
def fit_intercepts(
    codes: Int64Array,
    s: FloatArray,
    state: State,
    loss: float,
    own: FloatArray,
    free: BoolArray,
    intercept: FloatArray,
    enough: float,
) -> float:
    """Move the intercepts to their optimum, up to ``enough`` of the objective; return the loss there."""
    _, p, r, move, _ = state
    for _ in range(_STEPS):
        slope = intercept_slopes(r, intercept, own, free)
        shift = solve_small(intercept_curvature(s, p, own, free), slope)
        gain, linear, quadratic = 0.0, 0.0, 0.0
        for k in range(slope.shape[0]):
            gain += slope[k] * shift[k]
            linear += own[k] * intercept[k] * shift[k]
            quadratic += own[k] * shift[k] ** 2
        if not gain > enough:
            break
        for i in range(move.shape[0]):
            for k in range(move.shape[1]):
                move[i, k] = shift[k]
        loss, size = smooth_search(codes, s, state, loss, linear, quadratic, 1.0)
        if size == 0.0:
            break
        for k in range(slope.shape[0]):
            intercept[k] += size * shift[k]
    return loss
