"""How large the prior variance should be: by norm, by cross-validation on a grid, or without one."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any, Literal, NamedTuple

import numpy as np

from bayesift._typing import AnyArray, FloatArray, Int64Array
from bayesift.linear._fit.problem import (
    Design,
    Problem,
    Rule,
    log_likelihood,
    norm_variance,
    scores,
)
from bayesift.linear._fit.softmax_problem import (
    PriorSetting,
    SoftmaxProblem,
    fit_present_classes,
    softmax_log_likelihood,
    softmax_scores,
)
from bayesift.priors import Gaussian, PriorArrays

#: The grids of Genkin, Lewis & Madigan (2007), as variances from the strongest penalty to the weakest.
LAPLACE_GRID = tuple(2.0 / rate**2 for rate in 10.0 ** np.arange(2.5, -2.25, -0.5))
GAUSSIAN_GRID = tuple(10.0 ** np.arange(-4.0, 4.5, 1.0))
_FACTOR = np.log(100.0)
_SMALLEST_MOVE = np.log(1.5)
_SMALLEST_GAIN = 0.01
# Beyond e^±46 (twenty powers of ten) every coefficient is at its mode, or as good as free.
_WIDEST = 46.0


class Trail:
    """The modes found so far as the variance grows, and a guess of the next.

    Where the classes are parted, coefficients grow evenly with the logarithm of the variance, so that the last step,
    repeated, lands near the next mode. A coefficient that would change its sign starts at zero.
    """

    def __init__(self) -> None:
        self._last: tuple[float, FloatArray] | None = None
        self._before: tuple[float, FloatArray] | None = None

    def add(self, variance: float, beta: FloatArray) -> None:
        """Remember a mode."""
        self._before, self._last = self._last, (math.log(variance), beta)

    def ahead(self, variance: float) -> FloatArray | None:
        """Return a start for a fit with this variance; None before the first."""
        if self._last is None:
            return None
        place, beta = self._last
        if self._before is None:
            return beta
        step = place - self._before[0]
        share = (math.log(variance) - place) / step if step > 0.0 else 0.0
        # Neither backwards nor farther than the step that is repeated.
        if not 0.0 < share < 1.0 + 1e-6:
            return beta
        guess = beta + share * (beta - self._before[1])
        return np.where(guess * beta > 0.0, guess, 0.0)


class Curve(NamedTuple):
    """Held-out log likelihood against the variance.

    ``fold_scores`` has a row for each variance and a column for each run; ``variance`` is the one chosen. ``start`` are
    the coefficients of a fit at the best variance tried, from where a fit to all documents has a short way; ``late`` is
    how many fits did not converge.
    """

    variances: FloatArray
    fold_scores: FloatArray
    variance: float
    start: FloatArray | None = None
    late: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return what ``cv_results_`` holds: also ``scores``, the log likelihood summed over the runs."""
        return {
            "variances": self.variances,
            "scores": self.fold_scores.sum(axis=1),
            "fold_scores": self.fold_scores,
            "variance": self.variance,
        }


def deal_folds(labels: AnyArray, marks: FloatArray, n_folds: int, random: np.random.Generator) -> Int64Array:
    """Deal the documents of every class evenly over the folds, the rarest first, so that early folds have some.

    Documents of a class with the same mark (see ``Design.marks``) are copies and go into one fold: a copy left out
    would be known from the other. So the order of the documents does not matter, and a copy counts like weight 2.
    """
    fold = np.empty(labels.size, dtype=np.int64)
    members = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    distinct = [np.unique(marks[rows], return_inverse=True)[1] for rows in members]
    dealt = 0
    for rows, number in sorted(zip(members, distinct, strict=True), key=lambda pair: int(pair[1].max())):
        size = int(number.max()) + 1
        fold[rows] = ((dealt + random.permutation(size)) % n_folds)[number]
        dealt += size
    return fold


def rarest(labels: AnyArray, marks: FloatArray) -> int:
    """Count the distinct documents of the class that has the fewest."""
    return min(np.unique(marks[labels == label]).size for label in np.unique(labels))


class Attempt(NamedTuple):
    """A fit without one of the folds, and the log likelihood of the documents in it."""

    beta: FloatArray
    score: float
    converged: bool


#: Makes the attempt of a run, with a variance and from a start.
AttemptMaker = Callable[[int, float, FloatArray | None], Attempt]


class Validation:
    """Held-out log likelihood for one variance after another, in as many runs as folds are left out.

    Every fit starts from the earlier ones of its run, so that variances are best tried in order. ``best`` are the
    coefficients of one fit at the variance with the greatest mean score so far.
    """

    def __init__(self, make: AttemptMaker, runs: int, n_threads: int = 1) -> None:
        self._make = make
        self._trails = [Trail() for _ in range(runs)]
        self._n_threads = min(n_threads, runs)
        self._best_score = -np.inf
        self.best: FloatArray | None = None
        self.late = 0

    def score(self, variance: float) -> FloatArray:
        """Return the held-out log likelihood of each run."""

        def attempt(run: int) -> Attempt:
            made = self._make(run, variance, self._trails[run].ahead(variance))
            self._trails[run].add(variance, made.beta)
            return made

        runs = range(len(self._trails))
        if self._n_threads == 1:
            attempts = [attempt(run) for run in runs]
        else:
            with ThreadPoolExecutor(self._n_threads) as pool:
                attempts = list(pool.map(attempt, runs))
        scores = np.array([made.score for made in attempts])
        self.late += sum(not made.converged for made in attempts)
        if scores.mean() > self._best_score:
            self._best_score, self.best = float(scores.mean()), attempts[0].beta
        return scores


def fold_attempts(
    problem: Problem, prior_at: Callable[[float], PriorArrays], fold: Int64Array, runs: int, rule: Rule
) -> AttemptMaker:
    """Return the fits of a category without one of the folds."""
    held = [np.flatnonzero(fold == run) for run in range(runs)]
    training = [np.where(fold == run, 0.0, problem.weights) for run in range(runs)]
    parts = [problem._replace(weights=weights, sums=problem.design.sums(weights)) for weights in training]

    def attempt(run: int, variance: float, start: FloatArray | None) -> Attempt:
        solution = parts[run]._replace(prior=prior_at(variance)).solve(rule, start)
        beta, left_out = solution.beta, held[run]
        found = scores(problem.design, beta)[left_out]
        score = log_likelihood(problem.y[left_out], found, problem.weights[left_out], problem.link)
        return Attempt(beta, score, solution.converged)

    return attempt


def held_out_scores(problem: Problem, fold: Int64Array, rule: Rule) -> FloatArray:
    """Score every document by a fit without the fold it lies in.

    No fit starts from one that has seen the fold: stopped early, it would still know it.
    """
    result = np.empty(problem.y.size)
    for left_out in range(int(fold.max()) + 1):
        held = fold == left_out
        part = problem._replace(weights=np.where(held, 0.0, problem.weights), sums=None)
        result[held] = scores(problem.design, part.solve(rule).beta)[held]
    return result


def search_grid(validation: Validation, grid: FloatArray, one_standard_error: bool) -> Curve:
    """Choose the variance of a grid with the greatest held-out log likelihood.

    With ``one_standard_error``, the smallest variance (the strongest penalty) whose mean score lies within one standard
    error of the best.
    """
    variances = np.sort(grid)
    fold_scores = np.array([validation.score(variance) for variance in variances.tolist()])
    mean = fold_scores.mean(axis=1)
    best = int(np.argmax(mean))
    runs = fold_scores.shape[1]
    if one_standard_error and runs > 1:
        error = fold_scores[best].std(ddof=1) / np.sqrt(runs)
        best = int(np.flatnonzero(mean >= mean[best] - error)[0])
    return Curve(variances, fold_scores, float(variances[best]), validation.best, validation.late)


def search_freely(validation: Validation, start: float, max_points: int = 40) -> Curve:
    """Search the variance without a grid.

    From ``start`` by factors of 100 until the best point is bracketed; then along the maximiser of a parabola in
    ln(variance) around the best point, whose points weigh 1/sd of their scores, until the gain it predicts is below
    1 % or the move below ln 1.5. The result is the parabola's maximiser.
    """
    points: dict[float, FloatArray] = {}

    def evaluate(position: float) -> None:
        points[position] = validation.score(float(np.exp(position)))

    def curve(position: float) -> Curve:
        places = np.array(sorted(points))
        fold_scores = np.array([points[place] for place in places])
        return Curve(np.exp(places), fold_scores, float(np.exp(position)), validation.best, validation.late)

    evaluate(np.log(start))
    evaluate(np.log(start) + _FACTOR)
    while len(points) < max_points:
        places = np.array(sorted(points))
        mean = np.array([points[place].mean() for place in places])
        best = int(np.argmax(mean))
        if best in (0, places.size - 1):
            further = places[best] + (_FACTOR if best else -_FACTOR)
            if abs(further) > _WIDEST:
                break
            evaluate(further)
            continue
        deviation = np.array([points[place].std() for place in places])
        vertex, value = _vertex_near(places, mean, deviation, best)
        near = np.abs(places - vertex).min() < _SMALLEST_MOVE
        if near or value - mean[best] < _SMALLEST_GAIN * abs(mean[best]):
            return curve(vertex)
        evaluate(vertex)
    return curve(max(points, key=lambda place: points[place].mean()))


def _vertex_near(x: FloatArray, y: FloatArray, deviation: FloatArray, best: int) -> tuple[float, float]:
    """Maximiser and maximum of a parabola through the points around the best, which has a neighbour on either side.

    Points far away say little about the top and would bend the parabola, so two on either side are taken; or one, if
    the vertex would lie beyond the neighbours otherwise.
    """
    for reach in (2, 1):
        around = slice(max(best - reach, 0), best + reach + 1)
        vertex, value = _parabola(x[around], y[around], deviation[around])
        if x[best - 1] < vertex < x[best + 1]:
            break
    return (vertex, value) if np.isfinite(vertex) else (float(x[best]), float(y[best]))


def _parabola(x: FloatArray, y: FloatArray, deviation: FloatArray) -> tuple[float, float]:
    """Fit a parabola, points weighing 1/deviation; return its maximiser and maximum (infinite when it has none)."""
    weight = 1.0 / np.maximum(deviation, 1e-12 * max(np.abs(y).max(), 1.0))
    a, b, c = np.polyfit(x, y, 2, w=weight / weight.max())
    if a >= 0:
        return np.inf, np.inf
    vertex = -b / (2 * a)
    return float(vertex), float(c - b * b / (4 * a))


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
        found = softmax_log_likelihood(
            codes[left_out], softmax_scores(design, solution.beta)[left_out], weights[left_out]
        )
        told()
        return Attempt(solution.beta, found, solution.converged)

    validation = Validation(attempt, settings.runs, settings.n_threads)
    if settings.variance == "auto":
        curve = search_freely(validation, by_norm)
    else:
        curve = search_grid(validation, grid, settings.one_standard_error)
    return Choice(curve.variance, curve)
