"""Classifiers that learn as judgements arrive."""

from bayesift.online._low_rank import LowRank
from bayesift.online.belief import Belief, UpdateInfo, grow, start, update
from bayesift.online.perceptron import BayesianPerceptron

__all__ = [
    "BayesianPerceptron",
    "Belief",
    "LowRank",
    "UpdateInfo",
    "grow",
    "start",
    "update",
]
