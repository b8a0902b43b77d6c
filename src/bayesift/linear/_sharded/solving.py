"""The posterior mode of one category from shards: candidates solved in memory and confirmed over everything.

Laplace priors: the columns whose slopes exceed their rates are candidates and are brought into memory; the solver for
data in memory finds the optimum on them; a round of slopes over all columns proves it, by the duality gap over all
documents and columns, or finds further candidates. Where candidates do not fit in memory, steps are found on their
curvature matrix, which workers sum; where that has no room either, and for Gaussian priors, by a quasi-Newton method,
one round for each gradient.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from bayesift._threads import stop_if_abandoned
from bayesift._typing import AnyArray, BoolArray, FloatArray, Int64Array
from bayesift.linear._fit.problem import Problem, Solution, SolverOptions
from bayesift.linear._sharded import tasks
from bayesift.linear._sharded.candidates import ROUNDS, Judgement, Reached, Search, most_added, solve_on_candidates
from bayesift.linear._sharded.gradients import Smooth, solve_by_gradients
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

#: Share of the memory for a curvature matrix, several parts of which may be under way; n columns take 8n² bytes.
_MATRIX_SHARE, _MATRICES = 0.25, 4
#: A matrix of this many columns is small for any memory.
_LEAST_COLUMNS = 500
#: Steps tried if a whole one does not lower the objective enough.
_SIZES: FloatArray = 0.5 ** np.arange(1.0, 13.0)
#: A matrix is used again while a round leaves at most this share of the gap.
_PROGRESS = 0.3


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

    @property
    def always(self) -> BoolArray:
        """Which features are never at their modes, having no rate, or count in every score by modes other than 0."""
        free = self.movable & (self.prior[0][:-1] == 0.0) & (self.design.shards.column_counts > 0)
        found: BoolArray = free | (self.mode[:-1] != 0.0)
        return found

    def moved(self, delta: FloatArray) -> BoolArray:
        """Tell which features are away from their modes."""
        found: BoolArray = delta[:-1] != 0.0
        return found

    def solve_held(self, held: Held, delta: FloatArray, gap: float) -> tuple[FloatArray, bool]:
        """Solve on the columns in memory by the solver for data in memory; return all departures from the modes."""
        columns = np.append(held.columns, delta.size - 1)
        prior = self.problem.prior.of(columns)
        small = self.problem._replace(design=held.design, prior=prior, sums=None)
        options = self.options._replace(tol=gap, least_gap=0.0, settled=0.0)
        found = small.solve(options, delta[columns] + prior.mode if delta.any() else None)
        result = np.zeros_like(delta)
        result[columns] = found.beta - prior.mode
        return result, found.converged

    def without_columns(self, delta: FloatArray, rounds: int) -> Reached:
        """Solve where candidates do not fit in memory."""
        return _solve_by_matrix(self, delta, rounds)

    @property
    def flat(self) -> Penalties:
        """The priors, in the order of the departures from the modes."""
        return self.prior

    def begin(self, delta: FloatArray) -> tuple[Judgement, FloatArray]:
        """Judge coefficients and return the curvature of the loss in each, the constant's last."""
        sums = self.design.slopes(self.problem, self.mode + delta, wants_curvature=True)
        return judge(sums, delta, self.mode, self.prior), np.append(sums.h, sums.w)

    def judged(self, delta: FloatArray, held: Held | None = None) -> Judgement:
        """Judge coefficients by a round over everything."""
        found = judge(self.design.slopes(self.problem, self.mode + delta), delta, self.mode, self.prior)
        self.design.tell_gap(self.problem, found.primal, found.dual)
        return found

    def is_closed(self, found: Judgement, dual: float) -> bool:
        """Tell whether the gap is small enough or, without a dual point, whether the slopes are right."""
        if dual == -np.inf:
            return found.residual <= self.tol * min(1.0, found.primal)
        return found.primal - dual <= self.tol * found.primal

    def pushes(self, c: FloatArray) -> FloatArray:
        """Return what the slope of each feature is worth at its mode, as a multiple of its rate."""
        l1, _, low, high = (part[:-1] for part in self.prior)
        push = np.maximum(np.where(high > 0.0, c[:-1], 0.0), np.where(low < 0.0, -c[:-1], 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(l1 > 0.0, push / l1, 0.0)


class Resumable(Search, Smooth, Protocol):
    """What either way can search for; priors have the shape of the departures."""

    @property
    def prior(self) -> Penalties: ...


def search_on(search: Resumable, delta: FloatArray, *, on_candidates: bool) -> Reached:
    """Search from some departures from the modes, or from where a process stood that was killed."""
    before = search.kept.read(search.prior)
    if before is not None and before.done:
        # Stored coefficients are trusted only as far as a round confirms them.
        found = search.judged(before.delta)
        if search.is_closed(found, found.dual):
            return Reached(before.delta, found, found.dual, before.rounds, True)
    delta = delta if before is None else before.delta
    reached = solve_on_candidates(search, delta, before) if on_candidates else solve_by_gradients(search, delta)
    search.kept.write(Standing(reached.delta, np.empty(0, np.int64), reached.rounds, done=True))
    return reached


def searched(design: ShardedDesign, problem: Problem, options: SolverOptions, start: FloatArray | None) -> _Sharded:
    """Return a problem with all that its solvers use."""
    own = problem.prior
    prior = penalty_arrays(own.kind, own.weight, own.sign)
    arrays: list[AnyArray] = [problem.y, problem.weights, own.kind, own.weight, own.sign, own.mode]
    if start is not None:
        arrays.append(start)
    kept = KeptRound(design.shards, problem.link, options, arrays)
    return _Sharded(design, problem, prior, options, options.tolerance("newton"), kept)


def solve(design: ShardedDesign, problem: Problem, options: SolverOptions, start: FloatArray | None) -> Solution:
    """Find the posterior mode of a problem over shards, from the modes of the priors or from ``start``."""
    stop_if_abandoned()
    begin = time.perf_counter()
    mode = problem.prior.mode
    sharded = searched(design, problem, options, start)
    _, _, low, high = sharded.prior
    delta = np.zeros(mode.size) if start is None else np.clip(start - mode, low, high)
    reached = search_on(sharded, delta, on_candidates=bool(np.any(problem.prior.kind == LAPLACE)))
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


def _solve_by_matrix(sharded: _Sharded, delta: FloatArray, rounds: int) -> Reached:
    """Proximal Newton steps on the curvature matrix of a working set, summed by workers; lines are searched by rounds.

    The columns need not fit in memory, only the matrix of those that are away from their modes or beyond their rates;
    where that does not fit either, gradients take over.
    """
    design, prior = sharded.design, sharded.prior
    most = max(int(np.sqrt(_MATRIX_SHARE * design.shards.memory / (8 * _MATRICES))) - 1, _LEAST_COLUMNS)
    found = sharded.judged(delta)
    dual, before = found.dual, np.inf
    matrix: FloatArray | None = None
    chosen = np.empty(0, np.int64)
    for done in range(rounds, ROUNDS + 1):
        gap = found.primal - dual
        if sharded.is_closed(found, dual):
            return Reached(delta, found, dual, done, True)
        working = _working_set(sharded, found, delta, most)
        if working is None:
            return solve_by_gradients(sharded, delta, done)
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
    return Reached(delta, found, dual, ROUNDS, sharded.is_closed(found, dual))


def _working_set(sharded: _Sharded, found: Judgement, delta: FloatArray, most: int) -> Int64Array | None:
    """Return the columns away from their modes or beyond their rates; None if there is no room for their matrix.

    Where a matrix has room for those away from their modes twice, they may still be all, and of the others those
    farthest beyond their rates come first.
    """
    free = sharded.movable & (sharded.prior[0][:-1] == 0.0) & (sharded.design.shards.column_counts > 0)
    inside = np.flatnonzero(free | (delta[:-1] != 0.0))
    pushes = sharded.pushes(found.c)
    pushes[inside] = 0.0
    beyond = np.flatnonzero(pushes > 1.0)
    order = beyond[np.argsort(-pushes[beyond], kind="stable")][: most_added(inside.size)]
    if inside.size + order.size > most and 2 * inside.size > most:
        return None
    return np.union1d(inside, order[: most - inside.size])


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
    return tasks.table_of([sharded.mode + delta, *([] if step is None else [step])])
