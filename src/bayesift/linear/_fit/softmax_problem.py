"""One fit of all classes together: the documents, their classes, the priors of every class, a solver."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from bayesift._threads import map_threads, stop_if_abandoned
from bayesift._typing import BoolArray, FloatArray, Int64Array
from bayesift.linear._fit.blocks import DenseBlock, Unit, choose_blocks, with_all_columns
from bayesift.linear._fit.platt import exact_enough, folds_needed_of_all
from bayesift.linear._fit.problem import Design, Documents, Solution, SolverOptions, in_memory
from bayesift.linear._fit.variance import (
    Choice,
    FitWithoutFold,
    FoldFit,
    LabelledDocuments,
    VarianceSettings,
    runs_of,
)
from bayesift.linear._losses import softmax_terms
from bayesift.linear._solvers.clg import softmax_clg
from bayesift.linear._solvers.duality import Penalties, penalty_arrays, softmax_certificate
from bayesift.linear._solvers.hessian import hessian_diagonal
from bayesift.linear._solvers.line_search import Sample
from bayesift.linear._solvers.softmax_newton import softmax_newton
from bayesift.linear._solvers.softmax_ridge import ridge_problem
from bayesift.priors import Prior, PriorArrays

_ROUNDING = 1e-12


def weighted_medians(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return for each row the t for which Σ w |v − t| is least.

    Of several it is an end of their range: the one that more values equal, or else the lower.
    """
    order = np.argsort(values, axis=1)
    below = np.cumsum(np.take_along_axis(weights, order, axis=1), axis=1)
    half = 0.5 * below[:, -1:]
    slack = _ROUNDING * half
    lower, upper = (
        np.take_along_axis(values, np.take_along_axis(order, place[:, None], axis=1), axis=1)
        for place in (np.argmax(below >= half - slack, axis=1), np.argmax(below > half + slack, axis=1))
    )
    more = np.sum(values == upper, axis=1) > np.sum(values == lower, axis=1)
    return np.where(more, upper[:, 0], lower[:, 0])


def choose_shifts(b: FloatArray, mode: FloatArray, prior: Penalties) -> bool:
    """Shift the coefficients of each feature to where the penalty is least; return whether any penalty changed.

    Only features whose coefficients are all without signs and not fixed can be shifted: Laplace priors ask for the
    weighted median of the departures, and without any penalty the coefficients are made to sum to zero. Where there is
    a Gaussian prior the optimum is unique and is left to the solver.
    """
    l1, l2, low, high = prior
    rows = np.flatnonzero(np.any(b, axis=1) | np.any(mode, axis=1))
    free = ~np.any(l2[rows], axis=1) & np.all(low[rows] < 0.0, axis=1) & np.all(high[rows] > 0.0, axis=1)
    kinked = np.any(l1[rows], axis=1)
    flat = rows[free & ~kinked]
    b[flat] -= np.mean(b[flat] + mode[flat], axis=1, keepdims=True)
    rows = rows[free & kinked]
    shifts = weighted_medians(b[rows], l1[rows])
    b[rows] -= shifts[:, None]
    return bool(np.any(shifts))


class ClassPriors(NamedTuple):
    """The priors of all coefficients: a row for each feature, the intercepts last, and a column for each class."""

    mode: FloatArray
    penalties: Penalties

    def of(self, rows: Int64Array) -> ClassPriors:
        """Return the priors of some of the rows, by their numbers."""
        l1, l2, low, high = (table[rows] for table in self.penalties)
        return ClassPriors(self.mode[rows], (l1, l2, low, high))


class PriorSetting(NamedTuple):
    """What the priors of all classes come from; coefficients that are ``fixed`` (same shape as the priors) are zero."""

    priors: Sequence[Prior]
    intercept_variance: float | Literal["same"]
    feature_names: Sequence[str] | None
    fixed: BoolArray | None
    dense: DenseBlock = DenseBlock()

    def resolved(self, variance: float, n_features: int, dense_variance: float = 0.0) -> list[PriorArrays]:
        """Resolve the prior of every class, open ones with this variance; terms that are no features are errors."""
        known = {}
        n_sparse = n_features - self.dense.n_columns
        names = None if self.feature_names is None else self.feature_names[:n_sparse]
        for prior in self.priors:
            if id(prior) not in known:
                own = prior.scaled(variance if prior.is_open else 1.0)
                features = own.resolve(n_sparse, names)
                if self.dense.n_columns:
                    features = features.extended(self.dense.prior(dense_variance))
                known[id(prior)] = features.extended(own.resolve_intercept(self.intercept_variance))
        return [known[id(prior)] for prior in self.priors]

    def at(self, variance: float, n_features: int, dense_variance: float = 0.0) -> ClassPriors:
        """Spread the priors out over features and classes."""
        arrays = self.resolved(variance, n_features, dense_variance)
        known = {id(one): (one.mode, *penalty_arrays(one.kind, one.weight, one.sign)) for one in arrays}
        mode, l1, l2, low, high = (
            np.stack(tables, axis=1) for tables in zip(*(known[id(one)] for one in arrays), strict=True)
        )
        if self.fixed is not None:
            for table in (mode, l1, l2, low, high):
                table[self.fixed] = 0.0
        return ClassPriors(mode, (l1, l2, low, high))


class SoftmaxProblem(NamedTuple):
    """Everything that defines the objective; ``codes`` number the class of every document."""

    design: Documents
    codes: Int64Array
    weights: FloatArray
    prior: ClassPriors

    def among(self, classes: Int64Array) -> SoftmaxProblem:
        """Return the same problem without the other classes, whose documents must not have any weight."""
        place = np.zeros(self.prior.mode.shape[1], dtype=np.int64)
        place[classes] = np.arange(classes.size)
        mode, l1, l2, low, high = (
            np.ascontiguousarray(array[:, classes]) for array in (self.prior.mode, *self.prior.penalties)
        )
        return self._replace(codes=place[self.codes], prior=ClassPriors(mode, (l1, l2, low, high)))

    def offsets(self) -> FloatArray:
        """Score every document by the modes of the priors."""
        if not self.prior.mode.any():
            return np.zeros((self.design.n_documents, self.prior.mode.shape[1]))
        return self.design.class_scores(self.prior.mode)

    @property
    def in_memory(self) -> Design:
        """The documents, for those who work on them as arrays."""
        return in_memory(self.design)

    def solve(self, options: SolverOptions, start: FloatArray | None = None) -> Solution:
        """Find the posterior mode, from the modes of the priors or from ``start``."""
        return self.design.solve_classes(self, options, start)

    def solve_in_memory(self, options: SolverOptions, start: FloatArray | None) -> Solution:
        """Find the posterior mode by one of the solvers for arrays."""
        stop_if_abandoned()
        begin = time.perf_counter()
        design = self.in_memory
        mode, penalties = self.prior
        delta = np.zeros(mode.shape)
        if start is not None:
            # A term that no document holds stays at its mode.
            held = np.append(np.diff(design.columns[0]) > 0, True)
            delta[held] = np.clip(start - mode, *penalties[2:])[held]
        columns, sample = design.columns, Sample(self.codes, self.weights, self.offsets())
        limits = (options.tolerance(options.solver), options.max_iter)
        if options.solver == "clg":
            passes, converged = softmax_clg(columns, *sample, delta, penalties, *limits)
            choose_shifts(delta, mode, penalties)
            primal, dual, residual = softmax_certificate(columns, *sample, delta, penalties)
        else:
            if self._all_gaussian():
                found = ridge_problem(columns, sample, penalties).solve(delta, *limits)
            else:
                found = softmax_newton(columns, sample, penalties, design.max_step, delta, *limits, options.settled)
            primal, dual, residual, passes, converged = found
            if choose_shifts(delta, mode, penalties):
                primal, other, residual = softmax_certificate(columns, *sample, delta, penalties)
                dual = max(dual, other)
        return Solution(delta + mode, primal, dual, residual, passes, time.perf_counter() - begin, converged)

    def _all_gaussian(self) -> bool:
        """Tell whether features have Gaussian priors or are fixed, and nothing has a sign or a Laplace prior."""
        l1, l2, low, high = self.prior.penalties
        fixed = low == high
        both_sides = (low < 0.0) & (high > 0.0)
        return bool(not l1.any() and np.all(fixed | both_sides) and np.all(fixed[:-1] | (l2[:-1] > 0.0)))

    def precision(self, beta: FloatArray) -> FloatArray:
        """Return the diagonal of the Hessian of the objective, Σ_i s_i p_ik(1 − p_ik) x_ij² plus the prior's precision.

        A fixed coefficient has an infinite one.
        """
        _, l2, low, high = self.prior.penalties
        own = np.where(low == high, np.inf, l2)
        z = self.design.class_scores(beta)
        p, r = np.empty_like(z), np.empty_like(z)
        softmax_terms(z, self.codes, self.weights, p, r)
        curvature = self.weights[:, None] * p * (1.0 - p)
        columns = [
            hessian_diagonal(self.in_memory.documents, np.ascontiguousarray(w), np.ascontiguousarray(prior))
            for w, prior in zip(curvature.T, own.T, strict=True)
        ]
        return np.stack(columns, axis=1)


def softmax_log_likelihood(codes: Int64Array, linear_scores: FloatArray, weights: FloatArray) -> float:
    """Sum the weighted log likelihood Σ_i s_i ln p(y_i), stable for scores of any size."""
    p, r = np.empty_like(linear_scores), np.empty_like(linear_scores)
    return -float(softmax_terms(linear_scores, codes, weights, p, r))


def fit_present_classes(
    problem: SoftmaxProblem, options: SolverOptions, start: FloatArray | None
) -> tuple[Solution, Int64Array]:
    """Fit; return the solution and the classes left out of it.

    A class none of whose documents has any weight would drive unpenalised intercepts to infinity. Such classes stay at
    the modes of their priors, and their intercept is that of a base rate as if each class had half a document more.
    """
    mode, (l1, l2, low, high) = problem.prior
    totals = np.bincount(problem.codes, problem.weights, mode.shape[1])
    flat = (l1[-1] == 0.0) & (l2[-1] == 0.0)
    falls, rises = flat & (low[-1] < 0.0), flat & (high[-1] > 0.0)
    others_rise = np.count_nonzero(~rises) - ~rises == 0
    absent = np.flatnonzero((totals == 0.0) & (falls | others_rise))
    if not absent.size:
        return problem.solve(options, start), absent
    present = np.setdiff1d(np.arange(totals.size), absent)
    beta = mode.copy()
    base = np.log(totals + 0.5)
    solution = Solution(beta, 0.0, 0.0, 0.0, 1, 0.0, True)
    if present.size > 1:
        solution = problem.among(present).solve(options, None if start is None else start[:, present])
        beta[:, present] = solution.beta
    else:
        beta[-1, present] = base[present]
    beta[-1, absent] = base[absent] + np.mean(beta[-1, present] - base[present])
    held = np.flatnonzero(low[-1] == high[-1])
    if np.intersect1d(held, absent).size:
        # A reference class keeps its intercept: the others move instead.
        beta[-1] -= beta[-1, held[0]] - mode[-1, held[0]]
    return solution._replace(beta=beta), absent


def softmax_fits_without_folds(
    documents: LabelledDocuments,
    prior_at: Callable[[float], ClassPriors],
    fold: Int64Array,
    runs: int,
    options: SolverOptions,
) -> FitWithoutFold:
    """Return the fits of all classes without one of the folds."""
    design, codes = documents.design, documents.labels
    learned, training, held_out, judging = runs_of(documents, fold, runs)
    part: Documents = design if learned.size == fold.size else design.subset(learned)

    def fit_without(run: int, variance: float, start: FloatArray | None) -> FoldFit:
        problem = SoftmaxProblem(part, codes[learned], training[run], prior_at(variance))
        solution, _ = fit_present_classes(problem, options, start)
        left_out = held_out[run]
        found = design.class_scores(solution.beta)[left_out]
        score = softmax_log_likelihood(codes[left_out], found, judging[left_out])
        return FoldFit(solution.beta, score, solution.converged)

    return fit_without


def softmax_held_out_scores(
    problem: SoftmaxProblem, fold: Int64Array, options: SolverOptions, n_jobs: int | None
) -> FloatArray:
    """Score the documents of some folds by fits without the fold they lie in; rows of the others are NaN.

    No fit starts from one that has seen the fold: stopped early, it would still know it.
    """
    counted, options = problem.weights > 0, exact_enough(options)
    n_folds = int(fold[counted].max()) + 1
    result = np.full((fold.size, problem.prior.mode.shape[1]), np.nan)

    def score(left_out: int) -> None:
        held = fold == left_out
        part = problem._replace(weights=np.where(held, 0.0, problem.weights))
        if np.any(counted & ~held):
            result[held] = problem.design.class_scores(fit_present_classes(part, options, None)[0].beta)[held]

    map_threads(score, range(folds_needed_of_all(n_folds, problem.weights)), n_jobs)
    return result


def choose_class_blocks(
    documents: LabelledDocuments, setting: PriorSetting, settings: VarianceSettings, n_jobs: int | None
) -> Choice:
    """Choose the variances of the sparse and the dense features for all classes."""
    design = documents.design
    # A word that no document has says nothing here, and few documents have few of the words.
    small, present = design.without_empty_columns()
    rows = np.append(present, design.n_features)
    n_dense = int(np.count_nonzero(present >= design.n_features - setting.dense.n_columns))
    own = documents._replace(design=small)

    def fit(fold: Int64Array, runs: int, pair: Callable[[float], tuple[float, float]]) -> FitWithoutFold:
        def prior_at(place: float) -> ClassPriors:
            variance, dense_variance = pair(place)
            return setting.at(variance, design.n_features, dense_variance).of(rows)

        return softmax_fits_without_folds(own, prior_at, fold, runs, settings.options)

    dense = setting.dense._replace(n_columns=n_dense)
    choice = choose_blocks([Unit(own, fit)], setting.priors, dense, settings, n_jobs)
    return with_all_columns(choice, setting.at(choice.scale, design.n_features, choice.dense_variance).mode, rows)
