"""The protocol of a classifier: scores, the probabilities that they represent, decisions, and word weights."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.special import log_expit
from sklearn.base import BaseEstimator, ClassifierMixin

from bayesift._labels import TargetType
from bayesift._typing import AnyArray, FloatArray


class ScoreClassifier(ClassifierMixin, BaseEstimator):
    """A classifier whose scores determine everything: a subclass defines ``_score_documents``, the rest follows.

    ``_log_probability`` turns scores into log probabilities; by default scores are log odds. For more than two
    classes, ``_scores_exclude_each_other`` says whether scores are those of one softmax, or of separate decisions
    between a class and the rest, whose probabilities are scaled to a sum of one.

    Attributes
    ----------
    classes_ : ndarray
        The labels in order; column numbers for an indicator matrix.
    target_type_ : {"binary", "multiclass", "multilabel-indicator"}
        The kind of labels, in scikit-learn's terms.
    """

    classes_: AnyArray
    target_type_: TargetType

    _scores_exclude_each_other: ClassVar[bool] = False

    def decision_function(self, X: Any) -> FloatArray:
        """Return the score of each category; the greater, the more it counts for the category.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n_documents, n_features)

        Returns
        -------
        scores : ndarray of shape (n_documents,) for two classes, else (n_documents, n_categories)
        """
        return self._score_documents(X)

    def _score_documents(self, X: Any) -> FloatArray:
        """Return the scores of documents that have not been checked yet."""
        raise NotImplementedError

    def scores_to_log_proba(self, scores: FloatArray) -> FloatArray:
        """Turn scores into log probabilities, which are exact far into the tails.

        Parameters
        ----------
        scores : ndarray of shape (n_documents,) or (n_documents, n_categories)
            What :meth:`decision_function` returns.

        Returns
        -------
        log_probabilities : ndarray of shape (n_documents, n_classes)
            As from :meth:`predict_log_proba`.
        """
        if self.target_type_ == "binary":
            return np.column_stack([self._log_probability(-scores), self._log_probability(scores)])
        if self.target_type_ == "multiclass" and self._scores_exclude_each_other:
            return _log_softmax(scores)
        logs = self._log_probability(scores)
        return _log_softmax(logs) if self.target_type_ == "multiclass" else logs

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return log probabilities, exact far into the tails.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n_documents, n_features)

        Returns
        -------
        log_probabilities : ndarray of shape (n_documents, n_classes)
            For an indicator matrix, that of each category on its own.
        """
        return self.scores_to_log_proba(self.decision_function(X))

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities whose logarithms :meth:`predict_log_proba` returns."""
        logs = self.predict_log_proba(X)
        return np.exp(logs, out=logs)

    def predict(self, X: Any) -> AnyArray:
        """Return the decisions: a score at its threshold is a yes, and among several classes the best wins.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n_documents, n_features)

        Returns
        -------
        labels : ndarray of shape (n_documents,), or a 0/1 indicator of shape (n_documents, n_categories)
        """
        scores = self.decision_function(X)
        if self.target_type_ == "multiclass":
            return self.classes_[np.argmax(scores - self._thresholds(), axis=1)]
        decisions = (scores >= self._thresholds()).astype(np.int64)
        return self.classes_[decisions] if self.target_type_ == "binary" else decisions

    def word_weights(self) -> Any:
        """Return what one unit of each feature adds to the score of each category, or None if the model has no weights.

        Returns
        -------
        weights : ndarray or csr_matrix of shape (n_categories, n_features), or None
            For two classes there is one row, for the second class.
        """
        return None

    def linear_scores(self) -> tuple[Any, FloatArray] | None:
        """Return the weights and intercepts of linear scores, or None if scores are not linear.

        Returns
        -------
        weights, intercept : arrays of shape (n_categories, n_features) and (n_categories,), or None
            Scores are X·weightsᵀ + intercept; the weights may be sparse.
        """
        return None

    def _log_probability(self, scores: FloatArray) -> FloatArray:
        """Return the log probability of a category for its scores, in a new array."""
        return np.asarray(log_expit(scores))

    def _thresholds(self) -> Any:
        """Return the score from which a category is assigned: one number, or one for each category."""
        return 0.0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _log_softmax(scores: FloatArray) -> FloatArray:
    """Return the log probabilities of classes; how far the greatest is from 1 is not lost to rounding."""
    best = np.argmax(scores, axis=1)[:, None]
    highest = np.take_along_axis(scores, best, axis=1)
    with np.errstate(invalid="ignore"):
        below = np.where(scores == highest, 0.0, scores - highest)
    others = np.exp(below)
    np.put_along_axis(others, best, 0.0, axis=1)
    # The greatest share is never added to 1 before the logarithm is taken.
    return np.asarray(below - np.log1p(others.sum(axis=1, keepdims=True)))
