"""Logistic loss, its slope and its curvature for many margins at once.

The exponential and the logarithm are written as polynomials so that the compiler can handle several margins per
instruction; both are right to a few units in the last place over the whole range.
"""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._typing import FloatArray

_LOG2E = 1.4426950408889634
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_LOWEST = -708.0


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


@kernel(error_model="numpy", fastmath={"reassoc", "contract"})
def logistic_terms(r: FloatArray, s: FloatArray, u: FloatArray, w: FloatArray) -> float:
    """Fill u = s σ(−r) and w = s σ(r) σ(−r); return Σ s ln(1 + e^−r)."""
    total = 0.0
    for i in range(r.shape[0]):
        a = abs(r[i])
        e = exp_negative(-a)
        small = 1.0 / (1.0 + e)
        tail = e * small
        u[i] = s[i] * (tail if r[i] > 0.0 else small)
        w[i] = s[i] * tail * small
        total += s[i] * (log1p_unit(e) + max(-r[i], 0.0))
    return total


@kernel(error_model="numpy", fastmath={"reassoc", "contract"})
def logistic_dual(y: FloatArray, s: FloatArray, offset: FloatArray, u: FloatArray, plus: float, minus: float) -> float:
    """−Σ_i {y_i u_i o_i + s_i [t ln t + (1 − t) ln(1 − t)]} for u scaled by one factor in each class."""
    total = 0.0
    for i in range(y.shape[0]):
        v = u[i] * (plus if y[i] > 0.0 else minus)
        t = v / s[i] if s[i] > 0.0 else 0.5
        # Below the smallest normal number t ln t is 0 to machine precision
        low = max(t, 1e-300)
        high = max(1.0 - t, 1e-300)
        total -= y[i] * v * offset[i] + s[i] * (t * log_positive(low) + (1.0 - t) * log_positive(high))
    return total
