"""Naive Bayes for real numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bayesift._state import State, check_table
from bayesift._typing import FloatArray, Int64Array
from bayesift.conjugate import NormalGamma
from bayesift.generative._groups import Layout, Members, every_group
from bayesift.generative._kernels import add_moments
from bayesift.generative.naive_bayes import Estimate, Likelihood, NaiveBayes, with_new_classes

#: Points at which densities are compared for the mutual information.
_NODES = 200


#: The least log density of a value: values farther out are not distinguished, and sums stay finite.
_LOWEST = -1e290
#: The greatest precision of a value.
_GREATEST = 1e290


@dataclass(eq=False, repr=False)
class GaussianNB(NaiveBayes):
    """Naive Bayes for real numbers: a normal distribution for every feature in every class.

    Mean and precision have a normal-gamma prior. With them integrated out, a new value has a Student's t distribution,
    which is wide if a class has few documents.

    Missing values are allowed in training and prediction. They are integrated out exactly, that is, left out.

    Parameters
    ----------
    prior : NormalGamma or None, default=None
        Prior of mean and precision, one for all features or one for each. None: worth one observation with the mean and
        variance of all documents together (which do not depend on the order of the documents).
    class_prior : float, array, "uniform" or None, default=1.0
        Pseudo counts of the classes; ``"uniform"``: equal probabilities for any data; None: the shares in the data.
    estimate : {"posterior", "map", "mle"}, default="posterior"
        Integrate the parameters out, or plug in their posterior mode or maximum likelihood estimate (which needs two
        different values of every feature in every class).

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : ndarray
        The labels (column numbers for an indicator matrix), their numbers of documents and their log probabilities (for
        an indicator matrix, without and with each category).
    theta_, var_ : ndarray of shape (n_classes, n_features)
        Mean and variance of the values of each class.
    log_evidence_ : float
        Log density of the training data, with the parameters integrated out.
    mutual_information_ : ndarray of shape (n_features,)
        Mutual information of each feature with the class, by averaging over quantiles.

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

    prior: NormalGamma | None = None

    def _new_likelihood(self, n_features: int, layout: Layout) -> GaussianLikelihood:
        if self.prior is not None and self.prior.batch_shape not in ((), (n_features,)):
            raise ValueError(
                f"prior is a batch of shape {self.prior.batch_shape}; expected a single one, or {n_features}, one for "
                f"each feature"
            )
        return GaussianLikelihood(n_features, layout, self.estimate, self.prior)

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


class GaussianLikelihood(Likelihood):
    """Numbers with a mean and a precision for every group and column, x_j | c ~ N(μ_jc, 1/λ_jc)."""

    _model: ClassVar[type[NaiveBayes]] = GaussianNB
    _caches: ClassVar[dict[str, type]] = {"_laws": list}

    def __init__(self, n_features: int, layout: Layout, estimate: Estimate, prior: NormalGamma | None) -> None:
        super().__init__(n_features, layout, estimate)
        self.prior = prior
        # Squared distances cannot be subtracted: every group has its own sums, and so have all documents together.
        self.count, self.mean, self.squares = (np.zeros((layout.n_groups, n_features)) for _ in range(3))
        self.overall = tuple(np.zeros((1, n_features)) for _ in range(3))
        self._laws: list[Any] = []

    def _check_sums(self, state: State, n_features: int, layout: Layout) -> None:
        # Only numbers of documents have a least one.
        parts = {"count": 0.0, "mean": -np.inf, "squares": -np.inf}
        for name, least in parts.items():
            state.array(name, (layout.n_groups, n_features), least=least)
        overall = state.instance("overall", tuple)
        state.require(len(overall) == len(parts), "sums")
        for table, (name, least) in zip(overall, parts.items(), strict=True):
            check_table(table, (1, n_features), "f", f"{name} of all documents", least)
        prior = state.value("prior")
        own = prior is None or (type(prior) is NormalGamma and prior.batch_shape in ((), (n_features,)))
        state.require(own, "priors and features")

    def add(self, X: FloatArray, members: Members, weights: FloatArray) -> None:
        """Update number, mean and squared distances of every group."""
        own = every_group(members, self.layout)
        X = np.ascontiguousarray(X)
        add_moments(X, own.start, own.sums, weights, self.count, self.mean, self.squares)
        everyone = Members(np.arange(len(X) + 1, dtype=np.int64), np.zeros(len(X), dtype=np.int64))
        add_moments(X, everyone.start, everyone.sums, weights, *self.overall)
        self._laws.clear()

    def extend(self, places: Int64Array, layout: Layout) -> None:
        """Make room for new classes."""
        self.layout = layout
        self.count, self.mean, self.squares = (
            with_new_classes(sums, places, layout.n_groups, axis=0) for sums in (self.count, self.mean, self.squares)
        )
        self._laws.clear()

    def effective_prior(self) -> NormalGamma:
        """Return the prior; by default worth one observation, with mean and variance of all documents together."""
        if self.prior is not None:
            return self.prior
        count, mean, squares = (sums[0] for sums in self.overall)
        variance = np.divide(squares, count, out=np.zeros_like(squares), where=count > 0)
        return NormalGamma(mean, 1.0, 0.5, np.where(variance > 0, variance, 1.0) / 2)

    def posterior(self, group: int) -> NormalGamma:
        """Return the posterior of the parameters of a group."""
        return self.effective_prior().update(*(sums[group] for sums in self._statistics()))

    def _statistics(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        # Rounding may make squared distances slightly negative.
        return self.count, self.mean, np.maximum(self.squares, 0.0)

    def laws(self) -> list[Any]:
        """Return the distribution of the features in every group."""
        if not self._laws:
            # All or none, because a group may have no distribution.
            self._laws.extend([self._law(group) for group in range(self.layout.n_groups)])
        return self._laws

    def _law(self, group: int) -> Any:
        if self.estimate == "posterior":
            return self.posterior(group).predictive()
        if self.estimate == "mle":
            count, squares = self.count[group], self.squares[group]
            if np.any(squares <= 0):
                column = int(np.flatnonzero(squares <= 0)[0])
                raise ValueError(
                    f"estimate is 'mle', but the values of column {column} in class number {group} do not differ; "
                    f"expected two different values, or another estimate"
                )
            point = np.stack([self.mean[group], count / squares], axis=-1)
        else:
            law = self.posterior(group)
            # Without documents there may be no mode; then use the prior expectation.
            with np.errstate(over="ignore"):
                expected = np.stack([law.m, np.minimum(law.a / law.b, _GREATEST)], axis=-1)
            point = np.where(law.mode[..., 1:] > 0, law.mode, expected)
        return self.effective_prior().known(point).predictive()

    def log_likelihood(self, X: FloatArray) -> FloatArray:
        """Return the sum of the log densities of the values that are not missing."""
        scores = np.empty((len(X), self.layout.n_groups))
        missing = np.isnan(X)
        values = np.where(missing, 0.0, X)
        for group, law in enumerate(self.laws()):
            with np.errstate(over="ignore"):
                logs = np.maximum(law.logpdf(values), _LOWEST)
            scores[:, group] = np.where(missing, 0.0, logs).sum(axis=1)
        return scores

    def log_evidence(self) -> FloatArray:
        """Return the sum of the evidences of all columns, mean and precision integrated out."""
        return self.effective_prior().log_evidence(*self._statistics()).sum(axis=1)

    def mutual_information(self, shares: FloatArray) -> FloatArray:
        """Average ln p(x|c)/p(x) over quantiles of every class."""
        levels = (np.arange(_NODES) + 0.5) / _NODES
        points = np.stack([_quantiles(law, levels, self.n_features) for law in self.laws()])
        # Densities in all groups, at the quantiles of each group: groups × groups × nodes × features.
        tasks, classes = self.layout.tasks
        laws, result = self.laws(), np.zeros((tasks, self.n_features))
        for task in range(tasks):
            own = range(task * classes, (task + 1) * classes)
            for place, group in enumerate(own):
                logs = np.stack([laws[other].logpdf(points[group]) for other in own])
                with np.errstate(divide="ignore"):
                    weights = np.log(shares[task])[:, np.newaxis, np.newaxis]
                mixed = np.logaddexp.reduce(logs + weights, axis=0)
                result[task] += shares[task, place] * (logs[place] - mixed).mean(axis=0)
        return np.maximum(result, 0.0)

    def draw(self, group: int, n: int, length: Any, rng: np.random.Generator) -> FloatArray:
        """Draw from the distributions that new documents are predicted with."""
        return self.laws()[group].sample(n, random_state=rng)


def _quantiles(law: Any, levels: FloatArray, n_features: int) -> FloatArray:
    """Return the quantiles of every feature, nodes × features."""
    quantile = law.quantile if hasattr(law, "quantile") else law.law.ppf
    return np.broadcast_to(quantile(levels[:, np.newaxis]), (levels.size, n_features))
