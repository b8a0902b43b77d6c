"""Logistic loss, its slope and its curvature for many margins at once."""

from __future__ import annotations

from bayesift._kernel import kernel
from bayesift._special_kernels import exp_negative, log1p_unit, log_positive
from bayesift._typing import FloatArray


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
