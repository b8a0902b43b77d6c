"""Calibration: whether probabilities mean what they say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, logit, xlog1py, xlogy
from sklearn.utils import check_random_state

from bayesift._checks import INSIDE_UNIT, number, one_of, whole_number
from bayesift._typing import BoolArray, FloatArray, Int64Array
from bayesift.decide.expected import checked_probabilities
from bayesift.evaluate.outcomes import Average, as_booleans, check_average, check_same_shape, mean_over, plain

Bins = Literal["uniform", "quantile"]

#: Resamples that are drawn together hold at most this many numbers.
_BATCH = 5_000_000

#: Newton's method for the two numbers of a recalibration: most steps, and the change that ends it.
_STEPS, _SETTLED = 100, 1e-10


class ReliabilityCurve(NamedTuple):
    """Groups of documents of similar probability: their sizes, mean probabilities and shares in the category."""

    n_documents: Int64Array
    predicted: FloatArray
    observed: FloatArray


class CalibrationError(NamedTuple):
    """An expected calibration error, the ends of its interval, and the error that chance alone would give."""

    error: Any
    low: Any
    high: Any
    by_chance: Any


class TopLabel(NamedTuple):
    """For each document, whether its most probable label is right, and the probability given to that label."""

    right: BoolArray
    confidence: FloatArray


class Recalibration(NamedTuple):
    """The line of log odds that fits the truth best, and the standard errors of its slope and intercept."""

    slope: Any
    intercept: Any
    slope_error: Any
    intercept_error: Any


def brier(truth: Any, probabilities: Any, *, average: Average = None) -> Any:
    """Return the mean squared difference of probability and truth.

    Parameters
    ----------
    truth, average
        As for :func:`precision`, which also describes the result, but without Outcomes. ``"micro"`` pools the decisions
        of all categories.
    probabilities : array of the same shape as truth
        Predicted probabilities that a document is in the category.

    Examples
    --------
    >>> from bayesift.evaluate import brier
    >>> round(brier([1, 0], [0.9, 0.2]), 3)
    0.025
    """
    return _by_category(lambda y, p: np.mean((p - y) ** 2), truth, probabilities, average)


def log_loss(truth: Any, probabilities: Any, *, average: Average = None) -> Any:
    """Return minus the mean log probability of the truth, in nats; ∞ if something predicted to be impossible happened.

    Parameters and result are those of :func:`brier`.

    Examples
    --------
    >>> from bayesift.evaluate import log_loss
    >>> round(log_loss([1, 0], [0.9, 0.2]), 4)
    0.1643
    """
    return _by_category(lambda y, p: -np.mean(xlogy(y, p) + xlog1py(~y, -p)), truth, probabilities, average)


def expected_calibration_error(
    truth: Any, probabilities: Any, *, bins: int = 10, strategy: Bins = "uniform", average: Average = None
) -> Any:
    """Return the mean distance of probability and observed share over the groups of a reliability curve.

    Σ_b (n_b/n) abs(observed_b − predicted_b).

    ``bins`` and ``strategy`` are as in :func:`reliability_curve`, other parameters and the result as in :func:`brier`.

    Examples
    --------
    >>> from bayesift.evaluate import expected_calibration_error
    >>> round(expected_calibration_error([1, 1, 0, 0], [0.8, 0.8, 0.3, 0.3]), 2)
    0.25
    """
    _check_bins(bins, strategy)

    def error(y: BoolArray, p: FloatArray) -> float:
        count, predicted, observed = _reliability(y, p, bins, strategy)
        return float(count @ np.abs(observed - predicted) / len(y))

    return _by_category(error, truth, probabilities, average)


def reliability_curve(
    truth: Any, probabilities: Any, *, bins: int = 10, strategy: Bins = "uniform"
) -> ReliabilityCurve:
    """Group documents by probability, and count how many in each group are in the category.

    Parameters
    ----------
    truth, probabilities
        As for :func:`brier`; all categories are pooled.
    bins : int, default=10
        Number of groups; empty ones are left out.
    strategy : {"uniform", "quantile"}, default="uniform"
        Groups of equal width, or of about equal numbers of documents.

    Returns
    -------
    ReliabilityCurve
        Arrays ``n_documents``, ``predicted`` (mean probability) and ``observed`` (share in the category).

    Examples
    --------
    >>> from bayesift.evaluate import reliability_curve
    >>> curve = reliability_curve([1, 1, 0, 0], [0.8, 0.9, 0.3, 0.2], bins=2)
    >>> curve.n_documents, curve.predicted.round(2), curve.observed
    (array([2, 2]), array([0.25, 0.85]), array([0., 1.]))
    """
    _check_bins(bins, strategy)
    y, p = _pair(truth, probabilities)
    return _reliability(y.ravel(), p.ravel(), bins, strategy)


def top_label(truth: Any, probabilities: Any) -> TopLabel:
    """Return whether the most probable label of each document is right, and its probability.

    If many labels exclude each other, nearly all decisions about single labels are an easy no, and their mean error is
    small whatever the model does. What a person sees is the label that is given. All measures of this module take the
    two arrays that this function returns as ``truth`` and ``probabilities``.

    Parameters
    ----------
    truth : array of shape (n_documents, n_categories), or sparse matrix
        One label for each document.
    probabilities : array of the same shape

    Returns
    -------
    TopLabel
        ``right`` and ``confidence``, arrays of shape (n_documents,).

    Examples
    --------
    >>> from bayesift.evaluate import expected_calibration_error, top_label
    >>> found = top_label([[1, 0, 0], [0, 1, 0]], [[0.8, 0.1, 0.1], [0.7, 0.2, 0.1]])
    >>> found
    TopLabel(right=array([ True, False]), confidence=array([0.8, 0.7]))
    >>> expected_calibration_error(*found, bins=1)
    0.25
    """
    y, p = _pair(truth, probabilities)
    if y.ndim == 1:
        raise ValueError(f"truth has shape {y.shape}; expected a row for each document, with an entry for each label")
    numbers = np.count_nonzero(y, axis=1)
    if np.any(numbers > 1):
        odd = int(np.argmax(numbers > 1))
        raise ValueError(f"truth has {numbers[odd]} labels in row {odd}; expected labels that exclude each other")
    best = np.argmax(p, axis=1)[:, None]
    return TopLabel(np.take_along_axis(y, best, axis=1)[:, 0], np.take_along_axis(p, best, axis=1)[:, 0])


def calibration_interval(
    truth: Any,
    probabilities: Any,
    *,
    bins: int = 10,
    strategy: Bins = "uniform",
    average: Literal["micro"] | None = None,
    level: float = 0.95,
    n_resamples: int = 1000,
    random_state: Any = 0,
) -> CalibrationError:
    """Return the expected calibration error with an interval, and the error to expect by chance alone.

    Documents are drawn with replacement. On average, the error of a draw exceeds the error of the given documents by as
    much as that exceeds the error of infinitely many documents. So the ends of the interval are twice the error minus
    the quantiles of the draws, and at least 0 (the basic bootstrap).

    Parameters
    ----------
    truth, probabilities, bins, strategy
        As for :func:`expected_calibration_error`; the groups are formed from the given documents.
    average : {"micro"}, optional
        Pool the decisions of all categories; otherwise there is an error for each category.
    level : float, default=0.95
        Confidence level of the interval.
    n_resamples : int, default=1000
        Number of draws.
    random_state : int, RandomState or None, default=0
        Source of the draws.

    Returns
    -------
    CalibrationError
        ``error``, ``low``, ``high``, and ``by_chance``: the error to expect from correct probabilities with this many
        documents (Σ_b √(2 Σ_{i∈b} p_i(1 − p_i)/π) / n: sums in the groups taken as normal, decisions as independent).

    Examples
    --------
    >>> from bayesift.evaluate import calibration_interval
    >>> found = calibration_interval([1, 1, 0, 0] * 50, [0.8, 0.8, 0.3, 0.3] * 50)
    >>> round(found.error, 3), found.low < found.error < found.high, round(found.by_chance, 3)
    (0.25, True, 0.034)
    """
    _check_bins(bins, strategy)
    if average not in ("micro", None):
        raise ValueError(f"average is {average!r}; expected 'micro' or None")
    n_resamples, level = whole_number("n_resamples", n_resamples, 1), number("level", level, INSIDE_UNIT)
    y, p = _pair(truth, probabilities)
    n_documents, single = len(y), y.ndim == 1
    y, p = y.reshape(n_documents, -1), p.reshape(n_documents, -1)
    n_categories = y.shape[1]
    together = single or average == "micro"
    group = np.column_stack([_groups(column, bins, strategy) for column in ([p.ravel()] if together else p.T)])
    columns = group.reshape(n_documents, -1) + (0 if together else bins * np.arange(n_categories))
    n_errors, n_decisions = (1, y.size) if together else (n_categories, n_documents)
    starts = np.arange(0, y.size + 1, n_categories)
    shape = (n_documents, bins * n_errors)
    # A row for each document: by how much it moves the sum of every group.
    moves = sp.csr_matrix(((y - p).ravel(), columns.ravel(), starts), shape=shape).T.tocsr()
    spread = np.bincount(columns.ravel(), (p * (1 - p)).ravel(), minlength=shape[1])

    def errors(sums: FloatArray) -> FloatArray:
        found: FloatArray = np.abs(sums).reshape(-1, n_errors, bins).sum(axis=2) / n_decisions
        return found

    error = errors(moves @ np.ones(n_documents))[0]
    draws = np.concatenate([errors((moves @ counts).T) for counts in _drawn(n_documents, n_resamples, random_state)])
    high, low = 2 * error - np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0)
    found = error, np.maximum(low, 0.0), np.maximum(high, 0.0), errors(np.sqrt(2 * spread / np.pi))[0]
    return CalibrationError(*(plain(values[0] if together else values) for values in found))


def logistic_recalibration(truth: Any, probabilities: Any, *, average: Literal["micro"] | None = None) -> Recalibration:
    """Return the slope and intercept of the log odds that fit the truth best, with their standard errors.

    Fits ln odds(truth) = intercept + slope · ln odds(probability) by maximum likelihood. Correct probabilities have
    slope 1 and intercept 0. A slope below 1 means that they are overconfident, above 1 too cautious; an intercept above
    0 (with slope 1) means that more documents are in the category than predicted.

    Parameters
    ----------
    truth, probabilities
        As for :func:`brier`; probabilities of 0 and 1 count as the nearest numbers between them.
    average : {"micro"}, optional
        One line for the decisions of all categories together; otherwise one for each category.

    Returns
    -------
    Recalibration
        ``slope``, ``intercept``, ``slope_error``, ``intercept_error``. The errors allow for a line that does not fit
        exactly and for dependent decisions on the same document (sandwich estimator with a cluster for each document).
        NaN if all documents are of one class or all probabilities are equal; the slope is infinite if some probability
        separates the classes.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.evaluate import logistic_recalibration
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(2000)
    >>> found = logistic_recalibration(rng.random(2000) < p, p)
    >>> bool(abs(found.slope - 1) < 2 * found.slope_error), bool(abs(found.intercept) < 2 * found.intercept_error)
    (True, True)
    """
    if average not in ("micro", None):
        raise ValueError(f"average is {average!r}; expected 'micro' or None")
    y, p = _pair(truth, probabilities)
    tiny = float(np.finfo(np.float64).eps)
    odds = logit(np.clip(p, tiny, 1 - tiny))
    if y.ndim == 1 or average == "micro":
        documents = np.repeat(np.arange(len(y)), y.size // len(y))
        return Recalibration(*_recalibrated(y.ravel(), odds.ravel(), documents))
    rows = np.arange(len(y))
    lines = [_recalibrated(y[:, j], odds[:, j], rows) for j in range(y.shape[1])]
    return Recalibration(*(np.array(values) for values in zip(*lines, strict=True)))


def _recalibrated(y: BoolArray, odds: FloatArray, documents: Int64Array) -> tuple[float, float, float, float]:
    """Fit the line by Newton's method; return slope, intercept and their standard errors."""
    if y.all() or not y.any() or np.ptp(odds) == 0:
        return (np.nan,) * 4
    if odds[y].min() >= odds[~y].max():
        return np.inf, np.nan, np.nan, np.nan
    if odds[y].max() <= odds[~y].min():
        return -np.inf, np.nan, np.nan, np.nan
    # Around the middle of the scores the two numbers hardly depend on each other.
    middle, scale = float(odds.mean()), float(odds.std())
    z = np.column_stack([np.ones(odds.size), (odds - middle) / scale])
    line = np.array([float(logit(y.mean())), 0.0])
    loss = _loss(y, z @ line)
    for _ in range(_STEPS):
        slack = y - expit(z @ line)
        step = np.linalg.solve(_information(z, line), z.T @ slack)
        while (after := _loss(y, z @ (line + step))) > loss and np.abs(step).max() > _SETTLED:
            step = step / 2
        line, loss = line + step, min(after, loss)
        if np.abs(step).max() <= _SETTLED * (1 + np.abs(line).max()):
            break
    slack = y - expit(z @ line)
    moves = np.column_stack([np.bincount(documents, slack * column) for column in z.T])
    inverse = np.linalg.inv(_information(z, line))
    back = np.array([[1.0, -middle / scale], [0.0, 1.0 / scale]])
    covariance = back @ inverse @ (moves.T @ moves) @ inverse @ back.T
    intercept, slope = back @ line
    intercept_error, slope_error = np.sqrt(np.diag(covariance))
    return float(slope), float(intercept), float(slope_error), float(intercept_error)


def _loss(y: BoolArray, odds: FloatArray) -> float:
    """Return minus the log likelihood of log odds."""
    return float(np.logaddexp(0.0, np.where(y, -odds, odds)).sum())


def _information(z: FloatArray, line: FloatArray) -> FloatArray:
    p = expit(z @ line)
    found: FloatArray = (z * (p * (1 - p))[:, None]).T @ z
    return found


def _drawn(n_documents: int, n_resamples: int, random_state: Any) -> Iterator[FloatArray]:
    """Yield how often each document is drawn, documents × draws, some draws at a time."""
    rng = check_random_state(random_state)
    batch = max(1, _BATCH // n_documents)
    for start in range(0, n_resamples, batch):
        size = min(batch, n_resamples - start)
        counts = [np.bincount(rng.randint(n_documents, size=n_documents), minlength=n_documents) for _ in range(size)]
        yield np.column_stack(counts).astype(np.float64)


def _reliability(y: BoolArray, p: FloatArray, bins: int, strategy: Bins) -> ReliabilityCurve:
    group = _groups(p, bins, strategy)
    count = np.bincount(group, minlength=bins)
    kept = count > 0
    sums = [np.bincount(group, weights=values, minlength=bins)[kept] for values in (p, y)]
    return ReliabilityCurve(count[kept], *(total / count[kept] for total in sums))


def _groups(p: FloatArray, bins: int, strategy: Bins) -> Int64Array:
    """Return the group of every probability."""
    edges = np.linspace(0, 1, bins + 1)
    if strategy == "quantile":
        edges = np.quantile(p, edges)
    return np.searchsorted(edges[1:-1], p)


def _check_bins(bins: Any, strategy: Any) -> None:
    whole_number("bins", bins, 1)
    one_of("strategy", strategy, ("uniform", "quantile"))


def _pair(truth: Any, probabilities: Any) -> tuple[BoolArray, FloatArray]:
    y, p = as_booleans(truth, "truth"), checked_probabilities(probabilities, "probabilities")
    check_same_shape(y, "truth", p, "probabilities")
    return y, p


def _by_category(
    score: Callable[[BoolArray, FloatArray], Any], truth: Any, probabilities: Any, average: Average
) -> Any:
    check_average(average)
    y, p = _pair(truth, probabilities)
    if y.ndim == 1 or average == "micro":
        return float(score(y.ravel(), p.ravel()))
    values = np.array([score(y[:, j], p[:, j]) for j in range(y.shape[1])], dtype=np.float64)
    return mean_over(values) if average == "macro" else plain(values)
