"""The softmax objective, a feasible point of its dual, the gap and the KKT residual (MATH.md, section 2).

For any rows Q of probabilities, with C = Xᵀ(s∘(Y − Q)),

    D(Q) = −Σ_i s_i Σ_k q_ik ln q_ik − Σ_i s_i Σ_k (y_ik − q_ik) o_ik − Σ_jk p_jk*(C_jk) ≤ min F.

The candidate is the model's own P. Two steps make it feasible, both of the form q_i = y_i + t_i (p_i − y_i) with
0 ≤ t_i ≤ 1, which leaves it a probability: one factor for each class, for intercepts without a penalty, and one for all
documents, for Laplace priors.
"""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._typing import BoolArray, FloatArray, Int64Array
from bayesift.linear._logistic import log_positive
from bayesift.linear._objective import feasible_scale, kkt_residual
from bayesift.linear._penalty import Penalties, conjugate, penalty
from bayesift.linear._softmax import class_scores, class_slopes, softmax_terms
from bayesift.linear._sparse import Compressed


@kernel
def open_intercepts(prior: Penalties) -> BoolArray:
    """Which classes' intercepts have neither a penalty nor a bound: their slopes must vanish at a dual point."""
    l1, l2, low, high = prior
    out = np.empty(l1.shape[1], np.bool_)
    for k in range(out.shape[0]):
        out[k] = l1[-1, k] == 0.0 and l2[-1, k] == 0.0 and low[-1, k] < 0.0 and high[-1, k] > 0.0
    return out


@kernel(error_model="numpy")
def balance_classes(codes: Int64Array, r: FloatArray, free: BoolArray) -> FloatArray:
    """Give a factor t_c ≤ 1 for the documents of each class c that makes Σ_i r_ik = 0 for every free class k.

    With the flows M_ck = −Σ_{i in c} r_ik from class c to class k the equations are
    t_k Σ_{l≠k} M_kl = Σ_{c≠k} t_c M_ck: what leaves a class must enter it, as in the stationary law of a Markov chain.
    The greatest factor is 1; where there is no solution all are 0.
    """
    n_classes = r.shape[1]
    system = np.zeros((n_classes, n_classes))
    right = np.zeros(n_classes)
    for i in range(r.shape[0]):
        for k in range(n_classes):
            system[k, codes[i]] += r[i, k]
    all_free = True
    for k in range(n_classes):
        if not free[k]:
            all_free = False
            right[k] = 1.0
            for c in range(n_classes):
                system[k, c] = 1.0 if c == k else 0.0
    if all_free:
        # The equations of all classes sum to zero: one of them gives way to a scale.
        right[0] = 1.0
        for c in range(n_classes):
            system[0, c] = 1.0
    for k in range(n_classes):
        size = 0.0
        for c in range(n_classes):
            size = max(size, abs(system[k, c]))
        if size == 0.0:
            return right * 0.0
        for c in range(n_classes):
            system[k, c] /= size
        right[k] /= size
    t = solve_small(system, right)
    top, least = 0.0, 0.0
    for c in range(n_classes):
        top, least = max(top, t[c]), min(least, t[c])
    # Written so that what is not a number gives no solution either.
    if not (0.0 < top < np.inf and least >= 0.0):
        return right * 0.0
    for c in range(n_classes):
        t[c] /= top
    return t


@kernel(error_model="numpy")
def solve_small(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """Solve a small linear system by elimination with row exchanges; not finite where it is singular."""
    a, x = matrix.copy(), right.copy()
    size = x.shape[0]
    for p in range(size):
        best = p
        for q in range(p + 1, size):
            if abs(a[q, p]) > abs(a[best, p]):
                best = q
        for k in range(size):
            a[p, k], a[best, k] = a[best, k], a[p, k]
        x[p], x[best] = x[best], x[p]
        for q in range(p + 1, size):
            f = a[q, p] / a[p, p]
            for k in range(p, size):
                a[q, k] -= f * a[p, k]
            x[q] -= f * x[p]
    for p in range(size - 1, -1, -1):
        for q in range(p + 1, size):
            x[p] -= a[p, q] * x[q]
        x[p] /= a[p, p]
    return x


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


@kernel
def dual_objective(
    columns: Compressed,
    codes: Int64Array,
    s: FloatArray,
    offset: FloatArray,
    r: FloatArray,
    c: FloatArray,
    prior: Penalties,
) -> float:
    """D at the feasible point nearest to Q = Y − r/s by scaling; −∞ where no cheap feasible point exists.

    ``c`` holds Xᵀr on entry and may be changed to the slopes of the rebalanced point.
    """
    l1, l2, low, high = prior
    free = open_intercepts(prior)
    t = np.ones(r.shape[1])
    if np.any(free):
        t = balance_classes(codes, r, free)
        if not np.any(t):
            return -np.inf
        v = np.empty_like(r)
        for i in range(r.shape[0]):
            for k in range(r.shape[1]):
                v[i, k] = t[codes[i]] * r[i, k]
        class_slopes(columns, v, c)
        for k in range(r.shape[1]):
            if free[k]:
                c[-1, k] = 0.0
    scale = feasible_scale(c.ravel(), l1.ravel(), l2.ravel(), low.ravel(), high.ravel())
    if scale == 0.0:
        return -np.inf
    value = class_entropy(codes, s, offset, r, scale * t)
    for j in range(c.shape[0]):
        for k in range(c.shape[1]):
            if l2[j, k] > 0.0:
                value -= conjugate(scale * c[j, k], l1[j, k], l2[j, k], low[j, k], high[j, k])
    return value


@kernel
def certificate(
    columns: Compressed, codes: Int64Array, s: FloatArray, offset: FloatArray, b: FloatArray, prior: Penalties
) -> tuple[float, float, float]:
    """Primal objective, dual objective and KKT residual at δ = b (intercepts last)."""
    l1, l2, low, high = prior
    z, p, r = np.empty_like(offset), np.empty_like(offset), np.empty_like(offset)
    class_scores(columns, b, offset, z)
    primal = softmax_terms(z, codes, s, p, r) + penalty(b.ravel(), l1.ravel(), l2.ravel())
    c = np.empty_like(b)
    class_slopes(columns, r, c)
    residual = kkt_residual(c.ravel(), b.ravel(), l1.ravel(), l2.ravel(), low.ravel(), high.ravel())
    return primal, dual_objective(columns, codes, s, offset, r, c, prior), residual
