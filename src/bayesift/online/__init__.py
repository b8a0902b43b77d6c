"""Classifiers that learn as judgements arrive."""

from bayesift.online._covariances import LowRank
from bayesift.online._moments import expected_information, outcome_information, outcome_moments
from bayesift.online.belief import Belief, UpdateInfo, grow, prior_belief, update
from bayesift.online.gaussian_process import OnlineGaussianProcess, ProcessBelief
from bayesift.online.perceptron import BayesianPerceptron

__all__ = [
    "BayesianPerceptron",
    "Belief",
    "LowRank",
    "OnlineGaussianProcess",
    "ProcessBelief",
    "UpdateInfo",
    "expected_information",
    "grow",
    "outcome_information",
    "outcome_moments",
    "prior_belief",
    "update",
]
