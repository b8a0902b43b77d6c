"""Penalties, objectives, feasible points of their duals, the gaps between them and the KKT residual.

The derivation is in ``docs/symbols.md``. A prior on coefficient j arrives as ``kind`` (0 none, 1 Laplace, 2 Gaussian,
3 fixed), ``weight`` (Laplace rate λ_j or Gaussian precision 1/v_j), ``mode`` and ``sign`` (−1, 0, +1). Solvers work
with the departure δ_j = β_j − m_j, whose penalty is l1_j |δ_j| + ½ l2_j δ_j² on low_j ≤ δ_j ≤ high_j; the intercept is
the last entry of every array.

For the softmax loss and any rows Q of probabilities, with C = Xᵀ(s∘(Y − Q)),

    D(Q) = −Σ_i s_i Σ_k q_ik ln q_ik − Σ_i s_i Σ_k (y_ik − q_ik) o_ik − Σ_jk p_jk*(C_jk) ≤ min F.

The candidate is the model's own P. Two steps make it feasible, both of the form q_i = y_i + t_i (p_i − y_i) with
0 ≤ t_i ≤ 1, which leaves it a probability: one factor for each class, for intercepts without a penalty, and one for all
documents, for Laplace priors.
"""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._sparse import Compressed, add_columns, columns_dot
from bayesift._special_kernels import log_positive
from bayesift._typing import AnyArray, BoolArray, FloatArray, Int64Array
from bayesift.linear._losses import BinarySample, class_scores, class_slopes, dual_part, loss_terms, softmax_terms
from bayesift.priors import FIXED, GAUSSIAN, LAPLACE

#: The arrays l1, l2, low and high.
Penalties = tuple[FloatArray, FloatArray, FloatArray, FloatArray]


def penalty_arrays(kind: AnyArray, weight: FloatArray, sign: AnyArray) -> Penalties:
    """Turn kinds, weights and signs into the arrays l1, l2, low and high."""
    fixed = kind == FIXED
    l1, l2 = weight * (kind == LAPLACE), weight * (kind == GAUSSIAN)
    low, high = np.full(kind.size, -np.inf), np.full(kind.size, np.inf)
    low[fixed | (sign > 0)] = 0.0
    high[fixed | (sign < 0)] = 0.0
    return l1, l2, low, high


def proximal_point(a: float, h: float, l1: float, l2: float, low: float, high: float) -> float:
    """Minimise ½ h x² − a x + l1 |x| + ½ l2 x² over low ≤ x ≤ high."""
    if a > l1:
        x = (a - l1) / (h + l2)
    elif a < -l1:
        x = (a + l1) / (h + l2)
    else:
        x = 0.0
    return min(max(x, low), high)


#: The same within kernels.
prox = kernel(inline="always", error_model="numpy")(proximal_point)


@kernel(inline="always")
def violation(c, b, l1, l2, low, high):  # type: ignore[no-untyped-def]
    """Distance of c = −∂loss/∂δ to the subdifferential of the penalty at δ = b."""
    c -= l2 * b
    if b > 0.0:
        return abs(c - l1)
    if b < 0.0:
        return abs(c + l1)
    up = max(c - l1, 0.0) if high > 0.0 else 0.0
    down = max(-c - l1, 0.0) if low < 0.0 else 0.0
    return max(up, down)


@kernel(inline="always")
def conjugate(c, l1, l2, low, high):  # type: ignore[no-untyped-def]
    """p*(c): infinite where c is no slope of the penalty."""
    excess = max(c - l1, 0.0) if high > 0.0 else 0.0
    if low < 0.0:
        excess = max(excess, -c - l1)
    if excess == 0.0:
        return 0.0
    if l2 == 0.0:
        return np.inf
    return 0.5 * excess * excess / l2


@kernel
def penalty(b: FloatArray, l1: FloatArray, l2: FloatArray) -> float:
    """Σ_j l1_j |δ_j| + ½ l2_j δ_j²."""
    total = 0.0
    for j in range(b.shape[0]):
        if b[j] != 0.0:
            total += l1[j] * abs(b[j]) + 0.5 * l2[j] * b[j] * b[j]
    return total


def margins(columns: Compressed, sample: BinarySample, b: FloatArray) -> FloatArray:
    """r_i = y_i (o_i + δ_0 + x_iᵀδ), the intercept being the last entry of b."""
    y, _, offset = sample
    r = offset + b[-1]
    add_columns(*columns, b, r)
    r *= y
    return r


def linear_scores(columns: Compressed, beta: FloatArray, n_documents: int) -> FloatArray:
    """β₀ + x_iᵀβ, the intercept being the last entry of beta."""
    z = np.full(n_documents, beta[-1])
    add_columns(*columns, beta, z)
    return z


def slopes(columns: Compressed, y: FloatArray, u: FloatArray, c: FloatArray) -> None:
    """Fill c = Xᵀ(y∘u), the intercept's sum last."""
    v = y * u
    columns_dot(*columns, v, c)
    c[-1] = v.sum()


@kernel
def kkt_residual(c: FloatArray, b: FloatArray, prior: Penalties) -> float:
    """Largest distance of −∇loss to the subdifferential of the penalty."""
    l1, l2, low, high = prior
    worst = 0.0
    for j in range(b.shape[0]):
        worst = max(worst, violation(c[j], b[j], l1[j], l2[j], low[j], high[j]))
    return worst


@kernel
def class_sums(y: FloatArray, u: FloatArray) -> tuple[float, float]:
    """Σ u over the documents of the category, and over the others."""
    plus = 0.0
    minus = 0.0
    for i in range(y.shape[0]):
        if y[i] > 0.0:
            plus += u[i]
        else:
            minus += u[i]
    return plus, minus


def balance(y: FloatArray, u: FloatArray) -> tuple[float, float]:
    """Scale u down in the class with the larger sum, so that Σ y_i u_i = 0; return the two factors used."""
    plus, minus = class_sums(y, u)
    if plus > minus:
        return minus / plus, 1.0
    if minus > plus:
        return 1.0, plus / minus
    return 1.0, 1.0


@kernel
def feasible_scale(c: FloatArray, prior: Penalties) -> float:
    """The largest factor t ≤ 1 for which every t c_j is a slope of its penalty (0: an unpenalised slope is not 0)."""
    l1, l2, low, high = prior
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
def conjugates(c: FloatArray, scale: float, prior: Penalties) -> float:
    """Σ_j p_j*(scale × c_j) over the coefficients with a Gaussian prior; it is 0 for the others."""
    l1, l2, low, high = prior
    total = 0.0
    for j in range(c.shape[0]):
        if l2[j] > 0.0:
            total += conjugate(scale * c[j], l1[j], l2[j], low[j], high[j])
    return total


def dual_objective(
    link: int, columns: Compressed, sample: BinarySample, u: FloatArray, r: FloatArray, c: FloatArray, prior: Penalties
) -> float:
    """D at the feasible point nearest to u by scaling; −∞ where no cheap feasible point exists.

    ``r`` are the margins that u comes from. ``c`` holds Xᵀ(y∘u) on entry and may be changed to the slopes of the
    rebalanced point.
    """
    y, _, _ = sample
    l1, l2, low, high = prior
    plus, minus = 1.0, 1.0
    last = c.shape[0] - 1
    if l1[last] == 0.0 and l2[last] == 0.0 and low[last] < 0.0 and high[last] > 0.0:
        plus, minus = balance(y, u)
        if plus != 1.0 or minus != 1.0:
            columns_dot(*columns, np.where(y > 0.0, plus, -minus) * u, c)
        c[last] = 0.0
    t = feasible_scale(c, prior)
    if t == 0.0:
        return -np.inf
    value = dual_part(link, sample, u, r, plus * t, minus * t)
    return value - conjugates(c, t, prior) if l2.any() else value


@np.errstate(all="ignore")
def certificate(
    link: int, columns: Compressed, sample: BinarySample, b: FloatArray, prior: Penalties
) -> tuple[float, float, float]:
    """Primal objective, dual objective and KKT residual at δ = b (intercept last)."""
    y, s, _ = sample
    r = margins(columns, sample, b)
    u, w = np.empty_like(r), np.empty_like(r)
    primal = loss_terms(link, r, s, u, w) + penalty(b, prior[0], prior[1])
    c = np.empty(b.shape[0])
    slopes(columns, y, u, c)
    residual = kkt_residual(c, b, prior)
    dual = dual_objective(link, columns, sample, u, r, c, prior)
    return primal, dual, residual


def flattened(prior: Penalties) -> Penalties:
    """Return the tables of features by classes as plain rows of numbers, for kernels that do not care."""
    l1, l2, low, high = prior
    return l1.ravel(), l2.ravel(), low.ravel(), high.ravel()


def open_intercepts(prior: Penalties) -> BoolArray:
    """Tell which intercepts have neither a penalty nor a bound: their slopes must vanish at a dual point."""
    l1, l2, low, high = prior
    found: BoolArray = (l1[-1] == 0.0) & (l2[-1] == 0.0) & (low[-1] < 0.0) & (high[-1] > 0.0)
    return found


def solve_small(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """Solve a small linear system; not a number where it is singular."""
    try:
        solution: FloatArray = np.linalg.solve(matrix, right).astype(np.float64, copy=False)
    except np.linalg.LinAlgError:
        return np.full_like(right, np.nan)
    return solution


def balance_classes(codes: Int64Array, r: FloatArray, free: BoolArray) -> FloatArray:
    """Return a factor t_c ≤ 1 for the documents of each class c that makes Σ_i r_ik = 0 for every free class k."""
    return balance_flows(class_flows(codes, r), free)


def class_flows(codes: Int64Array, r: FloatArray) -> FloatArray:
    """Return Σ_{i in c} r_ik, a row for each k."""
    return np.array([np.bincount(codes, column, r.shape[1]) for column in r.T])


def balance_flows(flows: FloatArray, free: BoolArray) -> FloatArray:
    """Return the factors of :func:`balance_classes` from :func:`class_flows`.

    With the flows M_ck = −Σ_{i in c} r_ik from class c to class k the equations are
    t_k Σ_{l≠k} M_kl = Σ_{c≠k} t_c M_ck: what leaves a class must enter it, as in the stationary law of a Markov chain.
    The greatest factor is 1; where there is no solution all are 0.
    """
    n_classes = free.size
    system = flows.copy()
    right = np.where(free, 0.0, 1.0)
    system[~free] = np.eye(n_classes)[~free]
    if free.all():
        # The equations of all classes sum to zero: one of them gives way to a scale.
        system[0] = right[0] = 1.0
    size = np.abs(system).max(axis=1)
    if not size.all():
        return np.zeros(n_classes)
    t = solve_small(system / size[:, None], right / size)
    if not (np.isfinite(t).all() and t.min() >= 0.0 < t.max()):
        return np.zeros(n_classes)
    return t / t.max()


@kernel(error_model="numpy", fastmath={"reassoc", "contract"})
def class_entropy(codes: Int64Array, s: FloatArray, offset: FloatArray, r: FloatArray, t: FloatArray) -> float:
    """−Σ_i {Σ_k t r_ik o_ik + s_i Σ_k q_ik ln q_ik} for the residuals r = s∘(Y − Q) times their class's factor t."""
    total = 0.0
    for i in range(r.shape[0]):
        own = codes[i]
        f = t[own]
        share = f / s[i] if s[i] > 0.0 else 0.0
        for k in range(r.shape[1]):
            # Below the smallest normal number q ln q is 0 to machine precision
            q = (1.0 if k == own else 0.0) - share * r[i, k]
            total -= f * r[i, k] * offset[i, k] + s[i] * q * log_positive(max(q, 1e-300))
    return total


def softmax_dual_objective(
    columns: Compressed,
    codes: Int64Array,
    s: FloatArray,
    offset: FloatArray,
    r: FloatArray,
    c: FloatArray,
    prior: Penalties,
) -> float:
    """D at the feasible point nearest to Q = Y − r/s by scaling, for c = Xᵀr; −∞ where no cheap one exists."""
    free = open_intercepts(prior)
    t = np.ones(free.size)
    if free.any():
        t = balance_classes(codes, r, free)
        c = np.empty_like(c)
        class_slopes(columns, t[codes][:, None] * r, c)
        c[-1, free] = 0.0
    flat = flattened(prior)
    scale = feasible_scale(c.ravel(), flat) if t.any() else 0.0
    if scale == 0.0:
        return -np.inf
    return float(class_entropy(codes, s, offset, r, scale * t) - conjugates(c.ravel(), scale, flat))


def softmax_certificate(
    columns: Compressed, codes: Int64Array, s: FloatArray, offset: FloatArray, b: FloatArray, prior: Penalties
) -> tuple[float, float, float]:
    """Primal objective, dual objective and KKT residual at δ = b (intercepts last)."""
    flat = flattened(prior)
    z, p, r = np.empty((3, *offset.shape))
    class_scores(columns, b, offset, z)
    primal = softmax_terms(z, codes, s, p, r) + penalty(b.ravel(), *flat[:2])
    c = np.empty_like(b)
    class_slopes(columns, r, c)
    residual = kkt_residual(c.ravel(), b.ravel(), flat)
    return primal, softmax_dual_objective(columns, codes, s, offset, r, c, prior), residual
