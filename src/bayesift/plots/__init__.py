"""Plots in the style of scikit-learn's displays: an object holds the numbers, ``plot`` draws them."""

from bayesift.plots.bound import BoundDisplay
from bayesift.plots.burstiness import BurstinessDisplay
from bayesift.plots.concept import ConceptDisplay
from bayesift.plots.conjugate import PosteriorDisplay, PredictiveDisplay
from bayesift.plots.display import PALETTE, Display
from bayesift.plots.evaluation import RecallEffortDisplay, ReliabilityDisplay
from bayesift.plots.filtering import FilteringDisplay
from bayesift.plots.learning import LearningCurveDisplay
from bayesift.plots.matrix import ConfusionDisplay, CooccurrenceDisplay
from bayesift.plots.parallel import ParallelCoordinatesDisplay
from bayesift.plots.path import RegularizationPathDisplay
from bayesift.plots.threshold import ThresholdDisplay
from bayesift.plots.weights import WeightsDisplay

__all__ = [
    "PALETTE",
    "BoundDisplay",
    "BurstinessDisplay",
    "ConceptDisplay",
    "ConfusionDisplay",
    "CooccurrenceDisplay",
    "Display",
    "FilteringDisplay",
    "LearningCurveDisplay",
    "ParallelCoordinatesDisplay",
    "PosteriorDisplay",
    "PredictiveDisplay",
    "RecallEffortDisplay",
    "RegularizationPathDisplay",
    "ReliabilityDisplay",
    "ThresholdDisplay",
    "WeightsDisplay",
]
