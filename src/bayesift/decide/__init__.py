"""From scores to decisions: fixed or tuned thresholds, and decisions about batches by expected F or utility."""

from bayesift.decide.certainty import mass_of_certainty, unsure
from bayesift.decide.expected import (
    BatchDecision,
    ExpectedF,
    decide,
    exact_expected_f1,
    expected_f1,
    expected_f_curve,
)
from bayesift.decide.threshold import Threshold
from bayesift.decide.tuning import ThresholdOutcomes, best_threshold, outcomes_by_threshold
from bayesift.decide.utility import BALANCED_ERROR, SUM_OF_ERRORS, T11U, T13U, Utility

__all__ = [
    "BALANCED_ERROR",
    "SUM_OF_ERRORS",
    "T11U",
    "T13U",
    "BatchDecision",
    "ExpectedF",
    "Threshold",
    "ThresholdOutcomes",
    "Utility",
    "best_threshold",
    "decide",
    "exact_expected_f1",
    "expected_f1",
    "expected_f_curve",
    "mass_of_certainty",
    "outcomes_by_threshold",
    "unsure",
]
