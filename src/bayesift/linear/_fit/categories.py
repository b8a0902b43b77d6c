"""All categories of one call: each chooses its variance and is fitted, on several threads over one design."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np

from bayesift._typing import AnyArray, FloatArray, Int64Array
from bayesift.linear._fit.problem import Design, Problem, Rule, Solution, norm_variance
from bayesift.linear._fit.variance import (
    GAUSSIAN_GRID,
    LAPLACE_GRID,
    Curve,
    Validation,
    deal_folds,
    fold_attempts,
    held_out_scores,
    rarest,
    search_freely,
    search_grid,
)
from bayesift.linear._losses import LOGISTIC, score_of_probability
from bayesift.priors import FIXED, FLAT, JEFFREYS, Gaussian, Jeffreys, Laplace, Prior, PriorArrays

Progress = Callable[[int, int], None]


class Settings(NamedTuple):
    """What holds for every category of a call; ``posterior`` computes from the mode what is to be kept besides it."""

    variance: float | Literal["norm", "cv", "auto"]
    intercept_variance: float | Literal["same"]
    grid: FloatArray | None
    folds: int
    runs: int
    one_standard_error: bool
    rule: Rule
    search_rule: Rule
    posterior: Callable[[Problem, FloatArray], FloatArray] | None
    score_held_out: bool
    seed: int
    link: int = LOGISTIC
    restarts: int = 1


class Task(NamedTuple):
    """One category to fit."""

    y: FloatArray
    weights: FloatArray
    prior: Prior
    start: FloatArray | None


class CategoryFit(NamedTuple):
    """What became of a category.

    ``variance`` is NaN for a prior that brought its own; ``restarts`` are the log posteriors reached from each start,
    where a prior is not convex.
    """

    solution: Solution
    variance: float
    curve: Curve | None = None
    precision: FloatArray | None = None
    fell_back: bool = False
    one_class: bool = False
    scores: FloatArray | None = None
    restarts: FloatArray | None = None


def fit_categories(
    design: Design,
    feature_names: Sequence[str] | None,
    tasks: Sequence[Callable[[], Task]],
    settings: Settings,
    n_threads: int,
    progress: Progress | None,
) -> list[CategoryFit]:
    """Fit all categories; ``tasks`` make their arrays when their turn comes, so that few exist at a time."""
    results: list[CategoryFit] = []

    def work(make_task: Callable[[], Task]) -> CategoryFit:
        return _fit_category(design, feature_names, make_task(), settings)

    def collect(found: Iterable[CategoryFit]) -> None:
        for result in found:
            results.append(result)
            if progress is not None:
                progress(len(results), len(tasks))

    if n_threads == 1 or len(tasks) == 1:
        collect(map(work, tasks))
    else:
        with ThreadPoolExecutor(n_threads) as pool:
            collect(pool.map(work, tasks))
    return results


def prior_by_variance(
    prior: Prior, n_features: int, feature_names: Iterable[str] | None, intercept_variance: float | Literal["same"]
) -> Callable[[float], PriorArrays]:
    """Return a function from the common variance to the priors of all coefficients, the intercept's last."""
    features = prior.resolver(n_features, feature_names)
    return lambda variance: features(variance).extended(prior.scaled(variance).resolve_intercept(intercept_variance))


def _fit_category(design: Design, feature_names: Sequence[str] | None, task: Task, settings: Settings) -> CategoryFit:
    prior_at = prior_by_variance(task.prior, design.n_features, feature_names, settings.intercept_variance)
    variance, curve, fell_back = _choose_variance(design, task, settings, prior_at)
    prior = prior_at(1.0 if np.isnan(variance) else variance)
    problem = Problem(design, task.y, task.weights, prior, link=settings.link)
    one_class = _rarer(design, task) == 0 and problem.prior.kind[-1] == FLAT
    if one_class:
        problem = problem._replace(prior=_base_rate_only(task, problem.prior, settings.link))
    start = task.start if curve is None or task.start is not None else curve.start
    solution = problem.solve(settings.rule, None if one_class else start)
    solution, restarts = _restart(problem, solution, settings)
    precision = None if settings.posterior is None else settings.posterior(problem, solution.beta)
    held_out = None
    if settings.score_held_out and _rarer(design, task) >= 2:
        held_out = held_out_scores(problem, _folds(design, task, settings), settings.search_rule)
    return CategoryFit(solution, variance, curve, precision, fell_back, one_class, held_out, restarts)


def _restart(problem: Problem, first: Solution, settings: Settings) -> tuple[Solution, FloatArray | None]:
    """Fit from other starts where a prior is Jeffreys; return the best solution and the log posterior of all."""
    if not np.any(problem.prior.kind == JEFFREYS):
        return first, None
    random = np.random.default_rng(settings.seed)
    starts = (problem.other_start(settings.rule, random) for _ in range(settings.restarts - 1))
    solutions = [first, *(problem.solve(settings.rule, start) for start in starts)]
    return min(solutions, key=lambda found: found.objective), np.array([-found.objective for found in solutions])


def _folds(design: Design, task: Task, settings: Settings) -> Int64Array:
    """Deal the documents into folds.

    Those without weight are as good as absent: dealt out as well, they could leave a run without one of a class.
    """
    counted = task.weights > 0
    fold = np.zeros(task.y.size, dtype=np.int64)
    random = np.random.default_rng(settings.seed)
    fold[counted] = deal_folds(task.y[counted], design.marks[counted], settings.folds, random)
    return fold


def _rarer(design: Design, task: Task) -> int:
    """Number of distinct documents of the rarer class, those without weight not counted."""
    counted = task.weights > 0
    y = task.y[counted]
    return rarest(y, design.marks[counted]) if np.unique(y).size == 2 else 0


def _choose_variance(
    design: Design, task: Task, settings: Settings, prior_at: Callable[[float], PriorArrays]
) -> tuple[float, Curve | None, bool]:
    """Return the variance (NaN for a prior that brings its own), the curve of a search, and whether it fell back."""
    if not task.prior.is_open:
        return np.nan, None, False
    if not isinstance(settings.variance, str):
        return float(settings.variance), None, False
    by_norm = norm_variance(design, task.weights)
    if settings.variance == "norm":
        return by_norm, None, False
    # Every run leaves out a document of each class and needs another to learn from.
    if _rarer(design, task) < max(settings.runs, 2):
        return by_norm, None, True
    problem = Problem(design, task.y, task.weights, prior_at(by_norm), link=settings.link)
    attempt = fold_attempts(problem, prior_at, _folds(design, task, settings), settings.runs, settings.search_rule)
    validation = Validation(attempt, settings.runs)
    if settings.variance == "auto":
        curve = search_freely(validation, by_norm)
    else:
        grid = settings.grid
        if grid is None:
            grid = np.array(GAUSSIAN_GRID if isinstance(task.prior, Gaussian) else LAPLACE_GRID)
        curve = search_grid(validation, grid, settings.one_standard_error)
    return curve.variance, curve, False


def _base_rate_only(task: Task, prior: PriorArrays, link: int) -> PriorArrays:
    """Fix all coefficients at their modes and a free intercept at the score of a smoothed base rate."""
    positive = task.weights[task.y > 0].sum()
    negative = task.weights[task.y < 0].sum()
    mode = prior.mode.copy()
    mode[-1] = score_of_probability(link, (positive + 0.5) / (positive + negative + 1.0))
    return replace(prior, kind=np.full_like(prior.kind, FIXED), weight=np.zeros_like(prior.weight), mode=mode)


def priors_of(prior: Any, classes: AnyArray, n_categories: int, jeffreys: bool = False) -> list[Prior]:
    """Return one prior for each category, from a name, a prior, a list of them or a mapping from category to prior.

    ``jeffreys`` tells whether the model can take a prior that is not convex.
    """
    if isinstance(prior, Mapping):
        known = classes[-n_categories:].tolist()
        unknown = [category for category in prior if category not in known]
        if unknown:
            raise ValueError(f"prior names the category {unknown[0]!r}, which y does not have; y has {known}")
        return [_one_prior(prior.get(category, "laplace"), jeffreys) for category in known]
    if isinstance(prior, Sequence) and not isinstance(prior, str):
        if len(prior) != n_categories:
            raise ValueError(f"prior lists {len(prior)} priors, expected {n_categories}, one for each category")
        return [_one_prior(entry, jeffreys) for entry in prior]
    return [_one_prior(prior, jeffreys)] * n_categories


def _one_prior(prior: Any, jeffreys: bool) -> Prior:
    names = ("laplace", "gaussian", "jeffreys")[: 3 if jeffreys else 2]
    if isinstance(prior, str) and prior in names:
        prior = {"laplace": Laplace, "gaussian": Gaussian, "jeffreys": Jeffreys}[prior]()
    if not isinstance(prior, Prior):
        raise ValueError(f"prior must be {', '.join(map(repr, names))} or a prior object, got {prior!r}")
    if isinstance(prior, Jeffreys) and not jeffreys:
        raise ValueError(
            "prior is a Jeffreys prior, which is not convex; expected a Laplace or Gaussian prior, "
            "or another model: BayesianProbitRegression"
        )
    return prior
