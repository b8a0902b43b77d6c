"""Newton's equations of the softmax model by conjugate gradients among the documents.

A step of the coefficients is V Xᵀ a with a row of a for each document, and the inner product of two of them, in units
of the prior's standard deviations, is aᵀ G a with G = X V Xᵀ: one product with G serves for a direction. The intercepts
follow every direction at once, so that no curvature is smaller than that of the prior and no step gathers numbers that
no score shows.
"""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._sparse import Compressed, inner
from bayesift._typing import BoolArray, FloatArray
from bayesift.linear._softmax_gram import gram_times
from bayesift.linear._softmax_objective import solve

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
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Solve Newton's equations (I + W G) step + W 1 shiftᵀ = rest roughly, the intercepts at their optimum.

    ``rest`` is the error of A, overwritten by what is left of it, ``rest_scores`` = G rest, and ``bend`` the curvature
    of the intercepts. Stops when the error is small beside that at the start, or when what is left means a gap of at
    most ``goal``. Returns the step, its scores and the shift of the intercepts.
    """
    out, none = np.empty_like(rest), np.zeros(p.shape[1])

    def following(scores: FloatArray) -> FloatArray:
        """Return the step of the intercepts that belongs to a step of the scores."""
        sums = bend_scores(s, p, scores, scores, none, out)
        return solve(bend, np.where(free, -sums, 0.0))

    direction, scores = rest.copy(), rest_scores.copy()
    step, step_scores = np.zeros_like(rest), np.zeros_like(rest)
    rho = inner(rest.ravel(), rest_scores.ravel())
    enough = max(_FORCING**2 * rho, 2.0 * goal)
    for _ in range(_MAX_PRODUCTS):
        bend_scores(s, p, direction, scores, following(scores), out)
        curvature = inner(scores.ravel(), out.ravel())
        if not curvature > 0.0:
            break
        size = rho / curvature
        step += size * direction
        step_scores += size * scores
        rest -= size * out
        gram_times(columns, variance, rest, rest_scores)
        new = inner(rest.ravel(), rest_scores.ravel())
        if new <= enough:
            break
        direction *= new / rho
        direction += rest
        scores *= new / rho
        scores += rest_scores
        rho = new
    return step, step_scores, following(step_scores)
