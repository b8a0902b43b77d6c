"""What a fitted model says about one category."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse

from bayesift._typing import BoolArray, FloatArray
from bayesift.plots.display import Display


class ProbabilitiesDisplay(Display):
    """A display made from the truth and the probabilities of one category."""

    #: A constructor from the truth and the probabilities, with options of its own.
    from_predictions: ClassVar[Any]

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, category: int = 0, **options: Any) -> Self:
        """Let a fitted model give the probabilities.

        Parameters
        ----------
        estimator
            A fitted classifier with ``predict_proba``.
        X, y
            Documents and their labels, or an indicator.
        category : int, default=0
            Which of several categories.
        **options
            Further arguments of ``from_predictions``.

        Returns
        -------
        Display
        """
        return cls.from_predictions(*of_category(estimator, X, y, category, "predict_proba"), **options)


def of_category(estimator: Any, X: Any, y: Any, category: int, response: str) -> tuple[BoolArray, FloatArray]:
    """Return which documents are in a category, and the model's scores of it.

    Parameters
    ----------
    estimator
        A fitted classifier.
    X
        Documents.
    y : array of shape (n_documents,) or (n_documents, n_categories), or sparse matrix
        Their labels, or an indicator.
    category : int
        Column of the indicator, or place in ``classes_`` if y is labels; of two labels the greater is the category.
    response : str
        Name of the method that gives the scores.

    Returns
    -------
    truth, scores : arrays of shape (n_documents,)
    """
    if not hasattr(estimator, response):
        raise ValueError(f"estimator is {estimator!r}; expected a fitted model with {response}")
    labels = y.toarray() if issparse(y) else np.asarray(y)
    scores = np.asarray(getattr(estimator, response)(X))
    if labels.ndim == 2:
        _check_category(category, labels.shape[1])
        return labels[:, category] == 1, scores[:, category]
    classes = np.asarray(estimator.classes_)
    if len(classes) == 2:
        return labels == classes[1], scores if scores.ndim == 1 else scores[:, 1]
    _check_category(category, len(classes))
    return labels == classes[category], scores[:, category]


def _check_category(category: Any, n_categories: int) -> None:
    if category not in range(n_categories):
        raise ValueError(f"category is {category!r}; expected a number from 0 to {n_categories - 1}")
