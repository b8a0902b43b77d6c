"""Classifiers that learn as judgements arrive."""

from bayesift.online._low_rank import LowRank
from bayesift.online.belief import Belief, UpdateInfo, grow, start, update
from bayesift.online.perceptron import BayesianPerceptron
from bayesift.online.process import OnlineGaussianProcess, ProcessBelief

__all__ = [
    "BayesianPerceptron",
    "Belief",
    "LowRank",
    "OnlineGaussianProcess",
    "ProcessBelief",
    "UpdateInfo",
    "grow",
    "start",
    "update",
]
