"""By which words a classifier decides: about a text, and for each label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from bayesift._typing import FloatArray

if TYPE_CHECKING:
    from bayesift.workflow.text_classifier import TextClassifier

WeightedWords = list[tuple[str, float]]


class Reason(NamedTuple):
    """A label, whether the text got it, its probability, and the words that count for it (+) and against it (−)."""

    label: str
    accepted: bool
    probability: float
    words: WeightedWords


def reasons(classifier: TextClassifier, texts: list[str], k: int) -> list[list[Reason]]:
    """Return for every text the reasons of its labels, or of the most probable label if it has none."""
    if k < 1:
        raise ValueError(f"k is {k!r}; expected at least 1")
    decisions, probabilities = classifier.predictions(texts)
    X = classifier.matrix(texts)
    weights = classifier.model_.word_weights()
    words = classifier.words()
    found = []
    for place in range(len(texts)):
        chosen = np.flatnonzero(decisions[place])
        if not chosen.size:
            chosen = np.array([np.argmax(probabilities[place])])
        chosen = chosen[np.argsort(-probabilities[place, chosen], kind="stable")]
        x = X[[place]]
        added = _added(classifier, x, weights)
        found.append(
            [
                Reason(
                    str(classifier.classes_[column]),
                    bool(decisions[place, column]),
                    float(probabilities[place, column]),
                    largest(words[x.indices], _towards(classifier, added, int(column)), k),
                )
                for column in chosen.tolist()
            ]
        )
    return found


def top_words(classifier: TextClassifier, k: int = 10) -> dict[str, WeightedWords]:
    """Return for every label the words with the largest weights, by size; of two labels, those that count for each.

    Parameters
    ----------
    classifier : TextClassifier
        Fitted.
    k : int, default=10
        How many words for each label.

    Returns
    -------
    dict of str to list of (str, float)
        Words and weights of every label; none for models that have no weights of words.
    """
    weights = classifier.model_.word_weights()
    labels = [str(label) for label in classifier.classes_]
    if weights is None:
        return {label: [] for label in labels}
    words = classifier.words()
    if classifier.target_type_ == "binary":
        second = _row(weights, 0)
        return {
            labels[0]: largest(words, np.maximum(-second, 0.0), k),
            labels[1]: largest(words, np.maximum(second, 0.0), k),
        }
    return {label: largest(words, _row(weights, place), k) for place, label in enumerate(labels)}


def _added(classifier: TextClassifier, x: sp.csr_matrix, weights: Any) -> FloatArray:
    """Return what each word of a text adds to the scores, categories × words of the text."""
    if weights is not None:
        picked = weights[:, x.indices]
        return np.asarray(picked.toarray() if sp.issparse(picked) else picked) * x.data
    # Without weights of words: what the score loses when a word is taken out.
    n = x.nnz
    without = sp.csr_matrix(np.where(np.eye(n, dtype=bool), 0.0, x.data)) if n else sp.csr_matrix((0, 0))
    rows = sp.csr_matrix((without.data, x.indices[without.indices], without.indptr), shape=(n, x.shape[1]))
    if not n:
        return np.zeros((1, 0))
    with_all, without_one = (classifier.model_.decision_function(part) for part in (x, rows))
    return (with_all.reshape(1, -1) - without_one.reshape(n, -1)).T


def _towards(classifier: TextClassifier, added: FloatArray, column: int) -> FloatArray:
    """Pick what speaks for a label; of two labels there is one score, that of the second."""
    if classifier.target_type_ == "binary":
        return added[0] if column == 1 else -added[0]
    return added[column]


def _row(weights: Any, place: int) -> FloatArray:
    found = weights[[place]]
    return np.asarray(found.toarray() if sp.issparse(found) else found).ravel()


def largest(words: Any, values: FloatArray, k: int) -> WeightedWords:
    """Return the k words whose values are largest in size, without those whose value is zero."""
    order = np.argsort(-np.abs(values), kind="stable")[:k]
    return [(str(words[place]), float(values[place])) for place in order.tolist() if values[place] != 0]


def nonzero_words(weights: Any) -> int:
    """Count the words with a weight in any category."""
    if sp.issparse(weights):
        return int(np.unique(weights.nonzero()[1]).size)
    return int(np.count_nonzero(np.any(weights != 0, axis=0)))
