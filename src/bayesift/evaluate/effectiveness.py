"""Precision, recall, F_β, error rate and break-even."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesift.decide.utility import check_beta, f_beta_of, ratio
from bayesift.evaluate._ranking import expected_found, ranked_columns
from bayesift.evaluate.outcomes import (
    Average,
    averaged,
    check_average,
    check_empty,
    mean_over,
    outcomes_of,
    plain,
)


def precision(truth: Any, decisions: Any = None, *, average: Average = None, empty: float = 1.0) -> Any:
    """Return the share of the accepted documents that are right, TP/(TP+FP).

    Parameters
    ----------
    truth : array of shape (n_documents,) or (n_documents, n_categories), or Outcomes
        Which documents are in the category; or the outcomes, counted already.
    decisions : array of the same shape
        Which documents were accepted; not needed for Outcomes.
    average : {"micro", "macro"}, optional
        Over categories: of the summed outcomes, or the mean of the categories' values; each category's by default.
    empty : float, default=1.0
        What 0/0 is: 1 in Genkin, Lewis & Madigan (2007) and in the BBR programs; others take 0; categories with NaN
        are left out of the macro average.

    Returns
    -------
    float, or array of shape (n_categories,)

    Examples
    --------
    >>> from bayesift.evaluate import precision
    >>> truth, decisions = [[1, 0], [1, 0], [0, 0]], [[1, 0], [0, 0], [1, 0]]
    >>> precision(truth, decisions)
    array([0.5, 1. ])
    >>> precision(truth, decisions, average="macro", empty=0)
    0.25
    """
    empty = check_empty(empty)
    return averaged(lambda o: ratio(o.tp, o.tp + o.fp, empty), outcomes_of(truth, decisions), average)


def recall(truth: Any, decisions: Any = None, *, average: Average = None, empty: float = 1.0) -> Any:
    """Return the share of the documents in the category that were accepted, TP/(TP+FN).

    Parameters
    ----------
    truth, decisions, average, empty
        As for :func:`precision`.

    Returns
    -------
    float, or array of shape (n_categories,)

    Examples
    --------
    >>> from bayesift.evaluate import recall
    >>> recall([1, 1, 0, 1], [1, 0, 1, 1])
    0.6666666666666666
    """
    empty = check_empty(empty)
    return averaged(lambda o: ratio(o.tp, o.tp + o.fn, empty), outcomes_of(truth, decisions), average)


def f_beta(truth: Any, decisions: Any = None, *, beta: float = 1.0, average: Average = None, empty: float = 1.0) -> Any:
    """Return F_β = (1+β²)TP / ((1+β²)TP + FP + β²FN); F1 is the harmonic mean of precision and recall.

    Parameters
    ----------
    truth, decisions
        As for :func:`precision`.
    beta : float, default=1.0
        Weight of recall against precision.
    average, empty
        As for :func:`precision`.

    Returns
    -------
    float, or array of shape (n_categories,)

    Examples
    --------
    >>> from bayesift.evaluate import f_beta
    >>> f_beta([1, 1, 0, 1], [1, 0, 1, 0])
    0.4
    """
    check_beta(beta)
    empty = check_empty(empty)
    return averaged(lambda o: f_beta_of(o.tp, o.fp, o.fn, beta, empty), outcomes_of(truth, decisions), average)


def error_rate(truth: Any, decisions: Any = None, *, average: Average = None) -> Any:
    """Return the share of wrong decisions, (FP+FN)/n.

    Parameters
    ----------
    truth, decisions, average
        As for :func:`precision`.

    Returns
    -------
    float, or array of shape (n_categories,)

    Examples
    --------
    >>> from bayesift.evaluate import error_rate
    >>> error_rate([1, 1, 0, 1], [1, 0, 1, 1])
    0.5
    """
    return averaged(lambda o: ratio(o.fp + o.fn, o.tp + o.fp + o.fn + o.tn), outcomes_of(truth, decisions), average)


def break_even(truth: Any, scores: Any, *, average: Average = None, empty: float = 1.0) -> Any:
    """Return precision where it equals recall: when as many documents are accepted as are in the category.

    Parameters
    ----------
    truth : array of shape (n_documents,) or (n_documents, n_categories)
        Which documents are in the category.
    scores : array of the same shape
        Documents are accepted by falling score; documents of the same score count in random order, in expectation.
    average : {"micro", "macro"}, optional
        ``"micro"`` ranks the scores of all categories together; ``"macro"`` is the mean over categories.
    empty : float, default=1.0
        The value for a category without documents.

    Returns
    -------
    float, or array of shape (n_categories,)

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
