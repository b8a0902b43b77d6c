"""Naive Bayes for features that take one of several values."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from bayesift._typing import FloatArray, Int64Array
from bayesift.generative._groups import Layout
from bayesift.generative._likelihood import Estimate, pseudo_counts
from bayesift.generative._values import Values
from bayesift.generative.naive_bayes import NaiveBayes


class CategoricalNB(NaiveBayes):
    """Naive Bayes for features that take one of several values, written as whole numbers.

    p(x_j = k | c) = θ_jck with θ_jc ~ Dirichlet(α, …, α) over the values seen of feature j in any class. A value that
    comes up in prediction for the first time gets the probability of one that the class has not seen.

    Missing values are allowed in learning and prediction; they are integrated out exactly, that is, left out.

    Parameters
    ----------
    alpha : float or array of shape (n_features,), default=1.0
        Pseudo count of every value of a feature.
    min_categories : int, array of shape (n_features,) or None, default=None
        At least so many values exist, seen or not.
    class_prior : float, array, "uniform" or None, default=1.0
        Dirichlet prior of the classes: pseudo counts; ``"uniform"``: equal probabilities whatever the data; None: the
        shares in the data.
    estimate : {"posterior", "map", "mle"}, default="posterior"
        Integrate the parameters out (which is the posterior mean here), or plug in their posterior mode or the maximum
        likelihood estimate.

    Attributes
    ----------
    classes_ : ndarray
        The labels; column numbers for an indicator matrix.
    class_count_ : ndarray
        Documents of each class; categories × 2 (without, with) for an indicator matrix.
    class_log_prior_ : ndarray
        Log probabilities of the classes.
    feature_log_prob_ : list of ndarray of shape (n_classes, n_values)
        Log probability of every value, for each feature.
    n_categories_ : ndarray of shape (n_features,)
        Number of values of each feature.
    log_evidence_ : float
        Log probability of all that was learned from, the parameters integrated out.
    mutual_information_ : ndarray of shape (n_features,)
        Of every feature with the class (3.75).

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.generative import CategoricalNB
    >>> X = np.array([[0, 2], [0, 1], [1, 0], [1, 2]])
    >>> model = CategoricalNB().fit(X, ["a", "a", "b", "b"])
    >>> model.predict_proba([[0, 1], [np.nan, 1], [7, np.nan]]).round(3)
    array([[0.857, 0.143],
           [0.667, 0.333],
           [0.5  , 0.5  ]])
    """

    _takes_sparse = False
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **NaiveBayes._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "min_categories": [Interval(Integral, 1, None, closed="left"), "array-like", None],
    }

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        min_categories: Any = None,
        class_prior: Any = 1.0,
        estimate: Estimate = "posterior",
    ) -> None:
        self.alpha = alpha
        self.min_categories = min_categories
        self.class_prior = class_prior
        self.estimate = estimate

    def _new_likelihood(self, n_features: int, layout: Layout) -> Values:
        if self.min_categories is None:
            at_least = np.zeros(n_features, dtype=np.int64)
        else:
            found = pseudo_counts("min_categories", self.min_categories, n_features)
            if np.any(found != np.floor(found)):
                raise ValueError(f"min_categories is {self.min_categories!r}; expected whole numbers of at least 1")
            at_least = found.astype(np.int64)
        return Values(n_features, layout, self.estimate, pseudo_counts("alpha", self.alpha, n_features), at_least)

    def _check_values(self, X: FloatArray, *, learning: bool) -> None:
        if np.any(X < 0):
            found = X[X < 0][0]
            raise ValueError(
                f"Negative values in data passed to {type(self).__name__}: X holds {found:g}; expected the numbers of "
                f"values: 0, 1, 2, …"
            )
        broken = (np.floor(X) != X) & ~np.isnan(X)
        if broken.any():
            raise ValueError(f"X holds {X[broken][0]:g}; expected the numbers of values: 0, 1, 2, …")

    @property
    def feature_log_prob_(self) -> list[FloatArray]:
        """Log probability of every value of each feature, classes × values."""
        likelihood = self._fitted()
        with np.errstate(divide="ignore"):
            return [self._layout.by_class(np.log(likelihood.probabilities(j)[:-1])) for j in range(self.n_features_in_)]

    @property
    def n_categories_(self) -> Int64Array:
        """Number of values of each feature."""
        return np.array([len(counts) for counts in self._fitted().counts])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True
        return tags
