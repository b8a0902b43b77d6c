"""The programs BBR, BMR and BXR: their files (data, priors, models, results and labels) and replacements of them.

Functions that read a file take its path or a binary stream, and raise :class:`FormatError`, which names the file and
line, if anything is wrong. Functions that write a file write it completely or not at all. Numbers get as many digits as
are needed to restore them, unless ``digits`` says how many.

Names are imported at their first use: the commands are in this room too, and ``--help`` must be quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayesift.bbr._files import FormatError
    from bayesift.bbr.binary_model import (
        BinaryModel,
        ThresholdUnitWarning,
        read_binary_model,
        write_binary_model,
    )
    from bayesift.bbr.data import Data, read_data, read_symbolic_data, write_data
    from bayesift.bbr.decisions import BinaryFigures, roc_area
    from bayesift.bbr.estimators import from_estimator, linear_scores, model_matrix, to_estimator
    from bayesift.bbr.models import read_models, read_sparse_models, write_sparse_models
    from bayesift.bbr.polytomous_model import (
        BMRHeader,
        ClassCoefficients,
        PolytomousModel,
        read_polytomous_model,
        write_polytomous_model,
    )
    from bayesift.bbr.prior_files import CONSTANT, IndividualPrior, PriorSection, read_priors, write_priors
    from bayesift.bbr.priors import constant_prior, from_prior, to_prior
    from bayesift.bbr.results import (
        ALL_OTHER_MODELS,
        UNKNOWN,
        BinaryResult,
        DenseResult,
        Label,
        ScoreResult,
        read_binary_results,
        read_dense_results,
        read_labels,
        read_score_results,
        true_class,
        write_binary_results,
        write_dense_results,
        write_labels,
        write_score_results,
    )

__all__ = [
    "ALL_OTHER_MODELS",
    "CONSTANT",
    "UNKNOWN",
    "BMRHeader",
    "BinaryFigures",
    "BinaryModel",
    "BinaryResult",
    "ClassCoefficients",
    "Data",
    "DenseResult",
    "FormatError",
    "IndividualPrior",
    "Label",
    "PolytomousModel",
    "PriorSection",
    "ScoreResult",
    "ThresholdUnitWarning",
    "constant_prior",
    "from_estimator",
    "from_prior",
    "linear_scores",
    "model_matrix",
    "read_binary_model",
    "read_binary_results",
    "read_data",
    "read_dense_results",
    "read_labels",
    "read_models",
    "read_polytomous_model",
    "read_priors",
    "read_score_results",
    "read_sparse_models",
    "read_symbolic_data",
    "roc_area",
    "to_estimator",
    "to_prior",
    "true_class",
    "write_binary_model",
    "write_binary_results",
    "write_data",
    "write_dense_results",
    "write_labels",
    "write_polytomous_model",
    "write_priors",
    "write_score_results",
    "write_sparse_models",
]

# Those that need no estimators first.
_MODULES = ["_files", "prior_files", "data", "results", "binary_model", "polytomous_model", "models", "priors"]
_MODULES += ["estimators", "decisions"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        for module in _MODULES:
            found = import_module(f"bayesift.bbr.{module}")
            if hasattr(found, name):
                return getattr(found, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
