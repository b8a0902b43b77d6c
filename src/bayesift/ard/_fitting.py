"""What the models of this room share: how two classes are learnt, sparse coefficients, and the certificate of a fit."""

from __future__ import annotations

from time import perf_counter
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from bayesift._classifier import ScoreClassifier
from bayesift._labels import two_classes, validate_documents
from bayesift._typing import FloatArray
from bayesift.linear import Certificate


class Attained(NamedTuple):
    """How far a fit came: the log evidence (or its bound), the residual in α, steps taken, and whether it settled."""

    log_evidence: float
    residual: float
    steps: int
    converged: bool

    def certificate(self, seconds: float) -> Certificate:
        """Return the certificate: the objective is the negative log evidence, which no dual bounds from below."""
        return Certificate(
            objective=np.array([-self.log_evidence]),
            dual=np.array([-np.inf]),
            kkt_residual=np.array([self.residual]),
            passes=np.array([self.steps]),
            seconds=np.array([seconds]),
            converged=np.array([self.converged]),
        )


def checked(estimator: Any, X: Any) -> Any:
    """Return objects to predict, checked against those that an estimator was fitted on."""
    check_is_fitted(estimator)
    return validate_data(estimator, X, accept_sparse=("csr", "csc"), dtype=np.float64, reset=False)


class RelevanceClassifier(ScoreClassifier):
    """A classifier of two classes by log odds, with one precision α for each of its weights."""

    coef_: Any
    certificate_: Certificate

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find out what is relevant, and how much it weighs.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n_objects, n_features)
        y : array of shape (n_objects,)
            Labels of two classes, of any type.
        sample_weight : array of shape (n_objects,), optional
            How often each object counts.

        Returns
        -------
        self
        """
        self._validate_params()
        begin = perf_counter()
        X, y = validate_documents(self, X, y)
        self.classes_, signs = two_classes(y, type(self).__name__)
        self.target_type_ = "binary"
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        self.certificate_ = self._learn(X, signs, weights).certificate(perf_counter() - begin)
        return self

    def _learn(self, X: Any, signs: FloatArray, weights: FloatArray) -> Attained:
        """Set the attributes of the fit from checked objects with the classes −1 and +1."""
        raise NotImplementedError

    def decision_function(self, X: Any) -> FloatArray:
        """Return the log odds of the second class.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n_objects, n_features)

        Returns
        -------
        scores : ndarray of shape (n_objects,)
        """
        return self._log_odds(checked(self, X))

    def _log_odds(self, X: Any) -> FloatArray:
        """Return the log odds of the second class, of checked objects."""
        raise NotImplementedError

    def sparsify(self) -> Self:
        """Keep ``coef_`` as a sparse matrix, which is smaller where most of it is 0.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self.coef_ = sp.csr_matrix(self.coef_)
        return self

    def word_weights(self) -> Any:
        """Return what one unit of each feature adds to the log odds of the second class.

        Returns
        -------
        weights : ndarray or csr_matrix of shape (1, n_features), or None
            None where a kernel makes the functions of objects.
        """
        check_is_fitted(self)
        return self.coef_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
