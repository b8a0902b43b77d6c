"""Pictures, in the manner of scikit-learn's displays: an object holds the numbers, ``plot`` draws them."""

from bayesift.plots.bound import BoundDisplay
from bayesift.plots.burstiness import BurstinessDisplay
from bayesift.plots.concept import ConceptDisplay
from bayesift.plots.path import RegularizationPathDisplay
from bayesift.plots.posterior import PosteriorDisplay
from bayesift.plots.predictive import PredictiveDisplay
from bayesift.plots.recall import RecallEffortDisplay
from bayesift.plots.reliability import ReliabilityDisplay
from bayesift.plots.weights import WeightsDisplay

__all__ = [
    "BoundDisplay",
    "BurstinessDisplay",
    "ConceptDisplay",
    "PosteriorDisplay",
    "PredictiveDisplay",
    "RecallEffortDisplay",
    "RegularizationPathDisplay",
    "ReliabilityDisplay",
    "WeightsDisplay",
]
