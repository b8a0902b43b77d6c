"""All categories of one call: each chooses its variance and is fitted, on several threads over one design."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np

from bayesift import progress
from bayesift._typing import AnyArray, FloatArray, Int64Array
from bayesift.linear._fit.blocks import DenseBlock, Unit, choose_blocks, with_all_columns
from bayesift.linear._fit.platt import Line, class_line, exact_enough, folds_needed, folds_needed_of_all, sigmoid_line
from bayesift.linear._fit.problem import (
    Documents,
    Problem,
    Solution,
    SolverOptions,
    log_likelihood,
    norm_variance,
    scores,
)
from bayesift.linear._fit.variance import (
    GAUSSIAN_GRID,
    LAPLACE_GRID,
    Choice,
    FitWithoutFold,
    FoldFit,
    LabelledDocuments,
    VarianceSettings,
    choose_variance,
    runs_of,
)
from bayesift.linear._losses import LOGISTIC, score_of_probability
from bayesift.priors import FIXED, FLAT, JEFFREYS, Gaussian, Jeffreys, Laplace, Prior, PriorArrays

if TYPE_CHECKING:
    from bayesift.posterior import Posterior


#: Approximate share of the time that goes into choosing the variances of two blocks of features.
_SEARCHING = 0.8


class Settings(NamedTuple):
    """Settings for all categories of a call; ``posterior`` computes from the mode what is kept in addition.

    ``belief`` says how the posterior itself is computed, if at all. With ``score_held_out`` every document is scored by
    a fit without its fold; with ``calibrate``, as many documents as calibration needs. ``fold`` holds folds that all
    categories share. ``tunes`` tells that thresholds are tuned, on any scores.
    """

    variance: VarianceSettings
    intercept_variance: float | Literal["same"]
    options: SolverOptions
    posterior: Callable[[Problem, FloatArray], FloatArray] | None
    score_held_out: bool
    feature_names: Sequence[str] | None
    link: int = LOGISTIC
    restarts: int = 1
    belief: Literal["auto", "laplace", "ep", "gibbs"] | None = None
    dense: DenseBlock = DenseBlock()
    calibrate: bool = False
    fold: Int64Array | None = None
    tunes: bool = False


class PriorAt(Protocol):
    """A function from the variances of both blocks to the priors of all coefficients, the intercept's last."""

    def __call__(self, variance: float, dense_variance: float = 0.0) -> PriorArrays: ...


class Task(NamedTuple):
    """One category to fit."""

    y: FloatArray
    weights: FloatArray
    prior: Prior
    start: FloatArray | None


class CategoryFit(NamedTuple):
    """The fit of a category.

    ``scores`` are scores of the documents by fits without their fold, calibrated by ``line``; ``restarts`` are the log
    posteriors reached from each start, if a prior is not convex.
    """

    solution: Solution
    choice: Choice
    precision: FloatArray | None = None
    one_class: bool = False
    scores: FloatArray | None = None
    restarts: FloatArray | None = None
    belief: Posterior | None = None
    line: Line = Line()


def fit_categories(
    design: Documents,
    tasks: Sequence[Callable[[], Task]],
    settings: Settings,
    n_jobs: int | None,
    is_open: Sequence[bool],
    exclude: bool = False,
) -> list[CategoryFit]:
    """Fit all categories; ``tasks`` make their arrays only when their turn comes, so that few exist at a time.

    ``is_open`` tells for each category whether its prior leaves the variance open, ``exclude`` whether categories
    exclude each other; if so, they are calibrated together.
    """
    if settings.calibrate and exclude:
        codes = np.argmax([make().y for make in tasks], axis=0)
        documents = LabelledDocuments(design, codes, tasks[0]().weights)
        own = settings._replace(fold=documents.folds(settings.variance.folds, settings.variance.seed))
        return _on_one_line(documents, _fit_each(design, tasks, own, n_jobs, is_open), settings.link)
    return _fit_each(design, tasks, settings, n_jobs, is_open)


def _on_one_line(documents: LabelledDocuments, fits: Sequence[CategoryFit], link: int) -> list[CategoryFit]:
    """Calibrate the scores of classes that exclude each other by one line, which leaves their order as it is."""
    # A class with a single document has no scores except those of the fit to all documents.
    found = [fit.scores if fit.scores is not None else scores(documents.design, fit.solution.beta) for fit in fits]
    line = class_line(link, np.column_stack(found), documents.labels, documents.weights)
    return [
        fit._replace(line=line, scores=None if fit.scores is None else line.slope * fit.scores + line.intercept)
        for fit in fits
    ]


def _fit_each(
    design: Documents,
    tasks: Sequence[Callable[[], Task]],
    settings: Settings,
    n_jobs: int | None,
    is_open: Sequence[bool],
) -> list[CategoryFit]:
    """Choose a variance for all categories, if they share it, and fit each category."""
    variance = settings.variance.variance
    by_evidence = variance == "evidence" and all(is_open)
    is_shared = variance == "shared" or (settings.dense.is_open and not by_evidence)
    chosen, searched = None, _SEARCHING if is_shared else 0.0
    if is_shared:
        with progress.part(0.0, searched):
            chosen = _choose_for_all(design, [make() for make in tasks], settings, design.inner_jobs(n_jobs))
    with progress.part(searched, 1.0):
        counter = _FitCounter(is_open, settings)

        def work(category: int) -> CategoryFit:
            with counter.category(category) as after_fit:
                return _fit_category(design, tasks[category](), settings, after_fit, chosen)

        return design.map(work, range(len(tasks)), n_jobs)


class _FitCounter:
    """Reports, from any thread, how many fits are done; a category that took fewer than expected counts in full."""

    def __init__(self, is_open: Sequence[bool], settings: Settings) -> None:
        search = settings.variance
        searching = 0
        if search.variance == "cv" and not settings.dense.is_open:
            n_variances = max(len(LAPLACE_GRID), len(GAUSSIAN_GRID)) if search.grid is None else len(search.grid)
            searching = n_variances * search.runs
        fitting = 1 + (search.folds if settings.score_held_out or settings.calibrate else 0)
        self._expected = [fitting + (searching if is_searched else 0) for is_searched in is_open]
        self._done, self._total = 0, sum(self._expected)
        # Threads do not see the ``with`` block that set the callback.
        self._tell = progress.current()
        self._lock = threading.Lock()

    @contextmanager
    def category(self, number: int) -> Iterator[Callable[[], None]]:
        """Return the function to call after each fit of a category but the last one."""
        left = self._expected[number]

        def after_fit() -> None:
            nonlocal left
            if left > 1:
                left -= 1
                self._add(1)

        yield after_fit
        self._add(left)

    def _add(self, number: int) -> None:
        if self._tell is not None:
            with self._lock:
                self._done += number
                self._tell(self._done, self._total)


def prior_by_variance(
    prior: Prior,
    n_features: int,
    feature_names: Any,
    intercept_variance: float | Literal["same"],
    dense: DenseBlock = DenseBlock(),  # noqa: B008  (it cannot be changed)
) -> PriorAt:
    """Return the function that gives the priors; it looks up named terms once.

    A prior with a variance of its own is used as it stands, whatever the variance of the others.
    """
    n_sparse = n_features - dense.n_columns
    names = feature_names if feature_names is None or not dense.n_columns else feature_names[:n_sparse]
    features = prior.resolver(n_sparse, names)

    def prior_at(variance: float, dense_variance: float = 0.0) -> PriorArrays:
        variance = variance if prior.is_open else 1.0
        found = features(variance)
        if dense.n_columns:
            found = found.extended(dense.prior(dense_variance))
        return found.extended(prior.scaled(variance).resolve_intercept(intercept_variance))

    return prior_at


def _choose_for_all(design: Documents, tasks: Sequence[Task], settings: Settings, n_jobs: int | None) -> Choice:
    """Choose the variance, or those of both blocks, the same for all categories."""
    options = settings.variance.options
    # A word that no document has says nothing here, and few documents have few of the words.
    small, present = design.without_empty_columns()
    columns = np.append(present, design.n_features)
    n_dense = int(np.count_nonzero(present >= design.n_features - settings.dense.n_columns))

    def unit(task: Task) -> Unit:
        prior_at = _priors_at(design, task, settings)
        problem = Problem(small, task.y, task.weights, prior_at(1.0, 1.0).of(columns), link=settings.link)

        def fit(fold: Int64Array, runs: int, pair: Callable[[float], tuple[float, float]]) -> FitWithoutFold:
            return _fits_without_folds(problem, lambda place: prior_at(*pair(place)).of(columns), fold, runs, options)

        return Unit(LabelledDocuments(small, task.y, task.weights), fit)

    priors = [task.prior for task in tasks]
    dense = settings.dense._replace(n_columns=n_dense)
    link = settings.link if settings.tunes or settings.calibrate else None
    choice = choose_blocks([unit(task) for task in tasks], priors, dense, settings.variance, n_jobs, link)
    mode = _priors_at(design, tasks[0], settings)(choice.scale, choice.dense_variance).mode
    return with_all_columns(choice, mode, columns)


def _priors_at(design: Documents, task: Task, settings: Settings) -> PriorAt:
    return prior_by_variance(
        task.prior, design.n_features, settings.feature_names, settings.intercept_variance, settings.dense
    )


def _fit_category(
    design: Documents, task: Task, settings: Settings, after_fit: Callable[[], None], chosen: Choice | None
) -> CategoryFit:
    """Fit a category with the choice made for all of them, or with its own."""
    prior_at = _priors_at(design, task, settings)
    documents = LabelledDocuments(design, task.y, task.weights)
    options = settings.variance.options

    given = settings.dense.given

    def problem_at(variance: float, dense_variance: float) -> Problem:
        return Problem(design, task.y, task.weights, prior_at(variance, dense_variance), link=settings.link)

    def fits_without_folds(fold: Int64Array) -> FitWithoutFold:
        # The variance of this one does not matter: every fit has its own.
        problem, runs = problem_at(1.0, given), settings.variance.runs
        return _fits_without_folds(problem, lambda variance: prior_at(variance, given), fold, runs, options)

    choice = chosen
    if choice is not None and not task.prior.is_open:
        choice = choice._replace(variance=np.nan)
    if choice is None:
        if settings.variance.variance == "evidence" and task.prior.is_open:
            choice = _choose_by_evidence(problem_at(1.0, given), *_asked(prior_at, settings))
        else:
            choice = choose_variance(
                documents, [task.prior], settings.variance, fits_without_folds, after_fit=after_fit
            )
        if not settings.dense.is_open:
            choice = choice._replace(dense_variance=given)
    problem = problem_at(choice.scale, choice.dense_variance)
    one_class = documents.is_one_class() and problem.prior.kind[-1] == FLAT
    if one_class:
        problem = problem._replace(prior=_base_rate_only(task, problem.prior, settings.link))
    start = task.start if choice.curve is None or task.start is not None else choice.curve.start
    solution = problem.solve(settings.options, None if one_class else start)
    solution, restarts = _restart(problem, solution, settings)
    precision = None if settings.posterior is None else settings.posterior(problem, solution.beta)
    held_out, line = None, Line()
    if (settings.score_held_out or settings.calibrate) and (fewest := documents.fewest()) >= 2:
        n_folds, fold = settings.variance.folds, settings.fold
        needed = folds_needed(n_folds, fewest) if fold is None else folds_needed_of_all(n_folds, task.weights)
        if fold is None:
            fold = documents.folds(n_folds, settings.variance.seed)
        left_out = n_folds if settings.score_held_out else needed
        own_options = exact_enough(options) if settings.calibrate else options
        held_out = _held_out_scores(problem, fold, left_out, own_options, after_fit)
        if settings.calibrate and settings.fold is None:
            line = sigmoid_line(settings.link, held_out, task.y > 0, task.weights)
            held_out = line.slope * held_out + line.intercept
    belief = None if settings.belief is None or one_class else belief_at(design, task, settings, choice)
    return CategoryFit(solution, choice, precision, one_class, held_out, restarts, belief, line)


def belief_at(design: Documents, task: Task, settings: Settings, choice: Choice) -> Posterior | None:
    """Return the posterior of a category; with variances chosen by the evidence, these are integrated out.

    None where only one class has documents and the intercept is free.
    """
    from bayesift.linear._fit.beliefs import belief_of, belief_without_variance

    prior_at = _priors_at(design, task, settings)
    problem = Problem(design, task.y, task.weights, prior_at(choice.scale, choice.dense_variance), link=settings.link)
    if problem.prior.kind[-1] == FLAT and LabelledDocuments(design, task.y, task.weights).fewest() == 0:
        return None
    method, seed = settings.belief or "auto", settings.variance.seed
    if settings.variance.variance != "evidence" or not task.prior.is_open:
        return belief_of(problem, method, seed)
    at, n_dense = _asked(prior_at, settings)
    return belief_without_variance(problem, at, n_dense, choice, method, seed)


def _asked(prior_at: PriorAt, settings: Settings) -> tuple[Callable[..., PriorArrays], int]:
    """Return the priors as a function of the variances that the evidence is asked about, and how many are dense."""
    if settings.dense.is_open:
        return prior_at, settings.dense.n_columns
    return lambda variance: prior_at(variance, settings.dense.given), 0


def _choose_by_evidence(problem: Problem, prior_at: Callable[..., PriorArrays], n_dense: int) -> Choice:
    """Choose the variances with the greatest evidence; there is none of a single class with a free intercept."""
    if problem.prior.kind[-1] == FLAT and np.unique(problem.y[problem.weights > 0]).size == 1:
        return Choice(norm_variance(problem.design, problem.weights))
    from bayesift.linear._fit.beliefs import choice_by_evidence

    return choice_by_evidence(problem, prior_at, n_dense)


def _fits_without_folds(
    problem: Problem, prior_at: Callable[[float], PriorArrays], fold: Int64Array, runs: int, options: SolverOptions
) -> FitWithoutFold:
    """Return the fits of a category without one of the folds."""
    documents = LabelledDocuments(problem.design, problem.y, problem.weights)
    learned, training, held_out, judging = runs_of(documents, fold, runs)
    is_part = learned.size < fold.size
    part = problem._replace(design=problem.design.subset(learned), y=problem.y[learned]) if is_part else problem
    parts = [part._replace(weights=weights, sums=part.design.sums(weights)) for weights in training]

    def fit_without(run: int, variance: float, start: FloatArray | None) -> FoldFit:
        solution = parts[run]._replace(prior=prior_at(variance)).solve(options, start)
        beta, left_out = solution.beta, held_out[run]
        decisions = problem.y[left_out], scores(problem.design, beta)[left_out], judging[left_out]
        return FoldFit(beta, log_likelihood(*decisions, problem.link), solution.converged, decisions)

    return fit_without


def _held_out_scores(
    problem: Problem, fold: Int64Array, n_left_out: int, options: SolverOptions, after_fit: Callable[[], None]
) -> FloatArray:
    """Score the documents of the first folds by fits without the fold they lie in; those of the others are NaN.

    No fit starts from one that has seen the fold: stopped early, it would still know it.
    """
    result = np.full(problem.y.size, np.nan)
    for left_out in range(min(n_left_out, int(fold.max()) + 1)):
        held = fold == left_out
        part = problem._replace(weights=np.where(held, 0.0, problem.weights), sums=None)
        result[held] = scores(problem.design, part.solve(options).beta)[held]
        after_fit()
    return result


def _restart(problem: Problem, first: Solution, settings: Settings) -> tuple[Solution, FloatArray | None]:
    """Fit from other starts where a prior is Jeffreys; return the best solution and the log posterior of all."""
    if not np.any(problem.prior.kind == JEFFREYS):
        return first, None
    random = np.random.default_rng(settings.variance.seed)
    starts = (problem.other_start(settings.options, random) for _ in range(settings.restarts - 1))
    solutions = [first, *(problem.solve(settings.options, start) for start in starts)]
    return min(solutions, key=lambda found: found.objective), np.array([-found.objective for found in solutions])


def _base_rate_only(task: Task, prior: PriorArrays, link: int) -> PriorArrays:
    """Fix all coefficients at their modes and a free intercept at the score of a smoothed base rate."""
    positive, negative = (task.weights[side].sum() for side in (task.y > 0, task.y < 0))
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
            "prior is a Jeffreys prior, which is not convex; expected a Laplace or Gaussian prior "
            "(BayesianProbitRegression takes Jeffreys priors)"
        )
    return prior
