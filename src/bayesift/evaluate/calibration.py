"""Whether probabilities mean what they say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.special import xlog1py, xlogy

from bayesift._checks import one_of
from bayesift._typing import BoolArray, FloatArray, Int64Array
from bayesift.decide.expected import checked_probabilities
from bayesift.evaluate.outcomes import Average, as_booleans, check_average, check_same_shape, mean_over, plain

Bins = Literal["uniform", "quantile"]


class ReliabilityCurve(NamedTuple):
    """Documents in groups of similar probability: how many, their mean probability, and the share in the category."""

    n_documents: Int64Array
    predicted: FloatArray
    observed: FloatArray


def brier(truth: Any, probabilities: Any, *, average: Average = None) -> Any:
    """Return the mean squared difference of probability and truth.

    Parameters
    ----------
    truth, average
        As for :func:`precision`, which also describes the result, but no Outcomes. ``"micro"`` takes the decisions of
        all categories together.
    probabilities : array of the same shape as truth
        How probable it was said to be that a document is in the category.

    Examples
    --------
    >>> from bayesift.evaluate import brier
    >>> round(brier([1, 0], [0.9, 0.2]), 3)
    0.025
    """
    return _by_category(lambda y, p: np.mean((p - y) ** 2), truth, probabilities, average)


def log_loss(truth: Any, probabilities: Any, *, average: Average = None) -> Any:
    """Return minus the mean log probability of the truth, in nats; ∞ where something held impossible happened.

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

    ``bins`` and ``strategy`` are those of :func:`reliability_curve`, other parameters and the result those of
    :func:`brier`.

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
    """Put documents into groups of similar probability and see how many of each are in the category.

    Parameters
    ----------
    truth, probabilities
        As for :func:`brier`; categories are put together.
    bins : int, default=10
        Number of groups; those without documents are left out.
    strategy : {"uniform", "quantile"}, default="uniform"
        Groups of the same width, or of about the same number of documents.

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


def _reliability(y: BoolArray, p: FloatArray, bins: int, strategy: Bins) -> ReliabilityCurve:
    edges = np.linspace(0, 1, bins + 1)
    if strategy == "quantile":
        edges = np.quantile(p, edges)
    group = np.searchsorted(edges[1:-1], p)
    count = np.bincount(group, minlength=bins)
    kept = count > 0
    sums = [np.bincount(group, weights=values, minlength=bins)[kept] for values in (p, y)]
    return ReliabilityCurve(count[kept], *(total / count[kept] for total in sums))


def _check_bins(bins: Any, strategy: Any) -> None:
    if not isinstance(bins, int | np.integer) or bins < 1:
        raise ValueError(f"bins is {bins!r}; expected a whole number of at least 1")
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
