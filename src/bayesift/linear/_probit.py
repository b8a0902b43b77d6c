"""Probit loss, its slope and its curvature for many margins at once, and the inverse of the slope.

With φ and Φ the normal density and distribution function, f(r) = −ln Φ(r) has the slope −h(r), h = φ/Φ, and the
curvature h (h + r), which falls from 1 far on the wrong side to 0 far on the right one.
"""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._special_kernels import log_positive, probit_curvature, probit_loss_and_slope
from bayesift._typing import FloatArray

#: Slopes below this count as none: t ln t is 0 to machine precision.
_LEAST_SLOPE = 1e-300
#: h(0), and a margin beyond which every slope is less than the least one.
_SLOPE_AT_ZERO, _LAST_MARGIN = 0.7978845608028654, 38.0
_NEWTON_STEPS, _HALF_THE_DIGITS = 60, 1e-8


@kernel(error_model="numpy", fastmath={"reassoc", "contract"})
def probit_terms(r: FloatArray, s: FloatArray, u: FloatArray, w: FloatArray) -> float:
    """Fill u = s h(r) and w = s h(r) (h(r) + r); return −Σ s ln Φ(r)."""
    total = 0.0
    for i in range(r.shape[0]):
        loss, h = probit_loss_and_slope(r[i])
        u[i] = s[i] * h
        w[i] = s[i] * probit_curvature(r[i], h)
        total += s[i] * loss
    return total


@kernel(error_model="numpy", fastmath={"reassoc", "contract"})
def margins_of_slopes(t: FloatArray, r: FloatArray, h: FloatArray, w: FloatArray) -> None:
    """Overwrite the guesses r by the margins with h(r) = t, t > 0; h and w are room for as many numbers.

    Left of 0, h is convex and Newton's method climbs to the root, which lies above −t; right of 0, ln h is concave and
    it falls to the root, after at most one step across it.
    """
    ones = np.ones(t.shape[0])
    for _ in range(_NEWTON_STEPS):
        for i in range(t.shape[0]):
            left = t[i] >= _SLOPE_AT_ZERO
            r[i] = min(max(r[i], -t[i] if left else 0.0), 0.0 if left else _LAST_MARGIN)
        probit_terms(r, ones, h, w)
        moved = 0.0
        for i in range(t.shape[0]):
            by_log = log_positive(max(h[i] / t[i], _LEAST_SLOPE)) / (h[i] + r[i])
            step = (h[i] - t[i]) / w[i] if t[i] >= _SLOPE_AT_ZERO else by_log
            change = step / (1.0 + abs(r[i]))
            r[i] += step
            moved += change * change
        # What is computed from the margins is flat at the root: half of their digits are all of its own.
        if moved <= _HALF_THE_DIGITS * _HALF_THE_DIGITS:
            return


@kernel(error_model="numpy", fastmath={"reassoc", "contract"})
def probit_dual(
    y: FloatArray, s: FloatArray, offset: FloatArray, u: FloatArray, r: FloatArray, plus: float, minus: float
) -> float:
    """−Σ_i {y_i u_i o_i + s_i f*(−t_i)}, t = u/s, for u scaled by one factor in each class.

    f*(−t) = −t ρ − f(ρ) at the margin ρ with h(ρ) = t; the margins r at hand are the first guess.
    """
    n = y.shape[0]
    t, margin, h, w = np.empty(n), r.copy(), np.empty(n), np.empty(n)
    for i in range(n):
        v = u[i] * (plus if y[i] > 0.0 else minus)
        t[i] = max(v / s[i] if s[i] > 0.0 else 1.0, _LEAST_SLOPE)
    margins_of_slopes(t, margin, h, w)
    total = probit_terms(margin, s, h, w)
    for i in range(n):
        total += s[i] * t[i] * (margin[i] - y[i] * offset[i])
    return total
