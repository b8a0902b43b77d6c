"""Yesterday's posterior as today's prior, with its full covariance on the words that were seen.

Yesterday's coordinates φ are N(μ, Q⁻¹). Today's documents add further coordinates to the span, N(0, 1) and independent
of the earlier ones. With Q = RRᵀ and φ = μ + R^−T z, all coordinates are N(0, 1) again, and every method can continue.
If the prior variance was integrated out, today's labels say something about it too: the weight of each variance is
multiplied by their evidence under it.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cholesky, solve_triangular
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning

from bayesift._checks import generator
from bayesift._documents import checked_weights
from bayesift._threads import one_blas_thread
from bayesift._typing import FloatArray, Int64Array
from bayesift.posterior._bases import Basis, extended
from bayesift.posterior._problem import Beliefs, Problem, checked_documents, checked_signs, with_constant
from bayesift.posterior.choice import Method, check_method, suitable
from bayesift.posterior.gibbs import by_draws
from bayesift.posterior.laplace import Coordinates, at_mode_of
from bayesift.posterior.mixture import MixedPosterior
from bayesift.posterior.posteriors import GaussianPosterior, Posterior, SampledPosterior
from bayesift.posterior.propagation import propagate


def update_posterior(
    previous: GaussianPosterior | MixedPosterior,
    X: Any,
    y: Any,
    *,
    method: Method = "auto",
    sample_weight: Any = None,
    random_state: Any = 0,
) -> Posterior:
    """Update a posterior with further documents: the posterior after the earlier ones is their prior.

    Everything learned about the coefficients is kept, including covariances; new words keep their original prior.

    Parameters
    ----------
    previous : GaussianPosterior, or MixedPosterior of them
        From expectation propagation or Laplace's method, with the variance integrated out or not, or from an earlier
        update.
    X : sparse matrix or array of shape (n_documents, n_features)
        Further labelled documents, with the columns of the earlier ones.
    y : array of shape (n_documents,)
        Whether each belongs to the category; one class is enough.
    method : {"auto", "laplace", "ep", "gibbs"}, default="auto"
        As in :func:`find_posterior`.
    sample_weight : array of shape (n_documents,), optional
        How often each document counts.
    random_state : int, Generator or None, default=0
        Source of randomness for sampling.

    Returns
    -------
    GaussianPosterior or SampledPosterior, or MixedPosterior of them
        Its ``log_evidence`` is that of these labels given the earlier ones.

    Examples
    --------
    >>> from bayesift.posterior import expectation_propagation, update_posterior
    >>> from bayesift.priors import Gaussian
    >>> X, y = [[2.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 2.0]], [1, 0, 1, 0]
    >>> monday = expectation_propagation(X[:2], y[:2], Gaussian(4.0))
    >>> tuesday = update_posterior(monday, X[2:], y[2:])
    >>> both = expectation_propagation(X, y, Gaussian(4.0))
    >>> tuesday.predict_proba(X).round(2), both.predict_proba(X).round(2)
    (array([0.91, 0.27, 0.63, 0.17]), array([0.89, 0.28, 0.64, 0.18]))
    """
    check_method(method)
    components = previous.components if isinstance(previous, MixedPosterior) else (previous,)
    for one in components:
        if not isinstance(one, GaussianPosterior):
            raise TypeError(
                f"previous is {type(one).__name__}; expected a GaussianPosterior, from EP or Laplace's method"
            )
    X = checked_documents(X, previous.n_features)
    if X.shape[0] == 0:
        raise ValueError("X has no documents; expected at least one with a label")
    signs, weights = checked_signs(y, X.shape[0]), checked_weights(sample_weight, X)
    counted = weights > 0
    labels = with_constant(X)[counted], signs[counted], weights[counted]
    # Threads of a BLAS would move the last digits.
    with one_blas_thread():
        steps = [_Step.of(one, *labels) for one in components if isinstance(one, GaussianPosterior)]
        found: Posterior = steps[0].posterior(method, random_state)
        if isinstance(previous, MixedPosterior):
            parts = [found, *(step.posterior(method, random_state) for step in steps[1:])]
            found = _mixed(previous, steps, parts)
    if found.shortcoming:
        warnings.warn(found.shortcoming, ConvergenceWarning, stacklevel=2)
    return found


def _mixed(previous: MixedPosterior, steps: list[_Step], parts: list[Any]) -> MixedPosterior:
    """Return the posteriors of all variances, each with its weight times the evidence of the new labels."""
    # Draws have no evidence: expectation propagation computes it.
    evidences = [
        part.log_evidence if isinstance(part, GaussianPosterior) else step.by_moments(propagates=True).log_evidence
        for step, part in zip(steps, parts, strict=True)
    ]
    with np.errstate(divide="ignore"):
        logs = np.log(previous.weights) + evidences
    return MixedPosterior(previous.link, tuple(parts), np.asarray(softmax(logs)), previous.variances)


class _Step(NamedTuple):
    """Today's documents in coordinates that are N(0, 1) given yesterday.

    ``basis`` is that of all documents, ``order`` says where its coordinates are: yesterday's first, then the new ones.
    """

    previous: GaussianPosterior
    basis: Basis
    order: Int64Array
    H: FloatArray
    problem: Problem

    @classmethod
    def of(cls, previous: GaussianPosterior, A: sp.csr_matrix, y: FloatArray, weights: FloatArray) -> _Step:
        basis, H = extended(previous.basis, A)
        n_old, n_flat, size = previous.basis.size, previous.basis.beliefs.flat.size, basis.size
        old = np.append(np.arange(n_old - n_flat), np.arange(size - n_flat, size))
        order = np.append(old, np.setdiff1d(np.arange(size), old)).astype(np.int64)
        known = H[:, old]
        z = solve_triangular(previous.root, known.T, lower=True, check_finite=False).T
        offset = np.asarray(A @ previous.basis.beliefs.centre) + known @ previous.mean
        H = np.hstack([z, H[:, order[n_old:]]])
        # Coordinates are the columns; the offset is a column whose coefficient is fixed at one.
        columns = sp.csr_matrix(np.column_stack([H, offset, np.zeros(A.shape[0])]))
        beliefs = Beliefs(
            mode=np.append(np.zeros(size), [1.0, 0.0]),
            variance=np.append(np.ones(size), [0.0, 0.0]),
            laplace=np.zeros(size + 2, dtype=bool),
        )
        return cls(previous, basis, order, H, Problem(columns, y, weights, beliefs, previous.link))

    def posterior(self, method: Method, random_state: Any) -> GaussianPosterior | SampledPosterior:
        """Return the posterior by a method, or by a suitable one."""
        chosen = suitable(self.problem) if method == "auto" else method
        return self.by_draws(random_state) if chosen == "gibbs" else self.by_moments(chosen == "ep")

    def _back(self, z: FloatArray) -> FloatArray:
        """Return z, as rows, in the coordinates of the basis."""
        n_old = self.previous.mean.size
        phi = np.empty_like(z)
        shift = solve_triangular(self.previous.root, z[:, :n_old].T, lower=True, trans="T", check_finite=False).T
        phi[:, self.order[:n_old]] = self.previous.mean + shift
        phi[:, self.order[n_old:]] = z[:, n_old:]
        return phi

    def by_moments(self, propagates: bool) -> GaussianPosterior:
        """Return the Gaussian posterior in the coordinates of the basis."""
        at = Coordinates(self.problem, self.basis, self.H)
        before = self.previous.temperature
        found = propagate(at, 1e-6, 200, before) if propagates else at_mode_of(at, 100, before)
        n_old, size = self.previous.mean.size, found.mean.size
        root = np.identity(size)
        root[:n_old, :n_old] = self.previous.root
        # z = Rᵀ(φ − μ), so the inverse covariance of φ is RQRᵀ.
        factor = root @ found.root
        Q = np.empty((size, size))
        Q[np.ix_(self.order, self.order)] = factor @ factor.T
        mean = self._back(found.mean[None, :])[0]
        new_root = np.asarray(cholesky(Q, lower=True, overwrite_a=True, check_finite=False))
        return replace(found, basis=self.basis, mean=mean, root=new_root)

    def by_draws(self, random_state: Any) -> SampledPosterior:
        """Return draws in the coordinates of the basis."""
        first, second = generator(random_state).spawn(2)
        found = by_draws(self.problem, random_state=first)
        n_chains, n_draws, size = found.draws.shape
        z = second.standard_normal((n_chains * n_draws, self.H.shape[1]))
        # Coordinates that no document touches keep their prior.
        z[:, found.basis.seen] = found.basis.coefficients(found.draws.reshape(n_chains * n_draws, size), second)
        draws = self._back(z).reshape(n_chains, n_draws, self.basis.size)
        return SampledPosterior(found.link, self.basis, draws, found.diagnostics)
