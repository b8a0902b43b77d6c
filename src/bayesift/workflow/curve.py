"""How much more labels would help: measures at growing numbers of texts, extrapolated by a power law."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from bayesift import progress
from bayesift._typing import FloatArray, Int64Array
from bayesift.evaluate import f_beta
from bayesift.workflow._label_sets import N_FOLDS, assign_folds, indicator, label_sets, rows_of
from bayesift.workflow.evaluate import as_chosen
from bayesift.workflow.text_classifier import TextClassifier

#: How many sizes are fitted, from all texts that are not held out down to an eighth of them: with far fewer
#: texts, errors follow other laws.
N_SIZES, SMALLEST_SHARE = 7, 1 / 8

#: The fewest texts of a fit.
FEWEST = 10

#: The fewest points of a curve.
FEWEST_SIZES = 4

#: This many texts give that many points, if their labels allow it.
FEWEST_TEXTS = 50

#: With this many texts or more, three parts are held out in turn instead of five.
MANY = 20_000

#: The exponents that a power law may have, from very slow learning to that of the best models.
EXPONENTS = np.geomspace(0.05, 2.0, 60)

#: Residuals are taken relative to the error, or to this if the error is smaller.
SMALLEST_ERROR = 1e-3

#: Number of bootstrap samples of the repeats.
N_DRAWS = 100

#: Nine tenths of a normal distribution lie within this many standard deviations of its mean.
NINE_TENTHS = 1.645


class PowerLaw(NamedTuple):
    """An error that falls with the number n of texts: floor + scale · n^(-exponent)."""

    floor: float
    scale: float
    exponent: float

    def error(self, n: Any) -> Any:
        """Return the error at a number of texts."""
        return self.floor + self.scale * np.asarray(n, dtype=np.float64) ** -self.exponent


class Forecast(NamedTuple):
    """What is expected at a number of texts, and the bounds that should contain it in nine cases out of ten."""

    n_texts: int
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class LearningCurve:
    """A measure at growing numbers of training texts.

    Parameters
    ----------
    measure : str
        ``"accuracy"``, or ``"F1"`` if a text may have several labels.
    n_texts : int
        Number of all texts; a fifth of them was held out in every repeat.
    sizes : array of shape (n_sizes,)
        Numbers of training texts, increasing.
    scores : array of shape (n_sizes, n_repeats)
        The measure on the held-out texts.
    """

    measure: str
    n_texts: int
    sizes: Int64Array
    scores: FloatArray

    def forecast(self, n_texts: int) -> Forecast:
        """Return what is expected with this many texts.

        The power law is fitted to the mean errors. Its spread combines that of fits to bootstrap samples of the repeats
        with how far off it would have been at the largest number of texts measured, had there been only half as many.
        More texts are assumed to do no harm, so the lower bound does not fall.

        Parameters
        ----------
        n_texts : int
            At least as many as in the largest fit.
        """
        law, drawn, miss = self._laws
        last = int(self.sizes[-1])
        of_repeats = [float(np.std([other.error(n) for other in drawn])) for n in (n_texts, last)]
        spread = float(np.hypot(of_repeats[0], miss * np.log2(max(n_texts / last, 1.0))))
        value = 1.0 - float(law.error(n_texts))
        least = 1.0 - float(law.error(last)) - NINE_TENTHS * of_repeats[1]
        low = max(value - NINE_TENTHS * spread, least, 0.0)
        high = min(value + NINE_TENTHS * spread, 1.0)
        return Forecast(int(n_texts), value, low, high)

    def sentence(self) -> str:
        """Return a sentence on what twice the labels would gain, and why."""
        now, then = self.forecast(self.n_texts), self.forecast(2 * self.n_texts)
        half = float(np.interp(np.log(self.sizes[-1] / 2), np.log(self.sizes), self.scores.mean(axis=1)))
        last = 100 * (float(self.scores[-1].mean()) - half)
        return (
            f"With twice the labels, expect about {100 * (then.value - now.value):+.1f} points ({self.measure} from "
            f"{now.value:.3f} to about {then.value:.3f}; nine times in ten {then.low:.3f} to {then.high:.3f}), because "
            f"the last doubling, from {self.sizes[-1] // 2:,} to {self.sizes[-1]:,} texts, gave {last:+.1f}."
        )

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as values that JSON can hold."""
        return {
            "measure": self.measure,
            "n_texts": self.n_texts,
            "sizes": self.sizes.tolist(),
            "scores": self.scores.round(6).tolist(),
            "forecasts": [self.forecast(factor * self.n_texts)._asdict() for factor in (1, 2, 4)],
            "sentence": self.sentence(),
        }

    def display(self) -> Any:
        """Return the :class:`bayesift.plots.LearningCurveDisplay` of the curve, with what is expected beyond it."""
        from bayesift.plots import LearningCurveDisplay

        ahead = np.unique(np.geomspace(self.sizes[-1], 4 * self.n_texts, 16).round().astype(np.int64))
        expected = [self.forecast(int(n)) for n in ahead.tolist()]
        return LearningCurveDisplay(
            self.sizes,
            {"on texts held out": self.scores},
            measure=self.measure,
            documents="training texts",
            ahead=ahead,
            forecasts={"on texts held out": [found[1:] for found in expected]},
        )

    def draw(self, picture: str | os.PathLike[str]) -> None:
        """Draw the curve to a file, whose ending decides the format: ``.png``, ``.svg`` or ``.pdf``."""
        from bayesift.plots.display import save_plot

        save_plot(self.display().plot, picture, figsize=(6, 3.6))

    @cached_property
    def _laws(self) -> tuple[PowerLaw, list[PowerLaw], float]:
        """The law of the mean errors, those of bootstrap samples, and the miss at all texts of a law fitted to half."""
        errors = 1.0 - self.scores
        mean = errors.mean(axis=1)
        rng = np.random.default_rng(0)
        draws = rng.integers(errors.shape[1], size=(N_DRAWS, errors.shape[1]))
        drawn = [fit_power_law(self.sizes, errors[:, draw].mean(axis=1)) for draw in draws]
        known = self.sizes <= self.sizes[-1] / 2
        before = fit_power_law(self.sizes[known], mean[known]).error(self.sizes[-1]) if known.sum() > 2 else mean[0]
        return fit_power_law(self.sizes, mean), drawn, abs(float(before - mean[-1]))


def learning_curve(
    classifier: TextClassifier,
    texts: Sequence[str],
    y: Sequence[Any],
    *,
    n_repeats: int | None = None,
    unlabelled: Sequence[str] | None = None,
) -> LearningCurve:
    """Measure a classifier trained on growing numbers of texts, from an eighth to all except a held-out fifth.

    In every repeat another fifth is held out, copies of a text together. The rest is put in a random order, with the
    same share of every label throughout, and growing numbers of texts are taken from the front. The prior variance is
    the one that the classifier chose. :func:`bayesift.progress.callback` reports the progress of the fits.

    Parameters
    ----------
    classifier : TextClassifier
        Fitted to these texts; it is left unchanged.
    texts : sequence of str
    y : sequence of labels or sets of labels
    n_repeats : int, optional
        How many of five parts to hold out in turn; by default 5, or 3 if there are many texts.
    unlabelled : sequence of str, optional
        The texts without labels that the classifier had.

    Returns
    -------
    LearningCurve

    Examples
    --------
    >>> from bayesift.datasets import load
    >>> from bayesift.workflow import TextClassifier, learning_curve
    >>> news = load("newsroom").train
    >>> classifier = TextClassifier("nb").fit(news.texts, news.labels)
    >>> curve = learning_curve(classifier, news.texts, news.labels, n_repeats=2)
    >>> curve.sizes.tolist(), curve.measure
    ([32, 45, 63, 89, 126, 178, 252], 'F1')
    """
    if n_repeats is None:
        n_repeats = N_FOLDS if len(texts) < MANY else 3
    if not 2 <= n_repeats <= N_FOLDS:
        raise ValueError(f"n_repeats is {n_repeats!r}; expected 2 to {N_FOLDS}")
    sets = label_sets(y)
    texts = rows_of(texts, classifier.features)
    fold = assign_folds(texts, sets, N_FOLDS)
    orders = [_mixed(np.flatnonzero(fold != turn), sets, turn) for turn in range(n_repeats)]
    sizes = _sizes(orders, sets)
    again = as_chosen(classifier)
    scores = np.zeros((sizes.size, n_repeats))
    for turn, order in enumerate(orders):
        held_out = np.flatnonzero(fold == turn).tolist()
        for step, size in enumerate(sizes.tolist()):
            front = order[:size].tolist()
            done = turn * sizes.size + step
            with warnings.catch_warnings(), progress.part(done / scores.size, (done + 1) / scores.size):
                # The fit to all texts has already warned.
                warnings.simplefilter("ignore")
                part = again.fit([texts[i] for i in front], [sets[i] for i in front], unlabelled=unlabelled)
            scores[step, turn] = _score(classifier, part, [texts[i] for i in held_out], [sets[i] for i in held_out])
    measure = "F1" if classifier.target_type_ == "multilabel-indicator" else "accuracy"
    return LearningCurve(measure, len(texts), sizes, scores)


def _score(whole: TextClassifier, part: TextClassifier, texts: Sequence[str], sets: Sequence[tuple[Any, ...]]) -> float:
    """Measure a classifier that may not have seen every label; unseen labels count as missed."""
    classes = whole.classes_.tolist()
    truth = indicator(sets, classes).toarray() > 0
    decisions = np.zeros_like(truth)
    columns = [classes.index(label) for label in part.classes_.tolist()]
    decisions[:, columns] = part.predictions(texts, proba=False).decisions
    if whole.target_type_ == "multilabel-indicator":
        return float(f_beta(truth, decisions, average="micro"))
    return float(np.mean(np.all(truth == decisions, axis=1)))


def _mixed(places: Int64Array, sets: Sequence[tuple[Any, ...]], seed: int) -> Int64Array:
    """Put texts in a random order in which every stretch has about the same share of every label set."""
    rng = np.random.default_rng(seed)
    groups: dict[tuple[str, ...], list[int]] = {}
    for place in places.tolist():
        groups.setdefault(tuple(sorted(map(str, sets[place]))), []).append(place)
    order: list[int] = []
    rank: list[float] = []
    for own in groups.values():
        order += rng.permutation(own).tolist()
        rank += ((np.arange(len(own)) + rng.random(len(own))) / len(own)).tolist()
    return np.array(order, dtype=np.int64)[np.argsort(rank, kind="stable")]


def _sizes(orders: Sequence[Int64Array], sets: Sequence[tuple[Any, ...]]) -> Int64Array:
    """Return the numbers of texts to learn from; even the smallest has more than one label."""
    most = min(order.size for order in orders)
    found = np.unique(np.round(most * np.geomspace(SMALLEST_SHARE, 1.0, N_SIZES)).astype(np.int64))

    def has_several(order: Int64Array, size: int) -> bool:
        return len({sets[place] for place in order[:size].tolist()}) > 1

    kept = [n for n in found.tolist() if n >= FEWEST and all(has_several(order, n) for order in orders)]
    if len(kept) < FEWEST_SIZES:
        raise ValueError(
            f"{len(sets):,} texts, of which {most:,} can be learned from, are too few for a learning curve; expected "
            f"several labels among the first of them and at least {FEWEST_TEXTS} texts"
        )
    return np.array(kept, dtype=np.int64)


def fit_power_law(sizes: Any, errors: Any) -> PowerLaw:
    """Fit floor + scale · n^(-exponent) to errors by least squares, with floor and scale at least zero.

    For every exponent of a grid, the best floor and scale are found by non-negative least squares. Residuals are taken
    relative to the errors, and weighted in proportion to the number of texts, because errors of more texts vary less.

    Parameters
    ----------
    sizes : array of shape (n,)
        Numbers of texts.
    errors : array of shape (n,)
        The error at each.

    Returns
    -------
    PowerLaw

    Examples
    --------
    >>> from bayesift.workflow.curve import fit_power_law
    >>> law = fit_power_law([100, 200, 400, 800], [0.3, 0.2, 0.15, 0.125])
    >>> round(float(law.error(1600)), 2)
    0.11
    """
    n = np.asarray(sizes, dtype=np.float64)
    found = np.asarray(errors, dtype=np.float64)
    weight = np.sqrt(n / n[-1]) / np.maximum(found, SMALLEST_ERROR)
    target = found * weight
    # Relative to the largest number, so that both columns have the same scale; a row for each exponent.
    falling = (n / n[-1]) ** -EXPONENTS[:, np.newaxis] * weight
    floors, scales, distances = _two_not_negative(weight, falling, target)
    best = 0
    for place, distance in enumerate(distances.tolist()):
        if distance < distances[best] - 1e-12:
            best = place
    exponent = float(EXPONENTS[best])
    return PowerLaw(float(floors[best]), float(scales[best] * n[-1] ** exponent), exponent)


def _two_not_negative(
    first: FloatArray, second: FloatArray, target: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return p and q, neither negative, for which p·first + q·second is nearest to a target, and the distances.

    ``second`` has many rows, each a problem of its own. The solution is the unbounded one if it is within the bounds,
    and otherwise one with p or q at zero.
    """
    zero = np.zeros(len(second))
    alone = np.full(len(second), max(float(first @ target), 0.0) / float(first @ first))
    other = np.maximum(second @ target, 0.0) / np.square(second).sum(axis=1)
    share = second @ first / float(first @ first)
    apart = second - share[:, np.newaxis] * first
    with np.errstate(invalid="ignore", divide="ignore"):
        q = apart @ target / np.square(apart).sum(axis=1)
    p = float(first @ target) / float(first @ first) - share * q
    pairs = [(p, q), (zero, other), (alone, zero)]
    found = [np.linalg.norm(p[:, np.newaxis] * first + q[:, np.newaxis] * second - target, axis=1) for p, q in pairs]
    found[0] = np.where((p >= 0) & (q >= 0), found[0], np.inf)
    chosen = np.argmin(found, axis=0)[np.newaxis]
    p, q, distance = (
        np.take_along_axis(np.stack(values), chosen, axis=0)[0]
        for values in ([p for p, _ in pairs], [q for _, q in pairs], found)
    )
    return p, q, distance
