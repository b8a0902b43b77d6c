"""Laplace's method: a Gaussian at the mode with the curvature there."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from sklearn.exceptions import ConvergenceWarning

from bayesift._checks import whole_number
from bayesift._threads import one_blas_thread
from bayesift._typing import FloatArray
from bayesift.posterior._bases import Basis, basis_of
from bayesift.posterior._links import Link, best_temperature, slopes
from bayesift.posterior._problem import TOO_WIDE, Problem
from bayesift.posterior.posteriors import GaussianPosterior
from bayesift.priors import Prior, PriorArrays

#: More coordinates than this would need gigabytes.
MOST_COORDINATES = 10_000
_HALVINGS = 40
#: Where the objective stays the same, the mode counts as reached at this squared distance, in standard deviations.
_CLOSE = 1e-6
#: Sites may not make a cavity wider than this times the belief with it: rounding would make it negative.
_WIDEST = 1e10
#: The temperature is found with at most so many documents.
_MOST_LEFT_OUT = 500


class Coordinates(NamedTuple):
    """A problem in the coordinates of a basis; the last ``n_flat`` have no proper prior."""

    problem: Problem
    basis: Basis
    H: FloatArray

    @property
    def n_flat(self) -> int:
        """Number of coordinates without a proper prior."""
        return self.problem.beliefs.flat.size

    @property
    def prior_precision(self) -> FloatArray:
        """Ones, and zeros for coordinates without a proper prior."""
        return np.append(np.ones(self.H.shape[1] - self.n_flat), np.zeros(self.n_flat))

    def root(self, curvature: FloatArray) -> FloatArray:
        """Return the lower Cholesky factor of Q = D + HᵀWH."""
        scaled = self.H * np.sqrt(curvature)[:, None]
        Q = scaled.T @ scaled
        Q.flat[:: Q.shape[0] + 1] += self.prior_precision
        try:
            return np.asarray(cholesky(Q, lower=True, overwrite_a=True, check_finite=False))
        except np.linalg.LinAlgError:
            # Slower, but squares would lose half of the digits.
            return _root_by_rows(np.vstack([scaled, np.diag(np.sqrt(self.prior_precision))]))

    def log_normaliser(self, root: FloatArray) -> float:
        """Return ½ n_flat ln 2π − ½ ln det Q, what the integral over a Gaussian adds to its logarithm at the mode."""
        return 0.5 * self.n_flat * float(np.log(2.0 * np.pi)) - float(np.log(np.diag(root)).sum())


def _root_by_rows(A: FloatArray) -> FloatArray:
    """Return the lower Cholesky factor of AᵀA without computing the product."""
    R = np.linalg.qr(A, mode="r")
    # What is left of a column without the columns before it must be more than rounding.
    if not np.all(np.abs(np.diag(R)) > np.finfo(float).eps * len(A) * np.linalg.norm(R, axis=0)):
        raise ValueError(TOO_WIDE)
    return np.asarray((R * np.sign(np.diag(R))[:, None]).T)


def coordinates_of(problem: Problem, method: str) -> Coordinates:
    """Choose the smaller space; refuse priors and sizes that Gaussian approximations cannot handle."""
    if np.any(problem.beliefs.laplace):
        raise ValueError(
            f"prior is Laplace, for which {method} is not exact enough; expected Gaussian, or use Gibbs sampling"
        )
    smaller = min(problem.n_documents, problem.seen.size)
    if smaller > MOST_COORDINATES:
        raise ValueError(
            f"there are {problem.n_documents} documents with {problem.seen.size} words; {method} expects at most "
            f"{MOST_COORDINATES} of one of the two; use Gibbs sampling"
        )
    return Coordinates(problem, *basis_of(problem))


def cavities(scores: FloatArray, variances: FloatArray, t: FloatArray, w: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of the scores of documents without their own factors exp(t f − ½ w f²)."""
    left = np.maximum(1.0 - w * variances, 1.0 / _WIDEST)
    return (scores - t * variances) / left, variances / left


class Mode(NamedTuple):
    """The mode φ, the scores there, the curvature of the losses, and the factor of Q."""

    phi: FloatArray
    scores: FloatArray
    curvature: FloatArray
    root: FloatArray
    n_iter: int
    converged: bool


def find_mode(at: Coordinates, tol: float, max_iter: int) -> Mode:
    """Find the mode by Newton's method; steps are halved until the objective does not rise."""
    problem, precision = at.problem, at.prior_precision
    phi = np.zeros(at.H.shape[1])

    def objective(phi: FloatArray, scores: FloatArray) -> float:
        return 0.5 * float(phi @ (precision * phi)) - problem.log_likelihood(scores)

    scores = problem.offset.copy()
    value = objective(phi, scores)
    for n_iter in range(1, max_iter + 1):
        slope, curvature = slopes(problem.link, problem.y * scores)
        w = problem.weights * curvature
        root = at.root(w)
        gradient = precision * phi - at.H.T @ (problem.weights * problem.y * slope)
        step = -cho_solve((root, True), gradient, check_finite=False)
        decrement = -float(gradient @ step)
        if decrement <= tol * (1.0 + abs(value)):
            return Mode(phi, scores, w, root, n_iter, True)
        share = 1.0
        for _ in range(_HALVINGS):
            new = phi + share * step
            new_scores = problem.offset + at.H @ new
            new_value = objective(new, new_scores)
            if new_value <= value - 1e-4 * share * decrement:
                break
            share *= 0.5
        if not new_value < value:
            # Rounding leaves nothing of the objective for a step to gain.
            return Mode(phi, scores, w, root, n_iter, decrement <= _CLOSE)
        phi, scores, value = new, new_scores, new_value
    slope, curvature = slopes(problem.link, problem.y * scores)
    w = problem.weights * curvature
    return Mode(phi, scores, w, at.root(w), max_iter, False)


def laplace_approximation(
    X: Any,
    y: Any,
    prior: Prior | PriorArrays,
    *,
    link: Link = "logistic",
    intercept_variance: float | Literal["same"] = np.inf,
    sample_weight: Any = None,
    feature_names: Iterable[str] | None = None,
    max_iter: int = 100,
) -> GaussianPosterior:
    """Approximate the posterior by a Gaussian at its mode, with the curvature there.

    This is quick, and good with many labels. With few, the mode is not the mean, and the evidence is rough: use
    :func:`expectation_propagation`.

    Parameters
    ----------
    X, y, prior, link, intercept_variance, sample_weight, feature_names
        As for :func:`expectation_propagation`.
    max_iter : int, default=100
        Maximum number of Newton steps; reaching it warns.

    Returns
    -------
    GaussianPosterior

    Examples
    --------
    >>> from bayesift.posterior import laplace_approximation
    >>> from bayesift.priors import Gaussian
    >>> posterior = laplace_approximation([[2.0, 0.0], [0.0, 1.0]], [1, 0], Gaussian(4.0))
    >>> posterior.predict_interval([[2.0, 0.0]], mass=0.9).round(2)
    array([[0.09, 1.  ]])
    """
    max_iter = whole_number("max_iter", max_iter, 1)
    found = at_mode(Problem.of(X, y, prior, link, intercept_variance, sample_weight, feature_names), max_iter)
    if found.shortcoming:
        warnings.warn(found.shortcoming, ConvergenceWarning, stacklevel=2)
    return found


def at_mode(problem: Problem, max_iter: int = 100) -> GaussianPosterior:
    """Return the Gaussian at the mode of a problem."""
    # Threads of a BLAS would move the last digits.
    with one_blas_thread():
        return at_mode_of(coordinates_of(problem, "Laplace's method"), max_iter)


def at_mode_of(at: Coordinates, max_iter: int, before: float = 1.0) -> GaussianPosterior:
    """Return the Gaussian at the mode, in given coordinates; ``before`` is the temperature before these documents."""
    mode = find_mode(at, 1e-12, max_iter)
    proper = mode.phi[: mode.phi.size - at.n_flat]
    likelihood = at.problem.log_likelihood(mode.scores)
    log_evidence = likelihood - 0.5 * float(proper @ proper) + at.log_normaliser(mode.root)
    temperature = _temperature(at, mode, before)
    return GaussianPosterior(
        at.problem.link, at.basis, mode.phi, mode.root, log_evidence, mode.n_iter, mode.converged, temperature
    )


def _temperature(at: Coordinates, mode: Mode, before: float) -> float:
    """Return the temperature that suits labels left out, each together with the curvature of its loss."""
    problem = at.problem
    some = slice(None, None, max(-(-problem.n_documents // _MOST_LEFT_OUT), 1))
    y, scores, weights, w = problem.y[some], mode.scores[some], problem.weights[some], mode.curvature[some]
    spread = solve_triangular(mode.root, at.H[some].T, lower=True, check_finite=False)
    slope, _ = slopes(problem.link, y * scores)
    without = cavities(scores, np.einsum("ij,ij->j", spread, spread), w * scores + weights * y * slope, w)
    return best_temperature(problem.link, y, *without, weights, before)
