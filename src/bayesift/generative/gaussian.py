"""Naive Bayes for real numbers."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from bayesift._typing import FloatArray
from bayesift.conjugate import NormalGamma
from bayesift.generative._groups import Layout
from bayesift.generative._likelihood import Estimate
from bayesift.generative._numbers import Numbers
from bayesift.generative.naive_bayes import NaiveBayes

#: Points at which densities are compared for the mutual information.
_NODES = 200


class GaussianNB(NaiveBayes):
    """Naive Bayes for real numbers: a normal distribution for every feature in every class.

    Mean and precision have a normal-gamma prior; integrated out, a new value has a Student's t distribution, which is
    wide where a class has few documents.

    Missing values are allowed in learning and prediction; they are integrated out exactly, that is, left out.

    Parameters
    ----------
    prior : NormalGamma or None, default=None
        Prior of mean and precision, one for all features or one for each. None: one observation with the mean and the
        variance of all documents together (which do not depend on the order in which documents come).
    class_prior : float, array, "uniform" or None, default=1.0
        Dirichlet prior of the classes: pseudo counts; ``"uniform"``: equal probabilities whatever the data; None: the
        shares in the data.
    estimate : {"posterior", "map", "mle"}, default="posterior"
        Integrate the parameters out, or plug in their posterior mode or the maximum likelihood estimate (which needs
        two different values of every feature in every class).

    Attributes
    ----------
    classes_ : ndarray
        The labels; column numbers for an indicator matrix.
    class_count_ : ndarray
        Documents of each class; categories × 2 (without, with) for an indicator matrix.
    class_log_prior_ : ndarray
        Log probabilities of the classes.
    theta_, var_ : ndarray of shape (n_classes, n_features)
        Mean and variance of the values of each class.
    log_evidence_ : float
        Log density of all that was learned from, the parameters integrated out.
    mutual_information_ : ndarray of shape (n_features,)
        Of every feature with the class, by averaging over quantiles.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.generative import GaussianNB
    >>> X = np.array([[1.0, 5.0], [1.2, 3.0], [3.0, 4.0], [3.3, 5.5]])
    >>> model = GaussianNB().fit(X, ["low", "low", "high", "high"])
    >>> model.predict_proba([[1.1, 4.0], [np.nan, 4.0]]).round(3)
    array([[0.172, 0.828],
           [0.481, 0.519]])
    """

    _takes_sparse = False
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **NaiveBayes._parameter_constraints,
        "prior": [NormalGamma, None],
    }

    def __init__(
        self, prior: NormalGamma | None = None, *, class_prior: Any = 1.0, estimate: Estimate = "posterior"
    ) -> None:
        self.prior = prior
        self.class_prior = class_prior
        self.estimate = estimate

    def _new_likelihood(self, n_features: int, layout: Layout) -> Numbers:
        if self.prior is not None and self.prior.batch_shape not in ((), (n_features,)):
            raise ValueError(
                f"prior is a batch of shape {self.prior.batch_shape}; expected a single one, or {n_features}, one for "
                f"each feature"
            )
        return Numbers(n_features, layout, self.estimate, self.prior)

    @property
    def theta_(self) -> FloatArray:
        """Mean of the values of each class, classes × features."""
        likelihood = self._fitted()
        return self._layout.by_class(likelihood.mean.T)

    @property
    def var_(self) -> FloatArray:
        """Variance of the values of each class, classes × features; NaN without values."""
        likelihood = self._fitted()
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._layout.by_class((likelihood.squares / likelihood.count).T)
