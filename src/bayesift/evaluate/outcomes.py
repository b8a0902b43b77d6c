"""Counts of right and wrong decisions, and how they are averaged over categories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from scipy.sparse import issparse

from bayesift._typing import BoolArray, FloatArray

Average = Literal["micro", "macro"] | None


class Outcomes(NamedTuple):
    """Numbers of the four outcomes of yes/no decisions: one number each, or one for each category.

    Parameters
    ----------
    tp, fp, fn, tn : int or array of shape (n_categories,)
        Documents rightly accepted, wrongly accepted, wrongly rejected, rightly rejected.

    Examples
    --------
    >>> from bayesift.evaluate import Outcomes, f_beta
    >>> Outcomes.of([1, 1, 0, 0], [1, 0, 0, 1])
    Outcomes(tp=1, fp=1, fn=1, tn=1)
    >>> f_beta(Outcomes(tp=21, fp=1, fn=3, tn=25))
    0.9130434782608695
    """

    tp: Any
    fp: Any
    fn: Any
    tn: Any

    @classmethod
    def of(cls, truth: Any, decisions: Any) -> Self:
        """Count the outcomes.

        Parameters
        ----------
        truth, decisions : arrays of shape (n_documents,) or (n_documents, n_categories), or sparse matrices
            Zeros and ones, −1 and 1, or booleans.
        """
        positive, accepted = as_booleans(truth, "truth"), as_booleans(decisions, "decisions")
        check_same_shape(positive, "truth", accepted, "decisions")
        counts = [np.count_nonzero(t & d, axis=0) for t in (positive, ~positive) for d in (accepted, ~accepted)]
        tp, fn, fp, tn = (int(count) if positive.ndim == 1 else count for count in counts)
        return cls(tp, fp, fn, tn)

    def summed(self) -> Outcomes:
        """Sum over the categories (the last axis)."""
        return Outcomes(*(np.sum(count, axis=-1) if np.ndim(count) else count for count in self))


def outcomes_of(truth: Any, decisions: Any) -> Outcomes:
    """Return outcomes that were counted already, or count them."""
    if isinstance(truth, Outcomes):
        if decisions is not None:
            raise ValueError(
                "decisions were given together with Outcomes; expected either Outcomes alone, or truth and decisions"
            )
        return truth
    if decisions is None:
        raise ValueError("decisions is None; expected truth and decisions, or Outcomes alone")
    return Outcomes.of(truth, decisions)


def averaged(measure: Callable[[Outcomes], FloatArray], outcomes: Outcomes, average: Average) -> Any:
    """Compute a measure for each category, for their sum ("micro"), or its mean over categories ("macro")."""
    check_average(average)
    values = np.asarray(measure(outcomes.summed() if average == "micro" else outcomes))
    return mean_over(values) if average == "macro" else plain(values)


def mean_over(values: FloatArray) -> Any:
    """Return the mean of the defined values over the last axis; NaN if there are none."""
    if values.ndim == 0:
        return float(values)
    defined = ~np.isnan(values)
    number = defined.sum(axis=-1)
    total = np.where(defined, values, 0.0).sum(axis=-1)
    return plain(np.divide(total, number, out=np.full(np.shape(number), np.nan), where=number > 0))


def plain(values: FloatArray) -> Any:
    """Return a single value as a Python number."""
    return values if np.ndim(values) else np.asarray(values).item()


def check_average(average: object) -> None:
    """Refuse an unknown way of averaging."""
    if average not in ("micro", "macro", None):
        raise ValueError(f"average is {average!r}; expected 'micro', 'macro' or None")


def check_empty(empty: Any) -> float:
    """Return the value that stands for 0/0."""
    value = float(empty)
    if not (np.isnan(value) or 0 <= value <= 1):
        raise ValueError(f"empty is {empty!r}; expected a number from 0 to 1, or NaN to leave such categories out")
    return value


def as_booleans(values: Any, name: str) -> BoolArray:
    """Return labels or decisions as an array of booleans, of one or two dimensions."""
    array = values.toarray() if issparse(values) else np.asarray(values)
    if array.ndim not in (1, 2) or array.size == 0:
        raise ValueError(
            f"{name} has shape {array.shape}; expected one value per document, or a row with one per category"
        )
    if array.dtype.kind == "b":
        return array
    if array.dtype.kind not in "iuf":
        raise ValueError(f"{name} holds {array.ravel()[0]!r}; expected zeros and ones, -1 and 1, or booleans")
    positive = array == 1
    other = array[~positive]
    if other.size and not (np.all(other == 0) or np.all(other == -1)):
        odd = other[other != 0][0]
        raise ValueError(f"{name} holds {odd.item()!r}; expected zeros and ones, -1 and 1, or booleans")
    return positive


def check_same_shape(first: Any, first_name: str, second: Any, second_name: str) -> None:
    """Refuse arrays of different shapes."""
    if first.shape != second.shape:
        raise ValueError(f"{second_name} has shape {second.shape}; expected {first.shape}, the shape of {first_name}")
