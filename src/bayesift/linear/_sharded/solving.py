"""The posterior mode of one category from shards: candidates solved in memory and confirmed over everything.

Laplace priors: the columns whose slopes exceed their rates are candidates and are brought into memory; the solver for
data in memory finds the optimum on them; a round of slopes over all columns proves it, by the duality gap over all
documents and columns, or finds further candidates. Where candidates do not fit in memory, steps are found on their
curvature matrix, which workers sum. Gaussian priors: a quasi-Newton method, one round for each gradient.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import minimize

from bayesift._threads import stop_if_abandoned
from bayesift._typing import BoolArray, FloatArray, Int64Array
from bayesift.linear._fit.problem import Problem, Solution, SolverOptions
from bayesift.linear._sharded import tasks
from bayesift.linear._sharded.kept import KeptRound, Standing
from bayesift.linear._sharded.tasks import SCALES
from bayesift.linear._solvers.duality import (
    Penalties,
    conjugates,
    feasible_scale,
    kkt_residual,
    penalty,
    penalty_arrays,
)
from bayesift.linear._solvers.gram import descend_gram
from bayesift.linear._solvers.working_set import set_violation, take_units
from bayesift.priors import LAPLACE

if TYPE_CHECKING:
    from bayesift.linear._sharded.design import Held, ShardedDesign, Sums

#: Candidates that a round may add: so many, or so many times those away from their modes.
_CANDIDATES, _GROWTH = 1000, 2
#: Share of the room for entries that one round may fill: the first candidates are a guess.
_ROOM = 0.5
#: Slopes beyond the rate by this factor: fits in memory need not be exact yet, only to this gap.
_CLEARLY, _ROUGH = 1.05, 1e-3
#: Slopes from this share of their rates on are taken along where a round adds few candidates.
_NEAR = 0.95
#: Share of the tolerance that a fit in memory is to reach, and by how much it is lowered where that was not enough.
_INNER, _TIGHTER = 0.5, 0.1
_ROUNDS = 100
#: Share of the memory for a curvature matrix, of which several parts may be under way; a column takes 8 bytes squared.
_MATRIX_SHARE, _MATRICES = 0.25, 4
#: A matrix of so many columns is small for any memory.
_LEAST_COLUMNS = 500
#: Steps tried where a whole one does not lower the objective enough.
_SIZES: FloatArray = 0.5 ** np.arange(1.0, 13.0)
#: A matrix is used again while a round leaves at most this share of the gap.
_PROGRESS = 0.3


class Judgement(NamedTuple):
    """How good some coefficients are: objective, a lower bound of its minimum, KKT residual, all slopes."""

    primal: float
    dual: float
    residual: float
    c: FloatArray


def judge(sums: Sums, delta: FloatArray, mode: FloatArray, prior: Penalties) -> Judgement:
    """Compute the certificate of departures δ from the modes, from sums over all shards.

    The dual point is that of ``duality.dual_objective``. Its value is a lower bound of the one there, as it lies on a
    straight line between two of ``SCALES``, and as good as equal near the optimum.
    """
    l1, l2, low, high = prior
    c = np.append(sums.c[0] - sums.c[1], sums.plus - sums.minus)
    primal = sums.loss + float(penalty(delta, l1, l2))
    residual = float(kkt_residual(c, delta, prior))
    plus = minus = 1.0
    balanced = c
    if l1[-1] == 0.0 and l2[-1] == 0.0 and low[-1] < 0.0 < high[-1]:
        if sums.plus > sums.minus:
            plus = sums.minus / sums.plus
        elif sums.minus > sums.plus:
            minus = sums.plus / sums.minus
        balanced = np.append(plus * sums.c[0] - minus * sums.c[1], 0.0)
    t = float(feasible_scale(balanced, prior))
    if t == 0.0:
        return Judgement(primal, -np.inf, residual, c)
    parts = (np.interp(t * factor, SCALES, own) for factor, own in zip((plus, minus), sums.duals, strict=True))
    dual = float(sum(parts)) - t * float(mode @ balanced)
    return Judgement(primal, dual - (float(conjugates(balanced, t, prior)) if l2.any() else 0.0), residual, c)


class _Sharded(NamedTuple):
    """A problem with all that its solvers use."""

    design: ShardedDesign
    problem: Problem
    prior: Penalties
    options: SolverOptions
    tol: float
    kept: KeptRound

    @property
    def mode(self) -> FloatArray:
        return self.problem.prior.mode

    @property
    def movable(self) -> BoolArray:
        """Which features can leave their modes."""
        found: BoolArray = (self.prior[2] < self.prior[3])[:-1]
        return found

    def judged(self, delta: FloatArray) -> Judgement:
        """Judge coefficients by a round over everything."""
        found = judge(self.design.slopes(self.problem, self.mode + delta), delta, self.mode, self.prior)
        self.design.tell_gap(self.problem, found.primal, found.dual)
        return found

    def is_closed(self, found: Judgement, dual: float) -> bool:
        """Tell whether the gap is small enough or, where there is no dual point, the slopes are right."""
        if dual == -np.inf:
            return found.residual <= self.tol * min(1.0, found.primal)
        return found.primal - dual <= self.tol * found.primal

    def pushes(self, c: FloatArray) -> FloatArray:
        """Return what the slope of each feature is worth at its mode, as a multiple of its rate."""
        l1, _, low, high = (part[:-1] for part in self.prior)
        push = np.maximum(np.where(high > 0.0, c[:-1], 0.0), np.where(low < 0.0, -c[:-1], 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(l1 > 0.0, push / l1, 0.0)


class _Reached(NamedTuple):
    """Where a solver ended."""

    delta: FloatArray
    found: Judgement
    dual: float
    rounds: int
    converged: bool


def solve(design: ShardedDesign, problem: Problem, options: SolverOptions, start: FloatArray | None) -> Solution:
    """Find the posterior mode of a problem over shards, from the modes of the priors or from ``start``."""
    stop_if_abandoned()
    begin = time.perf_counter()
    mode = problem.prior.mode
    prior = penalty_arrays(problem.prior.kind, problem.prior.weight, problem.prior.sign)
    delta = np.zeros(mode.size) if start is None else np.clip(start - mode, prior[2], prior[3])
    kept = KeptRound(design.shards, problem, options, start)
    sharded = _Sharded(design, problem, prior, options, options.tolerance("newton"), kept)
    reached = _search(sharded, delta)
    design.tell_gap(problem)
    found = reached.found
    return Solution(
        reached.delta + mode,
        found.primal,
        reached.dual,
        found.residual,
        max(reached.rounds, 1),
        time.perf_counter() - begin,
        reached.converged,
    )


def _search(sharded: _Sharded, delta: FloatArray) -> _Reached:
    """Search from some departures from the modes, or from where a process stood that was killed."""
    before = sharded.kept.read(sharded.prior)
    if before is not None and before.done:
        # Kept coefficients are believed only as far as a round confirms them.
        found = sharded.judged(before.delta)
        if sharded.is_closed(found, found.dual):
            return _Reached(before.delta, found, found.dual, before.rounds, True)
    delta = delta if before is None else before.delta
    if np.any(sharded.problem.prior.kind == LAPLACE):
        reached = _solve_on_candidates(sharded, delta, before)
    else:
        reached = _solve_smooth(sharded, delta)
    sharded.kept.write(Standing(reached.delta, np.empty(0, np.int64), reached.rounds, done=True))
    return reached


def _solve_on_candidates(sharded: _Sharded, delta: FloatArray, before: Standing | None) -> _Reached:
    """Solve on candidate columns in memory, until a round over everything finds nothing to add."""
    design, prior, tol = sharded.design, sharded.prior, sharded.tol
    l1 = prior[0][:-1]
    # Columns without a rate are never at their modes, and modes other than 0 count in every score.
    always = (sharded.movable & (l1 == 0.0) & (design.shards.column_counts > 0)) | (sharded.mode[:-1] != 0.0)
    wanted = np.flatnonzero(always | (delta[:-1] != 0.0))
    inner, exact, dual, first = max(_INNER * tol, _ROUGH), False, -np.inf, 1
    if before is not None and not before.done and before.inner > 0.0:
        wanted, first = np.union1d(wanted, before.wanted), min(before.rounds, _ROUNDS)
        inner, exact = before.inner, before.exact
    for rounds in range(first, _ROUNDS + 1):
        sharded.kept.write(Standing(delta, wanted, rounds, False, exact, inner))
        held = design.hold(wanted)
        if held is None:
            return _solve_by_matrix(sharded, delta, rounds)
        delta, converged = _solve_held(sharded, held, delta, inner)
        found = sharded.judged(delta)
        dual = max(dual, found.dual)
        if sharded.is_closed(found, dual):
            return _Reached(delta, found, dual, rounds, True)
        pushes = sharded.pushes(found.c)
        pushes[held.columns] = 0.0
        added = _violators(sharded, pushes, delta, held)
        if not added.size:
            if exact and inner < 1e-4 * tol:
                return _Reached(delta, found, dual, rounds, converged)
            inner, exact = (_TIGHTER * inner if exact else _INNER * tol), True
        elif pushes.max() <= _CLEARLY:
            inner, exact = min(inner, _INNER * tol), True
        wanted = np.union1d(held.columns, added)
        if int(design.shards.column_counts[wanted].sum()) > design.most_entries:
            # What was a candidate and stayed at its mode makes room.
            wanted = np.union1d(np.flatnonzero(always | (delta[:-1] != 0.0)), added)
    return _Reached(delta, found, dual, _ROUNDS, False)


def _violators(sharded: _Sharded, pushes: FloatArray, delta: FloatArray, held: Held) -> Int64Array:
    """Return the columns to add: those farthest beyond their rates first, as many as a round should add."""
    beyond = np.flatnonzero(pushes > 1.0)
    if not beyond.size:
        return beyond
    most = max(_CANDIDATES, _GROWTH * int(np.count_nonzero(delta)))
    if beyond.size < most:
        beyond = np.flatnonzero(pushes > _NEAR)
    order = beyond[np.argsort(-pushes[beyond], kind="stable")][:most]
    counts = sharded.design.shards.column_counts
    room = max(sharded.design.most_entries - int(counts[held.columns].sum()), 0)
    n_fitting = int(np.searchsorted(np.cumsum(counts[order]), max(_ROOM * room, counts[order[0]]), side="right"))
    return np.sort(order[: max(n_fitting, 1)])


def _solve_held(sharded: _Sharded, held: Held, delta: FloatArray, gap: float) -> tuple[FloatArray, bool]:
    """Solve on the columns in memory by the solver for data in memory; return all departures from the modes."""
    problem, columns = sharded.problem, np.append(held.columns, delta.size - 1)
    prior = problem.prior.of(columns)
    small = problem._replace(design=held.design, prior=prior, sums=None)
    options = sharded.options._replace(tol=gap, least_gap=0.0, settled=0.0)
    start = delta[columns] + prior.mode if delta.any() else None
    found = small.solve(options, start)
    result = np.zeros_like(delta)
    result[columns] = found.beta - prior.mode
    return result, found.converged


def _solve_by_matrix(sharded: _Sharded, delta: FloatArray, rounds: int) -> _Reached:
    """Proximal Newton steps on the curvature matrix of a working set, summed by workers; lines are searched by rounds.

    The columns need not fit in memory, only the matrix of those that are away from their modes or beyond their rates.
    """
    design, prior = sharded.design, sharded.prior
    most = max(int(np.sqrt(_MATRIX_SHARE * design.shards.memory / (8 * _MATRICES))) - 1, _LEAST_COLUMNS)
    found = sharded.judged(delta)
    dual, before = found.dual, np.inf
    matrix: FloatArray | None = None
    chosen = np.empty(0, np.int64)
    for done in range(rounds, _ROUNDS + 1):
        gap = found.primal - dual
        if sharded.is_closed(found, dual):
            return _Reached(delta, found, dual, done, True)
        working = _working_set(sharded, found, delta, most)
        inside = np.isin(working, chosen, assume_unique=True).all()
        is_new = matrix is None or not inside or gap > _PROGRESS * before
        if matrix is None or is_new:
            chosen = working
            table = _table(sharded, delta)
            power = 0.5 if before == np.inf else 0.0
            matrix = design.sum_of(tasks.gram, sharded.problem, table, chosen, power)
            matrix += np.tril(matrix, -1).T
        before = gap
        step = _matrix_step(matrix, chosen, found, delta, prior)
        delta, found, moved = _move(sharded, delta, step, found)
        sharded.kept.write(Standing(delta, np.empty(0, np.int64), done + 1))
        dual = max(dual, found.dual)
        if not moved:
            if is_new:
                break
            matrix = None
    return _Reached(delta, found, dual, _ROUNDS, sharded.is_closed(found, dual))


def _working_set(sharded: _Sharded, found: Judgement, delta: FloatArray, most: int) -> Int64Array:
    """Return the columns away from their modes or beyond their rates, no more than a matrix may have.

    Where there are more, those whose slopes are farthest from right.
    """
    free = sharded.movable & (sharded.prior[0][:-1] == 0.0) & (sharded.design.shards.column_counts > 0)
    inside = np.flatnonzero(free | (delta[:-1] != 0.0))
    pushes = sharded.pushes(found.c)
    pushes[inside] = 0.0
    beyond = np.flatnonzero(pushes > 1.0)
    order = beyond[np.argsort(-pushes[beyond], kind="stable")][: max(_CANDIDATES, _GROWTH * inside.size)]
    if inside.size + order.size <= most:
        return np.union1d(inside, order)
    everything = np.append(inside, order)
    l1, l2 = sharded.prior[0][everything], sharded.prior[1][everything]
    error = np.abs(found.c[everything] - l2 * delta[everything]) - l1
    # Away from the mode a slope may be on either side of its rate.
    error = np.where(delta[everything] != 0.0, np.abs(error), error)
    return np.sort(everything[np.argsort(-error, kind="stable")[:most]])


def _matrix_step(
    matrix: FloatArray, chosen: Int64Array, found: Judgement, delta: FloatArray, prior: Penalties
) -> FloatArray:
    """Minimise the quadratic model on the working set; return the step of all coefficients."""
    places = np.append(chosen, delta.size - 1)
    own: Penalties = (prior[0][places], prior[1][places], prior[2][places], prior[3][places])
    x, c = delta[places], found.c[places]
    units = take_units(own[0], own[1], found.primal, min(1.0, found.primal))
    worst = float(set_violation(c, x, own, units))
    new = x.copy()
    descend_gram(matrix.astype(np.float32), c.copy(), new, own, units, 0.05 * worst)
    step = np.zeros_like(delta)
    step[places] = new - x
    return step


def _move(
    sharded: _Sharded, delta: FloatArray, step: FloatArray, found: Judgement
) -> tuple[FloatArray, Judgement, bool]:
    """Take the whole step if that lowers the objective, else the best of several shorter ones."""
    l1, l2, _, _ = sharded.prior
    before = float(penalty(delta, l1, l2))
    expected = float(penalty(delta + step, l1, l2)) - before - float(found.c @ step)
    whole = sharded.judged(delta + step)
    rounding = 1e-13 * found.primal
    if whole.primal <= found.primal + 1e-4 * expected + rounding:
        return delta + step, whole, bool(step.any())
    table = _table(sharded, delta, step)
    losses = sharded.design.sum_of(tasks.losses, sharded.problem, table, _SIZES)
    values = losses + np.array([float(penalty(delta + size * step, l1, l2)) for size in _SIZES])
    best = int(np.argmin(values))
    if values[best] >= found.primal:
        return delta, found, False
    new = delta + _SIZES[best] * step
    return new, sharded.judged(new), True


def _table(sharded: _Sharded, delta: FloatArray, step: FloatArray | None = None) -> tasks.Table:
    from bayesift.linear._sharded.design import table_of

    return table_of([sharded.mode + delta, *([] if step is None else [step])])


class _Done(Exception):  # noqa: N818  (no error: it ends the search)
    """The gap is small enough."""


def _solve_smooth(sharded: _Sharded, delta: FloatArray) -> _Reached:
    """Minimise a smooth objective by L-BFGS, in units of the curvatures at the start; one round for each gradient."""
    _, l2, low, high = sharded.prior
    first = sharded.design.slopes(sharded.problem, sharded.mode + delta, wants_curvature=True)
    curvature = np.append(first.h, first.w) + l2
    free = np.flatnonzero((low < high) & (curvature > 0.0))
    scale = 1.0 / np.sqrt(curvature[free])
    reached = _Reached(delta, judge(first, delta, sharded.mode, sharded.prior), -np.inf, 0, False)

    def at(x: FloatArray) -> tuple[float, FloatArray]:
        nonlocal reached
        new = delta.copy()
        new[free] = x * scale
        known = reached.rounds == 0 and np.array_equal(new, delta)
        found = reached.found if known else sharded.judged(new)
        dual = max(reached.dual, found.dual)
        rounds = reached.rounds + 1
        closed = sharded.is_closed(found, dual)
        if closed or rounds == 1 or found.primal <= reached.found.primal:
            reached = _Reached(new, found, dual, rounds, closed)
            sharded.kept.write(Standing(new, np.empty(0, np.int64), rounds))
        else:
            reached = reached._replace(dual=dual, rounds=rounds)
        if closed or rounds >= sharded.options.max_iter:
            raise _Done
        return found.primal, (l2[free] * new[free] - found.c[free]) * scale

    bounds = None
    if np.isfinite(low[free]).any() or np.isfinite(high[free]).any():
        bounds = list(zip(low[free] / scale, high[free] / scale, strict=True))
    limits = {"maxiter": 10 * sharded.options.max_iter, "maxfun": 10 * sharded.options.max_iter, "maxcor": 20}
    try:
        minimize(
            at,
            delta[free] / scale,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={**limits, "ftol": 0.0, "gtol": 0.0, "maxls": 40},
        )
    except _Done:
        return reached
    # No step lowers the objective any more: as exact as numbers are.
    exact = reached.found.residual <= 1e-8 * reached.found.primal
    return reached._replace(converged=reached.converged or exact)
