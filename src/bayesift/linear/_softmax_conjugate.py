"""Newton's equations of the softmax model by conjugate gradients among the documents.

A step of the coefficients is V Xᵀ a with a row of a for each document, and the inner product of two of them, in units
of the prior's standard deviations, is aᵀ G a with G = X V Xᵀ: one product with G serves for a direction. The intercepts
follow every direction at once, so that no curvature is smaller than that of the prior.
"""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._typing import BoolArray, FloatArray
from bayesift.linear._softmax_gram import add_scaled, gram_times, total_product
from bayesift.linear._softmax_objective import solve_small
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
def following(
    s: FloatArray, p: FloatArray, scores: FloatArray, bend: FloatArray, free: BoolArray, out: FloatArray
) -> FloatArray:
    """Give the step of the free intercepts that belongs to a step of the scores; ``bend`` is their curvature."""
    sums = bend_scores(s, p, scores, scores, np.zeros(p.shape[1]), out)
    for k in range(sums.shape[0]):
        sums[k] = -sums[k] if free[k] else 0.0
    return solve_small(bend, sums)


@kernel(error_model="numpy")
def conjugate_step(
    columns: Compressed,
    variance: FloatArray,
    s: FloatArray,
    p: FloatArray,
    rest: FloatArray,
    rest_scores: FloatArray,
    bend: FloatArray,
    free: BoolArray,
    goal: float,
    step: FloatArray,
    step_scores: FloatArray,
) -> FloatArray:
    """Solve Newton's equations (I + W G) step + W 1 shiftᵀ = rest roughly, the intercepts at their optimum.

    ``rest`` is the error of A, overwritten by what is left of it, and ``rest_scores`` = G rest. Stops when the error is
    small beside that at the start, or when what is left means a gap of at most ``goal``. Returns the intercepts' shift.
    """
    n, n_classes = p.shape
    direction, scores, out = rest.copy(), rest_scores.copy(), np.empty_like(rest)
    rho = total_product(rest, rest_scores)
    enough = max(_FORCING * _FORCING * rho, 2.0 * goal)
    for i in range(n):
        for k in range(n_classes):
            step[i, k] = step_scores[i, k] = 0.0
    for _ in range(_MAX_PRODUCTS):
        bend_scores(s, p, direction, scores, following(s, p, scores, bend, free, out), out)
        curvature = total_product(scores, out)
        if not curvature > 0.0:
            break
        size = rho / curvature
        add_scaled(size, direction, step)
        add_scaled(size, scores, step_scores)
        add_scaled(-size, out, rest)
        gram_times(columns, variance, rest, rest_scores)
        new = total_product(rest, rest_scores)
        if new <= enough:
            break
        ratio = new / rho
        rho = new
        for i in range(n):
            for k in range(n_classes):
                direction[i, k] = rest[i, k] + ratio * direction[i, k]
                scores[i, k] = rest_scores[i, k] + ratio * scores[i, k]
    return following(s, p, step_scores, bend, free, out)
