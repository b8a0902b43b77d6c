"""How good decisions and probabilities are: effectiveness, utilities, calibration, effort, significance."""

from bayesift.evaluate.bootstrap import BootstrapDifference, paired_bootstrap
from bayesift.evaluate.calibration import (
    ReliabilityCurve,
    brier,
    expected_calibration_error,
    log_loss,
    reliability_curve,
)
from bayesift.evaluate.comparison import Comparison, compare
from bayesift.evaluate.effectiveness import break_even, error_rate, f_beta, precision, recall
from bayesift.evaluate.effort import RecallCurve, average_time_to_discovery, recall_at_effort, recall_curve, wss
from bayesift.evaluate.filtering import scaled_utility, t9p, t9u, t11f, t11nu, t11su, t11u, t13u
from bayesift.evaluate.outcomes import Outcomes
from bayesift.evaluate.results import Results
from bayesift.evaluate.significance import PairedTest, S_test, s_test, wilcoxon_test

__all__ = [
    "BootstrapDifference",
    "Comparison",
    "Outcomes",
    "PairedTest",
    "RecallCurve",
    "ReliabilityCurve",
    "Results",
    "S_test",
    "average_time_to_discovery",
    "break_even",
    "brier",
    "compare",
    "error_rate",
    "expected_calibration_error",
    "f_beta",
    "log_loss",
    "paired_bootstrap",
    "precision",
    "recall",
    "recall_at_effort",
    "recall_curve",
    "reliability_curve",
    "s_test",
    "scaled_utility",
    "t9p",
    "t9u",
    "t11f",
    "t11nu",
    "t11su",
    "t11u",
    "t13u",
    "wilcoxon_test",
    "wss",
]
