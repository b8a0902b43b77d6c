"""Measures of yes/no decisions: precision, recall, F_β, error rate, and those of the TREC filtering tracks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayesift._checks import NOT_NAN, number, whole_number
from bayesift._typing import FloatArray
from bayesift.decide.utility import T11U, T13U, Utility, check_beta, f_beta_of, ratio
from bayesift.evaluate.outcomes import (
    Average,
    Outcomes,
    averaged,
    check_empty,
    outcomes_of,
)


def precision(truth: Any, decisions: Any = None, *, average: Average = None, empty: float = 1.0) -> Any:
    """Return the share of the accepted documents that are in the category, TP/(TP+FP).

    Parameters
    ----------
    truth : array of shape (n_documents,) or (n_documents, n_categories), or Outcomes
        Which documents are in the category; or outcomes that were counted already.
    decisions : array of the same shape
        Which documents were accepted; not needed with Outcomes.
    average : {"micro", "macro"}, optional
        Average over categories: the value of the summed outcomes, or the mean of the categories' values. By default
        there is a value for each category.
    empty : float, default=1.0
        Value of 0/0: 1 in Genkin, Lewis & Madigan (2007) and in the BBR programs, 0 elsewhere. Categories with NaN are
        left out of the macro average.

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

    Parameters and result are those of :func:`precision`.

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

    ``beta`` is the weight of recall against precision; other parameters and the result are those of :func:`precision`.

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

    Parameters and result are those of :func:`precision`.

    Examples
    --------
    >>> from bayesift.evaluate import error_rate
    >>> error_rate([1, 1, 0, 1], [1, 0, 1, 1])
    0.5
    """
    return averaged(lambda o: ratio(o.fp + o.fn, o.tp + o.fp + o.fn + o.tn), outcomes_of(truth, decisions), average)


def t9p(truth: Any, decisions: Any = None, *, target: int = 50, average: Average = None) -> Any:
    """Return TREC-9's precision with a target: TP / max(50, TP+FP).

    ``target`` is the least number of documents that should be retrieved; other parameters and the result are those of
    :func:`precision`.

    Examples
    --------
    >>> from bayesift.evaluate import Outcomes, t9p
    >>> t9p(Outcomes(tp=20, fp=10, fn=5, tn=900)), t9p(Outcomes(tp=60, fp=40, fn=5, tn=900))
    (0.4, 0.6)
    """
    target = whole_number("target", target, 1)
    return averaged(lambda o: ratio(o.tp, np.maximum(target, o.tp + o.fp)), outcomes_of(truth, decisions), average)


def t9u(truth: Any, decisions: Any = None, *, least: float = -100.0, average: Average = None) -> Any:
    """Return TREC-9's utility, max(2TP − FP, −100).

    ``least`` is the lowest utility a topic can have; other parameters and the result are those of :func:`precision`.

    Examples
    --------
    >>> from bayesift.evaluate import Outcomes, t9u
    >>> t9u(Outcomes(tp=20, fp=10, fn=5, tn=900)), t9u(Outcomes(tp=0, fp=400, fn=5, tn=500))
    (30.0, -100.0)
    """
    least = number("least", least, NOT_NAN)
    return averaged(lambda o: np.maximum(T11U.value(*o), least), outcomes_of(truth, decisions), average)


def t11u(truth: Any, decisions: Any = None, *, average: Average = None) -> Any:
    """Return the utility of TREC 2002, 2TP − FP.

    Parameters and result are those of :func:`precision`.

    Examples
    --------
    >>> from bayesift.evaluate import t11u
    >>> t11u([1, 1, 0, 0], [1, 1, 1, 0])
    3.0
    """
    return averaged(lambda o: T11U.value(*o), outcomes_of(truth, decisions), average)


def t13u(truth: Any, decisions: Any = None, *, average: Average = None) -> Any:
    """Return 20TP − FP.

    Parameters and result are those of :func:`precision`.

    Examples
    --------
    >>> from bayesift.evaluate import t13u
    >>> t13u([1, 1, 0, 0], [1, 1, 1, 0])
    39.0
    """
    return averaged(lambda o: T13U.value(*o), outcomes_of(truth, decisions), average)


def t11nu(truth: Any, decisions: Any = None, *, average: Average = None) -> Any:
    """Return T11U as a share of the greatest possible, (2TP − FP) / (2(TP+FN)).

    Without relevant documents it is 0 if nothing was retrieved, otherwise −∞.

    Parameters and result are those of :func:`precision`.

    Examples
    --------
    >>> from bayesift.evaluate import t11nu
    >>> t11nu([1, 1, 0, 0], [1, 1, 1, 0])
    0.75
    """
    return averaged(lambda o: _share_of_greatest(o, T11U), outcomes_of(truth, decisions), average)


def t11su(truth: Any, decisions: Any = None, *, average: Average = None) -> Any:
    """Return the scaled utility of TREC 2002, (max(T11NU, −½) + ½) / 1.5, from 0 to 1.

    Parameters and result are those of :func:`precision`.

    Examples
    --------
    >>> from bayesift.evaluate import t11su
    >>> t11su([1, 1, 0, 0], [1, 1, 1, 0]), t11su([1, 1, 0, 0], [0, 0, 0, 0])
    (0.8333333333333334, 0.3333333333333333)
    """
    return scaled_utility(truth, decisions, average=average)


def t11f(truth: Any, decisions: Any = None, *, average: Average = None) -> Any:
    """Return the F measure of TREC 2002, 1.25TP / (1.25TP + FP + 0.25FN): F_β with β = ½, and 1 for 0/0.

    Parameters and result are those of :func:`precision`.

    Examples
    --------
    >>> from bayesift.evaluate import t11f
    >>> t11f([1, 1, 0, 0], [1, 0, 0, 0])
    0.8333333333333334
    """
    return averaged(lambda o: f_beta_of(o.tp, o.fp, o.fn, 0.5), outcomes_of(truth, decisions), average)


def scaled_utility(
    truth: Any,
    decisions: Any = None,
    *,
    utility: Utility | Mapping[str, float] = T11U,
    minimum: float | None = -0.5,
    average: Average = None,
) -> Any:
    """Return a utility as a share of that of perfect decisions, cut off below and rescaled to run from 0 to 1.

    With U_max the utility of perfect decisions and r = U/U_max, it is (max(r, minimum) − minimum) / (1 − minimum). If
    U_max = 0, r is 0 for U = 0 and −∞ for U < 0.

    Parameters
    ----------
    truth, decisions, average
        As for :func:`precision`, which also describes the result.
    utility : Utility or mapping, default=T11U
        Gains for the four outcomes.
    minimum : float below 1, optional
        Lower limit of the share; −½ in TREC 2002. With None the share itself is returned.

    Examples
    --------
    >>> from bayesift.evaluate import scaled_utility
    >>> scaled_utility([1, 1, 0, 0], [1, 1, 1, 1], utility={"tp": 1, "fp": -1}, minimum=-1)
    0.5
    """
    gains = utility if isinstance(utility, Utility) else Utility.from_gains(utility)
    if minimum is not None and not minimum < 1:
        raise ValueError(f"minimum is {minimum!r}; expected a share below 1, or None")

    def scaled(outcomes: Outcomes) -> FloatArray:
        share = _share_of_greatest(outcomes, gains)
        return share if minimum is None else (np.maximum(share, minimum) - minimum) / (1 - minimum)

    return averaged(scaled, outcomes_of(truth, decisions), average)


def _share_of_greatest(outcomes: Outcomes, utility: Utility) -> FloatArray:
    tp, fp, fn, tn = outcomes
    reached = np.asarray(utility.value(tp, fp, fn, tn), dtype=np.float64)
    greatest = np.asarray(utility.value(tp + fn, 0, 0, fp + tn), dtype=np.float64)
    if np.any(greatest < 0):
        raise ValueError(f"utility is {utility}, which makes perfect decisions worth less than 0; expected at least 0")
    without = np.where(reached < 0, -np.inf, 0.0)
    return np.divide(reached, greatest, out=without, where=greatest > 0)
