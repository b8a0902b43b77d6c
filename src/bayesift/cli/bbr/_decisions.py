"""Scores of several classes, what is decided by them, and how good that is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax

from bayesift._typing import FloatArray, Int64Array
from bayesift.formats.bbr import BinaryFigures, Data, DenseResult, PolytomousModel, linear_scores, roc_area


@dataclass(frozen=True, eq=False)
class PolytomousDecisions:
    """Linear scores of documents in every class, and the class of the greatest.

    Parameters
    ----------
    class_names : tuple of str
    scores : array of shape (n_documents, n_classes)
    predicted : int array of shape (n_documents,)
        Numbers of classes.
    true_names : tuple of str
        Labels of the documents, which may be none of the classes.
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
        """Numbers of the true classes, -1 for one that the model does not know."""
        code_of = {name: code for code, name in enumerate(self.class_names)}
        return np.array([code_of.get(name, -1) for name in self.true_names], dtype=np.int64)

    @property
    def n_unseen(self) -> int:
        """Documents of classes that the model does not know."""
        return int(np.count_nonzero(self.truth < 0))

    @property
    def table(self) -> Int64Array:
        """Documents of each class (rows) by the class they were given (columns)."""
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

        It is the area of the class's linear score against the documents that were given the class, not those that
        belong to it; found by comparing with its outputs.
        """
        return roc_area(self.predicted == code, self.scores[:, code])

    def results(self, linear: bool = False) -> list[DenseResult]:
        """Return the lines of a result file: probabilities, or linear scores."""
        values = self.scores if linear else np.exp(self.log_probabilities)
        predicted = (self.class_names[code] for code in self.predicted.tolist())
        rows = zip(self.true_names, values.tolist(), predicted, strict=True)
        return [DenseResult(true_name, tuple(row), name) for true_name, row, name in rows]


def decide_between(data: Data, model: PolytomousModel, *, by_name: bool = False) -> PolytomousDecisions:
    """Return every document the class with the greatest score; of equal ones the first.

    Parameters
    ----------
    data : Data
    model : PolytomousModel
    by_name : bool, default=False
        Whether the first is so in the order of names, as in BXR, or in that of the file.

    Returns
    -------
    PolytomousDecisions
    """
    scores = linear_scores(model, data)
    names = model.class_names
    order = np.array(sorted(range(len(names)), key=lambda code: names[code]) if by_name else range(len(names)))
    predicted = order[np.argmax(scores[:, order], axis=1)]
    return PolytomousDecisions(names, scores, predicted, data.labels)
