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
from bayesift._sparse import Compressed
from bayesift._special_kernels import log_positive
from bayesift._typing import BoolArray, FloatArray, Int64Array
from bayesift.linear._objective import feasible_scale, kkt_residual
from bayesift.linear._penalty import Penalties, conjugate, penalty
from bayesift.linear._softmax import class_scores, class_slopes, softmax_terms


def flattened(prior: Penalties) -> Penalties:
    """Return the tables of features by classes as plain rows of numbers, for kernels that do not care."""
    l1, l2, low, high = prior
    return l1.ravel(), l2.ravel(), low.ravel(), high.ravel()


def open_intercepts(prior: Penalties) -> BoolArray:
    """Tell which intercepts have neither a penalty nor a bound: their slopes must vanish at a dual point."""
    l1, l2, low, high = prior
    found: BoolArray = (l1[-1] == 0.0) & (l2[-1] == 0.0) & (low[-1] < 0.0) & (high[-1] > 0.0)
    return found


def solve(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """Solve a small linear system; not a number where it is singular."""
    try:
        solution: FloatArray = np.linalg.solve(matrix, right).astype(np.float64, copy=False)
    except np.linalg.LinAlgError:
        return np.full_like(right, np.nan)
    return solution


def balance_classes(codes: Int64Array, r: FloatArray, free: BoolArray) -> FloatArray:
    """Return a factor t_c ≤ 1 for the documents of each class c that makes Σ_i r_ik = 0 for every free class k.

    With the flows M_ck = −Σ_{i in c} r_ik from class c to class k the equations are
    t_k Σ_{l≠k} M_kl = Σ_{c≠k} t_c M_ck: what leaves a class must enter it, as in the stationary law of a Markov chain.
    The greatest factor is 1; where there is no solution all are 0.
    """
    n_classes = r.shape[1]
    system = np.array([np.bincount(codes, column, n_classes) for column in r.T])
    right = np.where(free, 0.0, 1.0)
    system[~free] = np.eye(n_classes)[~free]
    if free.all():
        # The equations of all classes sum to zero: one of them gives way to a scale.
        system[0] = right[0] = 1.0
    size = np.abs(system).max(axis=1)
    if not size.all():
        return np.zeros(n_classes)
    t = solve(system / size[:, None], right / size)
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


@kernel
def conjugates(c: FloatArray, scale: float, l1: FloatArray, l2: FloatArray, low: FloatArray, high: FloatArray) -> float:
    """Σ_j p_j*(scale × c_j) over the coefficients with a Gaussian prior; it is 0 for the others."""
    total = 0.0
    for j in range(c.shape[0]):
        if l2[j] > 0.0:
            total += conjugate(scale * c[j], l1[j], l2[j], low[j], high[j])
    return total


def dual_objective(
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
    scale = feasible_scale(c.ravel(), *flat) if t.any() else 0.0
    if scale == 0.0:
        return -np.inf
    return float(class_entropy(codes, s, offset, r, scale * t) - conjugates(c.ravel(), scale, *flat))


def certificate(
    columns: Compressed, codes: Int64Array, s: FloatArray, offset: FloatArray, b: FloatArray, prior: Penalties
) -> tuple[float, float, float]:
    """Primal objective, dual objective and KKT residual at δ = b (intercepts last)."""
    flat = flattened(prior)
    z, p, r = np.empty((3, *offset.shape))
    class_scores(columns, b, offset, z)
    primal = softmax_terms(z, codes, s, p, r) + penalty(b.ravel(), *flat[:2])
    c = np.empty_like(b)
    class_slopes(columns, r, c)
    residual = kkt_residual(c.ravel(), b.ravel(), *flat)
    return primal, dual_objective(columns, codes, s, offset, r, c, prior), residual
