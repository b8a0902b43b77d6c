"""How large the common prior variance of all classes should be, and what becomes of classes without documents."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Literal, NamedTuple

import numpy as np

from bayesift._typing import FloatArray, Int64Array
from bayesift.linear._choice import (
    GAUSSIAN_GRID,
    LAPLACE_GRID,
    Attempt,
    Curve,
    Validation,
    deal_folds,
    rarest,
    search_freely,
    search_grid,
)
from bayesift.linear._design import Design, norm_variance
from bayesift.linear._fitting import Rule, Solution
from bayesift.linear._multinomial import PriorSetting, SoftmaxProblem, log_likelihood, scores
from bayesift.priors import Gaussian


class SoftmaxSettings(NamedTuple):
    """How the variance is chosen and when fits stop."""

    variance: float | Literal["norm", "cv", "auto"]
    grid: FloatArray | None
    folds: int
    runs: int
    one_standard_error: bool
    rule: Rule
    search_rule: Rule
    seed: int
    n_threads: int
    progress: Callable[[int, int], None] | None


class Choice(NamedTuple):
    """A variance (NaN where every prior brings its own), the curve of a search, and whether it fell back."""

    variance: float
    curve: Curve | None = None
    fell_back: bool = False


def choose_variance(
    design: Design, codes: Int64Array, weights: FloatArray, setting: PriorSetting, settings: SoftmaxSettings
) -> Choice:
    """Choose by the norm of the documents, by cross-validation on a grid, or by search."""
    if not setting.is_open:
        return Choice(np.nan)
    if not isinstance(settings.variance, str):
        return Choice(float(settings.variance))
    by_norm = norm_variance(design, weights)
    if settings.variance == "norm":
        return Choice(by_norm)
    counted = weights > 0
    # Every run leaves out a document of each class and needs another to learn from.
    if rarest(codes[counted], design.marks[counted]) < max(settings.runs, 2):
        return Choice(by_norm, fell_back=True)
    # Documents without weight are as good as absent: dealt out as well, they could leave a run without one of a class.
    fold = np.zeros(codes.size, dtype=np.int64)
    random = np.random.default_rng(settings.seed)
    fold[counted] = deal_folds(codes[counted], design.marks[counted], settings.folds, random)
    grid = settings.grid
    if grid is None:
        plain = all(isinstance(prior, Gaussian) for prior in setting.priors if prior.is_open)
        grid = np.array(GAUSSIAN_GRID if plain else LAPLACE_GRID)
    total = grid.size * settings.runs + 1
    done = count(1)

    def told() -> None:
        if settings.progress is not None and settings.variance == "cv":
            settings.progress(next(done), total)

    held = [np.flatnonzero(fold == run) for run in range(settings.runs)]
    training = [np.where(fold == run, 0.0, weights) for run in range(settings.runs)]

    def attempt(run: int, variance: float, start: FloatArray | None) -> Attempt:
        prior = setting.at(variance, design.n_features)
        problem = SoftmaxProblem(design, codes, training[run], prior)
        solution, _ = fit_present_classes(problem, settings.search_rule, start)
        left_out = held[run]
        found = log_likelihood(codes[left_out], scores(design, solution.beta)[left_out], weights[left_out])
        told()
        return Attempt(solution.beta, found, solution.converged)

    validation = Validation(attempt, settings.runs, settings.n_threads)
    if settings.variance == "auto":
        curve = search_freely(validation, by_norm)
    else:
        curve = search_grid(validation, grid, settings.one_standard_error)
    return Choice(curve.variance, curve)


def fit_present_classes(problem: SoftmaxProblem, rule: Rule, start: FloatArray | None) -> tuple[Solution, Int64Array]:
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
        return problem.solve(rule, start), absent
    present = np.setdiff1d(np.arange(totals.size), absent)
    beta = mode.copy()
    base = np.log(totals + 0.5)
    solution = Solution(beta, 0.0, 0.0, 0.0, 1, 0.0, True)
    if present.size > 1:
        solution = problem.among(present).solve(rule, None if start is None else start[:, present])
        beta[:, present] = solution.beta
    else:
        beta[-1, present] = base[present]
    beta[-1, absent] = base[absent] + np.mean(beta[-1, present] - base[present])
    held = np.flatnonzero(low[-1] == high[-1])
    if np.intersect1d(held, absent).size:
        # A reference class keeps its intercept: the others move instead.
        beta[-1] -= beta[-1, held[0]] - mode[-1, held[0]]
    return solution._replace(beta=beta), absent
