"""From scores to yes and no: thresholds fixed, or tuned on training scores for errors, F1 or any utility."""

from bayesift.decide.cuts import best_threshold
from bayesift.decide.threshold import Threshold
from bayesift.decide.utility import BALANCED_ERROR, SUM_OF_ERRORS, T11U, T13U, Utility

__all__ = ["BALANCED_ERROR", "SUM_OF_ERRORS", "T11U", "T13U", "Threshold", "Utility", "best_threshold"]
