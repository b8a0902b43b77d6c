"""Gaussian priors on all features: dual ascent, then Newton steps by conjugate gradients, until the gap is closed.

Dual ascent visits one document at a time. At the dual point u the coefficients are δ = V Xᵀ(y∘u) with V the prior
variances. The best u_i for the others fixed is s_i σ(−ρ_i) where ρ = r_i + a (s σ(−ρ) − u_i), r_i the margin now and
a = x_iᵀVx_i: a monotone equation in ρ with slope at least one, solved by Newton from the last ρ_i.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesift._kernel import kernel
from bayesift._sparse import Compressed, inner
from bayesift._special_kernels import exp_negative
from bayesift._typing import BoolArray, FloatArray, Int64Array, UInt32Array
from bayesift.linear._losses import LOGISTIC, BinarySample, dual_part, loss_terms
from bayesift.linear._solvers.duality import Penalties, balance, penalty
from bayesift.linear._solvers.hessian import Hessian, hessian_diagonal, row_dot, row_scores
from bayesift.linear._solvers.line_search import BinaryState, line_search
from bayesift.linear._solvers.newton import Workspace

#: Margins need no more than this of accuracy in a pass: the next pass starts from them.
_ROUGH = 1e-2
# Knuth's generator of 64 bits, of which the upper half is used.
_MULTIPLIER, _INCREMENT, _HALF = np.uint64(6364136223846793005), np.uint64(1442695040888963407), np.uint64(33)

#: Documents below this share of the mean curvature enter the preconditioner of a Newton step only.
_CUT = 0.02
#: Passes of dual ascent at most, and how many of them are worth waiting for.
_PASSES, _PATIENCE = 20, 12
#: With fewer entries in a document, Newton steps from the modes take less: a visit costs more than what it reads.
_SHORT = 16
#: Margin at which every document starts: dual variables near zero, as most are at the optimum.
_FIRST_MARGIN = 7.0
#: The gap is of second order in the errors of the coefficients. Below the first tolerance they are to be right as well,
#: up to the second times the tolerance: half the digits would be wrong otherwise.
_TIGHT, _DIGITS = 1e-6, 1e3
#: Errors of the slopes, as a share of the objective, that count as none, and those that do when nothing moves any more.
_EXACT, _NEARLY_EXACT = 1e-13, 1e-8


@kernel(inline="always", error_model="numpy")
def sigmoid(x):  # type: ignore[no-untyped-def]
    """1 / (1 + e^−x)."""
    e = exp_negative(-abs(x))
    return 1.0 / (1.0 + e) if x >= 0.0 else e / (1.0 + e)


@kernel(inline="always", error_model="numpy")
def solve_margin(fixed, a, x):  # type: ignore[no-untyped-def]
    """Solve x = fixed + a σ(−x) roughly by Newton from x, kept between the bounds that its errors have shown."""
    low = fixed
    high = fixed + a
    x = min(max(x, low), high)
    for _ in range(20):
        t = sigmoid(-x)
        gap = x - fixed - a * t
        if gap > 0.0:
            high = x
        else:
            low = x
        step = gap / (1.0 + a * t * (1.0 - t))
        x -= step
        if not low <= x <= high:
            x = 0.5 * (low + high)
        elif abs(step) <= _ROUGH:
            break
    return x


@kernel
def shuffle(order: UInt32Array, seed: np.uint64) -> np.uint64:
    """Shuffle in place by a linear congruential generator; return its next state."""
    for i in range(order.shape[0] - 1, 0, -1):
        seed = seed * _MULTIPLIER + _INCREMENT
        j = np.int64(seed >> _HALF) % (i + 1)
        order[i], order[j] = order[j], order[i]
    return seed


@kernel
def add_squares(documents: Compressed, v: FloatArray, out: FloatArray) -> None:
    """Add Σ_j v_j x_ij² to out_i."""
    indptr, indices, data = documents
    for i in range(out.shape[0]):
        for k in range(indptr[i], indptr[i + 1]):
            out[i] += v[indices[k]] * data[k] * data[k]


@kernel(error_model="numpy")
def dual_pass(
    documents: Compressed,
    sample: BinarySample,
    variance: FloatArray,
    curvature: FloatArray,
    order: UInt32Array,
    b: FloatArray,
    u: FloatArray,
    rho: FloatArray,
) -> None:
    """Visit the documents in the given order once; b, u and rho are overwritten."""
    y, s, offset = sample
    indptr, indices, data = documents
    last = b.shape[0] - 1
    # One variance for all columns spares reading it at every entry.
    common = variance[0]
    for j in range(last):
        if variance[j] != common:
            common = -1.0
            break
    for i in order:
        first = indptr[i]
        end = indptr[i + np.uint32(1)]
        z = b[last] + offset[i] + row_dot(indices, data, first, end, b)
        a = curvature[i]
        rho[i] = solve_margin(y[i] * z - a * u[i], a * s[i], rho[i])
        new = s[i] * sigmoid(-rho[i])
        step = y[i] * (new - u[i])
        u[i] = new
        if common > 0.0:
            for k in range(first, end):
                b[indices[k]] += data[k] * (common * step)
        else:
            for k in range(first, end):
                b[indices[k]] += variance[indices[k]] * data[k] * step
        b[last] += variance[last] * step


@kernel
def _add_rows(documents: Compressed, v: FloatArray, out: FloatArray) -> None:
    """Add Xᵀv to out, by rows."""
    indptr, indices, data = documents
    for i in range(v.shape[0]):
        for k in range(indptr[i], indptr[i + 1]):
            out[indices[k]] += data[k] * v[i]


def weighted_sum(documents: Compressed, v: FloatArray, out: FloatArray) -> None:
    """Fill out = Xᵀv by rows, the intercept's sum last."""
    out.fill(0.0)
    _add_rows(documents, v, out)
    out[-1] = v.sum()


class Variances(NamedTuple):
    """Which coefficients can move, their variances (0: infinite, or fixed), and which of them have no penalty."""

    free: BoolArray
    variance: FloatArray
    open: Int64Array


def variances(prior: Penalties) -> Variances:
    """Look at the Gaussian penalties of all coefficients."""
    _, l2, low, high = prior
    free = low < high
    penalised = free & (l2 > 0.0)
    variance = np.divide(1.0, l2, out=np.zeros_like(l2), where=penalised)
    return Variances(free, variance, np.flatnonzero(free & ~penalised))


def gaussian_dual(
    link: int, sample: BinarySample, u: FloatArray, r: FloatArray, c: FloatArray, known: Variances
) -> float:
    """D(u) for c = Xᵀ(y∘u); −∞ where an unpenalised slope is not zero."""
    if c[known.open].any():
        return -np.inf
    return dual_part(link, sample, u, r, 1.0, 1.0) - 0.5 * inner(c, c * known.variance)


def lower_bound(
    link: int,
    documents: Compressed,
    sample: BinarySample,
    u: FloatArray,
    r: FloatArray,
    c: FloatArray,
    known: Variances,
) -> float:
    """Dual objective at u, the classes balanced if the intercept has no penalty."""
    last = c.size - 1
    if last not in known.open[-1:]:
        return gaussian_dual(link, sample, u, r, c, known)
    y, _, _ = sample
    plus, minus = balance(y, u)
    v = u * np.where(y > 0.0, plus, minus)
    own = np.empty_like(c)
    weighted_sum(documents, y * v, own)
    own[last] = 0.0
    return gaussian_dual(link, sample, v, r, own, known)


def ascend(
    documents: Compressed,
    sample: BinarySample,
    l2: FloatArray,
    variance: FloatArray,
    b: FloatArray,
    tol: float,
    max_passes: int,
    state: BinaryState,
) -> tuple[float, int]:
    """Passes of dual ascent on the logistic loss, from nothing; b is overwritten.

    The intercept takes part when it is penalised.

    Returns the dual objective after the last pass (where the intercept has no penalty, for an intercept fixed at its
    mode: no bound then) and the number of passes.
    """
    y, s, offset = sample
    r, u, w, _, _ = state
    curvature = np.full(y.size, variance[-1])
    add_squares(documents, variance, curvature)
    rho = np.full(y.size, _FIRST_MARGIN)
    alpha = s * (1.0 / (1.0 + np.exp(_FIRST_MARGIN)))
    weighted_sum(documents, y * alpha, b)
    b *= variance
    order = np.arange(y.size, dtype=np.uint32)
    seed = np.uint64(1)
    before = np.inf
    for k in range(1, max_passes + 1):
        seed = np.uint64(shuffle(order, seed))
        dual_pass(documents, sample, variance, curvature, order, b, alpha, rho)
        if k < max_passes and (k % 2 == 0 or k == 1):
            continue
        row_scores(documents, b, r)
        r += offset
        r *= y
        own = 0.5 * inner(l2, b * b)
        primal = loss_terms(LOGISTIC, r, s, u, w) + own
        dual = dual_part(LOGISTIC, sample, alpha, rho, 1.0, 1.0) - own
        gap = primal - dual
        if gap <= tol * primal or k == max_passes:
            return dual, k
        # The gap falls by a steady factor: leave when Newton steps would need less than the passes still to come.
        if k > 3 and (gap / before) ** 0.5 > (tol * primal / gap) ** (1.0 / _PATIENCE):
            return dual, k
        before = gap
    return -np.inf, 0


def squared_step(documents: Compressed, w: FloatArray, l2: FloatArray, g: FloatArray) -> float:
    """Squared length of the next step in the metric of the Hessian's diagonal, gᵀ diag(H)⁻¹ g."""
    return float(np.sum(g * g / (hessian_diagonal(documents, w, l2) + 1e-300)))


# Priors of extreme variances overflow on the way; the certificate tells whether the result is right.
@np.errstate(all="ignore")
def ridge(
    link: int,
    documents: Compressed,
    block: FloatArray,
    sample: BinarySample,
    b: FloatArray,
    prior: Penalties,
    tol: float,
    max_rounds: int,
    space: Workspace,
) -> tuple[float, float, float, int, bool]:
    """Minimise the objective where every prior is Gaussian, none or fixed, without signs; b is overwritten.

    For the logistic loss a start at the modes is replaced by that of dual ascent if that is better, unless documents
    are short. Arguments and results as for ``newton``; only X by rows is needed, and its dense features by columns.
    """
    y, s, offset = sample
    l1, l2, _, _ = prior
    state, c, _ = space
    r, u, w, move, _ = state
    known = variances(prior)
    dual = -np.inf
    rounds = 0
    long = documents[1].size >= _SHORT * y.size
    if link == LOGISTIC and long and max_rounds > 1 and not b.any() and known.variance.any():
        bound, rounds = ascend(documents, sample, l2, known.variance, b, tol, min(_PASSES, max_rounds - 1), state)
        dual = -np.inf if known.open.size else bound
    at_modes = loss_terms(link, y * offset, s, u, w) if rounds else np.inf
    row_scores(documents, b, r)
    r += offset
    r *= y
    loss = loss_terms(link, r, s, u, w)
    if loss + penalty(b, l1, l2) > at_modes:
        # Wide priors: a few passes leave margins so large that no curvature is left to find the way back.
        b.fill(0.0)
        np.multiply(y, offset, out=r)
        loss = loss_terms(link, r, s, u, w)
    before, still = np.inf, 0
    while True:
        weighted_sum(documents, y * u, c)
        primal = loss + penalty(b, l1, l2)
        dual = max(dual, lower_bound(link, documents, sample, u, r, c, known))
        g = np.where(known.free, c - l2 * b, 0.0)
        error = float(np.abs(g).max())
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
        step, _ = Hessian(documents, block, w, l2, _CUT).solve(known.free, g)
        row_scores(documents, step, move)
        move *= y
        loss, _ = line_search(link, s, state, loss, b, step, c, l1, l2)
