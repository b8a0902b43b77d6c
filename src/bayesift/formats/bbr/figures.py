"""The figures that the programs print: how good decisions and scores are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from bayesift._typing import BoolArray, FloatArray
from bayesift.decide import T11U, T13U


@dataclass(frozen=True)
class BinaryFigures:
    """Counts of the four outcomes of a yes/no decision, and what is computed from them.

    Precision, recall and F1 are in percent, and 100 where their denominators are 0.

    Parameters
    ----------
    tp, fp, fn, tn : int
        Documents accepted rightly, accepted wrongly, rejected wrongly, rejected rightly.

    Examples
    --------
    >>> from bayesift.formats.bbr import BinaryFigures
    >>> figures = BinaryFigures(tp=21, fp=1, fn=3, tn=25)
    >>> figures.t11u, figures.recall, figures.error_rate
    (41, 87.5, 8.0)
    """

    tp: int
    fp: int
    fn: int
    tn: int

    @classmethod
    def of(cls, positive: Any, accepted: Any) -> BinaryFigures:
        """Count the outcomes.

        Parameters
        ----------
        positive, accepted : bool arrays of shape (n_documents,)
            The truth and the decisions.

        Returns
        -------
        BinaryFigures
        """
        truth, decision = np.asarray(positive, dtype=bool), np.asarray(accepted, dtype=bool)
        counts = (truth & decision, ~truth & decision, truth & ~decision, ~truth & ~decision)
        return cls(*(int(np.count_nonzero(outcome)) for outcome in counts))

    @property
    def precision(self) -> float:
        """TP/(TP+FP)."""
        return _percent(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float:
        """TP/(TP+FN)."""
        return _percent(self.tp, self.tp + self.fn)

    @property
    def f1(self) -> float:
        """2TP/(2TP+FP+FN)."""
        return _percent(2 * self.tp, 2 * self.tp + self.fp + self.fn)

    @property
    def t11u(self) -> int:
        """2TP − FP."""
        return int(T11U.value(self.tp, self.fp, self.fn, self.tn))

    @property
    def t11nu(self) -> float:
        """T11U as a share of the greatest possible, 2(TP+FN)."""
        greatest = 2 * (self.tp + self.fn)
        if greatest:
            return self.t11u / greatest
        return -np.inf if self.fp else 0.0

    @property
    def t11su(self) -> float:
        """(max(T11NU, −½) + ½)/1.5."""
        return (max(self.t11nu, -0.5) + 0.5) / 1.5

    @property
    def t11f(self) -> float:
        """1.25TP/(0.25FN + FP + 1.25TP)."""
        return _percent(1.25 * self.tp, 0.25 * self.fn + self.fp + 1.25 * self.tp) / 100.0

    @property
    def t13u(self) -> int:
        """20TP − FP."""
        return int(T13U.value(self.tp, self.fp, self.fn, self.tn))

    @property
    def error_rate(self) -> float:
        """Share of wrong decisions, in percent."""
        return 100.0 * (self.fp + self.fn) / (self.tp + self.fp + self.fn + self.tn)


def roc_area(positive: BoolArray, scores: FloatArray) -> float:
    """Give the share of pairs of a positive and a negative document in the right order, in percent; ties count ½.

    Parameters
    ----------
    positive : bool array of shape (n_documents,)
    scores : array of shape (n_documents,)

    Returns
    -------
    float
        0 where there are no pairs.
    """
    n_positive = int(np.count_nonzero(positive))
    pairs = n_positive * (len(scores) - n_positive)
    if pairs == 0:
        return 0.0
    above = rankdata(scores)[positive].sum() - n_positive * (n_positive + 1) / 2
    return float(100.0 * above / pairs)


def _percent(part: float, whole: float) -> float:
    return 100.0 * part / whole if whole else 100.0
