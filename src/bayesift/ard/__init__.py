"""Automatic relevance determination: models that find out which features matter."""

from bayesift.ard.lower_bounds import log_evidence_bound, log_likelihood, log_likelihood_bound
from bayesift.ard.tagging_machine import RelevanceTaggingMachine
from bayesift.ard.vector_machine import RelevanceVectorMachine
from bayesift.ard.vector_regressor import RelevanceVectorRegressor

__all__ = [
    "RelevanceTaggingMachine",
    "RelevanceVectorMachine",
    "RelevanceVectorRegressor",
    "log_evidence_bound",
    "log_likelihood",
    "log_likelihood_bound",
]
