"""Automatic relevance determination: models that find out which features matter."""

from bayesift.ard.lower_bounds import log_evidence_bound, log_likelihood, log_likelihood_bound
from bayesift.ard.tagging_machine import RelevanceTaggingMachine

__all__ = ["RelevanceTaggingMachine", "log_evidence_bound", "log_likelihood", "log_likelihood_bound"]
