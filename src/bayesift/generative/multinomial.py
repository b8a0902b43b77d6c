"""Naive Bayes for counts of words."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval

from bayesift._typing import FloatArray
from bayesift.conjugate import DirichletMultinomial
from bayesift.generative._groups import Layout
from bayesift.generative._likelihood import Estimate, pseudo_counts
from bayesift.generative._words import Words
from bayesift.generative.naive_bayes import NaiveBayes


class MultinomialNB(NaiveBayes):
    """Naive Bayes for counts: the words of a document are drawn one after the other.

    p(x | c) ∝ Π_j θ_jc^x_j with θ_c ~ Dirichlet(α). The number of orders in which the words can come is the same for
    all classes and left out everywhere. By default θ is integrated out for the document as a whole,

        p(x | c, D) ∝ Π_j Γ(α_j + N_jc + x_j)/Γ(α_j + N_jc) · Γ(A + N_c)/Γ(A + N_c + n),

    so that a word makes itself more probable where little is known of it. Plugging in a point is what other programs
    do: ``MultinomialNB(alpha=a + 1, estimate="map")`` is scikit-learn's ``MultinomialNB(alpha=a)``.

    A count missing at prediction is integrated out exactly, given the number of words that are not missing. What such
    a document says about θ has no closed form: when learning it counts for its class, but its words are left out.
    Values need not be whole (weighted counts, sums of fractions), but not negative.

    Parameters
    ----------
    alpha : float, array of shape (n_features,) or DirichletMultinomial, default=1.0
        Pseudo counts of the words.
    class_prior : float, array, "uniform" or None, default=1.0
        Dirichlet prior of the classes: pseudo counts; ``"uniform"``: equal probabilities whatever the data; None: the
        shares in the data.
    estimate : {"posterior", "map", "mle"}, default="posterior"
        Integrate the parameters out, or plug in their posterior mode or the maximum likelihood estimate.
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
    feature_count_ : ndarray of shape (n_classes, n_features)
        Occurrences; categories × 2 × features for an indicator matrix.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Log probability that the next word is a given one.
    log_evidence_ : float
        Log probability of all words and labels in their order, the parameters integrated out.
    mutual_information_ : ndarray of shape (n_features,)
        Of the class and the event that the next word is a given one (3.76).

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.generative import MultinomialNB
    >>> X = np.array([[3, 0, 1], [2, 1, 0], [0, 4, 1], [0, 1, 2]])
    >>> model = MultinomialNB().fit(X, ["sea", "sea", "land", "land"])
    >>> model.predict_proba([[1, 0, 0], [4, 0, 0]]).round(3)
    array([[0.132, 0.868],
           [0.006, 0.994]])
    >>> model.sample(2, label="sea", length=5, random_state=1)[0].toarray()
    array([[5., 0., 0.],
           [3., 1., 1.]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **NaiveBayes._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="neither"), "array-like", DirichletMultinomial],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        class_prior: Any = 1.0,
        estimate: Estimate = "posterior",
        n_jobs: int | None = -1,
    ) -> None:
        self.alpha = alpha
        self.class_prior = class_prior
        self.estimate = estimate
        self.n_jobs = n_jobs

    def _new_likelihood(self, n_features: int, layout: Layout) -> Words:
        alpha = self.alpha.alpha if isinstance(self.alpha, DirichletMultinomial) else self.alpha
        return Words(n_features, layout, self.estimate, pseudo_counts("alpha", alpha, n_features), self.n_jobs)

    def _check_values(self, X: sp.csr_matrix, *, learning: bool) -> None:
        check_amounts(X, type(self).__name__)

    @property
    def feature_count_(self) -> FloatArray:
        """Occurrences of every word, classes × features."""
        likelihood = self._fitted()
        return self._layout.by_class(likelihood.counts())

    @property
    def feature_log_prob_(self) -> FloatArray:
        """Log probability that the next word is a given one, classes × features."""
        likelihood = self._fitted()
        with np.errstate(divide="ignore"):
            return self._layout.by_class(np.log(likelihood.probabilities()))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True
        return tags


def check_amounts(X: sp.csr_matrix, name: str) -> None:
    """Complain about what cannot be a number of words."""
    least = np.fmin.reduce(X.data, initial=0.0)
    if least < 0:
        raise ValueError(f"Negative values in data passed to {name}: X holds {least:g}; expected numbers of at least 0")
