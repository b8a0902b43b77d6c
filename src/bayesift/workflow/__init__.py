"""From a file of texts to a classifier and back: what the commands do, as functions, one module for each command."""

from bayesift.workflow._answers import Predictions
from bayesift.workflow._models import MODELS, suited_vectorizer
from bayesift.workflow.binary_relevance import BinaryRelevance
from bayesift.workflow.certainty import unsure_labels
from bayesift.workflow.classify import Classified, classify
from bayesift.workflow.classify_files import classify_files
from bayesift.workflow.compare import compare, comparison_dict
from bayesift.workflow.convert import convert, converted_files
from bayesift.workflow.curve import LearningCurve, learning_curve
from bayesift.workflow.evaluate import Calibration, Evaluation, evaluate, evaluate_held_out
from bayesift.workflow.explain import Explainer, Reason, top_word_intervals, top_words
from bayesift.workflow.features import FeatureColumns
from bayesift.workflow.info import ModelInfo, load_classifier, model_info, provenance_of
from bayesift.workflow.model_comparison import CANDIDATES, MEASURES, Candidate, ComparedModel, ModelComparison
from bayesift.workflow.path import LabelPath, label_path
from bayesift.workflow.prior_knowledge import read_prior_knowledge
from bayesift.workflow.text_classifier import TextClassifier
from bayesift.workflow.train import DataSummary, Trained, summarize_data, train
from bayesift.workflow.train_shards import train_shards
from bayesift.workflow.update import update
from bayesift.workflow.warm import warm
from bayesift.workflow.words_and_vectors import Shares, WordsAndVectors

__all__ = [
    "CANDIDATES",
    "MEASURES",
    "MODELS",
    "BinaryRelevance",
    "Calibration",
    "Candidate",
    "Classified",
    "ComparedModel",
    "DataSummary",
    "Evaluation",
    "Explainer",
    "FeatureColumns",
    "LabelPath",
    "LearningCurve",
    "ModelComparison",
    "ModelInfo",
    "Predictions",
    "Reason",
    "Shares",
    "TextClassifier",
    "Trained",
    "WordsAndVectors",
    "classify",
    "classify_files",
    "compare",
    "comparison_dict",
    "convert",
    "converted_files",
    "evaluate",
    "evaluate_held_out",
    "label_path",
    "learning_curve",
    "load_classifier",
    "model_info",
    "provenance_of",
    "read_prior_knowledge",
    "suited_vectorizer",
    "summarize_data",
    "top_word_intervals",
    "top_words",
    "train",
    "train_shards",
    "unsure_labels",
    "update",
    "warm",
]
