"""Tipping's iterative re-estimation of all α together (2001)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesift._typing import FloatArray, Int64Array
from bayesift.ard.vectors._basis import Basis
from bayesift.ard.vectors._likelihoods import Likelihood, Posterior

#: Functions whose α exceeds this are removed; none has an α below its inverse.
LARGEST_ALPHA = 1e9


class Relevance(NamedTuple):
    """Functions that were kept, their α, the posterior of their weights, and the evidence after each round."""

    kept: Int64Array
    alpha: FloatArray
    posterior: Posterior
    likelihood: Likelihood
    evidence: FloatArray
    converged: bool


def reestimate(basis: Basis, likelihood: Likelihood, initial_alpha: float, max_iter: int, tol: float) -> Relevance:
    """Repeat α_j ← (1 − α_j Σ_jj) / w_j², leaving out functions whose α grows without limit."""
    kept = np.arange(basis.shape[1])
    alpha = np.full(kept.size, initial_alpha)
    start = np.zeros(kept.size)
    active = basis
    evidence: list[float] = []
    converged = False
    for _ in range(max_iter):
        posterior = likelihood.posterior(active, alpha, start)
        evidence.append(posterior.log_evidence)
        gamma = np.clip(1.0 - alpha * posterior.curvature.inverse_diagonal(), 0.0, 1.0)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            new = np.where(posterior.mean != 0, gamma / posterior.mean**2, np.inf)
        likelihood = likelihood.with_new_noise(active, alpha, posterior)
        left = new < LARGEST_ALPHA
        new = np.maximum(new, 1.0 / LARGEST_ALPHA)
        converged = bool(left.all() and np.max(np.abs(np.log(new / alpha)), initial=0.0) < tol)
        kept, alpha, start = kept[left], new[left], posterior.mean[left]
        active = active if left.all() else active.columns(left)
        if converged or not kept.size:
            break
    posterior = likelihood.posterior(active, alpha, start)
    evidence.append(posterior.log_evidence)
    return Relevance(kept, alpha, posterior, likelihood, np.array(evidence), converged or not kept.size)
