"""What both classifiers of this room have in common: two classes, and log odds that say everything."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from scipy.special import log_expit
from sklearn.base import ClassifierMixin

from bayesift._labels import two_classes, validate_documents
from bayesift._typing import AnyArray, FloatArray


class BinaryClassifier(ClassifierMixin):
    """A classifier of two classes that needs one method, the log odds of the second."""

    classes_: AnyArray

    @abstractmethod
    def decision_function(self, X: Any) -> FloatArray:
        """Return the log odds of the second class."""

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return log probabilities of both classes, exact far into the tails.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n_objects, n_features)

        Returns
        -------
        log_probabilities : ndarray of shape (n_objects, 2)
        """
        scores = self.decision_function(X)
        return np.column_stack([log_expit(-scores), log_expit(scores)])

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of both classes.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n_objects, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_objects, 2)
        """
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> AnyArray:
        """Return the more probable class.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n_objects, n_features)

        Returns
        -------
        labels : ndarray of shape (n_objects,)
        """
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(np.intp)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags


def read_two_classes(estimator: Any, X: Any, y: Any) -> tuple[Any, AnyArray, FloatArray]:
    """Validate documents and labels; return the documents, the two labels in order, and −1 and +1 for them."""
    X, y = validate_documents(estimator, X, y)
    return X, *two_classes(y, type(estimator).__name__)
