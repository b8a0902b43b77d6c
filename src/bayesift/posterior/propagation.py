"""Expectation propagation: a Gaussian posterior whose means and variances of scores are nearly those of the true one.

Every label is replaced by a Gaussian factor exp(t f − ½ w f²), its *site*. The site is chosen so that the belief about
the score without it (the *cavity*) has the same mean and variance when combined with the label as with the site.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.linalg import cho_solve, solve_triangular
from sklearn.exceptions import ConvergenceWarning

from bayesift._checks import POSITIVE, number, whole_number
from bayesift._threads import one_blas_thread
from bayesift._typing import FloatArray
from bayesift.posterior._links import Link, best_temperature, slopes, tilted_moments
from bayesift.posterior._problem import Problem
from bayesift.posterior.laplace import Coordinates, cavities, coordinates_of, find_mode
from bayesift.posterior.posteriors import GaussianPosterior
from bayesift.priors import Prior, PriorArrays

#: The mode is only where sites start.
_MODE_TOL = 1e-4
#: Scores of less variance do not move.
_FIXED = 1e-250


class _Sites(NamedTuple):
    """Factors exp(t f − ½ w f²) of all documents."""

    t: FloatArray
    w: FloatArray


class _Belief(NamedTuple):
    """What follows from prior and sites: coordinates, and the scores of the documents with their variances."""

    mean: FloatArray
    root: FloatArray
    scores: FloatArray
    variances: FloatArray


def _belief(at: Coordinates, sites: _Sites) -> _Belief:
    offset = at.problem.offset
    root = at.root(sites.w)
    mean = cho_solve((root, True), at.H.T @ (sites.t - sites.w * offset), check_finite=False)
    spread = solve_triangular(root, at.H.T, lower=True, check_finite=False)
    return _Belief(mean, root, offset + at.H @ mean, np.einsum("ij,ij->j", spread, spread))


def _cavities(belief: _Belief, sites: _Sites) -> tuple[FloatArray, FloatArray]:
    return cavities(belief.scores, belief.variances, sites.t, sites.w)


def _log_evidence(at: Coordinates, belief: _Belief, sites: _Sites) -> float:
    """Return ln p(y): the integral over prior and sites, each site scaled so that its label's Z is right."""
    problem = at.problem
    means, variances = _cavities(belief, sites)
    log_z = tilted_moments(problem.link, problem.y, means, variances, problem.weights)[0]
    t, w = sites
    own = 0.5 * (2.0 * means * t + variances * t * t - w * means * means) / (1.0 + w * variances)
    scales = log_z - own + 0.5 * np.log1p(w * variances)
    g = at.H.T @ (t - w * problem.offset)
    integral = float(t @ problem.offset - 0.5 * w @ problem.offset**2) + 0.5 * float(g @ belief.mean)
    return float(scales.sum()) + integral + at.log_normaliser(belief.root)


def propagate(at: Coordinates, tol: float, max_iter: int, earlier: float = 1.0) -> GaussianPosterior:
    """Update all sites at once until the beliefs about scores settle; steps shrink when they grow.

    ``earlier`` is the temperature before these documents were seen.
    """
    problem = at.problem
    start = find_mode(at, _MODE_TOL, max_iter)
    slope, _ = slopes(problem.link, problem.y * start.scores)
    w = np.maximum(start.curvature, 1e-10)
    sites = _Sites(w * start.scores + problem.weights * problem.y * slope, w)
    belief = _belief(at, sites)
    share, last, converged, n_iter = 1.0, np.inf, False, 0
    while n_iter < max_iter:
        n_iter += 1
        means, variances = _cavities(belief, sites)
        _, new_means, new_variances = tilted_moments(problem.link, problem.y, means, variances, problem.weights)
        # A score that cannot move has no site.
        moving = (variances > _FIXED) & (new_variances > _FIXED)
        before, after = np.where(moving, variances, 1.0), np.where(moving, new_variances, 1.0)
        w = np.where(moving, np.maximum(1.0 / after - 1.0 / before, 0.0), 0.0)
        t = np.where(moving, new_means / after - means / before, 0.0)
        spread = np.where(moving, belief.variances, 1.0)
        # How far the beliefs are from what they should be, in standard deviations.
        error = float(
            np.max(np.where(moving, np.abs(new_means - belief.scores) / np.sqrt(spread), 0.0), initial=0.0)
            + np.max(np.where(moving, np.abs(new_variances / spread - 1.0), 0.0), initial=0.0)
        )
        if error <= tol:
            converged = True
            break
        share = max(0.5 * share, 0.05) if error > last else min(1.1 * share, 1.0)
        last = error
        sites = _Sites(sites.t + share * (t - sites.t), sites.w + share * (w - sites.w))
        belief = _belief(at, sites)
    evidence = _log_evidence(at, belief, sites)
    temperature = best_temperature(problem.link, problem.y, *_cavities(belief, sites), problem.weights, earlier)
    return GaussianPosterior(problem.link, at.basis, belief.mean, belief.root, evidence, n_iter, converged, temperature)


def expectation_propagation(
    X: Any,
    y: Any,
    prior: Prior | PriorArrays,
    *,
    link: Link = "logistic",
    intercept_variance: float | Literal["same"] = np.inf,
    sample_weight: Any = None,
    feature_names: Iterable[str] | None = None,
    tol: float = 1e-6,
    max_iter: int = 200,
) -> GaussianPosterior:
    """Approximate the posterior by a Gaussian whose moments are matched at every label.

    It is deterministic, close to the true posterior even with few labels, and gives the evidence.

    Parameters
    ----------
    X : sparse matrix or array of shape (n_documents, n_features)
        Labelled documents.
    y : array of shape (n_documents,)
        Whether each document belongs to the category: 0 and 1, −1 and 1, or booleans.
    prior : Prior or PriorArrays
        Gaussian; arrays have an entry for every column and one for the intercept.
    link : {"logistic", "probit"}, default="logistic"
        How a score becomes a probability.
    intercept_variance : float or "same", default=inf
        Prior variance of the intercept, unless the prior has its own.
    sample_weight : array of shape (n_documents,), optional
        How often each document counts.
    feature_names : iterable of str, optional
        Names of the columns, for priors that name terms.
    tol : float, default=1e-6
        Stop when no mean of a score moves by more than this share of its standard deviation, and no variance by more
        than this share of itself.
    max_iter : int, default=200
        Maximum number of rounds; reaching it warns.

    Returns
    -------
    GaussianPosterior

    Examples
    --------
    >>> from bayesift.posterior import expectation_propagation
    >>> from bayesift.priors import Gaussian
    >>> posterior = expectation_propagation([[2.0, 0.0], [0.0, 1.0]], [1, 0], Gaussian(4.0), intercept_variance=1.0)
    >>> posterior.predict_proba([[2.0, 0.0], [0.0, 0.0]]).round(2)
    array([0.81, 0.48])
    >>> posterior.predict_interval([[2.0, 0.0]], mass=0.9).round(2)
    array([[0.16, 1.  ]])
    """
    tol, max_iter = number("tol", tol, POSITIVE), whole_number("max_iter", max_iter, 1)
    problem = Problem.of(X, y, prior, link, intercept_variance, sample_weight, feature_names)
    found = by_propagation(problem, tol, max_iter)
    if found.shortcoming:
        warnings.warn(found.shortcoming, ConvergenceWarning, stacklevel=2)
    return found


def by_propagation(problem: Problem, tol: float = 1e-6, max_iter: int = 200) -> GaussianPosterior:
    """Return the Gaussian posterior of a problem."""
    # Threads of a BLAS would move the last digits.
    with one_blas_thread():
        return propagate(coordinates_of(problem, "expectation propagation"), tol, max_iter)
