"""The figures that the programs print: how good decisions and scores are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from bayesift import evaluate
from bayesift._typing import BoolArray, FloatArray
from bayesift.evaluate import Outcomes


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
        return cls(*Outcomes.of(np.asarray(positive, dtype=bool), np.asarray(accepted, dtype=bool)))

    @property
    def outcomes(self) -> Outcomes:
        """The counts as :mod:`bayesift.evaluate` takes them."""
        return Outcomes(self.tp, self.fp, self.fn, self.tn)

    @property
    def precision(self) -> float:
        """TP/(TP+FP)."""
        return 100.0 * evaluate.precision(self.outcomes)

    @property
    def recall(self) -> float:
        """TP/(TP+FN)."""
        return 100.0 * evaluate.recall(self.outcomes)

    @property
    def f1(self) -> float:
        """2TP/(2TP+FP+FN)."""
        return 100.0 * evaluate.f_beta(self.outcomes)

    @property
    def t11u(self) -> int:
        """2TP − FP."""
        return int(evaluate.t11u(self.outcomes))

    @property
    def t11nu(self) -> float:
        """T11U as a share of the greatest possible, 2(TP+FN)."""
        return evaluate.t11nu(self.outcomes)

    @property
    def t11su(self) -> float:
        """(max(T11NU, −½) + ½)/1.5."""
        return evaluate.t11su(self.outcomes)

    @property
    def t11f(self) -> float:
        """1.25TP/(0.25FN + FP + 1.25TP)."""
        return evaluate.t11f(self.outcomes)

    @property
    def t13u(self) -> int:
        """20TP − FP."""
        return int(evaluate.t13u(self.outcomes))

    @property
    def error_rate(self) -> float:
        """Share of wrong decisions, in percent."""
        return 100.0 * evaluate.error_rate(self.outcomes)


def roc_area(positive: BoolArray, scores: FloatArray) -> float:
    """Return the share of pairs of a positive and a negative document in the right order, in percent; ties count ½.

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
