"""Pictures, in the manner of scikit-learn's displays: an object holds the numbers, ``plot`` draws them."""

from bayesift.plots._axes import PALETTE
from bayesift.plots.bound import BoundDisplay
from bayesift.plots.burstiness import BurstinessDisplay
from bayesift.plots.concept import ConceptDisplay
from bayesift.plots.confusion import ConfusionDisplay
from bayesift.plots.cooccurrence import CooccurrenceDisplay
from bayesift.plots.display import Display
from bayesift.plots.filtering import FilteringDisplay
from bayesift.plots.learning import LearningCurveDisplay
from bayesift.plots.parallel import ParallelCoordinatesDisplay
from bayesift.plots.path import RegularizationPathDisplay
from bayesift.plots.posterior import PosteriorDisplay
from bayesift.plots.predictive import PredictiveDisplay
from bayesift.plots.recall import RecallEffortDisplay
from bayesift.plots.reliability import ReliabilityDisplay
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
