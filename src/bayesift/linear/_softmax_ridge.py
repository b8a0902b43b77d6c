"""Gaussian priors on all features: Newton steps by conjugate gradients among the documents.

At the optimum δ = V Xᵀ R with the prior variances V and the residuals R = s∘(Y − P). So every δ that is met is kept as
V Xᵀ A with a row of A for each document: numbers per document and class instead of numbers per feature and class, and
the scores are G A with G = X V Xᵀ. A round needs one product with G, a single pass over the matrix by columns, for each
direction of the conjugate gradients, which use the inner product AᵀGA of the coefficients, and one for the gap
½ (R − A)ᵀ G (R − A). On 20 Newsgroups such a pass is nine tenths of the time.
"""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._typing import BoolArray, FloatArray, Int64Array
from bayesift.linear._softmax import class_slopes, softmax_terms
from bayesift.linear._softmax_conjugate import conjugate_step
from bayesift.linear._softmax_gram import gram_times, total_product
from bayesift.linear._softmax_intercepts import fit_intercepts, intercept_curvature, intercept_slopes
from bayesift.linear._softmax_objective import balance_classes, class_entropy
from bayesift.linear._softmax_search import State, smooth_search
from bayesift.linear._sparse import Compressed

#: Below the first tolerance coefficients are to be right as well, up to the second times the tolerance: the gap is of
#: second order in their errors.
_TIGHT, _DIGITS = 1e-6, 1e3
#: Share of the objective up to which primal and dual may differ by rounding.
_ROUNDING = 1e-10


@kernel(error_model="numpy")
def bound_below(
    columns: Compressed,
    variance: FloatArray,
    codes: Int64Array,
    s: FloatArray,
    offset: FloatArray,
    r: FloatArray,
    scores: FloatArray,
    own: FloatArray,
    free: BoolArray,
) -> float:
    """Dual objective at Q = Y − r/s for ``scores`` = G r; the classes are balanced if intercepts have no penalty."""
    n_classes = r.shape[1]
    open_ = free & (own == 0.0)
    t = np.ones(n_classes)
    v = r
    if np.any(open_):
        t = balance_classes(codes, r, open_)
        v = np.empty_like(r)
        for i in range(r.shape[0]):
            for k in range(n_classes):
                v[i, k] = t[codes[i]] * r[i, k]
        gram_times(columns, variance, v, scores)
    value = class_entropy(codes, s, offset, r, t) - 0.5 * total_product(v, scores)
    for k in range(n_classes):
        if free[k] and own[k] > 0.0:
            total = 0.0
            for i in range(v.shape[0]):
                total += v[i, k]
            value -= 0.5 * total * total / own[k]
    return value if np.any(t) else -np.inf


@kernel
def move_along(
    codes: Int64Array,
    s: FloatArray,
    state: State,
    loss: float,
    own: FloatArray,
    step: FloatArray,
    shift: FloatArray,
    a: FloatArray,
    fitted: FloatArray,
    intercept: FloatArray,
) -> float:
    """Go along a step of A and the intercepts, whose scores (without the intercepts) are the state's move."""
    move = state[3]
    n, n_classes = move.shape
    linear, quadratic = total_product(step, fitted), total_product(step, move)
    for k in range(n_classes):
        linear += own[k] * intercept[k] * shift[k]
        quadratic += own[k] * shift[k] ** 2
    for i in range(n):
        for k in range(n_classes):
            move[i, k] += shift[k]
    loss, size = smooth_search(codes, s, state, loss, linear, quadratic, 1.0)
    for i in range(n):
        for k in range(n_classes):
            a[i, k] += size * step[i, k]
            fitted[i, k] += size * (move[i, k] - shift[k])
    for k in range(n_classes):
        intercept[k] += size * shift[k]
    return loss


@kernel
def fill_coefficients(
    columns: Compressed,
    variance: FloatArray,
    a: FloatArray,
    intercept: FloatArray,
    rest: FloatArray,
    slope: FloatArray,
    b: FloatArray,
) -> float:
    """Fill b = V Xᵀ A and the intercepts; return the KKT residual, the largest of Xᵀ(R − A) and the slopes."""
    shared = variance.shape[1] == 1
    residual = 0.0
    class_slopes(columns, rest, b)
    for k in range(b.shape[1]):
        residual = max(residual, abs(slope[k]))
        for j in range(variance.shape[0]):
            if variance[j, 0 if shared else k] > 0.0:
                residual = max(residual, abs(b[j, k]))
    class_slopes(columns, a, b)
    for j in range(variance.shape[0]):
        for k in range(b.shape[1]):
            b[j, k] *= variance[j, 0 if shared else k]
    for k in range(b.shape[1]):
        b[-1, k] = intercept[k]
    return residual


@kernel(error_model="numpy")
def ridge(
    columns: Compressed,
    codes: Int64Array,
    s: FloatArray,
    offset: FloatArray,
    variance: FloatArray,
    own: FloatArray,
    free: BoolArray,
    a: FloatArray,
    intercept: FloatArray,
    tol: float,
    max_rounds: int,
    state: State,
    b: FloatArray,
) -> tuple[float, float, float, int, bool]:
    """Minimise the objective where every prior is Gaussian or fixed, intercepts also free, without signs.

    Parameters
    ----------
    columns : compressed matrix
        X by columns.
    codes, s, offset : arrays over the documents
        Classes, weights, scores at the modes.
    variance : float array of shape (n_features, n_classes) or (n_features, 1)
        Prior variances of the features, 0 for fixed coefficients.
    own, free : arrays of shape (n_classes,)
        Precisions of the intercepts (0 without a penalty), and which of them may move.
    a, intercept : float arrays of shapes (n_documents, n_classes) and (n_classes,)
        The start; overwritten.
    tol : float
        Relative duality gap.
    max_rounds : int
        Limit of Newton steps.
    state : State
        Room for the documents.
    b : float array of shape (n_features + 1, n_classes)
        Filled with the departures from the modes.

    Returns
    -------
    primal, dual, kkt_residual, rounds, converged
    """
    z, p, r, move, _ = state
    n, n_classes = z.shape
    fitted, rest, rest_scores, step = np.empty_like(z), np.empty_like(z), np.empty_like(z), np.empty_like(z)
    gram_times(columns, variance, a, fitted)
    for i in range(n):
        for k in range(n_classes):
            z[i, k] = offset[i, k] + fitted[i, k] + intercept[k]
    loss = softmax_terms(z, codes, s, p, r)
    before = np.inf
    rounds, still = 0, 0
    share = tol if tol >= _TIGHT else min(tol, (_DIGITS * tol) ** 2)
    while True:
        loss = fit_intercepts(codes, s, state, loss, own, free, intercept, 1e-3 * share * loss)
        slope = intercept_slopes(r, intercept, own, free)
        for i in range(n):
            for k in range(n_classes):
                rest[i, k] = r[i, k] - a[i, k]
        gram_times(columns, variance, rest, rest_scores)
        primal, gap = loss + 0.5 * total_product(a, fitted), 0.5 * total_product(rest, rest_scores)
        for k in range(n_classes):
            primal += 0.5 * own[k] * intercept[k] ** 2
        still = still + 1 if before - primal <= 1e-15 * primal else 0
        last = still == 3 or rounds == max_rounds
        if gap <= share * primal or last:
            for i in range(n):
                for k in range(n_classes):
                    step[i, k] = rest_scores[i, k] + fitted[i, k]
            dual = bound_below(columns, variance, codes, s, offset, r, step, own, free)
            # A difference of large numbers: the gap itself has no rounding to speak of.
            converged = gap <= tol * primal and primal - dual <= max(tol, _ROUNDING) * primal
            if converged or last:
                break
        rounds += 1
        before = primal
        bend = intercept_curvature(s, p, own, free)
        goal = 0.3 * min(share * primal, gap)
        shift = conjugate_step(columns, variance, s, p, rest, rest_scores, bend, free, goal, step, move)
        loss = move_along(codes, s, state, loss, own, step, shift, a, fitted, intercept)
    residual = fill_coefficients(columns, variance, a, intercept, rest, slope, b)
    return primal, dual, residual, max(rounds, 1), converged
