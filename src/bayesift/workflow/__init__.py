"""From a file of texts to a classifier and back: what the commands do, as functions."""

from bayesift.workflow._knowledge import read_knowledge
from bayesift.workflow._models import MODELS
from bayesift.workflow._reasons import Reason, telling_words
from bayesift.workflow.checking import check
from bayesift.workflow.classifying import Classified, classify
from bayesift.workflow.comparing import compare, comparison_dict
from bayesift.workflow.converting import convert
from bayesift.workflow.evaluation import Evaluation, evaluate
from bayesift.workflow.examination import Examination, examine
from bayesift.workflow.facts import Facts, facts
from bayesift.workflow.model_files import load_classifier, provenance_of, save_classifier
from bayesift.workflow.one_against_rest import OneAgainstRest
from bayesift.workflow.text_classifier import TextClassifier, least_documents
from bayesift.workflow.tracing import LabelPath, trace
from bayesift.workflow.training import Trained, train
from bayesift.workflow.updating import update

__all__ = [
    "MODELS",
    "Classified",
    "Evaluation",
    "Examination",
    "Facts",
    "LabelPath",
    "OneAgainstRest",
    "Reason",
    "TextClassifier",
    "Trained",
    "check",
    "classify",
    "compare",
    "comparison_dict",
    "convert",
    "evaluate",
    "examine",
    "facts",
    "least_documents",
    "load_classifier",
    "provenance_of",
    "read_knowledge",
    "save_classifier",
    "telling_words",
    "trace",
    "train",
    "update",
]
