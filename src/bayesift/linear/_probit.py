"""Probit loss, its slope and its curvature for many margins at once, and the inverse of the slope.

With φ and Φ the normal density and distribution function, f(r) = −ln Φ(r) has the slope −h(r), h = φ/Φ, and the
curvature h (h + r), which falls from 1 far on the wrong side to 0 far on the right one. Everything comes from Mills'
ratio R(x) = Φ(−x)/φ(x), x ≥ 0: on the wrong side h = 1/R, on the right one Φ = 1 − φR. So nothing is lost in either
tail.
"""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._typing import FloatArray
from bayesift.linear._logistic import exp_negative, log1p_unit, log_positive

_HALF_LOG_TWO_PI = 0.9189385332046727
_INVERSE_ROOT_TWO_PI = 0.3989422804014327
#: From here on h − x is lost to rounding; the curvature is its series 1 − 1/x² + 6/x⁴.
_FAR = 200.0
#: Slopes below this count as none: t ln t is 0 to machine precision.
_LEAST_SLOPE = 1e-300
#: h(0), and a margin beyond which every slope is less than the least one.
_SLOPE_AT_ZERO, _LAST_MARGIN = 0.7978845608028654, 38.0
_NEWTON_STEPS, _HALF_THE_DIGITS = 60, 1e-8


@kernel(inline="always", error_model="numpy")
def mills_ratio(x):  # type: ignore[no-untyped-def]
    """Φ(−x)/φ(x) for x ≥ 0: (1 + x) R(x) as a polynomial of degree 22 in (x − 5)/(x + 5), right to 2e-15."""
    t = (x - 5.0) / (x + 5.0)
    q = -1.0539870642195888e-10
    q = q * t + 5.556113578871943e-09
    q = q * t + 5.8428645192198836e-09
    q = q * t - 6.397032492977483e-08
    q = q * t - 5.830387404193988e-08
    q = q * t + 4.727281703215773e-07
    q = q * t + 3.105190409672747e-07
    q = q * t - 3.2601909471744558e-06
    q = q * t - 1.680938559644101e-07
    q = q * t + 2.2699733019765333e-05
    q = q * t - 2.4810192232223972e-05
    q = q * t - 0.00013437053525601413
    q = q * t + 0.000457045399816937
    q = q * t + 1.9529724122490393e-05
    q = q * t - 0.00420129063974449
    q = q * t + 0.016348231419088973
    q = q * t - 0.03802659214815366
    q = q * t + 0.06150504582822419
    q = q * t - 0.06617760078139684
    q = q * t + 0.025072179302160283
    q = q * t + 0.07778159886879019
    q = q * t - 0.2294875382521213
    q = q * t + 1.1568486282918944
    return q / (1.0 + x)


@kernel(inline="always", error_model="numpy")
def loss_and_slope(r):  # type: ignore[no-untyped-def]
    """−ln Φ(r) and h(r) = φ(r)/Φ(r)."""
    x = abs(r)
    ratio = mills_ratio(x)
    density = _INVERSE_ROOT_TWO_PI * exp_negative(-0.5 * x * x)
    tail = density * ratio
    right = r > 0.0
    loss = log1p_unit(tail / (1.0 - tail)) if right else 0.5 * x * x + _HALF_LOG_TWO_PI - log_positive(ratio)
    return loss, density / (1.0 - tail) if right else 1.0 / ratio


@kernel(inline="always", error_model="numpy")
def curvature(r, h):  # type: ignore[no-untyped-def]
    """Curvature h (h + r) of the loss at r, where its slope is −h."""
    far = 1.0 / (r * r) if r < -_FAR else 0.0
    return 1.0 - far + 6.0 * far * far if r < -_FAR else h * (h + r)


@kernel(error_model="numpy", fastmath={"reassoc", "contract"})
def probit_terms(r: FloatArray, s: FloatArray, u: FloatArray, w: FloatArray) -> float:
    """Fill u = s h(r) and w = s h(r) (h(r) + r); return −Σ s ln Φ(r)."""
    total = 0.0
    for i in range(r.shape[0]):
        loss, h = loss_and_slope(r[i])
        u[i] = s[i] * h
        w[i] = s[i] * curvature(r[i], h)
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
