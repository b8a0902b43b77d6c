"""Decisions by scores, and how good they are: the figures that the programs print."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, log_softmax
from scipy.stats import rankdata

from bayesift import evaluate
from bayesift._typing import BoolArray, FloatArray, Int64Array
from bayesift.bbr.data import Data
from bayesift.bbr.estimators import linear_scores
from bayesift.bbr.polytomous_model import PolytomousModel
from bayesift.bbr.results import BinaryResult, DenseResult
from bayesift.evaluate import Outcomes


@dataclass(frozen=True)
class BinaryFigures:
    """Counts of the four outcomes of a yes/no decision, and measures computed from them.

    Precision, recall and F1 are in percent, and 100 where their denominators are 0.

    Parameters
    ----------
    tp, fp, fn, tn : int
        Numbers of documents rightly accepted, wrongly accepted, wrongly rejected, rightly rejected.

    Examples
    --------
    >>> from bayesift.bbr import BinaryFigures
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
        """Count the outcomes, given which documents are in the category and which were accepted."""
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
        0 if there are no pairs.
    """
    n_positive = int(np.count_nonzero(positive))
    pairs = n_positive * (len(scores) - n_positive)
    if pairs == 0:
        return 0.0
    above = rankdata(scores)[positive].sum() - n_positive * (n_positive + 1) / 2
    return float(100.0 * above / pairs)


@dataclass(frozen=True, eq=False)
class BinaryDecisions:
    """Scores of documents, the decisions, and how good they are."""

    scores: FloatArray
    accepted: BoolArray
    figures: BinaryFigures
    log_likelihood: float
    roc_area: float
    row_ids: tuple[str, ...] | None

    def results(self) -> list[BinaryResult]:
        """Return the lines of a result file."""
        names: Any = self.row_ids or [None] * self.scores.size
        lines = zip(expit(self.scores).tolist(), self.accepted.tolist(), names, strict=True)
        return [BinaryResult(chance, 1 if yes else -1, name) for chance, yes, name in lines]


def decide(
    scores: FloatArray, positive: BoolArray, threshold: float, row_ids: tuple[str, ...] | None
) -> BinaryDecisions:
    """Accept documents that reach the threshold, and measure how good that is."""
    accepted = scores >= threshold
    likelihood = -float(np.logaddexp(0.0, np.where(positive, -scores, scores)).sum())
    figures = BinaryFigures.of(positive, accepted)
    return BinaryDecisions(scores, accepted, figures, likelihood, roc_area(positive, scores), row_ids)


@dataclass(frozen=True, eq=False)
class PolytomousDecisions:
    """Linear scores of documents in every class, and the class with the greatest score.

    Parameters
    ----------
    class_names : tuple of str
    scores : array of shape (n_documents, n_classes)
    predicted : int array of shape (n_documents,)
        Numbers of classes.
    true_names : tuple of str
        Labels of the documents, which need not be among the classes.
    """

    class_names: tuple[str, ...]
    scores: FloatArray
    predicted: Int64Array
    true_names: tuple[str, ...]

    @property
    def log_probabilities(self) -> FloatArray:
        """Log probabilities of the classes."""
        return log_softmax(self.scores, axis=1)

    @property
    def truth(self) -> Int64Array:
        """Numbers of the true classes, -1 for classes that the model does not know."""
        code_of = {name: code for code, name in enumerate(self.class_names)}
        return np.array([code_of.get(name, -1) for name in self.true_names], dtype=np.int64)

    @property
    def n_unseen(self) -> int:
        """Number of documents of classes that the model does not know."""
        return int(np.count_nonzero(self.truth < 0))

    @property
    def table(self) -> Int64Array:
        """Numbers of documents of each class (rows) by the class assigned (columns)."""
        size = len(self.class_names)
        table = np.zeros((size, size), dtype=np.int64)
        known = self.truth >= 0
        np.add.at(table, (self.truth[known], self.predicted[known]), 1)
        return table

    @property
    def log_likelihood(self) -> float:
        """Sum of the log probabilities of the true classes, over documents of known classes."""
        known = np.flatnonzero(self.truth >= 0)
        return float(self.log_probabilities[known, self.truth[known]].sum())

    def one_against_rest(self, code: int) -> BinaryFigures:
        """Count the outcomes for one class."""
        return BinaryFigures.of(self.truth == code, self.predicted == code)

    def printed_roc_area(self, code: int) -> float:
        """Return what BMR prints as the ROC area of a class.

        It is the area of the class's linear score against the documents that were assigned to the class, not those that
        belong to it; this was found by comparison with its outputs.
        """
        return roc_area(self.predicted == code, self.scores[:, code])

    def results(self, linear: bool = False) -> list[DenseResult]:
        """Return the lines of a result file: probabilities, or linear scores."""
        values = self.scores if linear else np.exp(self.log_probabilities)
        predicted = (self.class_names[code] for code in self.predicted.tolist())
        rows = zip(self.true_names, values.tolist(), predicted, strict=True)
        return [DenseResult(true_name, tuple(row), name) for true_name, row, name in rows]


def decide_between(data: Data, model: PolytomousModel, *, by_name: bool = False) -> PolytomousDecisions:
    """Assign to every document the class with the greatest score, or the first of several.

    Parameters
    ----------
    data : Data
    model : PolytomousModel
    by_name : bool, default=False
        Whether the first is meant in the order of names, as in BXR, or in that of the file.

    Returns
    -------
    PolytomousDecisions
    """
    scores = linear_scores(model, data)
    names = model.class_names
    order = np.array(sorted(range(len(names)), key=lambda code: names[code]) if by_name else range(len(names)))
    predicted = order[np.argmax(scores[:, order], axis=1)]
    return PolytomousDecisions(names, scores, predicted, data.labels)
