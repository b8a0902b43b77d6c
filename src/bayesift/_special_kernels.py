"""Special functions of one number for compiled loops, where numba has none or a slow one.

The exponential and the logarithm are written as polynomials so that the compiler can handle several numbers per
instruction; both are right to a few units in the last place over the whole range. What the probit loss f(r) = −ln Φ(r)
needs comes from Mills' ratio R(x) = Φ(−x)/φ(x), x ≥ 0, with φ and Φ the normal density and distribution function: on
the wrong side h = φ/Φ = 1/R, on the right one Φ = 1 − φR. So nothing is lost in either tail.
"""

from __future__ import annotations

import math

import numpy as np

from bayesift._kernel import kernel

_LOG2E = 1.4426950408889634
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_LOWEST = -708.0
_HALF_LOG_TWO_PI = 0.9189385332046727
_INVERSE_ROOT_TWO_PI = 0.3989422804014327
#: From here on h − x is lost to rounding; the curvature of the probit loss is its series 1 − 1/x² + 6/x⁴.
_FAR = 200.0
#: From here on the asymptotic series of the gamma function and its derivatives have 14 digits.
_LARGE = 10.0


@kernel(inline="always", error_model="numpy")
def exp_negative(x):  # type: ignore[no-untyped-def]
    """e^x for x ≤ 0; arguments below −708 count as −708 (the smallest normal number)."""
    x = max(x, _LOWEST)
    k = np.floor(x * _LOG2E + 0.5)
    f = (x - k * _LN2_HIGH) - k * _LN2_LOW
    # e^f on |f| ≤ ln2/2 by its Taylor sum of degree 13: remainder below 1e-17
    q = 1.0 / 6227020800.0
    q = q * f + 1.0 / 479001600.0
    q = q * f + 1.0 / 39916800.0
    q = q * f + 1.0 / 3628800.0
    q = q * f + 1.0 / 362880.0
    q = q * f + 1.0 / 40320.0
    q = q * f + 1.0 / 5040.0
    q = q * f + 1.0 / 720.0
    q = q * f + 1.0 / 120.0
    q = q * f + 1.0 / 24.0
    q = q * f + 1.0 / 6.0
    q = q * f + 0.5
    q = q * f + 1.0
    q = q * f + 1.0
    power = np.int64((np.int64(k) + 1023) << 52)
    return q * power.view(np.float64)


@kernel(inline="always", error_model="numpy")
def log1p_unit(e):  # type: ignore[no-untyped-def]
    """ln(1 + e) for 0 ≤ e ≤ 1, as 2 artanh(e / (2 + e))."""
    t = e / (2.0 + e)
    q = t * t
    a = 1.0 / 33.0
    a = a * q + 1.0 / 31.0
    a = a * q + 1.0 / 29.0
    a = a * q + 1.0 / 27.0
    a = a * q + 1.0 / 25.0
    a = a * q + 1.0 / 23.0
    a = a * q + 1.0 / 21.0
    a = a * q + 1.0 / 19.0
    a = a * q + 1.0 / 17.0
    a = a * q + 1.0 / 15.0
    a = a * q + 1.0 / 13.0
    a = a * q + 1.0 / 11.0
    a = a * q + 1.0 / 9.0
    a = a * q + 1.0 / 7.0
    a = a * q + 1.0 / 5.0
    a = a * q + 1.0 / 3.0
    a = a * q + 1.0
    return 2.0 * t * a


@kernel(inline="always", error_model="numpy")
def log_positive(x):  # type: ignore[no-untyped-def]
    """Logarithm of a normal x > 0: exponent apart, then 2 artanh((m − 1) / (m + 1)) of the mantissa m in [√½, √2)."""
    bits = np.float64(x).view(np.int64)
    # Adding the distance from √½ to 1 in the last places carries mantissas above √2 into the exponent
    k = ((bits + 0x95F619980C434) >> 52) - 1023
    m = np.int64(bits - (k << 52)).view(np.float64)
    t = (m - 1.0) / (m + 1.0)
    q = t * t
    a = 1.0 / 21.0
    a = a * q + 1.0 / 19.0
    a = a * q + 1.0 / 17.0
    a = a * q + 1.0 / 15.0
    a = a * q + 1.0 / 13.0
    a = a * q + 1.0 / 11.0
    a = a * q + 1.0 / 9.0
    a = a * q + 1.0 / 7.0
    a = a * q + 1.0 / 5.0
    a = a * q + 1.0 / 3.0
    return (2.0 * t + 2.0 * t * q * a) + k * 0.6931471805599453


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
def probit_loss_and_slope(r):  # type: ignore[no-untyped-def]
    """−ln Φ(r) and h(r) = φ(r)/Φ(r)."""
    x = abs(r)
    ratio = mills_ratio(x)
    density = _INVERSE_ROOT_TWO_PI * exp_negative(-0.5 * x * x)
    tail = density * ratio
    right = r > 0.0
    loss = log1p_unit(tail / (1.0 - tail)) if right else 0.5 * x * x + _HALF_LOG_TWO_PI - log_positive(ratio)
    return loss, density / (1.0 - tail) if right else 1.0 / ratio


@kernel(inline="always", error_model="numpy")
def probit_curvature(r, h):  # type: ignore[no-untyped-def]
    """Curvature h (h + r) of the loss at r, where its slope is −h."""
    far = 1.0 / (r * r) if r < -_FAR else 0.0
    return 1.0 - far + 6.0 * far * far if r < -_FAR else h * (h + r)


@kernel
def digamma(x: float) -> float:
    """Return ψ(x), the derivative of ln Γ, for x > 0."""
    shift = 0.0
    while x < _LARGE:
        shift -= 1.0 / x
        x += 1.0
    square = 1.0 / (x * x)
    series = 1 / 240 - square * (1 / 132 - square * 691 / 32760)
    series = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square * series)))
    return shift + math.log(x) - 0.5 / x - series


@kernel
def trigamma(x: float) -> float:
    """Return ψ′(x) for x > 0."""
    shift = 0.0
    while x < _LARGE:
        shift += 1.0 / (x * x)
        x += 1.0
    square = 1.0 / (x * x)
    series = square * (
        1 / 6 - square * (1 / 30 - square * (1 / 42 - square * (1 / 30 - square * (5 / 66 - square * 691 / 2730))))
    )
    return shift + (1.0 + 0.5 / x + series) / x


@kernel
def _stirling_rest(z: float) -> float:
    """What Stirling's formula leaves of ln Γ(z) for z ≥ 10."""
    square = 1.0 / (z * z)
    return (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188)))) / z


@kernel
def log_rising(a: float, x: float) -> float:
    """Return ln Γ(a+x) − ln Γ(a) for a > 0 and x ≥ 0; keeps its digits where a is large."""
    if a < _LARGE:
        return math.lgamma(a + x) - math.lgamma(a)
    stirling = (a - 0.5) * math.log1p(x / a) + x * math.log(a + x) - x
    return stirling + _stirling_rest(a + x) - _stirling_rest(a)
