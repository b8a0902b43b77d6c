"""Files of the programs BBR, BMR and BXR: data, priors, models, results and labels."""

from bayesift.formats.bbr._errors import FormatError
from bayesift.formats.bbr.binary_model import (
    BinaryModel,
    ThresholdUnitWarning,
    read_binary_model,
    write_binary_model,
)
from bayesift.formats.bbr.class_coefficients import ClassCoefficients
from bayesift.formats.bbr.convert import from_estimator, linear_scores, model_matrix, to_estimator
from bayesift.formats.bbr.data import Data, read_data, write_data
from bayesift.formats.bbr.figures import BinaryFigures, roc_area
from bayesift.formats.bbr.labels import ALL_OTHER_MODELS, Label, read_labels, true_class, write_labels
from bayesift.formats.bbr.models import read_models
from bayesift.formats.bbr.polytomous_model import (
    BMRHeader,
    PolytomousModel,
    read_polytomous_model,
    write_polytomous_model,
)
from bayesift.formats.bbr.prior_conversion import constant_prior, from_prior, to_prior
from bayesift.formats.bbr.priors import CONSTANT, IndividualPrior, PriorSection, read_priors, write_priors
from bayesift.formats.bbr.results import (
    UNKNOWN,
    BinaryResult,
    DenseResult,
    ScoreResult,
    read_binary_results,
    read_dense_results,
    read_score_results,
    write_binary_results,
    write_dense_results,
    write_score_results,
)
from bayesift.formats.bbr.sparse_model import read_sparse_models, write_sparse_models
from bayesift.formats.bbr.symbolic_data import read_symbolic_data

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
