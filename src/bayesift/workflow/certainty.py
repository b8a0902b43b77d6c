"""How sure a text classifier is, if its model keeps a posterior: intervals, and what is left to a person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from bayesift._typing import AnyArray, BoolArray, FloatArray
from bayesift.decide import mass_of_certainty, unsure
from bayesift.workflow.errors import NoAveragingError
from bayesift.workflow.words_and_vectors import WordsAndVectors, keeps_posterior, linear_part

if TYPE_CHECKING:
    from bayesift.workflow.text_classifier import TextClassifier

#: The mass of intervals if none is asked for.
USUAL_MASS = 0.9


def check_posterior(classifier: TextClassifier, wanted: str) -> None:
    """Refuse what only classifiers with a posterior can do."""
    if not keeps_posterior(classifier):
        raise NoAveragingError(
            f"{wanted} needs the posterior, but the model has only its mode; expected a model trained with posterior"
        )


def intervals_of(classifier: TextClassifier, texts: list[str], mass: float = USUAL_MASS) -> FloatArray:
    """Return intervals of the probabilities, texts × classes × 2."""
    check_posterior(classifier, "an interval")
    if not texts:
        return np.empty((0, len(classifier.classes_), 2))
    ends = linear_part(classifier.model_).predict_interval(_rows(classifier, texts), mass)
    if classifier.target_type_ != "binary":
        return np.asarray(ends)
    return np.stack([1.0 - ends[:, ::-1], ends], axis=1)


def unsure_labels(
    classifier: TextClassifier, texts: list[str], decisions: BoolArray, certainty: float = 0.9
) -> BoolArray:
    """Mark, texts × classes, the labels about which a person should decide.

    Parameters
    ----------
    classifier : TextClassifier
        Fitted, with a posterior.
    texts : list of str
    decisions : bool array of shape (n_texts, n_classes)
        What the classifier decides.
    certainty : float, default=0.9
        How probable it must be that a score is on its side of the threshold.

    Returns
    -------
    bool array of shape (n_texts, n_classes)
        Of labels that exclude each other, those among which a person should choose; a row without any is sure.
    """
    mass = mass_of_certainty(certainty)
    check_posterior(classifier, "a sure decision")
    if not texts:
        return np.zeros((0, len(classifier.classes_)), dtype=bool)
    ends = linear_part(classifier.model_).score_interval(_rows(classifier, texts), mass)
    thresholds = classifier.threshold_.thresholds_
    if classifier.target_type_ == "binary":
        found = unsure(decisions[:, 1], ends, thresholds[0])
        return np.column_stack([found, found])
    return unsure(decisions, ends, thresholds, exclusive=classifier.target_type_ == "multiclass")


def mode_probabilities(classifier: TextClassifier, texts: list[str]) -> FloatArray:
    """Return the probabilities at the mode, not averaged over the posterior, texts × classes."""
    check_posterior(classifier, "the difference that averaging makes")
    model = linear_part(classifier.model_)
    return np.exp(model.scores_to_log_proba(model.mode_scores(_rows(classifier, texts))))


def contribution_intervals(
    classifier: TextClassifier,
    columns: AnyArray,
    values: FloatArray,
    mass: float = USUAL_MASS,
    *,
    usual: bool = False,
) -> FloatArray:
    """Return intervals of what each word of a text adds to the scores, words × categories × 2.

    With vectors of words, the text consists of these words or, if ``usual``, has the usual length.
    """
    model = classifier.model_
    if not len(columns):
        return np.empty((0, number_of_scores(classifier), 2))
    if isinstance(model, WordsAndVectors):
        rows = model.contributions(columns, values, model.length_ if usual else None)
    else:
        n, width = len(columns), model.n_features_in_
        rows = sp.csr_matrix((values, columns, np.arange(n + 1)), shape=(n, width))
    ends = linear_part(model).contribution_interval(rows, mass)
    return ends[:, None] if ends.ndim == 2 else ends


def weight_intervals(classifier: TextClassifier, columns: AnyArray, mass: float = USUAL_MASS) -> FloatArray:
    """Return intervals of the weights of words, as in ``word_weights``, words × categories × 2."""
    return contribution_intervals(classifier, columns, np.ones(len(columns)), mass, usual=True)


def number_of_scores(classifier: TextClassifier) -> int:
    """Return how many scores a text gets: one for each label, but one alone for two that exclude each other."""
    return 1 if classifier.target_type_ == "binary" else len(classifier.classes_)


def _rows(classifier: TextClassifier, texts: list[str]) -> Any:
    """Return what the linear model sees of texts."""
    X = classifier.matrix(texts)
    return classifier.model_.joined(X) if isinstance(classifier.model_, WordsAndVectors) else X
