"""Bayesift's model of a review as a feature extractor and a classifier of ASReview, and its stopping rules."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin

from asreview_bayesift.following import Model
from asreview_bayesift.records import corpus_of
from asreview_bayesift.stopping import Queue, Random
from bayesift.linear import BayesianLogisticRegression
from bayesift.priors import Gaussian

__all__ = ["Bayesift", "Model", "Queue", "Random", "Words"]


class Words(TransformerMixin, BaseEstimator):
    """The words of records as Bayesift's review page weights them: stems, with those of titles once more.

    Parameters
    ----------
    title, abstract : str
        Names of the columns.
    """

    name = "bayesift"
    label = "Bayesift: words of title and abstract"

    def __init__(self, title: str = "title", abstract: str = "abstract") -> None:
        self.title = title
        self.abstract = abstract

    def fit(self, X: Any, y: Any = None) -> Words:
        """Count the words of a table of records."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **_: Any) -> Any:
        """Return the weights of the words of each record of a table, as a sparse matrix."""
        corpus = corpus_of(X, self.title, self.abstract)
        self.vectorizer_ = corpus.vectorizer
        return corpus.matrix


class Bayesift(ClassifierMixin, BaseEstimator):
    """The logistic regression by which Bayesift's review page ranks.

    Parameters
    ----------
    variance : float
        Prior variance of the weights.
    irrelevant_share : float
        What all irrelevant records together count beside the relevant ones, where no balancer weights them.
    """

    name = "bayesift"
    label = "Bayesift: logistic regression with a Gaussian prior"

    def __init__(self, variance: float = 10.0, irrelevant_share: float = 0.1) -> None:
        self.variance = variance
        self.irrelevant_share = irrelevant_share

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Bayesift:
        """Fit the labelled records."""
        relevant = np.asarray(y).astype(int) == 1
        weights = sample_weight
        if weights is None:
            share = self.irrelevant_share * relevant.sum() / max((~relevant).sum(), 1)
            weights = np.where(relevant, 1.0, min(share, 1.0))
        prior = Gaussian(self.variance, intercept_variance=0.1)
        self.model_ = BayesianLogisticRegression(prior, tol=1e-4, n_jobs=1)
        self.model_.fit(X, relevant.astype(np.int64), sample_weight=np.asarray(weights, dtype=float))
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X: Any) -> Any:
        """Return for each record the probabilities of being irrelevant and relevant under these weights."""
        return self.model_.predict_proba(X)

    def predict(self, X: Any) -> Any:
        """Return whether each record is more likely relevant than not."""
        return self.model_.predict(X)
