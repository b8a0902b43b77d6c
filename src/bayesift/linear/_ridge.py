"""Gaussian priors on all features: dual ascent, then Newton steps by conjugate gradients, until the gap is closed."""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._sparse import Compressed, columns_dot, inner
from bayesift._typing import BoolArray, FloatArray
from bayesift.linear._conjugate import conjugate_gradients, hessian_diagonal
from bayesift.linear._dual import document_curvatures, dual_pass, shuffle
from bayesift.linear._loss import LOGISTIC, dual_part, loss_terms
from bayesift.linear._newton import State, Workspace
from bayesift.linear._objective import balance
from bayesift.linear._penalty import Penalties, penalty
from bayesift.linear._search import line_search

#: Passes of dual ascent at most, and how many of them are worth waiting for.
_PASSES, _PATIENCE = 20, 12
#: Margin at which every document starts: dual variables near zero, as most are at the optimum.
_FIRST_MARGIN = 7.0
#: The gap is of second order in the errors of the coefficients. Below the first tolerance they are to be right as well,
#: up to the second times the tolerance: half the digits would be wrong otherwise.
_TIGHT, _DIGITS = 1e-6, 1e3
#: Errors of the slopes, as a share of the objective, that count as none, and those that do when nothing moves any more.
_EXACT, _NEARLY_EXACT = 1e-13, 1e-8


@kernel
def row_scores(documents: Compressed, b: FloatArray, z: FloatArray) -> None:
    """Fill z_i = b_0 + x_iᵀb."""
    columns_dot(documents[0], documents[1], documents[2], b, z)
    z += b[-1]


@kernel
def weighted_sum(documents: Compressed, v: FloatArray, out: FloatArray) -> None:
    """Fill out = Xᵀv by rows, the intercept's sum last."""
    indptr, indices, data = documents
    out[:] = 0.0
    for i in range(v.shape[0]):
        for k in range(indptr[i], indptr[i + 1]):
            out[indices[k]] += data[k] * v[i]
    out[-1] = v.sum()


@kernel(error_model="numpy")
def gaussian_dual(
    link: int,
    y: FloatArray,
    s: FloatArray,
    offset: FloatArray,
    u: FloatArray,
    r: FloatArray,
    c: FloatArray,
    l2: FloatArray,
    free: BoolArray,
) -> float:
    """D(u) for c = Xᵀ(y∘u); −∞ where an unpenalised slope is not zero."""
    value = dual_part(link, y, s, offset, u, r, 1.0, 1.0)
    for j in range(c.shape[0]):
        if free[j] and c[j] != 0.0:
            value -= 0.5 * c[j] * c[j] / l2[j] if l2[j] > 0.0 else np.inf
    return value


@kernel
def lower_bound(
    link: int,
    documents: Compressed,
    y: FloatArray,
    s: FloatArray,
    offset: FloatArray,
    u: FloatArray,
    r: FloatArray,
    c: FloatArray,
    l2: FloatArray,
    free: BoolArray,
) -> float:
    """Dual objective at u, the classes balanced if the intercept has no penalty."""
    if not (free[-1] and l2[-1] == 0.0):
        return gaussian_dual(link, y, s, offset, u, r, c, l2, free)
    plus, minus = balance(y, u)
    v = u * np.where(y > 0.0, plus, minus)
    own = np.empty_like(c)
    weighted_sum(documents, y * v, own)
    own[-1] = 0.0
    return gaussian_dual(link, y, s, offset, v, r, own, l2, free)


@kernel(error_model="numpy")
def ascend(
    documents: Compressed,
    y: FloatArray,
    s: FloatArray,
    offset: FloatArray,
    l2: FloatArray,
    free: BoolArray,
    b: FloatArray,
    tol: float,
    max_passes: int,
    state: State,
) -> tuple[float, int]:
    """Passes of dual ascent on the logistic loss, from nothing; b is overwritten.

    The intercept takes part when it is penalised.

    Returns the dual objective after the last pass (where the intercept has no penalty, for an intercept fixed at its
    mode: no bound then) and the number of passes.
    """
    r, u, w, _, _ = state
    variance = np.where(free & (l2 > 0.0), 1.0 / l2, 0.0)
    curvature = document_curvatures(documents, variance)
    n = y.shape[0]
    rho = np.full(n, _FIRST_MARGIN)
    alpha = s * (1.0 / (1.0 + np.exp(_FIRST_MARGIN)))
    weighted_sum(documents, y * alpha, b)
    b *= variance
    order = np.arange(n).astype(np.uint32)
    seed = np.uint64(1)
    before = np.inf
    for k in range(1, max_passes + 1):
        seed = shuffle(order, seed)
        dual_pass(documents, y, s, offset, variance, curvature, order, b, alpha, rho)
        if k < max_passes and (k % 2 == 0 or k == 1):
            continue
        row_scores(documents, b, r)
        r[:] = y * (r + offset)
        own = 0.5 * inner(l2, b * b)
        primal = loss_terms(LOGISTIC, r, s, u, w) + own
        dual = dual_part(LOGISTIC, y, s, offset, alpha, rho, 1.0, 1.0) - own
        gap = primal - dual
        # The gap falls by a steady factor: leave when Newton steps would need less than the passes still to come.
        slow = k > 3 and (gap / before) ** 0.5 > (tol * primal / gap) ** (1.0 / _PATIENCE)
        if gap <= tol * primal or slow or k == max_passes:
            return dual, k
        before = gap
    return -np.inf, 0


@kernel(error_model="numpy")
def squared_step(documents: Compressed, w: FloatArray, l2: FloatArray, g: FloatArray) -> float:
    """Squared length of the next step in the metric of the Hessian's diagonal, gᵀ diag(H)⁻¹ g."""
    return np.sum(g * g / (hessian_diagonal(documents, w, l2) + 1e-300))


@kernel
def ridge(
    link: int,
    documents: Compressed,
    y: FloatArray,
    s: FloatArray,
    offset: FloatArray,
    b: FloatArray,
    prior: Penalties,
    tol: float,
    max_rounds: int,
    space: Workspace,
) -> tuple[float, float, float, int, bool]:
    """Minimise the objective where every prior is Gaussian, none or fixed, without signs; b is overwritten.

    For the logistic loss a start at the modes is replaced by that of dual ascent. Arguments and results as for
    ``newton``; only X by rows is needed.
    """
    l1, l2, low, high = prior
    state, c, _ = space
    r, u, w, move, trial = state
    free = low < high
    dual = -np.inf
    rounds = 0
    if link == LOGISTIC and max_rounds > 1 and not np.any(b) and np.any(free & (l2 > 0.0)):
        dual, rounds = ascend(documents, y, s, offset, l2, free, b, tol, min(_PASSES, max_rounds - 1), state)
        if np.any(free & (l2 == 0.0)):
            dual = -np.inf
    g, step = np.empty_like(b), np.empty_like(b)
    row_scores(documents, b, r)
    r[:] = y * (r + offset)
    loss = loss_terms(link, r, s, u, w)
    before, still = np.inf, 0
    while True:
        weighted_sum(documents, y * u, c)
        primal = loss + penalty(b, l1, l2)
        dual = max(dual, lower_bound(link, documents, y, s, offset, u, r, c, l2, free))
        g[:] = np.where(free, c - l2 * b, 0.0)
        error = np.max(np.abs(g))
        closed = primal - dual <= tol * primal
        converged = (
            (closed and (tol >= _TIGHT or squared_step(documents, w, l2, g) <= (_DIGITS * tol) ** 2 * primal))
            or error <= _EXACT * primal
            or (dual == -np.inf and error <= tol * primal / y.shape[0])
        )
        still = still + 1 if before - primal <= 1e-15 * primal else 0
        if still == 3:
            converged = closed or error <= _NEARLY_EXACT * primal
        if converged or still == 3 or rounds == max_rounds:
            return primal, dual, error, max(rounds, 1), converged
        rounds += 1
        before = primal
        conjugate_gradients(documents, w, l2, free, g, step)
        row_scores(documents, step, move)
        move *= y
        loss, _ = line_search(link, r, move, s, u, w, loss, b, step, c, l1, l2, trial)
