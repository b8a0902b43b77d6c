"""Relevance vector machines: few basis functions, chosen by the evidence."""

from bayesift.ard.vectors.machines import RelevanceVectorMachine, RelevanceVectorRegressor

__all__ = ["RelevanceVectorMachine", "RelevanceVectorRegressor"]
