"""An estimator that chooses thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.sparse import csc_array, issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bayesift._checks import one_of
from bayesift._state import State
from bayesift._typing import BoolArray, FloatArray, Int64Array
from bayesift.decide.tuning import (
    CUTS,
    TIES,
    CutPlace,
    Policy,
    TieRule,
    best_threshold,
    check_policy,
    checked_scores,
)
from bayesift.decide.utility import f_beta_of

_HALF = {"probability": 0.5, "log_odds": 0.0}

#: A cautious threshold is tuned only if its F1 is at least this.
_LEAST_F1 = 0.2
#: Categories with at most this many documents share one cautious threshold.
_FEW = 5


@dataclass(eq=False, repr=False)
class Threshold(BaseEstimator):
    """Accept a document if its score is at least a threshold, which is fixed or tuned for each category.

    Parameters
    ----------
    policy : str, Utility or mapping, default="half"
        ``"half"``: probability ½, no tuning. ``"min_error"``: fewest training errors. ``"max_f1"``: greatest training
        F1; ``"max_f1_of_rest"``: greatest F1 of the documents outside the category. ``"t11u"``, ``"t13u"``,
        ``"balanced_error"``, a :class:`Utility` or a mapping of gains such as ``{"tp": 2, "fp": -1}``: greatest
        utility.
    cut : {"midpoint", "accepted"}, default="midpoint"
        Where a tuned threshold lies between the last accepted and the first rejected training score.
    ties : {"highest", "median", "lowest"}, default="highest"
        Which of several equally good cuts is taken. See :func:`best_threshold` for ``cut`` and ``ties``.
    scale : {"probability", "log_odds"}, default="probability"
        What ``"half"`` means: a probability of 0.5 or a linear score of 0. Tuned policies take scores on any
        scale, and their thresholds are on the same scale.
    cautious : bool, default=False
        All categories with at most five documents share the threshold that is best for them together, because the best
        threshold for two or three documents is a matter of luck. And a threshold stays at one half if the scores are
        uninformative: if the best cut accepts most documents although few are in the category, or has an F1 below 0.2.
        (The F1 of uninformative scores is greatest if all documents are accepted.) A threshold from uninformative
        scores is not shared.

    Attributes
    ----------
    thresholds_ : array of shape (n_categories,)
        One for each column of the scores (one for one-dimensional scores).

    Examples
    --------
    >>> from bayesift.decide import Threshold
    >>> rule = Threshold(policy="max_f1").fit([0.1, 0.3, 0.5, 0.9], [0, 1, 0, 1])
    >>> rule.thresholds_
    array([0.2])
    >>> rule.predict([0.15, 0.25])
    array([0, 1])
    """

    policy: Policy = "half"
    cut: CutPlace = "midpoint"
    ties: TieRule = "highest"
    scale: Literal["probability", "log_odds"] = "probability"
    cautious: bool = False

    #: For model files older than this parameter.
    _parameters_before: ClassVar[dict[str, Any]] = {"cautious": False}

    def fit(self, scores: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose the thresholds.

        Parameters
        ----------
        scores : array of shape (n_documents,) or (n_documents, n_categories)
            Scores of training documents, preferably from cross-validation.
        y : array of the same shape, or sparse matrix
            Labels of two values, of which the greater marks the category; for a matrix of scores, a 0/1 indicator.
            Not needed for ``"half"``.
        sample_weight : array of shape (n_documents,), optional
            How often each document counts.

        Returns
        -------
        self
        """
        self._check_parameters()
        values = self._checked(scores)
        columns = values[:, None] if values.ndim == 1 else values
        if self.policy == "half":
            self.thresholds_: FloatArray = np.full(columns.shape[1], _HALF[self.scale])
            return self
        labels = _label_columns(y, values)
        self.thresholds_ = np.array(
            [self._best(column, label, sample_weight) for column, label in zip(columns.T, labels, strict=True)]
        )
        if self.cautious:
            weights = np.ones(len(columns)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
            self._be_cautious(columns, np.column_stack(labels) > 0, weights)
        return self

    def predict(self, scores: Any) -> Int64Array:
        """Decide: 1 to accept, 0 to reject.

        Parameters
        ----------
        scores : array of shape (n_documents,) or (n_documents, n_categories)
            Scores on the scale of those given to ``fit``.

        Returns
        -------
        decisions : array of the same shape
        """
        check_is_fitted(self)
        values = self._checked(scores)
        n_columns = 1 if values.ndim == 1 else values.shape[1]
        if n_columns != len(self.thresholds_):
            raise ValueError(f"scores have {n_columns} categories; expected {len(self.thresholds_)}, as in fit")
        return (values >= (self.thresholds_[0] if values.ndim == 1 else self.thresholds_)).astype(np.int64)

    def _best(self, scores: FloatArray, y: Any, weights: FloatArray | None) -> float:
        return best_threshold(scores, y, policy=self.policy, cut=self.cut, ties=self.ties, sample_weight=weights)

    def _be_cautious(self, scores: FloatArray, of_category: BoolArray, weights: FloatArray) -> None:
        """Let rare categories share a threshold, and leave uninformative thresholds at one half."""
        wanted = weights @ (~of_category if self.policy == "max_f1_of_rest" else of_category)
        rare = (wanted > 0) & (wanted <= _FEW)
        told_nothing = self._told_nothing(scores, of_category, weights, self.thresholds_)
        if np.count_nonzero(rare) > 1:
            pooled = scores[:, rare].ravel(), of_category[:, rare].ravel(), weights.repeat(np.count_nonzero(rare))
            shared = self._best(*pooled)
            if not self._told_nothing(*pooled, shared):
                self.thresholds_[rare] = shared
                told_nothing &= ~rare
        self.thresholds_[told_nothing] = _HALF[self.scale]

    def _told_nothing(self, scores: FloatArray, of_category: BoolArray, weights: FloatArray, threshold: Any) -> Any:
        """Return for each category whether its threshold shows that its scores are uninformative."""
        accepted = scores >= threshold
        if self.policy == "max_f1_of_rest":
            accepted, of_category = ~accepted, ~of_category
        found, given, wanted = weights @ (accepted & of_category), weights @ accepted, weights @ of_category
        most = 0.5 * weights.sum()
        result = (given > most) & (wanted < most)
        if self.policy in ("max_f1", "max_f1_of_rest"):
            result |= f_beta_of(found, given - found, wanted - found) < _LEAST_F1
        return result

    def _check_parameters(self) -> None:
        check_policy(self.policy)
        one_of("cut", self.cut, CUTS)
        one_of("ties", self.ties, TIES)
        one_of("scale", self.scale, tuple(_HALF))
        if not isinstance(self.cautious, bool):
            raise ValueError(f"cautious is {self.cautious!r}; expected True or False")

    def _check_state(self, state: State) -> None:
        state.array("thresholds_", (None,))

    def _checked(self, scores: Any) -> FloatArray:
        values = checked_scores(scores)
        if self.policy == "half" and self.scale == "probability" and (values.min() < 0 or values.max() > 1):
            found = f"{values.min():g} to {values.max():g}"
            raise ValueError(f"scores range from {found}; expected probabilities, or scale='log_odds'")
        return values


def _label_columns(y: Any, scores: FloatArray) -> list[Any]:
    """Return one array of labels for each column of the scores."""
    labels: Any = csc_array(y) if issparse(y) else np.asarray(y)
    if labels.shape != scores.shape:
        raise ValueError(f"y has shape {labels.shape}; expected {scores.shape}, the shape of scores")
    if labels.ndim == 1:
        return [labels]
    if issparse(labels):
        return [labels[:, [j]].toarray().ravel() for j in range(labels.shape[1])]
    return list(labels.T)
