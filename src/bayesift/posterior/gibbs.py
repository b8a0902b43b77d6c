"""Gibbs sampling: draws from the exact posterior.

With latent variables the posterior of the coefficients is Gaussian: Pólya–Gamma variables ω_i for the logistic link
(Polson, Scott & Windle 2013), normal ones z_i with the signs of the labels for the probit link (Albert & Chib 1993),
and variances τ_j of the coefficients for Laplace priors (Park & Casella 2008). A chain draws them in turn, and the
coefficients on the other side of their mean where it can (over-relaxation, see ``_gaussian_draws``).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from bayesift._checks import generator, whole_number
from bayesift._threads import one_blas_thread
from bayesift._typing import FloatArray
from bayesift.posterior._bases import Basis, CoefficientBasis, basis_of
from bayesift.posterior._draws import latent_scores, polya_gamma, slice_along
from bayesift.posterior._gaussian_draws import (
    CoordinateSampler,
    DocumentSampler,
    Sampler,
    State,
    UnitSampler,
)
from bayesift.posterior._gradient_draws import GradientSampler
from bayesift.posterior._lasso import LassoSampler
from bayesift.posterior._links import Link
from bayesift.posterior._problem import Problem
from bayesift.posterior._slow_directions import SlowDirections
from bayesift.posterior.diagnostics import Diagnostics, effective_sample_size, split_r_hat
from bayesift.posterior.posteriors import SampledPosterior
from bayesift.priors import Prior, PriorArrays

#: Up to so many documents or words, draws are made by decompositions of matrices.
MOST_BY_DECOMPOSITION = 2000
#: Scores of at most so many documents are looked at by the diagnostics.
_WATCHED = 256
#: Standard deviation of the scores that chains start from.
_START = 2.0
#: Width of the first slice of a common shift.
_SLICE = 2.0
#: After so many draws of the warm-up, and at its end, chains that go together learn what their steps need.
_LEARNING = 5


class _Plan(NamedTuple):
    """How chains are run: the basis, what makes a sampler for each chain, and the direction of a common shift.

    Chains that draw by conjugate gradients go together, and move along several slow directions instead of one.
    """

    basis: Basis
    sampler: Callable[[], Sampler]
    shift: Shift | None = None
    slow: SlowDirections | None = None


class Shift(NamedTuple):
    """A direction u in which all scores move alike, Hu, and the prior precision times u."""

    u: FloatArray
    scores: FloatArray
    precision: FloatArray

    @classmethod
    def of(cls, u: FloatArray, H: Any, precision: FloatArray) -> Self:
        """Return the direction u."""
        return cls(u, np.asarray(H @ u), precision * u)

    def move(self, y: FloatArray, phi: FloatArray, scores: FloatArray, rng: np.random.Generator) -> None:
        """Move φ and the scores along the direction, in place."""
        linear, quadratic = float(self.precision @ phi), float(self.precision @ self.u)
        step = slice_along(y, scores, self.scores, linear, quadratic, _SLICE, rng)
        phi += step * self.u
        scores += step * self.scores


def _plan(problem: Problem) -> _Plan:
    """Choose the space to draw in."""
    n, n_flat, offset = problem.n_documents, problem.beliefs.flat.size, problem.offset
    lasso = bool(np.any(problem.beliefs.laplace))
    if lasso or min(n, problem.seen.size) > MOST_BY_DECOMPOSITION:
        basis, rows = CoefficientBasis.of(problem, whitened=not lasso)
        precision = np.append(np.ones(basis.columns.size), np.zeros(n_flat))
        if not lasso:
            slow = SlowDirections(rows, problem.y, precision)
            return _Plan(basis, lambda: GradientSampler(rows, offset, precision), slow=slow)
        shift = None
        if n_flat and problem.beliefs.flat[-1] == problem.A.shape[1] - 1:
            shift = Shift.of(np.append(np.zeros(basis.size - 1), 1.0), rows, precision)
        return _Plan(basis, lambda: LassoSampler(problem, basis, rows, n <= MOST_BY_DECOMPOSITION), shift)
    found, H = basis_of(problem)
    precision = np.append(np.ones(H.shape[1] - n_flat), np.zeros(n_flat))
    sampler: Sampler
    if problem.link == "probit":
        sampler = UnitSampler(H, offset, precision, problem.y, MOST_BY_DECOMPOSITION)
    elif 2 * H.shape[1] > n:
        sampler = DocumentSampler(H, offset, n_flat)
    else:
        sampler = CoordinateSampler(H, offset, precision)
    u = np.linalg.solve(np.diag(precision) + 0.25 * H.T @ H, H.sum(axis=0))
    return _Plan(found, lambda: sampler, Shift.of(u, H, precision))


def _run(problem: Problem, plan: _Plan, warmup: int, n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Return the draws of one chain after its warm-up."""
    probit, y, sampler = problem.link == "probit", problem.y, plan.sampler()
    draws = np.empty((n_draws, plan.basis.size))
    scores = _START * rng.standard_normal(problem.n_documents)
    latent, ones = np.empty_like(scores), np.ones_like(scores)
    last: State | None = None
    for step in range(-warmup, n_draws):
        if probit:
            latent_scores(scores, y, rng, latent)
            phi, scores = sampler.draw(latent, ones, rng, last)
        else:
            polya_gamma(scores, rng, latent)
            phi, scores = sampler.draw(0.5 * y, latent, rng, last)
            if plan.shift is not None:
                # With the latent variables integrated out, because they hold the base rate of a rare category in place.
                plan.shift.move(y, phi, scores, rng)
        _check_finite(scores)
        last = phi, scores
        if step >= 0:
            draws[step] = phi
    return draws


def _run_together(
    problem: Problem,
    plan: _Plan,
    slow: SlowDirections,
    warmup: int,
    n_draws: int,
    rngs: Sequence[np.random.Generator],
) -> FloatArray:
    """Return the draws of all chains, which take their steps together: one pass over the documents serves four."""
    probit, y, sampler = problem.link == "probit", problem.y, plan.sampler()
    assert isinstance(sampler, GradientSampler)
    draws = np.empty((len(rngs), n_draws, plan.basis.size))
    scores = np.column_stack([_START * rng.standard_normal(problem.n_documents) for rng in rngs])
    t, w, latent = np.empty_like(scores), np.ones_like(scores), np.empty(problem.n_documents)
    t[:] = 0.5 * y[:, None]
    last: State | None = None
    for step in range(-warmup, n_draws):
        for chain, rng in enumerate(rngs):
            if probit:
                latent_scores(scores[:, chain].copy(), y, rng, latent)
                t[:, chain] = latent
            else:
                polya_gamma(scores[:, chain].copy(), rng, latent)
                w[:, chain] = latent
        if not probit and (step == 0 or step == _LEARNING - warmup < 0):
            sampler.learn(w)
            slow.learn(scores)
        phi, scores = sampler.draw_all(t, w, rngs, last)
        if not probit:
            slow.move(phi, scores, rngs)
        _check_finite(scores)
        last = phi, scores
        if step >= 0:
            draws[:, step] = phi.T
    return draws


def _check_finite(scores: FloatArray) -> None:
    if not np.isfinite(scores).all():
        raise ValueError(
            "the scores of the documents overflow; expected documents and prior variances that give finite scores"
        )


def gibbs_sampling(
    X: Any,
    y: Any,
    prior: Prior | PriorArrays,
    *,
    link: Link = "logistic",
    intercept_variance: float | Literal["same"] = np.inf,
    sample_weight: Any = None,
    feature_names: Iterable[str] | None = None,
    n_draws: int = 500,
    warmup: int = 200,
    n_chains: int = 4,
    random_state: Any = 0,
) -> SampledPosterior:
    """Draw from the posterior.

    Apart from the warm-up, the draws are exact. Too few effective draws, or chains that do not agree, warn.

    Parameters
    ----------
    X, y, link, intercept_variance, feature_names
        As for :func:`expectation_propagation`.
    prior : Prior or PriorArrays
        Gaussian or Laplace; arrays have an entry for every column and one for the intercept.
    sample_weight : array of shape (n_documents,), optional
        How often each document counts, as whole numbers.
    n_draws, warmup : int, default=500 and 200
        Draws that each chain keeps, and draws before them that it discards.
    n_chains : int, default=4
        Number of independent chains.
    random_state : int, Generator or None, default=0
        Source of randomness.

    Returns
    -------
    SampledPosterior

    Examples
    --------
    >>> from bayesift.posterior import gibbs_sampling
    >>> from bayesift.priors import Gaussian
    >>> posterior = gibbs_sampling([[2.0, 0.0], [0.0, 1.0]], [1, 0], Gaussian(4.0), intercept_variance=1.0)
    >>> posterior.predict_proba([[2.0, 0.0], [0.0, 0.0]]).round(1)
    array([0.8, 0.5])
    >>> bool(posterior.diagnostics.r_hat.max() < 1.05)
    True
    """
    for name, value, least in (("n_draws", n_draws, 4), ("warmup", warmup, 0), ("n_chains", n_chains, 1)):
        whole_number(name, value, least)
    problem = Problem.of(X, y, prior, link, intercept_variance, sample_weight, feature_names)
    found = by_draws(problem, n_draws, warmup, n_chains, random_state)
    if found.shortcoming:
        warnings.warn(found.shortcoming, ConvergenceWarning, stacklevel=2)
    return found


def by_draws(
    problem: Problem, n_draws: int = 500, warmup: int = 200, n_chains: int = 4, random_state: Any = 0
) -> SampledPosterior:
    """Return draws from the posterior of a problem."""
    problem = problem.repeated()
    if problem.seen.size == 0:
        # No coefficient of the documents can move.
        still, nothing = CoefficientBasis.of(problem)[0], np.empty(0)
        return SampledPosterior(problem.link, still, np.empty((n_chains, n_draws, 0)), Diagnostics(nothing, nothing))
    # Threads of a BLAS would move the last digits, and with them the chains.
    with one_blas_thread():
        plan = _plan(problem)
        rngs = generator(random_state).spawn(n_chains)
        if plan.slow is not None:
            draws = _run_together(problem, plan, plan.slow, warmup, n_draws, rngs)
        else:
            draws = np.stack([_run(problem, plan, warmup, n_draws, rng) for rng in rngs])
    return SampledPosterior(problem.link, plan.basis, draws, _diagnose(problem, plan.basis, draws))


def _diagnose(problem: Problem, basis: Basis, draws: FloatArray) -> Diagnostics:
    """Look at the scores of some labelled documents, and of a text without words."""
    step = -(-problem.n_documents // _WATCHED)
    empty = sp.csr_matrix(([1.0], ([0], [problem.A.shape[1] - 1])), shape=(1, problem.A.shape[1]))
    H = basis.project(sp.vstack([problem.A[::step], empty], format="csr")).H
    scores = np.stack([np.asarray(H @ chain.T).T for chain in draws])
    scores = scores[:, :, np.ptp(scores, axis=(0, 1)) > 0]
    # Chains that swing around the median determine it sooner than the spread around it, which intervals need.
    distances = np.abs(scores - np.median(scores, axis=(0, 1)))
    effective = np.minimum(effective_sample_size(scores), effective_sample_size(distances))
    return Diagnostics(effective, split_r_hat(scores))
