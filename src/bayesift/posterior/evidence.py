"""The prior variance with the greatest evidence: chosen by the training labels alone, without folds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from threadpoolctl import threadpool_limits

from bayesift._typing import FloatArray
from bayesift.posterior._links import Link
from bayesift.posterior._problem import Problem, checked_documents
from bayesift.posterior.laplace import coordinates_of
from bayesift.posterior.propagation import propagate
from bayesift.priors import Prior, PriorArrays

#: Variances are tried from the least to the greatest, each this many times the last, in units of 1 / (mean squared norm
#: of a document): the prior variances of scores. Beyond them labels are as good as coins, or as good as certain.
_LEAST, _GREATEST, _FACTOR = 1e-3, 1e3, 10.0
#: Median of the prior variance of scores, and the standard deviation of its logarithm: a factor of ten either way.
_MEDIAN, _SPREAD = 10.0, math.log(10.0)
#: Variance of a latent score around the score, of which the label is the sign.
_NOISE = {"logistic": math.pi**2 / 3.0, "probit": 1.0}
#: The logarithm of the variance is found to this.
_PRECISION = 0.05
_TOL, _MAX_ITER = 1e-3, 100


class EvidenceChoice(NamedTuple):
    """The variance with the greatest evidence.

    Attributes
    ----------
    variance, log_evidence : float
        The best variance, and ln p(y) with it.
    variances : array
        All that were tried, in ascending order.
    log_posteriors : array
        Their log evidence plus the log prior of the variance, of which the best has the greatest.
    """

    variance: float
    log_evidence: float
    variances: FloatArray
    log_posteriors: FloatArray


def greatest_evidence(
    X: Any,
    y: Any,
    prior: Prior | Callable[[float], PriorArrays],
    *,
    link: Link = "logistic",
    intercept_variance: float | Literal["same"] = np.inf,
    sample_weight: Any = None,
    feature_names: Iterable[str] | None = None,
) -> EvidenceChoice:
    """Find the prior variance under which the labels are most probable, by expectation propagation.

    With few labels the evidence hardly depends on the variance. So it is multiplied by a wide prior: the mean prior
    variance κ of the scores of the documents is log-normal, 10 in the median, a factor of ten either way at one
    standard deviation. A coefficient without a proper prior counts as uniform in units of the deviation of latent
    scores, √(κ + π²/3) for the logistic and √(κ + 1) for the probit link; otherwise wider priors would always win.

    Parameters
    ----------
    X : sparse matrix or array of shape (n_documents, n_features)
        Labelled documents.
    y : array of shape (n_documents,)
        Whether each belongs to the category: 0 and 1, −1 and 1, or truth values.
    prior : Prior, or function from float to PriorArrays
        Gaussian; its variances are multiplied by the one that is looked for. Or what gives the priors of all
        coefficients, the intercept's last, for a variance.
    link : {"logistic", "probit"}, default="logistic"
        What a score stands for.
    intercept_variance : float or "same", default=inf
        Prior variance of the intercept, unless the prior has its own.
    sample_weight : array of shape (n_documents,), optional
        How often each document counts.
    feature_names : iterable of str, optional
        Names of the columns, for priors that name terms.

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
    X = checked_documents(X)
    if not (isinstance(prior, Prior) or callable(prior)):
        raise TypeError(f"prior is {prior!r}; expected a Gaussian prior of bayesift.priors")
    names = None if feature_names is None else list(feature_names)
    evidences: dict[float, float] = {}
    found: dict[float, float] = {}

    def evidence(variance: float) -> float:
        scaled = prior.scaled(variance) if isinstance(prior, Prior) else prior(variance)
        given = (scaled, link, intercept_variance, sample_weight, names)
        problem = Problem.of(X, y, *given)
        at = coordinates_of(problem, "expectation propagation")
        evidences[variance] = propagate(at, _TOL, _MAX_ITER).log_evidence
        spread = float((problem.A.multiply(problem.A) @ problem.beliefs.finite_variance).mean())
        flat = 0.5 * at.n_flat * math.log(spread + _NOISE[link])
        odds = math.log(spread / _MEDIAN) / _SPREAD if spread > 0.0 else 0.0
        found[variance] = evidences[variance] - flat - 0.5 * odds * odds
        return found[variance]

    norm = float((X.multiply(X) if hasattr(X, "multiply") else X * X).sum()) / max(X.shape[0], 1)
    unit = 1.0 / norm if norm > 0 else 1.0
    steps = np.arange(np.log(_LEAST), np.log(_GREATEST) + 1e-9, np.log(_FACTOR))
    with threadpool_limits(1, "blas"):
        best = int(np.argmax([evidence(unit * float(np.exp(step))) for step in steps]))
        bounds = steps[max(best - 1, 0)], steps[min(best + 1, steps.size - 1)]
        minimize_scalar(
            lambda step: -evidence(unit * float(np.exp(step))),
            bounds=bounds,
            method="bounded",
            options={"xatol": _PRECISION},
        )
    variances = np.array(sorted(found))
    log_posteriors = np.array([found[variance] for variance in variances])
    chosen = float(variances[np.argmax(log_posteriors)])
    return EvidenceChoice(chosen, evidences[chosen], variances, log_posteriors)
