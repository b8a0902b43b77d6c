"""Posteriors of logistic and probit regression: draws, Gaussian approximations, intervals, evidence."""

from bayesift.posterior.choice import find_posterior
from bayesift.posterior.continued import update_posterior
from bayesift.posterior.diagnostics import Diagnostics, effective_sample_size, split_r_hat
from bayesift.posterior.evidence import EvidenceChoice, greatest_evidence, integrate_variance
from bayesift.posterior.gibbs import gibbs_sampling
from bayesift.posterior.laplace import laplace_approximation
from bayesift.posterior.mixture import MixedPosterior
from bayesift.posterior.posteriors import GaussianPosterior, Posterior, SampledPosterior
from bayesift.posterior.propagation import expectation_propagation

__all__ = [
    "Diagnostics",
    "EvidenceChoice",
    "GaussianPosterior",
    "MixedPosterior",
    "Posterior",
    "SampledPosterior",
    "effective_sample_size",
    "expectation_propagation",
    "find_posterior",
    "gibbs_sampling",
    "greatest_evidence",
    "integrate_variance",
    "laplace_approximation",
    "split_r_hat",
    "update_posterior",
]
