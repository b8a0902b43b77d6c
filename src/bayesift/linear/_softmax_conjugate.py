"""Newton's equations of the softmax model by conjugate gradients among the documents.

A step of the coefficients is V Xᵀ a with a row of a for each document, and the inner product of two of them, in units
of the prior's standard deviations, is aᵀ G a with G = X V Xᵀ: one product with G serves for a direction.
"""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._typing import BoolArray, FloatArray
from bayesift.linear._softmax_gram import add_scaled, gram_times, total_product
from bayesift.linear._sparse import Compressed

#: Accuracy of a Newton step, relative to the error before, and limit of products for it.
_FORCING, _MAX_PRODUCTS = 0.1, 100


@kernel(fastmath={"reassoc", "contract"})
def bend_scores(
    s: FloatArray, p: FloatArray, direction: FloatArray, scores: FloatArray, shift: FloatArray, out: FloatArray
) -> FloatArray:
    """Fill out = direction + W t, t = scores + shift, W_i = s_i (diag p_i − p_i p_iᵀ); return Σ_i (W t)_i."""
    n, n_classes = p.shape
    sums = np.zeros(n_classes)
    for i in range(n):
        mean = 0.0
        for k in range(n_classes):
            mean += p[i, k] * (scores[i, k] + shift[k])
        for k in range(n_classes):
            t = s[i] * p[i, k] * (scores[i, k] + shift[k] - mean)
            sums[k] += t
            out[i, k] = direction[i, k] + t
    return sums


@kernel
def intercept_curvatures(s: FloatArray, p: FloatArray, own: FloatArray) -> FloatArray:
    """Σ_i s_i p_ik (1 − p_ik) plus the precision of each intercept."""
    out = own + 1e-300
    for i in range(p.shape[0]):
        for k in range(p.shape[1]):
            out[k] += s[i] * p[i, k] * (1.0 - p[i, k])
    return out


@kernel(inline="always", error_model="numpy")
def intercept_gap(slope, own, curvature):  # type: ignore[no-untyped-def]
    """What an error of an intercept's slope adds to the gap; without a penalty roughly, by balancing the classes."""
    return 0.5 * slope * slope / own if own > 0.0 else 2.0 * slope * slope / curvature


@kernel(error_model="numpy")
def conjugate_step(
    columns: Compressed,
    variance: FloatArray,
    s: FloatArray,
    p: FloatArray,
    rest: FloatArray,
    rest_scores: FloatArray,
    rest_shift: FloatArray,
    own: FloatArray,
    curvature: FloatArray,
    free: BoolArray,
    goal: float,
    step: FloatArray,
    step_scores: FloatArray,
) -> FloatArray:
    """Solve Newton's equations roughly: (I + W G) step + W 1 shiftᵀ = rest, and those of the intercepts.

    ``rest`` and ``rest_shift`` are the errors of A and of the intercepts' slopes, overwritten by what is left of them;
    ``rest_scores`` = G rest. ``own`` holds the precisions of the intercepts, ``free`` those that may move. Stops when
    the error is small beside that at the start, or when what is left means a gap of at most ``goal``. Returns the step
    of the intercepts.
    """
    n, n_classes = p.shape
    direction, scores, out = rest.copy(), rest_scores.copy(), np.empty_like(rest)
    shift, turn = np.zeros(n_classes), np.zeros(n_classes)
    rho = total_product(rest, rest_scores)
    for k in range(n_classes):
        if free[k]:
            turn[k] = rest_shift[k] / curvature[k]
            rho += rest_shift[k] * turn[k]
    enough = _FORCING * _FORCING * rho
    for i in range(n):
        for k in range(n_classes):
            step[i, k] = step_scores[i, k] = 0.0
    for _ in range(_MAX_PRODUCTS):
        sums = bend_scores(s, p, direction, scores, turn, out)
        bend = total_product(scores, out)
        for k in range(n_classes):
            sums[k] += own[k] * turn[k]
            bend += turn[k] * sums[k]
        if not bend > 0.0:
            break
        size = rho / bend
        add_scaled(size, direction, step)
        add_scaled(size, scores, step_scores)
        add_scaled(-size, out, rest)
        for k in range(n_classes):
            if free[k]:
                shift[k] += size * turn[k]
                rest_shift[k] -= size * sums[k]
        gram_times(columns, variance, rest, rest_scores)
        new = total_product(rest, rest_scores)
        gap = 0.5 * new
        for k in range(n_classes):
            if free[k]:
                new += rest_shift[k] * rest_shift[k] / curvature[k]
                gap += intercept_gap(rest_shift[k], own[k], curvature[k])
        if new <= enough or gap <= goal:
            break
        ratio = new / rho
        rho = new
        for i in range(n):
            for k in range(n_classes):
                direction[i, k] = rest[i, k] + ratio * direction[i, k]
                scores[i, k] = rest_scores[i, k] + ratio * scores[i, k]
        for k in range(n_classes):
            if free[k]:
                turn[k] = rest_shift[k] / curvature[k] + ratio * turn[k]
    return shift
