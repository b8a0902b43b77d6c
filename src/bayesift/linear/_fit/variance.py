"""How large the prior variance should be: by norm, by cross-validation on a grid, or without a grid.

The binary models choose one for each category, the softmax model one for all classes. Both say by a function how to
fit without one of the folds; everything else is the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from bayesift._threads import map_threads
from bayesift._typing import AnyArray, FloatArray, Int64Array
from bayesift.linear._fit.problem import Documents, SolverOptions, norm_variance
from bayesift.priors import Gaussian, Prior

#: The grids of Genkin, Lewis & Madigan (2007), as variances from the strongest penalty to the weakest.
LAPLACE_GRID = tuple(2.0 / rate**2 for rate in 10.0 ** np.arange(2.5, -2.25, -0.5))
GAUSSIAN_GRID = tuple(10.0 ** np.arange(-4.0, 4.5, 1.0))

_FACTOR = np.log(100.0)
_SMALLEST_MOVE = np.log(1.5)
# Largest distance between the best point and its neighbours: a little more than half a step of the bracketing.
_NARROW = 0.51 * _FACTOR
_SMALLEST_GAIN = 0.01
# In 288 categories of seven collections, none had a better score after such a fall in which every run had fallen.
_CLEAR_FALL = 0.05
# With fewer distinct documents, held-out scores cannot distinguish variances less than a grid step apart.
_ENOUGH_TO_TELL = 1_000
# The variance of a prior is a property of the coefficients: it hardly changes with the number of documents. This many
# distinct ones, and this many of every class, are enough to learn from in the search; the others are held out.
_LEARNT, _LEARNT_OF_A_CLASS = 30_000, 3_000
# A text counts in held-out scores for at most this many documents of its class. It is new only once: its copies will be
# known, and a text with very many copies would decide the choice alone.
_MOST_OF_A_TEXT = 3.0
# Beyond e^±46 (twenty powers of ten) every coefficient is at its mode, or practically free.
_WIDEST = 46.0


class VarianceSettings(NamedTuple):
    """How the variance is chosen, as the parameters of the estimators say; ``options`` are for fits without a fold."""

    variance: float | Literal["norm", "cv", "shared", "auto", "evidence"]
    grid: FloatArray | None
    folds: int
    runs: int
    one_standard_error: bool
    options: SolverOptions
    seed: int


class LabelledDocuments(NamedTuple):
    """Documents with their labels, of any type, and their weights; those without weight have no effect."""

    design: Documents
    labels: AnyArray
    weights: FloatArray

    def is_one_class(self) -> bool:
        """Tell whether all documents that count have the same label."""
        return np.unique(self.labels[self.weights > 0]).size < 2

    def fewest(self) -> int:
        """Count the distinct documents of the class that has the fewest; 0 where there is one class only."""
        counted = self.weights > 0
        labels, numbers = self.labels[counted], self.design.row_numbers[counted]
        known = np.unique(labels)
        if known.size < 2:
            return 0
        return min(int(np.count_nonzero(np.bincount(numbers[labels == label]))) for label in known)

    def can_tell_more(self) -> bool:
        """Tell whether there are enough distinct documents to look between the points of a grid."""
        return np.unique(self.design.row_numbers[self.weights > 0]).size >= _ENOUGH_TO_TELL

    def judging_weights(self) -> FloatArray:
        """Return the weights of documents that are held out: those of copies of a text are limited in sum."""
        numbers = self.design.row_numbers
        text = np.bincount(numbers, self.weights)[numbers]
        result = self.weights.copy()
        for label in np.unique(self.labels):
            own = np.flatnonzero((self.labels == label) & (self.weights > 0))
            mean = self.weights[own].sum() / np.unique(numbers[own]).size
            result[own] *= np.minimum(1.0, _MOST_OF_A_TEXT * mean / text[own])
        return result

    def search_folds(self, n_folds: int, seed: int) -> Int64Array:
        """Return the fold of every document for the search, −1 for those that every run leaves out.

        With many documents, only a random sample is learned from. Copies stay together, as they do in folds.
        """
        fold = self.folds(n_folds, seed)
        numbers = self.design.row_numbers
        n_texts = int(np.count_nonzero(np.bincount(numbers[self.weights > 0])))
        share = max(_LEARNT / n_texts, _LEARNT_OF_A_CLASS / self.fewest())
        if share < 1.0:
            left_out = np.random.default_rng(seed).random(int(numbers.max()) + 1) >= share
            fold[left_out[numbers]] = -1
        return fold

    def folds(self, n_folds: int, seed: int) -> Int64Array:
        """Return the fold of every document.

        Documents without weight are in the first fold: if spread out, they could leave a run without a class.
        """
        counted = self.weights > 0
        fold = np.zeros(self.labels.size, dtype=np.int64)
        random = np.random.default_rng(seed)
        fold[counted] = assign_folds(self.labels[counted], self.design.row_hashes[counted], n_folds, random)
        return fold


class ValidationCurve(NamedTuple):
    """Held-out log likelihood against the variance.

    ``fold_scores`` has a row for each variance and a column for each run; ``variance`` is the one chosen. ``start`` are
    the coefficients of a fit at the best variance tried, from where a fit to all documents has a short way;
    ``n_unconverged`` counts the fits that did not converge.
    """

    variances: FloatArray
    fold_scores: FloatArray
    variance: float
    start: FloatArray | None = None
    n_unconverged: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return what ``cv_results_`` holds: also ``scores``, the log likelihood summed over the runs."""
        return {
            "variances": self.variances,
            "scores": self.fold_scores.sum(axis=1),
            "fold_scores": self.fold_scores,
            "variance": self.variance,
        }


class Choice(NamedTuple):
    """A variance (NaN if every prior has its own), how it was validated, and whether the norm was the fallback.

    ``dense_variance`` is that of a block of dense features, 0 where there is none.
    """

    variance: float
    curve: ValidationCurve | None = None
    fell_back: bool = False
    dense_variance: float = 0.0

    @property
    def scale(self) -> float:
        """The factor to scale priors by: 1 if all have variances of their own."""
        return 1.0 if np.isnan(self.variance) else self.variance


class Runs(NamedTuple):
    """Which documents are learned from and which are held out.

    ``learned`` are the documents that some run learns from, ``training`` their weights in each run; ``held_out`` are
    the documents by which each run is judged, ``judging`` the weights of all documents in judging.
    """

    learned: Int64Array
    training: list[FloatArray]
    held_out: list[Int64Array]
    judging: FloatArray


def runs_of(documents: LabelledDocuments, fold: Int64Array, runs: int) -> Runs:
    """Leave out one fold in each run, and the documents of fold −1 in all of them."""
    learned = np.flatnonzero(fold >= 0)
    training = [np.where(fold[learned] == run, 0.0, documents.weights[learned]) for run in range(runs)]
    held_out = [np.flatnonzero((fold == run) | (fold < 0)) for run in range(runs)]
    return Runs(learned, training, held_out, documents.judging_weights())


class FoldFit(NamedTuple):
    """A fit without one of the folds, and the log likelihood of the documents in it.

    ``decisions`` are their labels, scores and weights, where the fit is of a binary decision.
    """

    beta: FloatArray
    score: float
    converged: bool
    decisions: tuple[FloatArray, FloatArray, FloatArray] | None = None


#: Fits without the fold of a run, with a variance and from a start.
FitWithoutFold = Callable[[int, float, FloatArray | None], FoldFit]


def choose_variance(
    documents: LabelledDocuments,
    priors: Sequence[Prior],
    settings: VarianceSettings,
    fits_without_folds: Callable[[Int64Array], FitWithoutFold],
    *,
    n_jobs: int | None = 1,
    after_fit: Callable[[], None] | None = None,
) -> Choice:
    """Choose the variance that those of the priors share that leave it open.

    Parameters
    ----------
    documents : LabelledDocuments
    priors : sequence of Prior
        Of all coefficients that are fitted together, by class.
    settings : VarianceSettings
    fits_without_folds : callable
        From the fold of every document to the function that fits without one of them.
    n_jobs : int or None
        Threads, over the runs.
    after_fit : callable, optional
        Called after every fit.

    Returns
    -------
    Choice
    """
    if not any(prior.is_open for prior in priors):
        return Choice(np.nan)
    if not isinstance(settings.variance, str):
        return Choice(float(settings.variance))
    by_norm = norm_variance(documents.design, documents.weights)
    if settings.variance == "norm":
        return Choice(by_norm)
    # Every run leaves out a document of each class and needs another to learn from.
    if documents.fewest() < max(settings.runs, 2):
        return Choice(by_norm, fell_back=True)
    fit_without = fits_without_folds(documents.search_folds(settings.folds, settings.seed))
    validation = CrossValidation(fit_without, settings.runs, n_jobs, after_fit)
    if settings.variance == "auto":
        # Start where scores have a variance of about one: the norm-based value is far larger, and fits there take
        # longest.
        curve = choose_without_grid(validation, by_norm / (documents.design.n_features + 1))
    else:
        grid = grid_of(priors) if settings.grid is None else settings.grid
        # A given grid is used exactly.
        between = settings.grid is None and documents.can_tell_more()
        curve = choose_from_grid(validation, grid, settings.one_standard_error, between=between)
    return Choice(curve.variance, curve)


def grid_of(priors: Sequence[Prior]) -> FloatArray:
    """Return the variances to try: the Gaussian grid if all priors that leave it open are Gaussian."""
    gaussian = all(isinstance(prior, Gaussian) for prior in priors if prior.is_open)
    return np.array(GAUSSIAN_GRID if gaussian else LAPLACE_GRID)


class CrossValidation:
    """Held-out log likelihood for one variance after another, in as many runs as folds are left out.

    Every fit starts from the earlier ones of its run, so that variances are best tried in order. ``best`` are the
    coefficients of one fit at the variance with the greatest mean score so far.
    """

    def __init__(
        self,
        fit_without: FitWithoutFold,
        runs: int,
        n_jobs: int | None = 1,
        after_fit: Callable[[], None] | None = None,
    ) -> None:
        self._fit_without = fit_without
        self._warm_starts = [WarmStarts() for _ in range(runs)]
        self._n_jobs = n_jobs
        self._after_fit = after_fit
        self._best_score = -np.inf
        self.best: FloatArray | None = None
        self.n_unconverged = 0

    def score(self, variance: float) -> FloatArray:
        """Return the held-out log likelihood of each run."""

        def fit(run: int) -> FoldFit:
            found = self._fit_without(run, variance, self._warm_starts[run].guess(variance))
            self._warm_starts[run].add(variance, found.beta)
            return found

        fits = map_threads(fit, range(len(self._warm_starts)), self._n_jobs)
        scores = np.array([found.score for found in fits])
        self.n_unconverged += sum(not found.converged for found in fits)
        if scores.mean() > self._best_score:
            self._best_score, self.best = float(scores.mean()), fits[0].beta
        if self._after_fit is not None:
            for _ in fits:
                self._after_fit()
        return scores


def choose_from_grid(
    validation: CrossValidation, grid: FloatArray, one_standard_error: bool, *, between: bool = False
) -> ValidationCurve:
    """Choose the variance of a grid with the greatest held-out log likelihood.

    The walk goes from the strongest penalty to the weakest, whose fits take longest, and ends early where the score has
    clearly fallen. With ``between``, a variance between the best and its better neighbour is tried as well: the steps
    of the usual grids are wide, and the best may lie in the middle. With ``one_standard_error``, the smallest variance
    (the strongest penalty) whose mean score lies within one standard error of the best.
    """
    walked: list[FloatArray] = []
    for variance in np.sort(grid).tolist():
        walked.append(validation.score(variance))
        best_so_far = max(walked, key=np.mean)
        fall = best_so_far.mean() - walked[-1].mean()
        if fall > _CLEAR_FALL * abs(best_so_far.mean()) and np.all(walked[-1] < best_so_far):
            break
    fold_scores = np.array(walked)
    variances = np.sort(grid)[: len(walked)]
    middle = _between_best(variances, fold_scores.mean(axis=1)) if between else None
    if middle is not None:
        place = int(np.searchsorted(variances, middle))
        variances = np.insert(variances, place, middle)
        fold_scores = np.insert(fold_scores, place, validation.score(middle), axis=0)
    mean = fold_scores.mean(axis=1)
    best = int(np.argmax(mean))
    runs = fold_scores.shape[1]
    if one_standard_error and runs > 1:
        error = fold_scores[best].std(ddof=1) / np.sqrt(runs)
        best = int(np.flatnonzero(mean >= mean[best] - error)[0])
    return ValidationCurve(variances, fold_scores, float(variances[best]), validation.best, validation.n_unconverged)


def _between_best(variances: FloatArray, scores: FloatArray) -> float | None:
    """Return the middle, by factors, of the best variance and its better neighbour; None if that is clearly worse."""
    best = int(np.argmax(scores))
    beside = [place for place in (best - 1, best + 1) if 0 <= place < scores.size]
    if not beside:
        return None
    other = max(beside, key=lambda place: float(scores[place]))
    if scores[best] - scores[other] > _CLEAR_FALL * abs(scores[best]):
        return None
    return float(np.sqrt(variances[best] * variances[other]))


def choose_without_grid(validation: CrossValidation, start: float, max_points: int = 40) -> ValidationCurve:
    """Choose the variance without a grid.

    From ``start`` by factors of 100 until the best point is bracketed; then along the maximiser of the parabola in
    ln(variance) through the best point and its neighbours, until the gain it predicts is below 1 % or the move below
    ln 1.5, and the neighbours of the best point are within a factor of 10. The result is the parabola's maximiser.
    """
    points: dict[float, FloatArray] = {}

    def evaluate(position: float) -> None:
        points[position] = validation.score(float(np.exp(position)))

    def curve(position: float) -> ValidationCurve:
        places = np.array(sorted(points))
        fold_scores = np.array([points[place] for place in places])
        chosen = float(np.exp(position))
        return ValidationCurve(np.exp(places), fold_scores, chosen, validation.best, validation.n_unconverged)

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
        vertex, value = _vertex_near(places, mean, best)
        near = np.abs(places - vertex).min() < _SMALLEST_MOVE
        if not near and value - mean[best] >= _SMALLEST_GAIN * abs(mean[best]):
            evaluate(vertex)
            continue
        # Scores fall faster on the side of weak penalties: a parabola through distant points would miss the top.
        wide = [other for other in (best + 1, best - 1) if abs(places[other] - places[best]) > _NARROW]
        if not wide:
            return curve(vertex)
        evaluate(0.5 * (places[best] + places[wide[0]]))
    return curve(max(points, key=lambda place: points[place].mean()))


def _vertex_near(x: FloatArray, y: FloatArray, best: int) -> tuple[float, float]:
    """Maximiser and maximum of the parabola through the best point and its neighbours, which it has on either side.

    Points farther away say little about the top and would bend the parabola. All weigh the same: what a run scores
    above another it does for every variance.
    """
    around = slice(best - 1, best + 2)
    a, b, c = np.polyfit(x[around], y[around], 2)
    vertex = -b / (2 * a) if a < 0 else np.inf
    # Equal scores have no top, or one that rounding made.
    if not x[best - 1] < vertex < x[best + 1]:
        return float(x[best]), float(y[best])
    return float(vertex), float(c - b * b / (4 * a))


class WarmStarts:
    """Starts of the next fit from the modes found so far, as the variance grows.

    Where the classes are separated, coefficients grow evenly with the logarithm of the variance, so that the last step,
    repeated, lands near the next mode. A coefficient that would change its sign starts at zero. A fit that goes back
    starts at the nearer one of the last two modes.
    """

    def __init__(self) -> None:
        self._last: tuple[float, FloatArray] | None = None
        self._before: tuple[float, FloatArray] | None = None

    def add(self, variance: float, beta: FloatArray) -> None:
        """Remember a mode."""
        self._before, self._last = self._last, (math.log(variance), beta)

    def guess(self, variance: float) -> FloatArray | None:
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
            return self._before[1] if share < -0.5 else beta
        guess = beta + share * (beta - self._before[1])
        return np.where(np.sign(guess) * beta > 0.0, guess, 0.0)


def assign_folds(labels: AnyArray, row_hashes: FloatArray, n_folds: int, random: np.random.Generator) -> Int64Array:
    """Spread the documents of every class evenly over the folds, the rarest first, so that early folds have some.

    Documents with the same hash (see ``Design.row_hashes``) are copies and go into one fold, whatever their labels: a
    copy left out would be known from the other, or, with another label, be held against the fit that has learned it.
    So the order of the documents does not matter, and a copy counts like weight 2.
    """
    _, copies = np.unique(row_hashes, return_inverse=True)
    distinct = [np.unique(copies[labels == label]) for label in np.unique(labels)]
    fold = np.full(copies.max(initial=-1) + 1, -1, dtype=np.int64)
    n_assigned = 0
    for members in sorted(distinct, key=len):
        # What a rarer class has as well is placed already.
        members = members[fold[members] < 0]
        fold[members] = (n_assigned + random.permutation(members.size)) % n_folds
        n_assigned += members.size
    return fold[copies]
