"""The fast solver for Laplace and mixed priors: proximal Newton steps on working sets, stopped by the duality gap.

A fit from nothing walks down a few multiples of the rates, so that the working set grows with the solution. Every round
computes all slopes by one pass over the matrix, checks the gap, chooses the pairs of features and classes worth moving
and takes one Newton step on them.
"""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._typing import FloatArray, Int64Array
from bayesift.linear._objective import kkt_residual
from bayesift.linear._penalty import Penalties, penalty
from bayesift.linear._search import moved_penalty
from bayesift.linear._softmax import class_scores, class_slopes, softmax_terms
from bayesift.linear._softmax_model import couple, descend_model, take_entries
from bayesift.linear._softmax_objective import dual_objective, open_intercepts
from bayesift.linear._softmax_pairs import Pairs, add_pairs, choose_pairs, error_unit, survey_pairs, take_pairs
from bayesift.linear._softmax_search import State, accept, loss_along
from bayesift.linear._sparse import Compressed, inner

#: Each stage's rates as a share of the last one's.
_STAGE = 0.3
#: Errors of at most this (in units of the rates) end a stage, as do two rounds.
_SETTLED = 0.3
#: Errors from which on a dual bound is worth computing.
_WORTH_A_BOUND = 0.3
#: Errors of at most this call for more care: share of a rate from which a pair is taken, cut of the documents, passes.
_FINE = 1.0
_CUT, _FINE_CUT = 0.2, 0.01
_PASSES, _FINE_PASSES = 16, 100
_NEAR = 0.9
#: Accuracy of the model's minimum, as a share of the first pass's error.
_SHARE = 0.1
#: Errors that count as none, and those that do when the objective no longer changes: in units of the rates, or, for
#: slopes that are no more than rounding, as a share of the objective.
_EXACT, _NEARLY_EXACT, _ROUNDING = 1e-12, 1e-6, 1e-13
#: A loss of this share of the weights is none: free features part the classes, and the optimum is at infinity.
_NO_LOSS = 1e-15


@kernel
def smallest_flow(codes: Int64Array, r: FloatArray) -> float:
    """Σ r_i,y over the class where it is smallest: the unit of error of unpenalised intercepts."""
    flow = np.zeros(r.shape[1])
    for i in range(r.shape[0]):
        flow[codes[i]] += r[i, codes[i]]
    least = np.inf
    for k in range(r.shape[1]):
        least = min(least, flow[k])
    return max(least, 1e-12)


@kernel(error_model="numpy")
def line_search(
    codes: Int64Array,
    s: FloatArray,
    state: State,
    loss: float,
    x: FloatArray,
    step: FloatArray,
    c: FloatArray,
    l1: FloatArray,
    l2: FloatArray,
) -> float:
    """Move the scores and x along the step as far as the objective falls; return the loss there.

    A step that overshoots is cut where a straight line through the slopes at both ends crosses zero.
    """
    old, _ = moved_penalty(x, step, 0.0, l1, l2)
    new_penalty, slope = moved_penalty(x, step, 1.0, l1, l2)
    expected = new_penalty - old - inner(c, step)
    rounding = (loss + old) * 1e-14
    size = 1.0
    for _ in range(30):
        new, rise = loss_along(codes, s, state, size)
        rise += slope
        falls = new + new_penalty <= loss + old + 1e-4 * size * expected + rounding
        if falls and (rise <= -0.5 * expected or size < 1.0):
            accept(state)
            for a in range(x.shape[0]):
                x[a] += size * step[a]
            return new
        size *= min(max(expected / (expected - rise), 0.1), 0.7) if rise > 0.0 else 0.5
        new_penalty, slope = moved_penalty(x, step, size, l1, l2)
    new, _ = loss_along(codes, s, state, 0.0)
    return new


@kernel
def newton_step(
    columns: Compressed,
    codes: Int64Array,
    s: FloatArray,
    pairs: Pairs,
    c: FloatArray,
    b: FloatArray,
    prior: Penalties,
    stage: float,
    fine: bool,
    primal: float,
    free: float,
    tol: float,
    reach: FloatArray,
    state: State,
    loss: float,
) -> float:
    """One Newton step on the pairs, all rates times ``stage``; return the loss."""
    feature, begin = pairs
    size = feature.shape[0]
    x, own = take_pairs(b, pairs), take_pairs(c, pairs)
    l1, l2 = take_pairs(prior[0], pairs), take_pairs(prior[1], pairs)
    low, high = take_pairs(prior[2], pairs), take_pairs(prior[3], pairs)
    lower, upper, units, goal = np.empty(size), np.empty(size), np.empty(size), x.copy()
    for a in range(size):
        l1[a] *= stage
        lower[a], upper[a] = max(low[a], x[a] - reach[feature[a]]), min(high[a], x[a] + reach[feature[a]])
        units[a] = max(error_unit(l1[a], l2[a], primal, free), 1e-300)
    coupling = couple(s, state[1])
    entries = take_entries(columns, pairs, coupling, _FINE_CUT if fine else _CUT)
    descend_model(
        pairs, entries, coupling, own, goal, (l1, l2, lower, upper), units, 0.3 * tol, _SHARE,
        _FINE_PASSES if fine else _PASSES,
    )  # fmt: skip
    step = np.empty(size)
    for a in range(size):
        step[a] = goal[a] - x[a]
    add_pairs(columns, pairs, step, state[3])
    loss = line_search(codes, s, state, loss, x, step, own, l1, l2)
    for k in range(begin.shape[0] - 1):
        for a in range(begin[k], begin[k + 1]):
            b[feature[a], k] = x[a]
    return loss


@kernel
def newton(
    columns: Compressed,
    reach: FloatArray,
    codes: Int64Array,
    s: FloatArray,
    offset: FloatArray,
    b: FloatArray,
    prior: Penalties,
    tol: float,
    max_rounds: int,
    state: State,
) -> tuple[float, float, float, int, bool]:
    """Minimise the objective from the start b, which is overwritten.

    Parameters
    ----------
    columns : compressed matrix
        X by columns.
    reach : float array of shape (n_features + 1,)
        Largest step of a coefficient of each feature, the intercepts' last.
    codes, s, offset : arrays over the documents
        Classes, weights, scores at the modes.
    b : float array of shape (n_features + 1, n_classes)
        Departures from the modes.
    prior : tuple of float arrays of shape (n_features + 1, n_classes)
        l1, l2, low and high.
    tol : float
        Relative duality gap; where unpenalised features leave no gap, error of the slopes in units of the rates.
    max_rounds : int
        Limit of rounds.
    state : State
        Room for the documents.

    Returns
    -------
    primal, dual, kkt_residual, rounds, converged
    """
    l1, l2, low, high = prior
    flat1, flat2 = l1.ravel(), l2.ravel()
    z, p, r, _, _ = state
    c = np.empty_like(b)
    class_scores(columns, b, offset, z)
    loss = softmax_terms(z, codes, s, p, r)
    total = s.sum()
    some_open = np.any(open_intercepts(prior))
    primal, dual = np.inf, -np.inf
    converged = parted = False
    stage, since, still, rounds, worst = 0.0, 0, 0, 0, np.inf
    while True:
        class_slopes(columns, r, c)
        before, primal = primal, loss + penalty(b.ravel(), flat1, flat2)
        free = smallest_flow(codes, r) if some_open else min(1.0, primal)
        worst, ratio = survey_pairs(c, b, prior, max(stage, 1.0), primal, free)
        since += 1
        if stage == 0.0:
            stage = max(ratio, 1.0) if np.any(flat1) else 1.0
            since = 2
        if stage > 1.0 and (worst <= _SETTLED or since > 1):
            stage = max(1.0, _STAGE * stage)
            since = 0
            worst, ratio = survey_pairs(c, b, prior, stage, primal, free)
        if stage == 1.0:
            bounded = worst <= _WORTH_A_BOUND
            if bounded:
                dual = max(dual, dual_objective(columns, codes, s, offset, r, c.copy(), prior))
            unbounded = bounded and dual == -np.inf
            still = still + 1 if before - primal <= 1e-15 * primal else 0
            converged = primal - dual <= tol * primal or worst <= (tol if unbounded else _EXACT)
            parted = unbounded and primal <= _NO_LOSS * total
        if converged or parted or still == 3 or rounds == max_rounds:
            break
        rounds += 1
        fine = stage == 1.0 and worst <= _FINE
        pairs = choose_pairs(c, b, prior, stage * (_NEAR if fine else 1.0))
        loss = newton_step(
            columns, codes, s, pairs, c, b, prior, stage, fine, primal, free, tol, reach, state, loss
        )  # fmt: skip
    residual = kkt_residual(c.ravel(), b.ravel(), flat1, flat2, low.ravel(), high.ravel())
    if not converged:
        dual = max(dual, dual_objective(columns, codes, s, offset, r, c, prior))
        converged = still == 3 and (worst <= _NEARLY_EXACT or residual <= _ROUNDING * primal)
    return primal, dual, residual, max(rounds, 1), converged
