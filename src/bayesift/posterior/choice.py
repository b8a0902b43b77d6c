"""One entry point to all methods, and the choice among them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, get_args

import numpy as np

from bayesift._checks import one_of
from bayesift.posterior._links import Link
from bayesift.posterior._problem import Problem
from bayesift.posterior.gibbs import by_draws
from bayesift.posterior.laplace import MOST_COORDINATES, at_mode
from bayesift.posterior.posteriors import GaussianPosterior, SampledPosterior
from bayesift.posterior.propagation import by_propagation
from bayesift.priors import Prior, PriorArrays

Method = Literal["auto", "laplace", "ep", "gibbs"]

#: Up to so many documents or words, expectation propagation takes seconds.
_MOST_BY_PROPAGATION = 2000


def find_posterior(
    X: Any,
    y: Any,
    prior: Prior | PriorArrays,
    *,
    method: Method = "auto",
    link: Link = "logistic",
    intercept_variance: float | Literal["same"] = np.inf,
    sample_weight: Any = None,
    feature_names: Iterable[str] | None = None,
    random_state: Any = 0,
) -> GaussianPosterior | SampledPosterior:
    """Compute the posterior by a method that suits the priors and the number of documents.

    It never warns; the posterior's ``shortcoming`` says if the computation fell short.

    Parameters
    ----------
    X, y, prior, link, intercept_variance, sample_weight, feature_names
        As for :func:`expectation_propagation`.
    method : {"auto", "laplace", "ep", "gibbs"}, default="auto"
        ``"laplace"`` is :func:`laplace_approximation`, ``"ep"`` :func:`expectation_propagation`, ``"gibbs"``
        :func:`gibbs_sampling`. ``"auto"`` samples under Laplace priors; under Gaussian priors it uses expectation
        propagation with up to 2,000 documents or words, Laplace's method with up to 10,000, and samples beyond.
    random_state : int, Generator or None, default=0
        Source of randomness for sampling.

    Returns
    -------
    GaussianPosterior or SampledPosterior

    Examples
    --------
    >>> from bayesift.posterior import find_posterior
    >>> from bayesift.priors import Gaussian, Laplace
    >>> X, y = [[2.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1, 0, 0]
    >>> type(find_posterior(X, y, Gaussian(4.0))).__name__
    'GaussianPosterior'
    >>> type(find_posterior(X, y, Laplace(4.0))).__name__
    'SampledPosterior'
    """
    check_method(method)
    problem = Problem.of(X, y, prior, link, intercept_variance, sample_weight, feature_names)
    return posterior_by(method, problem, random_state)


def check_method(method: str) -> None:
    """Refuse an unknown method."""
    one_of("method", method, get_args(Method))


def posterior_by(method: Method, problem: Problem, random_state: Any) -> GaussianPosterior | SampledPosterior:
    """Return the posterior of a problem, by a method or by a suitable one."""
    chosen = suitable(problem) if method == "auto" else method
    if chosen == "gibbs":
        return by_draws(problem, random_state=random_state)
    return by_propagation(problem) if chosen == "ep" else at_mode(problem)


def suitable(problem: Problem) -> Method:
    """Return the method that suits the priors and the size of a problem."""
    smaller = min(problem.n_documents, problem.seen.size)
    if np.any(problem.beliefs.laplace) or smaller > MOST_COORDINATES:
        return "gibbs"
    return "ep" if smaller <= _MOST_BY_PROPAGATION else "laplace"
