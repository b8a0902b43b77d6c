"""scikit-learn's logistic regression with a searched strength, where a category has enough documents for it."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV

from bayesift._typing import AnyArray, FloatArray

_FOLDS = 3


class SearchedLogistic(ClassifierMixin, BaseEstimator):
    """``LogisticRegressionCV`` with C of 1, 10 or 100 by three folds, or ``LogisticRegression`` for small classes.

    By default it tries ten strengths in five folds; fewer keep the comparison within minutes. A class needs a document
    in every fold, else it is fitted without a search.
    """

    def __init__(self, l1_ratio: float, solver: str) -> None:
        self.l1_ratio = l1_ratio
        self.solver = solver

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model to term vectors."""
        self.classes_, counts = np.unique(y, return_counts=True)
        if counts.min() < _FOLDS:
            model = LogisticRegression(l1_ratio=self.l1_ratio, solver=self.solver)
        else:
            model = LogisticRegressionCV(
                Cs=(1.0, 10.0, 100.0),
                cv=_FOLDS,
                l1_ratios=(self.l1_ratio,),
                solver=self.solver,
                scoring="neg_log_loss",
                use_legacy_attributes=False,
            )
        self.model_ = model.fit(X, y)
        self.coef_ = self.model_.coef_
        return self

    def predict(self, X: Any) -> AnyArray:
        """Return the most probable class."""
        return self.model_.predict(X)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return probabilities of the classes."""
        return self.model_.predict_proba(X)
