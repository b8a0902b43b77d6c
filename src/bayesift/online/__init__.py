"""Classifiers that learn as judgements arrive."""

from bayesift.online._covariances import LowRank
from bayesift.online.belief import Belief, UpdateInfo, grow, start, update
from bayesift.online.gaussian_process import OnlineGaussianProcess, ProcessBelief
from bayesift.online.perceptron import BayesianPerceptron

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
