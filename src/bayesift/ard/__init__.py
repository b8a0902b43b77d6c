"""Automatic relevance determination: models that find out which features matter."""

from bayesift.ard.tagging import RelevanceTaggingMachine, log_evidence_bound, log_likelihood, log_likelihood_bound
from bayesift.ard.vectors import RelevanceVectorMachine, RelevanceVectorRegressor

__all__ = [
    "RelevanceTaggingMachine",
    "RelevanceVectorMachine",
    "RelevanceVectorRegressor",
    "log_evidence_bound",
    "log_likelihood",
    "log_likelihood_bound",
]
