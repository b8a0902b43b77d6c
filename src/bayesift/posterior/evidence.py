"""The prior variance by the evidence of the training labels alone: the most probable one, or all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.optimize import minimize, minimize_scalar

from bayesift._checks import NOT_NEGATIVE, POSITIVE, number, numbers
from bayesift._threads import one_blas_thread
from bayesift._typing import FloatArray
from bayesift.posterior._links import Link
from bayesift.posterior._problem import Problem, checked_documents
from bayesift.posterior.choice import Method, check_method, posterior_by
from bayesift.posterior.laplace import coordinates_of
from bayesift.posterior.mixture import MixedPosterior
from bayesift.posterior.propagation import propagate
from bayesift.priors import Gaussian, Prior, PriorArrays

#: From one variance, or from those of words and of dense features, to the priors of all coefficients.
PriorAt = Callable[..., PriorArrays]

#: Variances are tried from the least to the greatest, each this many times the last, in units of 1 / (mean squared norm
#: of a document): the prior variances of scores. Beyond them labels are as good as coins, or as good as certain.
_LEAST, _GREATEST, _FACTOR = 1e-3, 1e3, 10.0
#: Of two blocks all pairs of these are tried first.
_PAIRS = (0.1, 1.0, 10.0, 100.0)
#: Median of the prior variance of scores, and the standard deviation of its logarithm: a factor of ten either way.
_MEDIAN, _SPREAD = 10.0, math.log(10.0)
#: Variance of a latent score around the score, of which the label is the sign.
_NOISE = {"logistic": math.pi**2 / 3.0, "probit": 1.0}
#: The logarithm of the variance is found to this.
_PRECISION = 0.05
#: Those of two blocks to this, by at most so many trials.
_PRECISION_OF_TWO, _MOST_TRIALS = 0.1, 60
_TOL, _MAX_ITER = 1e-3, 100
#: Variances are integrated over in steps of a standard deviation of their logarithm, which is measured by a step of
#: this, and bounded; up to where the density is e^−4 of the greatest, but not more than so many steps to a side.
_MEASURED, _NARROWEST, _WIDEST, _DEPTH, _MOST_STEPS = 0.5, 0.2, _SPREAD, 4.0, 4


class EvidenceChoice(NamedTuple):
    """The variance with the greatest evidence, or those of words and of dense features.

    Attributes
    ----------
    variance, log_evidence : float
        The best variance, and ln p(y) with it.
    variances : array
        All variances tried, in ascending order.
    log_posteriors : array
        Their log evidence plus the log prior of the variance; the best variance has the greatest.
    dense_variance : float
        The best variance of the dense features; 0 if there are none.
    dense_variances : array
        Those tried together with ``variances``.
    """

    variance: float
    log_evidence: float
    variances: FloatArray
    log_posteriors: FloatArray
    dense_variance: float
    dense_variances: FloatArray


class _Labels:
    """Labelled documents whose evidence is computed for one variance (or pair of variances) after another."""

    def __init__(
        self,
        X: Any,
        y: Any,
        prior: Prior | PriorAt,
        dense_features: int,
        link: Link,
        intercept_variance: float | Literal["same"],
        sample_weight: Any,
        feature_names: Iterable[str] | None,
    ) -> None:
        self._X, self._y, self._link, self._weights = checked_documents(X), y, link, sample_weight
        n_features = self._X.shape[1]
        if not isinstance(dense_features, (int, np.integer)) or not 0 <= dense_features <= n_features:
            raise ValueError(f"dense_features is {dense_features!r}; expected 0 to {n_features}, the columns of X")
        self._n_words = n_features - int(dense_features)
        if isinstance(prior, Prior):
            self._prior_at = _blocks(prior, self._n_words, int(dense_features), intercept_variance, feature_names)
        elif callable(prior):
            self._prior_at = prior
        else:
            raise TypeError(f"prior is {prior!r}; expected a Gaussian prior of bayesift.priors")
        squares = self._X.multiply(self._X) if hasattr(self._X, "multiply") else self._X * self._X
        by_column = np.asarray(squares.sum(axis=0)).ravel()
        blocks = [by_column[: self._n_words].sum(), by_column[self._n_words :].sum()][: 2 if dense_features else 1]
        #: One over the mean squared norm of the documents in each block.
        self.units = np.array([max(self._X.shape[0], 1) / total if total > 0 else 1.0 for total in blocks])
        self.evidences: dict[tuple[float, ...], float] = {}
        self.found: dict[tuple[float, ...], float] = {}

    def problem(self, variances: tuple[float, ...]) -> Problem:
        """Return the labelled documents with the priors of some variances."""
        return Problem.of(self._X, self._y, self._prior_at(*variances), self._link, np.inf, self._weights, None)

    def log_posterior(self, variances: tuple[float, ...]) -> float:
        """Return the log evidence plus the log prior of the variances."""
        if variances not in self.found:
            problem = self.problem(variances)
            at = coordinates_of(problem, "expectation propagation")
            self.evidences[variances] = propagate(at, _TOL, _MAX_ITER).log_evidence
            # What words add, and dense features; an intercept has a prior of its own.
            shares = np.asarray(problem.A.multiply(problem.A).sum(axis=0)).ravel() * problem.beliefs.finite_variance
            blocks = np.split(shares[:-1], [self._n_words]) if len(variances) > 1 else [shares[:-1]]
            spreads = [float(block.sum()) / problem.n_documents for block in blocks]
            flat = 0.5 * at.n_flat * math.log(sum(spreads) + _NOISE[self._link])
            median = _MEDIAN / len(spreads)
            odds = [math.log(spread / median) / _SPREAD for spread in spreads if spread > 0.0]
            self.found[variances] = self.evidences[variances] - flat - 0.5 * sum(one * one for one in odds)
        return self.found[variances]

    def at(self, steps: Any) -> tuple[float, ...]:
        """Return the variances whose logarithms, in units of the documents, are given."""
        return tuple(float(unit * np.exp(step)) for unit, step in zip(self.units, np.atleast_1d(steps), strict=True))

    def search(self) -> tuple[float, ...]:
        """Find the most probable variances."""

        def loss(steps: Any) -> float:
            return -self.log_posterior(self.at(steps))

        if self.units.size == 1:
            steps = np.arange(np.log(_LEAST), np.log(_GREATEST) + 1e-9, np.log(_FACTOR))
            best = int(np.argmin([loss(step) for step in steps]))
            bounds = steps[max(best - 1, 0)], steps[min(best + 1, steps.size - 1)]
            minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": _PRECISION})
        else:
            pairs = np.log([(words, dense) for words in _PAIRS for dense in _PAIRS])
            start = pairs[int(np.argmin([loss(pair) for pair in pairs]))]
            simplex = start + 0.5 * np.log(_FACTOR) * np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
            options = {"initial_simplex": simplex, "xatol": _PRECISION_OF_TWO, "fatol": 0.01, "maxfev": _MOST_TRIALS}
            minimize(loss, start, method="Nelder-Mead", options=options)
        return max(self.found, key=self.found.__getitem__)

    def around(self, best: tuple[float, ...]) -> tuple[list[tuple[float, ...]], FloatArray]:
        """Return variances around the most probable ones, all blocks scaled alike, and their probabilities."""

        def scaled(step: float) -> tuple[float, ...]:
            return tuple(variance * math.exp(step) for variance in best)

        top = self.log_posterior(best)
        fall = 2.0 * top - self.log_posterior(scaled(_MEASURED)) - self.log_posterior(scaled(-_MEASURED))
        deviation = _MEASURED / math.sqrt(fall) if fall > 0.0 else _WIDEST
        deviation = min(max(deviation, _NARROWEST), _WIDEST)
        nodes = [best]
        for side in (-1.0, 1.0):
            for k in range(1, _MOST_STEPS + 1):
                node = scaled(side * k * deviation)
                if self.log_posterior(node) < top - _DEPTH:
                    break
                nodes.append(node)
        nodes.sort()
        weights = np.exp(np.array([self.found[node] for node in nodes]) - top)
        return nodes, weights / weights.sum()


def _blocks(
    prior: Prior,
    n_words: int,
    n_dense: int,
    intercept_variance: float | Literal["same"],
    feature_names: Iterable[str] | None,
) -> PriorAt:
    """Return the priors for the variances of words and of dense features."""
    names = None if feature_names is None else list(feature_names)[:n_words]
    words = prior.resolver(n_words, names)

    def prior_at(variance: float, dense_variance: float = 0.0) -> PriorArrays:
        found = words(variance)
        if n_dense:
            found = found.extended(Gaussian(dense_variance).resolve(n_dense))
        return found.extended(prior.scaled(variance).resolve_intercept(intercept_variance))

    return prior_at


def greatest_evidence(
    X: Any,
    y: Any,
    prior: Prior | PriorAt,
    *,
    dense_features: int = 0,
    link: Link = "logistic",
    intercept_variance: float | Literal["same"] = np.inf,
    sample_weight: Any = None,
    feature_names: Iterable[str] | None = None,
) -> EvidenceChoice:
    """Find the prior variance under which the labels are most probable, by expectation propagation.

    With few labels the evidence hardly depends on the variance, so it is multiplied by a wide prior. Let κ be the mean
    prior variance of what the words of a document add to its score: κ is log-normal with median 10 and a standard
    deviation of a factor of ten. With dense features the same holds for each of the two blocks, with median 5. A
    coefficient without a proper prior counts as uniform in units of the standard deviation of latent scores,
    √(κ + π²/3) for the logistic and √(κ + 1) for the probit link; otherwise wider priors would always win.

    Parameters
    ----------
    X, y, link, intercept_variance, sample_weight, feature_names
        As for :func:`expectation_propagation`.
    prior : Prior, or function from float to PriorArrays
        Gaussian; its variances are multiplied by the one to be found. Or a function that returns the priors of all
        coefficients, the intercept's last, for a variance (with dense features, for two variances).
    dense_features : int, default=0
        How many of the last columns are dense features, such as vectors. They have a Gaussian prior with a variance of
        their own, which is found together with that of the other columns.

    Returns
    -------
    EvidenceChoice

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.posterior import greatest_evidence
    >>> from bayesift.priors import Gaussian
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> noise = np.random.default_rng(1).logistic(size=200)
    >>> choice = greatest_evidence(X, X @ [2.0, -2.0] + noise > 0, Gaussian())
    >>> 1.0 < choice.variance < 10.0
    True
    """
    labels = _Labels(X, y, prior, dense_features, link, intercept_variance, sample_weight, feature_names)
    with one_blas_thread():
        best = labels.search()
    tried = np.array(sorted(labels.found))
    log_posteriors = np.array([labels.found[tuple(variances)] for variances in tried.tolist()])
    dense = tried[:, 1] if dense_features else np.zeros(len(tried))
    return EvidenceChoice(
        best[0], labels.evidences[best], tried[:, 0], log_posteriors, best[1] if dense_features else 0.0, dense
    )


def integrate_variance(
    X: Any,
    y: Any,
    prior: Prior | PriorAt,
    *,
    variances: tuple[float, ...] | None = None,
    method: Method = "auto",
    dense_features: int = 0,
    link: Link = "logistic",
    intercept_variance: float | Literal["same"] = np.inf,
    sample_weight: Any = None,
    feature_names: Iterable[str] | None = None,
    random_state: Any = 0,
) -> MixedPosterior:
    """Compute the posterior with the prior variance integrated out.

    A variance that was chosen by the labels is not known exactly, so intervals that treat it as known are too narrow.
    Here it takes several values around the most probable one, in steps of a standard deviation of its logarithm, each
    weighted by its evidence times the prior of :func:`greatest_evidence`. With dense features both variances are scaled
    alike.

    Parameters
    ----------
    X, y, prior, dense_features, link, intercept_variance, sample_weight, feature_names
        As for :func:`greatest_evidence`.
    variances : tuple of float, optional
        The most probable variance (with dense features, both), if already known; found by default.
    method : {"auto", "laplace", "ep", "gibbs"}, default="auto"
        How the posterior for each variance is computed, as in :func:`find_posterior`.
    random_state : int, Generator or None, default=0
        Source of randomness for sampling.

    Returns
    -------
    MixedPosterior

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.posterior import integrate_variance
    >>> from bayesift.priors import Gaussian
    >>> X = np.random.default_rng(0).normal(size=(20, 2))
    >>> posterior = integrate_variance(X, X[:, 0] > 0, Gaussian())
    >>> posterior.variances[:4, 0].astype(int).tolist()
    [2, 11, 54, 254]
    >>> posterior.weights.round(2)
    array([0.04, 0.22, 0.39, 0.25, 0.08, 0.02])
    """
    check_method(method)
    labels = _Labels(X, y, prior, dense_features, link, intercept_variance, sample_weight, feature_names)
    if variances is not None:
        # Dense features may have none.
        known = numbers("variances", variances, NOT_NEGATIVE)
        if known.shape != labels.units.shape:
            what = "a tuple of one number" if labels.units.size == 1 else "a tuple of two numbers"
            raise ValueError(f"variances is {variances!r}; expected {what}")
        number("variances[0]", known[0], POSITIVE)
        variances = tuple(known.tolist())
    with one_blas_thread():
        best = labels.search() if variances is None else variances
        nodes, weights = labels.around(best)
        found = [posterior_by(method, labels.problem(node), random_state) for node in nodes]
    return MixedPosterior(link, tuple(found), weights, np.array(nodes))
