"""The posterior mode of all classes of a softmax model together, from shards.

Laplace priors: candidates solved in memory and confirmed over everything, as for one category. Where the candidates, or
the numbers that their solver keeps for every document and class, do not fit, and for Gaussian priors: a quasi-Newton
method, one round for each gradient. Constants without a penalty ask of a dual point that the residuals of each class
sum to zero, for which the documents of every class get a factor. The factors are known before a round where the scores
are in memory; else they follow from one round and are used in a second, once the gap seems to be closed.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bayesift._threads import stop_if_abandoned
from bayesift._typing import AnyArray, BoolArray, FloatArray, Int64Array
from bayesift.linear._fit.problem import Solution, SolverOptions
from bayesift.linear._fit.softmax_problem import SoftmaxProblem, choose_shifts
from bayesift.linear._losses import softmax_terms
from bayesift.linear._sharded import tasks
from bayesift.linear._sharded.candidates import Judgement, Reached
from bayesift.linear._sharded.gradients import solve_by_gradients
from bayesift.linear._sharded.kept import KeptRound
from bayesift.linear._sharded.solving import search_on
from bayesift.linear._sharded.tasks import SCALES
from bayesift.linear._solvers.duality import (
    Penalties,
    balance_flows,
    class_entropy,
    class_flows,
    conjugates,
    feasible_scale,
    flattened,
    kkt_residual,
    open_intercepts,
    penalty,
)
from bayesift.shards import ShardFile

if TYPE_CHECKING:
    from bayesift.linear._sharded.design import Held, ShardedDesign

#: Numbers of 8 bytes that the solver in memory keeps for each document and class.
_PER_SCORE = 12
#: A gap that seems to be at most this many times the tolerance is worth a round to prove it.
_WORTH_A_PROOF = 1.0


class ClassSums(NamedTuple):
    """What the tasks ``class_slopes`` return, summed over all shards.

    ``flows`` are Σ r_ik over the documents of each class; for every set t of ``factors``, ``duals`` are the dual
    objective at each of ``SCALES`` and ``c`` the slopes Σ x_ij t r_ik, a row for each feature. ``h`` and ``w`` are the
    curvatures of the features and of the constants.
    """

    loss: float
    flows: FloatArray
    w: FloatArray
    factors: FloatArray
    duals: FloatArray
    c: FloatArray
    h: FloatArray

    def slopes(self, place: int) -> FloatArray:
        """Return the slopes of a set of factors, those of the constants last."""
        return np.vstack([self.c[place], self.flows @ self.factors[place]])


def class_slopes(
    shard: ShardFile, codes: Int64Array, s: FloatArray, table: tasks.Table, factors: FloatArray, wants_curvature: bool
) -> tuple[AnyArray, ...]:
    """Return what a round needs of all classes: loss, flows, dual objectives, slopes and, if wanted, curvatures.

    Parameters
    ----------
    shard : ShardFile
    codes : int64 array of shape (n_rows,)
        The class of each document.
    s : float array of shape (n_rows,)
        Weights.
    table : Table
        The coefficients of all classes.
    factors : float array of shape (n_sets, n_classes)
        Factors of the residuals of the documents of each class.
    wants_curvature : bool

    Returns
    -------
    totals, duals, c, h : arrays
        Those of :class:`ClassSums`; in ``totals`` the loss comes first, then flows and the constants' curvatures, in
        ``c`` the sets stand beside each other.
    """
    rows = shard.open()
    z = np.ascontiguousarray(tasks.linear_scores(rows, shard, table).T)
    p, r = np.empty_like(z), np.empty_like(z)
    loss = softmax_terms(z, codes, s, p, r)
    w = s[:, None] * p * (1.0 - p)
    totals = np.concatenate([[loss], class_flows(codes, r).ravel(), w.sum(axis=0)])
    duals = np.zeros((factors.shape[0], SCALES.size))
    nothing = np.zeros_like(r)
    for own, t in zip(duals, factors, strict=True):
        # At the factor 0 it is 0.
        for place in range(1, SCALES.size):
            own[place] = class_entropy(codes, s, nothing, r, SCALES[place] * t)
    u = np.concatenate([(t[codes][:, None] * r).T for t in factors])
    c = np.zeros((shard.n_columns, u.shape[0], 1))
    tasks.add_slopes(rows, u, np.zeros(u.shape, dtype=np.uint8), c)
    h = np.zeros((shard.n_columns if wants_curvature else 0, z.shape[1]))
    if wants_curvature:
        tasks.add_curvatures(rows, np.ascontiguousarray(w.T), h)
    return totals, duals, c[:, :, 0], h


def class_sums(
    design: ShardedDesign, problem: SoftmaxProblem, beta: FloatArray, factors: FloatArray, wants_curvature: bool = False
) -> ClassSums:
    """Sum over all shards, in their order."""
    n_classes = beta.shape[1]
    table = tasks.table_of(list(beta.T))
    codes, weights = design.shards.split(problem.codes), design.shards.split(problem.weights)
    calls = [(own, s, table, factors, wants_curvature) for own, s in zip(codes, weights, strict=True)]
    totals, duals, c, h = design.total(class_slopes, calls)
    c = c.reshape(design.n_features, factors.shape[0], n_classes).transpose(1, 0, 2)
    flows = totals[1:-n_classes].reshape(n_classes, n_classes)
    return ClassSums(float(totals[0]), flows, totals[-n_classes:], factors, duals, c, h)


class _Classes(NamedTuple):
    """A problem with all that its solvers use."""

    design: ShardedDesign
    problem: SoftmaxProblem
    options: SolverOptions
    tol: float
    kept: KeptRound

    @property
    def prior(self) -> Penalties:
        return self.problem.prior.penalties

    @property
    def mode(self) -> FloatArray:
        return self.problem.prior.mode

    @property
    def flat(self) -> Penalties:
        """The priors, in the order of the entries of all departures from the modes."""
        return flattened(self.prior)

    @property
    def always(self) -> BoolArray:
        """Which features are never at their modes, having no rate, or count in every score by modes other than 0."""
        l1, _, low, high = (table[:-1] for table in self.prior)
        free = np.any((low < high) & (l1 == 0.0), axis=1) & (self.design.shards.column_counts > 0)
        found: BoolArray = free | np.any(self.mode[:-1], axis=1)
        return found

    def moved(self, delta: FloatArray) -> BoolArray:
        """Tell which features are away from their modes in any class."""
        found: BoolArray = np.any(delta[:-1], axis=1)
        return found

    def solve_held(self, held: Held, delta: FloatArray, gap: float) -> tuple[FloatArray, bool]:
        """Solve on the columns in memory by the solver for data in memory; return all departures from the modes."""
        rows = np.append(held.columns, delta.shape[0] - 1)
        small = self.problem._replace(design=held.design, prior=self.problem.prior.of(rows))
        options = self.options._replace(tol=gap, least_gap=0.0, settled=0.0)
        found = small.solve(options, (delta + self.mode)[rows] if delta.any() else None)
        result = np.zeros_like(delta)
        result[rows] = found.beta - self.mode[rows]
        return result, found.converged

    def without_columns(self, delta: FloatArray, rounds: int) -> Reached:
        """Solve where candidates do not fit in memory."""
        return solve_by_gradients(self, delta, rounds)

    def begin(self, delta: FloatArray) -> tuple[Judgement, FloatArray]:
        """Judge coefficients and return the curvature of the loss in each, the constants' last."""
        sums = class_sums(self.design, self.problem, self.mode + delta, np.ones((1, delta.shape[1])), True)
        return self._judgement(sums, delta, not self._open().any()), np.vstack([sums.h, sums.w])

    def judged(self, delta: FloatArray, held: Held | None = None, *, proof: bool = False) -> Judgement:
        """Judge coefficients by a round over everything, or by two if the first leaves hope that the gap is closed."""
        beta, factors = self.mode + delta, np.ones((1, delta.shape[1]))
        is_open = self._open()
        if held is not None and is_open.any():
            factors = np.stack([factors[0], balance_flows(self._flows(held, beta), is_open)])
        sums = class_sums(self.design, self.problem, beta, factors)
        found = self._judgement(sums, delta, not is_open.any() or held is not None)
        if held is None and is_open.any():
            hoped = self._dual(sums.duals[0], sums.slopes(0), is_open)
            if proof or found.primal - hoped <= _WORTH_A_PROOF * self.tol * found.primal:
                own = np.stack([factors[0], balance_flows(sums.flows, is_open)])
                found = self._judgement(class_sums(self.design, self.problem, beta, own), delta, True)
        if found.dual > -np.inf:
            self.design.tell_gap(self.problem, found.primal, found.dual)
        return found

    def is_closed(self, found: Judgement, dual: float) -> bool:
        """Tell whether the gap is small enough."""
        return found.primal - dual <= self.tol * found.primal

    def pushes(self, c: FloatArray) -> FloatArray:
        """Return what the slopes of each feature are worth at its modes, as a multiple of its rates, at most."""
        l1, _, low, high = (table[:-1] for table in self.prior)
        push = np.maximum(np.where(high > 0.0, c[:-1], 0.0), np.where(low < 0.0, -c[:-1], 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            found: FloatArray = np.where(l1 > 0.0, push / l1, 0.0).max(axis=1, initial=0.0)
        return found

    def _open(self) -> BoolArray:
        return open_intercepts(self.prior)

    def _flows(self, held: Held, beta: FloatArray) -> FloatArray:
        """Sum the residuals of each class by the scores that are in memory."""
        z = held.design.class_scores(beta[np.append(held.columns, beta.shape[0] - 1)])
        p, r = np.empty_like(z), np.empty_like(z)
        softmax_terms(z, self.problem.codes, self.problem.weights, p, r)
        return class_flows(self.problem.codes, r)

    def _judgement(self, sums: ClassSums, delta: FloatArray, is_balanced: bool) -> Judgement:
        """Compute the certificate from sums whose last set of factors balances the classes, if they are balanced."""
        l1, l2, _, _ = self.flat
        c = sums.slopes(0)
        primal = sums.loss + float(penalty(delta.ravel(), l1, l2))
        residual = float(kkt_residual(c.ravel(), delta.ravel(), self.flat))
        dual = -np.inf
        if is_balanced:
            dual = self._dual(sums.duals[-1], sums.slopes(-1), self._open())
        return Judgement(primal, dual, residual, c)

    def _dual(self, duals: FloatArray, c: FloatArray, is_open: BoolArray) -> float:
        """Return the dual objective at the largest feasible factor of a point: between two of ``SCALES``, a bound."""
        c = c.copy()
        c[-1, is_open] = 0.0
        scale = float(feasible_scale(c.ravel(), self.flat))
        if scale == 0.0 or not duals.any():
            return -np.inf
        own = float(np.interp(scale, SCALES, duals)) - scale * float(np.sum(self.mode * c))
        return own - float(conjugates(c.ravel(), scale, self.flat))


def solve_classes(
    design: ShardedDesign, problem: SoftmaxProblem, options: SolverOptions, start: FloatArray | None
) -> Solution:
    """Find the posterior mode of a problem over shards, from the modes of the priors or from ``start``."""
    stop_if_abandoned()
    begin = time.perf_counter()
    mode, penalties = problem.prior
    delta = np.zeros(mode.shape)
    if start is not None:
        # A term that no document holds stays at its mode.
        held = np.append(design.shards.column_counts > 0, True)
        delta[held] = np.clip(start - mode, *penalties[2:])[held]
    arrays = [problem.codes, problem.weights, mode, *penalties, *([] if start is None else [start])]
    kept = KeptRound(design.shards, "softmax", options, arrays)
    search = _Classes(design, problem, options, options.tolerance("newton"), kept)
    fits = 8 * _PER_SCORE * design.n_documents * mode.shape[1] <= design.shards.memory
    reached = search_on(search, delta, on_candidates=bool(penalties[0].any()) and fits)
    if choose_shifts(reached.delta, mode, penalties) or reached.dual == -np.inf:
        found = search.judged(reached.delta, proof=True)
        dual = max(reached.dual, found.dual)
        reached = reached._replace(found=found, dual=dual, converged=reached.converged or search.is_closed(found, dual))
    design.tell_gap(problem)
    found = reached.found
    return Solution(
        reached.delta + mode,
        found.primal,
        reached.dual,
        found.residual,
        reached.rounds,
        time.perf_counter() - begin,
        reached.converged,
    )
