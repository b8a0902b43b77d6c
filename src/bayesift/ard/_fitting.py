"""What the models of relevance share: fitting, the certificate of a fit, and the parts common to classifiers."""

from __future__ import annotations

from time import perf_counter
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from bayesift._classifier import ScoreClassifier
from bayesift._documents import checked_weights, validated
from bayesift._labels import two_classes, validate_documents
from bayesift._state import State, unchanged_by_errors
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


class RelevanceModel:
    """A model with one precision α for each of its weights, learned from objects that a subclass reads."""

    certificate_: Certificate

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the relevant features (or objects) and their weights.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n_objects, n_features)
        y : array of shape (n_objects,)
            Labels of two classes, of any type; for a regressor, real targets.
        sample_weight : array of shape (n_objects,), optional
            How often each object counts.

        Returns
        -------
        self
        """
        self._validate_params()  # type: ignore[attr-defined]
        begin = perf_counter()
        with unchanged_by_errors(self):
            X, targets = self._read(X, y)
            weights = checked_weights(sample_weight, X)
            self.certificate_ = self._learn(X, targets, weights).certificate(perf_counter() - begin)
        return self

    def _read(self, X: Any, y: Any) -> tuple[Any, FloatArray]:
        """Check the objects and their targets; return both, the targets as numbers."""
        raise NotImplementedError

    def _learn(self, X: Any, targets: FloatArray, weights: FloatArray) -> Attained:
        """Set the attributes of the fit."""
        raise NotImplementedError

    def _checked(self, X: Any) -> Any:
        """Return objects to predict, checked against those that the model was fitted on."""
        check_is_fitted(self)
        return validated(self, X, accept_sparse=("csr", "csc"), reset=False)


class RelevanceClassifier(RelevanceModel, ScoreClassifier):
    """A classifier of two classes, whose scores are the log odds of the second."""

    coef_: Any

    def _read(self, X: Any, y: Any) -> tuple[Any, FloatArray]:
        X, y = validate_documents(self, X, y)
        self.classes_, signs = two_classes(y, type(self).__name__)
        self.target_type_ = "binary"
        return X, signs

    def _check_scores(self, state: State, n_functions: int) -> None:
        """Refuse, in a model file, labels and weights that are not those of a classifier of so many functions."""
        state.labels(2)
        state.choice("target_type_", "binary")
        state.matrix("coef_", (1, n_functions))
        state.array("intercept_", (1,))

    def sparsify(self) -> Self:
        """Keep ``coef_`` as a sparse matrix, which is smaller if most of it is 0.

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
            None with a kernel, whose functions belong to objects.
        """
        check_is_fitted(self)
        return self.coef_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
