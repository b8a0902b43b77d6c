"""The relevance tagging machine: objects with tags, and which tags matter."""

from bayesift.ard.tagging._bound import log_evidence_bound, log_likelihood, log_likelihood_bound
from bayesift.ard.tagging.machine import RelevanceTaggingMachine

__all__ = ["RelevanceTaggingMachine", "log_evidence_bound", "log_likelihood", "log_likelihood_bound"]
