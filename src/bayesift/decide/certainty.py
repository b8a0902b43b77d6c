"""Which decisions are certain: those whose score interval lies entirely on the side of the threshold chosen."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesift._checks import Test, number, numbers
from bayesift._typing import BoolArray, FloatArray


def _above_half(values: FloatArray) -> BoolArray:
    return (values > 0.5) & (values < 1)


_CERTAINTY: tuple[Test, str] = (_above_half, "a number between 0.5 and 1, both excluded")
_ANY: tuple[Test, str] = (lambda values: ~np.isnan(values), "a number")


def mass_of_certainty(certainty: float) -> float:
    """Return the mass of the central interval that leaves 1 − certainty on either side.

    Parameters
    ----------
    certainty : float
        Required probability that a score is on its side of the threshold; above ½ and below 1.

    Returns
    -------
    float
        2 certainty − 1.

    Examples
    --------
    >>> from bayesift.decide import mass_of_certainty
    >>> round(mass_of_certainty(0.9), 10)
    0.8
    """
    return 2.0 * number("certainty", certainty, _CERTAINTY) - 1.0


def unsure(decisions: Any, ends: Any, thresholds: Any = 0.0, *, exclusive: bool = False) -> BoolArray:
    """Mark the uncertain decisions, which a person should make.

    A yes is certain if the whole interval of the score is at or above the threshold, a no if it is below. If categories
    exclude each other, the chosen one is certain if its interval, minus its threshold, lies above those of all others;
    otherwise it is uncertain, and so are the categories whose intervals reach it.

    Parameters
    ----------
    decisions : bool array of shape (n_documents,) or (n_documents, n_categories)
        The decisions; exactly one yes in each row if categories exclude each other.
    ends : array of the same shape and a last axis of 2
        Intervals of the scores, with the mass that :func:`mass_of_certainty` returns.
    thresholds : float or array of shape (n_categories,), default=0.0
        The scores from which on the decision is yes.
    exclusive : bool, default=False
        Whether categories exclude each other.

    Returns
    -------
    bool array of the shape of ``decisions``
        True where a decision is uncertain; rows without any True need no person.

    Examples
    --------
    >>> from bayesift.decide import unsure
    >>> unsure([True, True, False], [[0.4, 2.0], [-0.1, 3.0], [-2.0, -1.0]])
    array([False,  True, False])
    >>> unsure([[True, False, False]], [[[0.4, 2.0], [-1.0, 0.5], [-3.0, -1.0]]], exclusive=True)
    array([[ True,  True, False]])
    """
    given = np.asarray(decisions)
    intervals, least = numbers("ends", ends, _ANY), numbers("thresholds", thresholds, _ANY)
    if given.dtype != bool or given.ndim not in (1, 2):
        raise ValueError(f"decisions are {given.dtype} of shape {given.shape}; expected booleans, in one or two axes")
    if intervals.shape != (*given.shape, 2):
        raise ValueError(f"ends have shape {intervals.shape}; expected {(*given.shape, 2)}, two for each decision")
    if least.shape not in ((), (1,), given.shape[1:]):
        raise ValueError(f"thresholds have shape {least.shape}; expected a single one, or one for each category")
    lower, upper = intervals[..., 0] - least, intervals[..., 1] - least
    if not exclusive:
        return np.asarray(np.where(given, lower < 0.0, upper >= 0.0))
    if given.ndim != 2 or not np.all(given.sum(axis=1) == 1):
        raise ValueError("decisions have rows without exactly one category; expected one, as exclusive is True")
    reached = (upper > lower[given][:, None]) & ~given
    return reached | (given & reached.any(axis=1, keepdims=True))
