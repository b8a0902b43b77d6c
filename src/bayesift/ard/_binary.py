"""What both classifiers of this room have in common: two classes, and log odds that say everything."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from scipy.special import log_expit
from sklearn.base import ClassifierMixin
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import validate_data

from bayesift._labels import check_label_types
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
    name = type(estimator).__name__
    check_label_types(y)
    X, y = validate_data(estimator, X, y, accept_sparse=("csr", "csc"), dtype=np.float64, multi_output=True)
    if y.ndim == 2 and y.shape[1] == 1:
        y = column_or_1d(y, warn=True)
    check_classification_targets(y)
    kind = type_of_target(y, input_name="y")
    if kind.startswith("multilabel") or kind.endswith("multioutput"):
        raise ValueError(
            f"Only binary classification is supported by {name}, but y has several columns; "
            f"wrap it in sklearn.multiclass.OneVsRestClassifier or sklearn.multioutput.MultiOutputClassifier"
        )
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    if classes.size > 2:
        raise ValueError(
            f"Only binary classification is supported by {name}. The type of the target is {kind}: "
            f"y has {classes.size} labels; wrap it in sklearn.multiclass.OneVsRestClassifier"
        )
    if classes.size < 2:
        raise ValueError(f"{name} needs samples of two classes, but y has one class only: {classes.tolist()[0]!r}")
    return X, classes, np.where(codes == 1, 1.0, -1.0)
