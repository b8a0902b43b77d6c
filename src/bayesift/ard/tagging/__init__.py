"""The relevance tagging machine: objects with tags, and which tags matter."""

from bayesift.ard.tagging._bound import tagging_log_evidence_bound, tagging_log_likelihood, tagging_log_likelihood_bound
from bayesift.ard.tagging.machine import RelevanceTaggingMachine

__all__ = [
    "RelevanceTaggingMachine",
    "tagging_log_evidence_bound",
    "tagging_log_likelihood",
    "tagging_log_likelihood_bound",
]
