"""How good decisions and probabilities are: effectiveness, utilities, calibration, effort, significance."""

from bayesift.evaluate.calibration import (
    ReliabilityCurve,
    brier,
    expected_calibration_error,
    log_loss,
    reliability_curve,
)
from bayesift.evaluate.comparison import Comparison, Results, compare
from bayesift.evaluate.effectiveness import (
    error_rate,
    f_beta,
    precision,
    recall,
    scaled_utility,
    t9p,
    t9u,
    t11f,
    t11nu,
    t11su,
    t11u,
    t13u,
)
from bayesift.evaluate.outcomes import Outcomes
from bayesift.evaluate.ranking import (
    RecallCurve,
    average_time_to_discovery,
    break_even,
    recall_at_effort,
    recall_curve,
    wss,
)
from bayesift.evaluate.significance import (
    BootstrapDifference,
    PairedTest,
    macro_sign_test,
    micro_sign_test,
    paired_bootstrap,
    wilcoxon_test,
)

__all__ = [
    "BootstrapDifference",
    "Comparison",
    "Outcomes",
    "PairedTest",
    "RecallCurve",
    "ReliabilityCurve",
    "Results",
    "average_time_to_discovery",
    "break_even",
    "brier",
    "compare",
    "error_rate",
    "expected_calibration_error",
    "f_beta",
    "log_loss",
    "macro_sign_test",
    "micro_sign_test",
    "paired_bootstrap",
    "precision",
    "recall",
    "recall_at_effort",
    "recall_curve",
    "reliability_curve",
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
