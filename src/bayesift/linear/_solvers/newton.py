"""The fast solver: proximal Newton steps on a working set, stopped by the duality gap.

A fit from nothing walks down a few multiples of the rates, so that the working set grows with the solution. Every round
computes all slopes once, checks the gap, chooses the columns worth moving and moves them: by a few steps of coordinate
descent on the documents whose label is still uncertain, or, when they are nearly right or few and hardly moved by that,
by Newton steps on their curvature matrix. Where many are nearly right, too many for a matrix, those away from their
modes are moved together as well, by conjugate gradients: coordinate descent alone would need hundreds of passes for the
last digits.
"""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._sparse import Compressed, inner
from bayesift._typing import FloatArray, Int64Array, UInt32Array
from bayesift.linear._losses import BinarySample, dual_part, guarded_curvature, loss_terms
from bayesift.linear._solvers.compact import TakenColumns, merge_documents, take_columns
from bayesift.linear._solvers.duality import Penalties, dual_objective, kkt_residual, margins, penalty, proximal_point
from bayesift.linear._solvers.gram import descend_gram, update_gram
from bayesift.linear._solvers.hessian import Hessian, row_scores
from bayesift.linear._solvers.line_search import BinaryState, line_search
from bayesift.linear._solvers.residual import descend_residual, weight_columns
from bayesift.linear._solvers.working_set import (
    NEAR,
    RADIUS,
    all_slopes,
    check_slopes,
    choose,
    set_slopes,
    set_violation,
    smaller_class_sum,
    take_units,
)

#: What a fit needs: numbers per document, the slopes of all coefficients, the columns near their rates.
Workspace = tuple[BinaryState, FloatArray, UInt32Array]
#: What errors of slopes are counted in: factor of the rates, objective, unit of the slopes without a penalty.
Scale = tuple[float, float, float]

# Steps on a set of columns.
#: Relative change of a document's curvature that enters the curvature matrix.
_REFRESH = 0.3
#: Accuracy of the quadratic model's minimum, relative to the error before.
_FORCING = 0.2
#: Errors above this, in units of the rates, call for a guarded curvature on a small set.
_FAR = 0.5

# Rounds of the solver.
#: Each stage's rates as a share of the last one's.
_STAGE = 0.2
#: Errors of at most this (in units of the rates) end a stage, as do two rounds.
_SETTLED = 0.3
#: Errors from which on a dual bound is worth computing; an unpenalised intercept makes it costly.
_WORTH_A_BOUND, _WORTH_A_COSTLY_BOUND = 5.0, 0.3
#: Errors of at most this: finish on the curvature matrix, or with more care on a large set; there, joint steps as well.
_POLISH, _JOINT = 1.0, 0.1
#: Above the second of these, joint steps come as soon as a round leaves more than this share of the error.
_STANDSTILL = 0.5
#: To finish, sets up to this size always use the curvature matrix; those above the second never do.
_SMALL, _DENSE = 100, 3000
#: Between them it is worth its factorisation where the cube of the set's size is at most this many times X's entries.
_WORTH_A_MATRIX = 2000.0
#: Share of the mean curvature below which documents are not coupled, and passes on a large set: coarse and fine.
_CUT, _FINE_CUT = 0.2, 0.01
_PASSES, _FINE_PASSES = 16, 32
#: How often a joint step is found anew without the coefficients that it would take beyond their modes.
_CROSSINGS = 10
#: Coarse steps on a large set, in the last stage, before all slopes are computed anew.
_LARGE_STEPS = 3
#: Newton steps on a curvature matrix, where descent stands still and to finish; the share of the error that ends them.
_STEPS, _POLISH_STEPS, _POLISH_SHARE = 15, 50, 0.01
#: Errors that count as none, and those that do when the objective no longer changes: in units of the rates, or, for
#: slopes that are no more than rounding, as a share of the objective.
_EXACT, _NEARLY_EXACT, _ROUNDING = 1e-12, 1e-7, 1e-13
#: A loss of this share of the weights is none: free features separate the classes, and the optimum is at infinity.
_NO_LOSS = 1e-15
#: A gain of this share of the objective, or of the weights, is none.
_NO_GAIN, _NO_GAIN_OF_WEIGHT = 1e-14, 1e-17


def take(prior: Penalties, order: UInt32Array | Int64Array, factor: float) -> Penalties:
    """The penalties of a set of coefficients, all rates times ``factor``."""
    l1, l2, low, high = (part[order] for part in prior)
    return l1 * factor, l2, low, high


def within(prior: Penalties, x: FloatArray, far: FloatArray) -> Penalties:
    """The same penalties with bounds that are no farther from x than ``far``."""
    l1, l2, low, high = prior
    return l1, l2, np.maximum(low, x - far), np.minimum(high, x + far)


@kernel
def add_set(columns: Compressed, chosen: UInt32Array, step: FloatArray, out: FloatArray) -> None:
    """Add X · step to out for a set of columns."""
    indptr, indices, data = columns
    for a in range(chosen.shape[0]):
        t = step[a]
        if t != 0.0:
            for k in range(indptr[chosen[a]], indptr[chosen[a] + np.uint32(1)]):
                out[indices[k]] += data[k] * t


def fill_move(
    columns: Compressed, block: FloatArray, y: FloatArray, order: UInt32Array, step: FloatArray, move: FloatArray
) -> None:
    """Fill what a step on a set adds to the margins; the first entry of ``order`` is the intercept's place."""
    move.fill(step[0])
    chosen, own = order[1:], step[1:]
    if len(block):
        first = columns[0].size - 1 - len(block)
        in_block = chosen >= first
        steps = np.zeros(len(block))
        steps[chosen[in_block] - first] = own[in_block]
        move += steps @ block
        chosen, own = chosen[~in_block], own[~in_block]
    add_set(columns, chosen, own, move)
    move *= y


def small_steps(
    link: int,
    columns: Compressed,
    block: FloatArray,
    sample: BinarySample,
    order: UInt32Array,
    b: FloatArray,
    prior: Penalties,
    scale: Scale,
    max_step: FloatArray,
    state: BinaryState,
    target: float,
    share: float,
    max_steps: int,
) -> None:
    """Newton steps on a curvature matrix, until errors of slopes are at most ``target`` or ``share`` of the first one.

    ``order`` holds the intercept's place and those of the columns. ``b`` and the margins of ``state`` are overwritten;
    its slopes and curvatures are not brought up to date.
    """
    y, s, _ = sample
    r, _, _, move, _ = state
    factor, primal, free = scale
    place, label, weight, margin = merge_documents(columns, order[1:], y, s, r)
    taken = TakenColumns(take_columns(columns, order[1:], place, label), label.size, len(block) > 0)
    start_x, far, own = b[order], max_step[order], take(prior, order, factor)
    x = start_x.copy()
    units = take_units(own[0], own[1], primal, free)
    gram = np.zeros((order.size, order.size), np.float32)
    u, w, along, trial = np.empty((4, label.size))
    w_used, c = np.zeros(label.size), np.empty(order.size)
    loss = loss_terms(link, margin, weight, u, w)
    for k in range(max_steps):
        taken.slopes(u, c)
        worst = set_violation(c, x, own, units)
        if k == 0:
            target = max(target, share * worst)
        if worst <= target:
            break
        safe_w = guarded_curvature(link, margin, weight, u, w, 0.5) if worst > _FAR else w
        update_gram(taken.by_rows, taken.short, safe_w, w_used, _REFRESH, gram)
        step = x.copy()
        descend_gram(gram, c.copy(), step, within(own, x, far), units, max(_FORCING * worst, 0.3 * target))
        step -= x
        taken.fill_scores(step, along)
        loss, moved = line_search(link, weight, (margin, u, w, along, trial), loss, x, step, c, own[0], own[1])
        if not moved:
            break
    fill_move(columns, block, y, order, x - start_x, move)
    r += move
    b[order] = x


def large_step(
    link: int,
    columns: Compressed,
    block: FloatArray,
    sample: BinarySample,
    order: UInt32Array,
    c: FloatArray,
    b: FloatArray,
    prior: Penalties,
    scale: Scale,
    max_step: FloatArray,
    state: BinaryState,
    loss: float,
    cut: float,
    max_passes: int,
) -> float:
    """One Newton step by coordinate descent on the documents with at least ``cut`` times the mean curvature.

    Arguments as for ``small_steps``; ``c`` holds all slopes. Returns the loss; all of ``state`` is up to date.
    """
    y, s, _ = sample
    r, u, w, move, _ = state
    factor, primal, free = scale
    x, slope, far, own = b[order], c[order], max_step[order], take(prior, order, factor)
    safe_w = guarded_curvature(link, r, s, u, w, 1.0)
    size = np.divide(RADIUS, far, out=np.ones_like(far), where=far > 0.0)
    weighted = weight_columns(columns, y, order, safe_w, size, cut)
    step = x.copy()
    units = take_units(own[0], own[1], primal, free)
    descend_residual(weighted, slope, step, within(own, x, far), units, max_passes)
    step -= x
    fill_move(columns, block, y, order, step, move)
    loss, _ = line_search(link, s, state, loss, x, step, slope, own[0], own[1])
    b[order] = x
    return loss


def joint_step(
    link: int,
    documents: Compressed,
    block: FloatArray,
    sample: BinarySample,
    c: FloatArray,
    b: FloatArray,
    prior: Penalties,
    state: BinaryState,
    loss: float,
) -> float:
    """One Newton step, by conjugate gradients, for all coefficients away from their modes and bounds; return the loss.

    A coefficient that would change its sign ends at its mode. ``c`` holds their slopes; all of ``state`` is up to date.
    """
    y, s, _ = sample
    _, _, w, move, _ = state
    l1, l2, low, high = prior
    moves = ((b != 0.0) | (l1 == 0.0)) & (low < b) & (b < high)
    # Dense features and the intercept, which are last, are there whether they move or not.
    moving = np.append(np.flatnonzero(moves[: -len(block) - 1]), np.arange(b.size - len(block) - 1, b.size))
    hessian = Hessian(documents, block, w, l2, chosen=moving)
    free, x, own = moves[moving], b[moving], take(prior, moving, 1.0)
    wanted = c[moving] - own[0] * np.sign(x) - own[1] * x
    change, product, goal = np.zeros_like(x), np.zeros_like(x), np.inf
    for _ in range(_CROSSINGS):
        # What a crossing leaves may be far more than there was: it is no measure of what is small.
        more, goal = hessian.solve(free, np.where(free, wanted - product, 0.0), goal)
        change += more
        new = x + change
        inside = np.clip(np.where((own[0] > 0.0) & (x * new < 0.0), 0.0, new), *own[2:])
        crossing = inside != new
        change[crossing] = inside[crossing] - x[crossing]
        if not crossing.any():
            break
        free &= ~crossing
        hessian.times(change, product)
    step = np.zeros_like(b)
    step[moving] = change
    row_scores(documents, step, move)
    move *= y
    return line_search(link, s, state, loss, b, step, c, l1, l2)[0]


def workspace(n_documents: int, n_features: int) -> Workspace:
    """Make the arrays that a fit needs and the next fit can use again."""
    r, u, w, move, trial = np.empty((5, n_documents))
    return (r, u, w, move, trial), np.empty(n_features + 1), np.empty(n_features + 1, np.uint32)


def fit_intercept(
    link: int, columns: Compressed, sample: BinarySample, b: FloatArray, prior: Penalties, r: FloatArray
) -> None:
    """Move the intercept alone to its optimum, the start of every fit from nothing, and the margins with it."""
    y, s, _ = sample
    l1, l2, low, high = (float(part[-1]) for part in prior)
    start = new = float(b[-1])
    # Without offsets these are two documents.
    _, label, weight, margin = merge_documents(columns, np.empty(0, np.uint32), y, s, r)
    u, w = np.empty((2, label.size))
    radius = 2.0
    for _ in range(100 if low < high else 0):
        loss_terms(link, margin, weight, u, w)
        h = float(w.sum()) + 1e-12
        wanted = proximal_point(inner(label, u) + h * new, h, l1, l2, low, high)
        step = min(max(wanted - new, -radius), radius)
        if abs(step) <= 1e-6:
            break
        if abs(step) == radius:
            radius *= 0.9
        new += step
        margin += label * step
    b[-1] = new
    r += y * (new - start)


def lower_bound(
    link: int,
    columns: Compressed,
    sample: BinarySample,
    u: FloatArray,
    r: FloatArray,
    c: FloatArray,
    prior: Penalties,
    ratio: float,
) -> float:
    """Dual objective at u made feasible; ``ratio`` is the largest multiple of a rate if that is all it takes, or −1."""
    if ratio >= 0.0:
        t = 1.0 / max(ratio, 1.0)
        return dual_part(link, sample, u, r, t, t)
    return dual_objective(link, columns, sample, u, r, c.copy(), prior)


def improve(
    link: int,
    columns: Compressed,
    documents: Compressed,
    block: FloatArray,
    sample: BinarySample,
    near: UInt32Array,
    c: FloatArray,
    b: FloatArray,
    prior: Penalties,
    worst: float,
    scale: Scale,
    max_step: FloatArray,
    state: BinaryState,
    loss: float,
    tol: float,
    joint: bool,
    slow: bool,
) -> float:
    """Move the near columns that are worth it, all rates times the factor of ``scale``; return the loss.

    ``joint`` tells whether many columns that are nearly right are to be moved together as well, ``slow`` whether the
    last round at these rates left much of the error.
    """
    y, s, _ = sample
    r, u, w, _, _ = state
    stage = scale[0]
    fine = stage == 1.0 and worst <= _POLISH
    size = near.shape[0]
    polish = fine and (size <= _SMALL or size <= min(_DENSE, np.cbrt(_WORTH_A_MATRIX * columns[1].size)))
    order = choose(near, c, b, prior[0], stage * (NEAR if polish else 1.0), columns[0])
    if polish or ((fine or slow) and order.shape[0] <= _SMALL + 1):
        # Errors this small leave a gap only where balancing the classes takes more than they say: make them less.
        target = 0.5 * tol if worst > 0.5 * tol else 0.1 * worst
        steps = _POLISH_STEPS if fine else _STEPS
        small_steps(link, columns, block, sample, order, b, prior, scale, max_step, state, target, _POLISH_SHARE, steps)
    else:
        cut, passes = (_FINE_CUT, _FINE_PASSES) if fine else (_CUT, _PASSES)
        for k in range(_LARGE_STEPS if stage == 1.0 and not fine else 1):
            if k > 0:
                set_slopes(columns, block, y, u, order, c)
                order = choose(order[1:], c, b, prior[0], stage, columns[0])
            loss = large_step(
                link, columns, block, sample, order, c, b, prior, scale, max_step, state, loss, cut, passes
            )
        if fine and joint:
            set_slopes(columns, block, y, u, order, c)
            loss = joint_step(link, documents, block, sample, c, b, prior, state, loss)
        return loss
    return loss_terms(link, r, s, u, w)


# Priors of extreme variances overflow on the way; the certificate tells whether the result is right.
@np.errstate(all="ignore")
def newton(
    link: int,
    columns: Compressed,
    documents: Compressed,
    block: FloatArray,
    sums: FloatArray,
    max_step: FloatArray,
    sample: BinarySample,
    b: FloatArray,
    prior: Penalties,
    tol: float,
    max_rounds: int,
    space: Workspace,
    settled: float = 0.0,
) -> tuple[float, float, float, int, bool]:
    """Minimise the objective from the start b, which is overwritten.

    Parameters
    ----------
    link : int
        Code of the loss.
    columns, documents : compressed matrices
        X by columns and by rows.
    block : float array of shape (n_dense, n_documents)
        The dense features, which are the last columns of X.
    sums, max_step : float arrays of shape (n_features + 1,)
        Xᵀs, and ``largest_steps``; the intercept is last, as everywhere.
    sample : tuple of float arrays of shape (n_documents,)
        Labels −1 and +1, weights, scores at the modes.
    b : float array of shape (n_features + 1,)
        Departures from the modes.
    prior : tuple of float arrays of shape (n_features + 1,)
        l1, l2, low and high.
    tol : float
        Relative duality gap; where unpenalised features leave no gap, error of the slopes in units of the rates.
    max_rounds : int
        Limit of rounds.
    space : Workspace
        What :func:`workspace` makes.
    settled : float
        A round that lowers the objective by at most this share of it is the last, whatever the gap; 0 is none.

    Returns
    -------
    primal, dual, kkt_residual, rounds, converged
    """
    y, s, _ = sample
    state, c, near = space
    r, u, w, _, _ = state
    l1, l2, low, high = prior
    d = b.size - 1
    r[:] = margins(columns, sample, b)
    # A start that knows something is not to be lost at stronger rates.
    stage = 0.0 if penalty(b[:d], l1[:d], l2[:d]) == 0.0 else 1.0
    if stage == 0.0:
        fit_intercept(link, columns, sample, b, prior, r)
    loss = loss_terms(link, r, s, u, w)
    open_intercept = bool(l1[d] == 0.0 and l2[d] == 0.0 and low[d] < high[d])
    # Then the largest multiple of a rate found by ``check_slopes`` is all that a feasible dual point needs.
    laplace_only = not open_intercept and bool(np.all((l1 > 0.0) | (low == high))) and not l2.any()
    worth = _WORTH_A_COSTLY_BOUND if open_intercept else _WORTH_A_BOUND
    primal, dual = np.inf, -np.inf
    converged = separated = False
    since, still, rounds, last = 0, 0, 0, np.inf
    while True:
        all_slopes(columns, documents, block, sums, sample, u, c)
        before, primal = primal, loss + penalty(b, l1, l2)
        free = smaller_class_sum(y, u) if open_intercept else min(1.0, primal)
        count, worst, ratio = check_slopes(c, b, prior, max(stage, 1.0), primal, free, near)
        since += 1
        if stage == 0.0:
            stage, since = max(ratio, 1.0), 2
        if stage > 1.0 and (worst <= _SETTLED or since > 1):
            stage, since = max(1.0, _STAGE * stage), 0
            count, worst, ratio = check_slopes(c, b, prior, stage, primal, free, near)
        if stage == 1.0:
            if worst <= worth:
                dual = max(dual, lower_bound(link, columns, sample, u, r, c, prior, ratio if laplace_only else -1.0))
            unbounded = worst <= worth and dual == -np.inf
            still = still + 1 if before - primal <= max(_NO_GAIN * primal, _NO_GAIN_OF_WEIGHT * sums[d]) else 0
            converged = primal - dual <= tol * primal or worst <= (tol if unbounded else _EXACT)
            # Not before the first round at the rates themselves.
            converged = converged or (settled > 0.0 and since > 0 and before - primal <= settled * primal)
            separated = unbounded and primal <= _NO_LOSS * sums[d]
        if converged or separated or still == 3 or rounds == max_rounds:
            break
        stands_still = worst > _STANDSTILL * last
        joint, slow = worst <= _JOINT or stands_still, stands_still and stage == 1.0 and since > 0
        rounds, last = rounds + 1, worst
        loss = improve(
            link, columns, documents, block, sample, near[:count], c, b, prior, worst, (stage, primal, free), max_step,
            state, loss, tol, joint, slow,
        )  # fmt: skip
    residual = kkt_residual(c, b, prior)
    if not converged:
        dual = max(dual, lower_bound(link, columns, sample, u, r, c, prior, -1.0))
        is_exact = worst <= _NEARLY_EXACT or residual <= _ROUNDING * primal
        converged = (still == 3 and is_exact) or primal - dual <= tol * primal
    return primal, dual, residual, max(rounds, 1), converged
