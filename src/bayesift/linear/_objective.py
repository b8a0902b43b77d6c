"""The objective, a feasible point of its dual, the gap between them and the KKT residual (MATH.md, section 1)."""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._sparse import add_columns, columns_dot
from bayesift._typing import FloatArray, UInt32Array
from bayesift.linear._loss import dual_part, loss_terms
from bayesift.linear._penalty import conjugate, penalty, violation


@kernel
def margins(
    indptr: UInt32Array, indices: UInt32Array, data: FloatArray, y: FloatArray, offset: FloatArray, b: FloatArray
) -> FloatArray:
    """r_i = y_i (o_i + δ_0 + x_iᵀδ), the intercept being the last entry of b."""
    r = offset + b[-1]
    add_columns(indptr, indices, data, b, r)
    return r * y


@kernel
def linear_scores(
    indptr: UInt32Array, indices: UInt32Array, data: FloatArray, beta: FloatArray, n_documents: int
) -> FloatArray:
    """β₀ + x_iᵀβ, the intercept being the last entry of beta."""
    z = np.full(n_documents, beta[-1])
    add_columns(indptr, indices, data, beta, z)
    return z


@kernel
def slopes(
    indptr: UInt32Array, indices: UInt32Array, data: FloatArray, y: FloatArray, u: FloatArray, c: FloatArray
) -> None:
    """Fill c = Xᵀ(y∘u), the intercept's sum last."""
    v = y * u
    columns_dot(indptr, indices, data, v, c)
    c[-1] = v.sum()


@kernel
def kkt_residual(
    c: FloatArray, b: FloatArray, l1: FloatArray, l2: FloatArray, low: FloatArray, high: FloatArray
) -> float:
    """Largest distance of −∇loss to the subdifferential of the penalty."""
    worst = 0.0
    for j in range(b.shape[0]):
        worst = max(worst, violation(c[j], b[j], l1[j], l2[j], low[j], high[j]))
    return worst


@kernel
def balance(y: FloatArray, u: FloatArray) -> tuple[float, float]:
    """Scale u down in the class with the larger sum, so that Σ y_i u_i = 0; return the two factors used."""
    plus = 0.0
    minus = 0.0
    for i in range(y.shape[0]):
        if y[i] > 0.0:
            plus += u[i]
        else:
            minus += u[i]
    if plus > minus:
        return minus / plus, 1.0
    if minus > plus:
        return 1.0, plus / minus
    return 1.0, 1.0


@kernel
def feasible_scale(c: FloatArray, l1: FloatArray, l2: FloatArray, low: FloatArray, high: FloatArray) -> float:
    """The largest factor t ≤ 1 for which every t c_j is a slope of its penalty (0: an unpenalised slope is not 0)."""
    t = 1.0
    for j in range(c.shape[0]):
        if l2[j] == 0.0:
            excess = c[j] if high[j] > 0.0 else 0.0
            if low[j] < 0.0:
                excess = max(excess, -c[j])
            if excess > l1[j]:
                t = min(t, l1[j] / excess)
    return t


@kernel
def dual_objective(
    link: int,
    indptr: UInt32Array,
    indices: UInt32Array,
    data: FloatArray,
    y: FloatArray,
    s: FloatArray,
    offset: FloatArray,
    u: FloatArray,
    r: FloatArray,
    c: FloatArray,
    l1: FloatArray,
    l2: FloatArray,
    low: FloatArray,
    high: FloatArray,
) -> float:
    """D at the feasible point nearest to u by scaling; −∞ where no cheap feasible point exists.

    ``r`` are the margins that u comes from. ``c`` holds Xᵀ(y∘u) on entry and may be changed to the slopes of the
    rebalanced point.
    """
    plus, minus = 1.0, 1.0
    last = c.shape[0] - 1
    if l1[last] == 0.0 and l2[last] == 0.0 and low[last] < 0.0 and high[last] > 0.0:
        plus, minus = balance(y, u)
        if plus != 1.0 or minus != 1.0:
            v = np.empty_like(u)
            for i in range(y.shape[0]):
                v[i] = y[i] * u[i] * (plus if y[i] > 0.0 else minus)
            columns_dot(indptr, indices, data, v, c)
        c[last] = 0.0
    t = feasible_scale(c, l1, l2, low, high)
    if t == 0.0:
        return -np.inf
    value = dual_part(link, y, s, offset, u, r, plus * t, minus * t)
    for j in range(c.shape[0]):
        if l2[j] > 0.0:
            value -= conjugate(t * c[j], l1[j], l2[j], low[j], high[j])
    return value


@kernel
def certificate(
    link: int,
    indptr: UInt32Array,
    indices: UInt32Array,
    data: FloatArray,
    y: FloatArray,
    s: FloatArray,
    offset: FloatArray,
    b: FloatArray,
    l1: FloatArray,
    l2: FloatArray,
    low: FloatArray,
    high: FloatArray,
) -> tuple[float, float, float]:
    """Primal objective, dual objective and KKT residual at δ = b (intercept last)."""
    r = margins(indptr, indices, data, y, offset, b)
    u = np.empty_like(r)
    w = np.empty_like(r)
    primal = loss_terms(link, r, s, u, w) + penalty(b, l1, l2)
    c = np.empty(b.shape[0])
    slopes(indptr, indices, data, y, u, c)
    residual = kkt_residual(c, b, l1, l2, low, high)
    dual = dual_objective(link, indptr, indices, data, y, s, offset, u, r, c, l1, l2, low, high)
    return primal, dual, residual
