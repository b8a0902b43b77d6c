"""Several categories for a model that knows two classes only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from bayesift._typing import AnyArray, FloatArray


class BinaryRelevance(ClassifierMixin, BaseEstimator):
    """One two-class model for each class or category, trained against all other texts.

    Parameters
    ----------
    estimator : classifier
        A model of two classes with ``decision_function``, ``predict_proba`` and ``coef_``.
    progress : callable or None, default=None
        Called with the number of models done and their total.

    Attributes
    ----------
    classes_ : ndarray
        The labels; column numbers for an indicator matrix.
    models_ : list of classifier
        The model of each.
    coef_ : csr_matrix of shape (n_classes, n_features)
        The weights of all models.
    intercept_ : ndarray of shape (n_classes,)

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.ard import RelevanceTaggingMachine
    >>> from bayesift.workflow import BinaryRelevance
    >>> X = np.tile(np.eye(3), (8, 1))
    >>> model = BinaryRelevance(RelevanceTaggingMachine()).fit(X, np.tile(["gold", "sea", "wheat"], 8))
    >>> model.predict(np.eye(3)).tolist()
    ['gold', 'sea', 'wheat']
    """

    def __init__(self, estimator: Any, progress: Callable[[int, int], None] | None = None) -> None:
        self.estimator = estimator
        self.progress = progress

    def fit(self, X: Any, y: Any) -> Self:
        """Train a model for each class, or for each column of an indicator matrix.

        Parameters
        ----------
        X : sparse matrix or array of shape (n_texts, n_features)
        y : array of shape (n_texts,), or indicator matrix of shape (n_texts, n_categories)

        Returns
        -------
        self
        """
        self.multilabel_ = type_of_target(y) == "multilabel-indicator"
        if self.multilabel_:
            columns = sp.csc_matrix(y)
            self.classes_: AnyArray = np.arange(columns.shape[1])
            marks = [columns[:, [k]].toarray().ravel() for k in range(columns.shape[1])]
        else:
            self.classes_ = np.unique(y)
            marks = [(np.asarray(y) == label).astype(np.int64) for label in self.classes_]
        self.models_: list[Any] = []
        for found in marks:
            if found.min() == found.max():
                name = self.classes_[len(self.models_)]
                raise ValueError(f"category {name} has all texts or none of them; expected some on both sides")
            self.models_.append(clone(self.estimator).fit(X, found))
            if self.progress is not None:
                self.progress(len(self.models_), len(marks))
        return self

    @property
    def coef_(self) -> sp.csr_matrix:
        """Weights of all models, one row each."""
        check_is_fitted(self)
        return sp.csr_matrix(sp.vstack([sp.csr_matrix(model.coef_) for model in self.models_]))

    @property
    def intercept_(self) -> FloatArray:
        """Constant of each model."""
        check_is_fitted(self)
        return np.concatenate([model.intercept_ for model in self.models_])

    def decision_function(self, X: Any) -> FloatArray:
        """Return the log odds of each class or category against the rest.

        Parameters
        ----------
        X : sparse matrix or array of shape (n_texts, n_features)

        Returns
        -------
        scores : ndarray of shape (n_texts, n_classes)
        """
        check_is_fitted(self)
        return np.column_stack([model.decision_function(X) for model in self.models_])

    def predict_proba(self, X: Any) -> FloatArray:
        """Return probabilities; those of classes are scaled to a sum of one.

        Parameters
        ----------
        X : sparse matrix or array of shape (n_texts, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_texts, n_classes)
        """
        check_is_fitted(self)
        found = np.column_stack([model.predict_proba(X)[:, 1] for model in self.models_])
        return found if self.multilabel_ else found / found.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> AnyArray:
        """Return the best class, or mark the categories that are more probable than not.

        Parameters
        ----------
        X : sparse matrix or array of shape (n_texts, n_features)

        Returns
        -------
        labels : ndarray of shape (n_texts,), or a 0/1 indicator of shape (n_texts, n_categories)
        """
        scores = self.decision_function(X)
        return (scores > 0).astype(np.int64) if self.multilabel_ else self.classes_[np.argmax(scores, axis=1)]
