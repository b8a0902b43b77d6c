"""Measures of a ranking: break-even, and how much must be read to find how much.

Documents are read by decreasing score. Those with the same score come in random order, and results are expectations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from bayesift._typing import BoolArray, FloatArray, Int64Array
from bayesift.decide.tuning import checked_scores
from bayesift.evaluate.outcomes import (
    Average,
    as_booleans,
    check_average,
    check_empty,
    check_same_shape,
    mean_over,
    plain,
)

Columns = list[tuple[BoolArray, FloatArray | None]]


def ranked_columns(truth: Any, scores: Any, *, pooled: bool = False) -> tuple[Columns, bool]:
    """Return truth and scores of each category, and whether there is only one; pooled ones make one category.

    Without scores, documents are read in the order given.
    """
    positive = as_booleans(truth, "truth")
    values = None if scores is None else checked_scores(scores)
    if values is not None:
        check_same_shape(positive, "truth", values, "scores")
    if positive.ndim == 1 or pooled:
        return [(positive.ravel(), None if values is None else values.ravel())], True
    return [(column, None if values is None else values[:, j]) for j, column in enumerate(positive.T)], False


def _groups(positive: BoolArray, scores: FloatArray | None) -> tuple[Int64Array, Int64Array]:
    """Return how many documents were read and found after each group of equal scores, beginning with 0."""
    n = len(positive)
    if scores is None:
        return np.arange(n + 1), np.append(0, np.cumsum(positive))
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    ends = np.append(np.flatnonzero(ranked[1:] != ranked[:-1]) + 1, n)
    return np.append(0, ends), np.append(0, np.cumsum(positive[order])[ends - 1])


def expected_found(positive: BoolArray, scores: FloatArray | None) -> FloatArray:
    """Return the expected number found after reading 0, 1, …, n documents."""
    read, found = _groups(positive, scores)
    return np.interp(np.arange(len(positive) + 1), read, found)


def discovery_places(positive: BoolArray, scores: FloatArray | None) -> FloatArray:
    """Return the expected places, counted from 1, of the first, second, … document found.

    The j-th of r among g documents in random order is expected at j(g+1)/(r+1).
    """
    read, found = _groups(positive, scores)
    size, hits = np.diff(read), np.diff(found)
    rank = np.arange(1, found[-1] + 1) - np.repeat(found[:-1], hits)
    return np.repeat(read[:-1], hits) + rank * np.repeat((size + 1) / (hits + 1), hits)


def break_even(truth: Any, scores: Any, *, average: Average = None, empty: float = 1.0) -> Any:
    """Return the precision where it equals recall: with as many documents accepted as are in the category.

    Parameters
    ----------
    truth, average, empty
        As for :func:`precision`, which also describes the result, but without Outcomes. ``"micro"`` ranks the scores of
        all categories together.
    scores : array of the same shape as truth
        Documents are accepted by decreasing score, those with the same score in random order: the result is an
        expectation.

    Examples
    --------
    >>> from bayesift.evaluate import break_even
    >>> break_even([1, 0, 1, 0, 1], [0.9, 0.8, 0.7, 0.2, 0.1])
    0.6666666666666666
    """
    empty = check_empty(empty)
    check_average(average)
    columns, flat = ranked_columns(truth, scores, pooled=average == "micro")
    values = []
    for positive, column in columns:
        size = int(np.count_nonzero(positive))
        values.append(expected_found(positive, column)[size] / size if size else empty)
    return mean_over(np.array(values)) if average == "macro" else plain(np.array(values[0] if flat else values))


# Shares such as 0.07 of 100 documents must not lose a document to rounding.
_ROUNDING = 1e-9


class RecallCurve(NamedTuple):
    """Share of the documents read, and share of the relevant ones found by then."""

    effort: FloatArray
    recall: FloatArray


def recall_curve(truth: Any, scores: Any = None) -> RecallCurve:
    """Return the recall after reading 0, 1, …, n documents.

    Parameters
    ----------
    truth : array of shape (n_documents,)
        Which documents are relevant; at least one.
    scores : array of shape (n_documents,), optional
        Documents are read by decreasing score, those with the same score in random order: the recall is an
        expectation. By default they are read in the order given.

    Returns
    -------
    RecallCurve
        Arrays ``effort`` and ``recall`` of length n_documents + 1, both from 0 to 1.

    Examples
    --------
    >>> from bayesift.evaluate import recall_curve
    >>> recall_curve([1, 0, 1, 0]).recall
    array([0. , 0.5, 0.5, 1. , 1. ])
    """
    columns, flat = ranked_columns(truth, scores)
    if not flat:
        raise ValueError(f"truth has {len(columns)} categories; expected one, as an array of shape (n_documents,)")
    positive, values = columns[0]
    if not positive.any():
        raise ValueError("truth has no relevant documents; expected at least one")
    found = expected_found(positive, values)
    return RecallCurve(np.linspace(0, 1, len(found)), found / found[-1])


def recall_at_effort(
    truth: Any, scores: Any = None, *, effort: float = 0.1, average: Literal["macro"] | None = None
) -> Any:
    """Return the share of the relevant documents found after reading a share of all documents.

    Parameters
    ----------
    truth : array of shape (n_documents,) or (n_documents, n_categories)
        Which documents are relevant.
    scores : array of the same shape, optional
        Documents are read by decreasing score, those with the same score in random order: the result is an
        expectation. By default they are read in the order given.
    effort : float, default=0.1
        Share of the documents that are read, rounded down to whole documents.
    average : {"macro"}, optional
        The mean over categories; by default there is a value for each category.

    Returns
    -------
    float, or array of shape (n_categories,)
        NaN for a category without relevant documents; the mean leaves it out.

    Examples
    --------
    >>> from bayesift.evaluate import recall_at_effort
    >>> recall_at_effort([1, 0, 1, 0], [0.9, 0.3, 0.5, 0.4], effort=0.5)
    1.0
    """
    _check_share("effort", effort)

    def measure(positive: BoolArray, scores: FloatArray | None) -> float:
        found = expected_found(positive, scores)
        return found[int(effort * len(positive) + _ROUNDING)] / found[-1]

    return _by_category(measure, truth, scores, average)


def wss(truth: Any, scores: Any = None, *, recall: float = 0.95, average: Literal["macro"] | None = None) -> Any:
    """Return the work saved over sampling at a level of recall (Cohen et al. 2006): WSS@95 by default.

    This is the share of documents left unread when that recall is reached, minus the 1 − recall that reading in random
    order would leave.

    Parameters
    ----------
    truth, scores, average
        As for :func:`recall_at_effort`, which also describes the result.
    recall : float, default=0.95
        The recall to reach.

    Examples
    --------
    >>> from bayesift.evaluate import wss
    >>> round(wss([1, 1, 0, 0, 0, 0, 0, 0, 0, 0]), 2)
    0.75
    """
    _check_share("recall", recall)

    def measure(positive: BoolArray, scores: FloatArray | None) -> float:
        places = discovery_places(positive, scores)
        needed = int(np.ceil(recall * len(places) - _ROUNDING))
        read = places[needed - 1] if needed else 0.0
        return recall - read / len(positive)

    return _by_category(measure, truth, scores, average)


def average_time_to_discovery(
    truth: Any, scores: Any = None, *, share: bool = True, average: Literal["macro"] | None = None
) -> Any:
    """Return how much must be read before a relevant document is found, averaged over the relevant documents.

    Parameters
    ----------
    truth, scores, average
        As for :func:`recall_at_effort`, which also describes the result.
    share : bool, default=True
        Return a share of all documents; otherwise a number of documents.

    Examples
    --------
    >>> from bayesift.evaluate import average_time_to_discovery
    >>> average_time_to_discovery([1, 0, 1, 0], share=False)
    2.0
    """

    def measure(positive: BoolArray, scores: FloatArray | None) -> float:
        place = discovery_places(positive, scores).mean()
        return place / len(positive) if share else place

    return _by_category(measure, truth, scores, average)


def _check_share(name: str, value: Any) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"{name} is {value!r}; expected a share from 0 to 1")


def _by_category(
    measure: Callable[[BoolArray, FloatArray | None], float], truth: Any, scores: Any, average: str | None
) -> Any:
    if average not in ("macro", None):
        raise ValueError(f"average is {average!r}; expected 'macro' or None")
    columns, flat = ranked_columns(truth, scores)
    values = np.array([measure(*column) if column[0].any() else np.nan for column in columns])
    return mean_over(values) if average == "macro" else plain(values[0] if flat else values)
