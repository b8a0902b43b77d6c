"""Automatic relevance determination: models that find the features that matter."""

from bayesift.ard.tagging import (
    RelevanceTaggingMachine,
    tagging_log_evidence_bound,
    tagging_log_likelihood,
    tagging_log_likelihood_bound,
)
from bayesift.ard.vectors import RelevanceVectorMachine, RelevanceVectorRegressor

__all__ = [
    "RelevanceTaggingMachine",
    "RelevanceVectorMachine",
    "RelevanceVectorRegressor",
    "tagging_log_evidence_bound",
    "tagging_log_likelihood",
    "tagging_log_likelihood_bound",
]
