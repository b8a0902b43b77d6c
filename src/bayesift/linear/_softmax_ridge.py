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
from bayesift.linear._softmax_conjugate import conjugate_step, intercept_curvatures, intercept_gap
from bayesift.linear._softmax_gram import gram_times, total_product
from bayesift.linear._softmax_objective import balance_classes, class_entropy
from bayesift.linear._softmax_search import State, smooth_search
from bayesift.linear._sparse import Compressed

#: Below the first tolerance coefficients are to be right as well, up to the second times the tolerance: the gap is of
#: second order in their errors.
_TIGHT, _DIGITS = 1e-6, 1e3


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
def measure(
    r: FloatArray,
    a: FloatArray,
    intercept: FloatArray,
    own: FloatArray,
    free: BoolArray,
    rest: FloatArray,
    slope: FloatArray,
) -> None:
    """Fill the errors of A, R − A, and of the intercepts' slopes."""
    for k in range(slope.shape[0]):
        slope[k] = -own[k] * intercept[k]
    for i in range(r.shape[0]):
        for k in range(r.shape[1]):
            rest[i, k] = r[i, k] - a[i, k]
            slope[k] += r[i, k]
    for k in range(slope.shape[0]):
        slope[k] = slope[k] if free[k] else 0.0


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
    slope = np.empty(n_classes)
    gram_times(columns, variance, a, fitted)
    for i in range(n):
        for k in range(n_classes):
            z[i, k] = offset[i, k] + fitted[i, k] + intercept[k]
    loss = softmax_terms(z, codes, s, p, r)
    before = np.inf
    rounds, still = 0, 0
    share = tol if tol >= _TIGHT else min(tol, (_DIGITS * tol) ** 2)
    while True:
        measure(r, a, intercept, own, free, rest, slope)
        gram_times(columns, variance, rest, rest_scores)
        curvature = intercept_curvatures(s, p, own)
        primal, gap = loss + 0.5 * total_product(a, fitted), 0.5 * total_product(rest, rest_scores)
        for k in range(n_classes):
            primal += 0.5 * own[k] * intercept[k] ** 2
            gap += intercept_gap(slope[k], own[k], curvature[k])
        still = still + 1 if before - primal <= 1e-15 * primal else 0
        last = still == 3 or rounds == max_rounds
        if gap <= share * primal or last:
            for i in range(n):
                for k in range(n_classes):
                    step[i, k] = rest_scores[i, k] + fitted[i, k]
            dual = bound_below(columns, variance, codes, s, offset, r, step, own, free)
            converged = primal - dual <= max(tol, 1e-12) * primal
            if converged or last:
                break
        rounds += 1
        before = primal
        # Where the rough gap was closed but the true one is not, more is needed than it says.
        goal = 0.3 * share * primal if gap > share * primal else 0.01 * gap
        shift = conjugate_step(
            columns, variance, s, p, rest, rest_scores, slope, own, curvature, free, goal, step, move
        )  # fmt: skip
        loss = move_along(codes, s, state, loss, own, step, shift, a, fitted, intercept)
    residual = fill_coefficients(columns, variance, a, intercept, rest, slope, b)
    return primal, dual, residual, max(rounds, 1), converged
