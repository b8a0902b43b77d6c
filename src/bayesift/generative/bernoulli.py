"""Naive Bayes for features that are there or not."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval

from bayesift._typing import FloatArray
from bayesift.conjugate import BetaBinomial
from bayesift.generative._groups import Layout
from bayesift.generative._likelihood import Estimate, pseudo_counts
from bayesift.generative._presence import Presence
from bayesift.generative.naive_bayes import NaiveBayes


class BernoulliNB(NaiveBayes):
    """Naive Bayes for features that are there or not: a document is the set of its words.

    p(x | c) = Π_j θ_jc^x_j (1−θ_jc)^(1−x_j) with θ_jc ~ Beta(a_j, b_j): absent words count as well as those that are
    there, at the cost of the words that are there only.

    Missing values are allowed in learning and prediction; they are integrated out exactly, that is, left out.

    Parameters
    ----------
    alpha : float, array of shape (n_features,) or BetaBinomial, default=1.0
        Prior of the probability that a feature is there: Beta(alpha, alpha), or any beta distribution, one for all
        features or one for each.
    binarize : float or None, default=0.0
        A feature is there when its value is above this number (of at least 0); None: values must be 0 or 1.
    class_prior : float, array, "uniform" or None, default=1.0
        Dirichlet prior of the classes: pseudo counts; ``"uniform"``: equal probabilities whatever the data; None: the
        shares in the data.
    estimate : {"posterior", "map", "mle"}, default="posterior"
        Integrate the parameters out (which is the posterior mean here), or plug in their posterior mode or the maximum
        likelihood estimate.
    n_jobs : int or None, default=-1
        Threads for prediction; -1 is all cores.

    Attributes
    ----------
    classes_ : ndarray
        The labels; column numbers for an indicator matrix.
    class_count_ : ndarray
        Documents of each class; categories × 2 (without, with) for an indicator matrix.
    class_log_prior_ : ndarray
        Log probabilities of the classes.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Log probability that a feature is there; categories × 2 × features for an indicator matrix.
    log_evidence_ : float
        Log probability of all that was learned from, the parameters integrated out.
    mutual_information_ : ndarray of shape (n_features,)
        Of every feature with the class (3.76).

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.generative import BernoulliNB
    >>> X = np.array([[1, 1, 0], [1, 0, 0], [1, 0, 1], [1, 0, 1]])
    >>> model = BernoulliNB().fit(X, ["sea", "sea", "land", "land"])
    >>> model.predict_proba([[1, 0, 1]]).round(3)
    array([[0.818, 0.182]])
    >>> model.predict_proba([[np.nan, np.nan, 1]]).round(3)
    array([[0.75, 0.25]])
    >>> model.mutual_information_.round(3)
    array([0.   , 0.034, 0.131])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **NaiveBayes._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="neither"), "array-like", BetaBinomial],
        "binarize": [Interval(Real, 0, None, closed="left"), None],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        binarize: float | None = 0.0,
        class_prior: Any = 1.0,
        estimate: Estimate = "posterior",
        n_jobs: int | None = -1,
    ) -> None:
        self.alpha = alpha
        self.binarize = binarize
        self.class_prior = class_prior
        self.estimate = estimate
        self.n_jobs = n_jobs

    def _new_likelihood(self, n_features: int, layout: Layout) -> Presence:
        prior = self.alpha if isinstance(self.alpha, BetaBinomial) else None
        a, b = (prior.a, prior.b) if prior is not None else (self.alpha, self.alpha)
        present, absent = (pseudo_counts("alpha", value, n_features) for value in (a, b))
        return Presence(n_features, layout, self.estimate, present, absent, self.binarize, self.n_jobs)

    def _check_values(self, X: sp.csr_matrix, *, learning: bool) -> None:
        if self.binarize is None:
            odd = (X.data != 0) & (X.data != 1) & ~np.isnan(X.data)
            if odd.any():
                raise ValueError(f"X holds {X.data[odd][0]:g}; expected 0 or 1 (or NaN), as binarize is None")

    @property
    def feature_log_prob_(self) -> FloatArray:
        """Log probability that a feature is there, classes × features."""
        with np.errstate(divide="ignore"):
            logs = np.log(self._fitted().probabilities()[..., 1])
        return self._layout.by_class(logs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Most of the checks' data are about how much, not whether.
        tags.classifier_tags.poor_score = True
        return tags
