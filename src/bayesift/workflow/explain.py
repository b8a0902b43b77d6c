"""Which words a classifier decides by: about a text, and for each label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from bayesift._typing import AnyArray, FloatArray
from bayesift.workflow.certainty import contribution_intervals, intervals_of, number_of_scores, weight_intervals
from bayesift.workflow.words_and_vectors import WordsAndVectors, keeps_posterior

if TYPE_CHECKING:
    from bayesift.workflow._answers import Predictions
    from bayesift.workflow.text_classifier import TextClassifier

WeightedWords = list[tuple[str, float]]


class Reason(NamedTuple):
    """A label, whether the text got it, its probability, and the words that count for it (+) and against it (−).

    ``company`` has the same words, each with the part of its number that comes from words used like it; it is empty for
    models without vectors of words. If the model keeps its posterior, ``interval`` and ``word_intervals`` contain the
    probability and the numbers of the same words with probability 0.9.
    """

    label: str
    accepted: bool
    probability: float
    words: WeightedWords
    company: WeightedWords = []  # noqa: RUF012  (nobody adds to it)
    interval: tuple[float, float] | None = None
    word_intervals: list[tuple[float, float]] = []  # noqa: RUF012


class Explainer:
    """Finds the reasons of decisions; the weights of all words are looked up once, for any number of texts.

    Parameters
    ----------
    classifier : TextClassifier
        Fitted. If it learns more, make a new Explainer.
    """

    def __init__(self, classifier: TextClassifier) -> None:
        check_is_fitted(classifier)
        self._classifier = classifier
        self._weights = classifier.model_.word_weights()
        self._words = classifier.words()
        self._averages = keeps_posterior(classifier)

    def reasons(self, texts: list[str], k: int, predictions: Predictions | None = None) -> list[list[Reason]]:
        """Return for every text the reasons of its labels, or of the most probable label if it has none.

        Parameters
        ----------
        texts : list of str
            The texts.
        k : int
            How many words for each label.
        predictions : Predictions, optional
            Those of the texts, if they are known already.

        Returns
        -------
        list of list of Reason
        """
        if k < 1:
            raise ValueError(f"k is {k!r}; expected at least 1")
        classifier = self._classifier
        decisions, probabilities = classifier.predictions(texts) if predictions is None else predictions
        X = classifier.matrix(texts)
        ends = intervals_of(classifier, texts) if self._averages else None
        found = []
        for place in range(len(texts)):
            chosen = np.flatnonzero(decisions[place])
            if not chosen.size:
                chosen = np.array([np.argmax(probabilities[place])])
            chosen = chosen[np.argsort(-probabilities[place, chosen], kind="stable")]
            entries = slice(*X.indptr[place : place + 2])
            columns = X.indices[entries]
            added, company = self._shares(columns, X.data[entries])
            names = self._names(columns, texts[place])
            spans = contribution_intervals(classifier, columns, X.data[entries]) if self._averages else None
            reasons = []
            for column in chosen.tolist():
                words = largest(names, _towards(classifier, added, column), k)
                by_company: WeightedWords = []
                if company is not None:
                    amounts = dict(zip(self._words[columns], _towards(classifier, company, column), strict=True))
                    by_company = [(word, float(amounts[word])) for word, _ in words]
                given, probability = bool(decisions[place, column]), float(probabilities[place, column])
                reason = Reason(str(classifier.classes_[column]), given, probability, words, by_company)
                if ends is not None and spans is not None:
                    own = dict(zip(names, _span_towards(classifier, spans, column), strict=True))
                    reason = reason._replace(
                        interval=_pair(ends[place, column]), word_intervals=[_pair(own[word]) for word, _ in words]
                    )
                reasons.append(reason)
            found.append(reasons)
        return found

    def _names(self, columns: AnyArray, text: str) -> AnyArray:
        """Return the names of a text's words, and its features with their values."""
        features = self._classifier.features_
        names = self._words[columns]
        if features is None:
            return names
        values, first = features.values_of(text), len(self._words) - features.n_dense
        return np.array(
            [values.get(name, name) if column >= first else name for column, name in zip(columns, names, strict=True)],
            dtype=object,
        )

    def _shares(self, columns: AnyArray, values: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        """Return what each word of a text adds to the scores, and the part of it that comes from its vector."""
        model = self._classifier.model_
        if isinstance(model, WordsAndVectors):
            own, company = model.shares(columns, values)
            return own + company, company
        return _added(self._classifier, columns, values, self._weights), None


def top_words(classifier: TextClassifier, k: int = 10) -> dict[str, WeightedWords]:
    """Return for every label the words with the largest weights, by size; with two labels, those that count for each.

    Parameters
    ----------
    classifier : TextClassifier
        Fitted.
    k : int, default=10
        How many words for each label.

    Returns
    -------
    dict of str to list of (str, float)
        Words and weights of every label; empty lists for models without word weights.
    """
    check_is_fitted(classifier)
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


def top_word_intervals(
    classifier: TextClassifier, words: dict[str, WeightedWords]
) -> dict[str, list[tuple[float, float]]]:
    """Return intervals that contain the weights of :func:`top_words` with probability 0.9; none without a posterior.

    Parameters
    ----------
    classifier : TextClassifier
        Fitted.
    words : dict of str to list of (str, float)
        Words and weights of labels.

    Returns
    -------
    dict of str to list of (float, float)
        For every label the intervals of its words, in their order.
    """
    if not keeps_posterior(classifier):
        return {label: [] for label in words}
    place = {word: column for column, word in enumerate(classifier.words().tolist())}
    labels = [str(label) for label in classifier.classes_]
    found = {}
    for label, weighted in words.items():
        spans = weight_intervals(classifier, np.array([place[word] for word, _ in weighted], dtype=np.int64))
        found[label] = [_pair(ends) for ends in _span_towards(classifier, spans, labels.index(label))]
    return found


def _added(classifier: TextClassifier, columns: AnyArray, values: FloatArray, weights: Any) -> FloatArray:
    """Return what each word of a text adds to the scores, categories × words of the text."""
    if weights is not None:
        picked = weights[:, columns]
        return np.asarray(picked.toarray() if sp.issparse(picked) else picked) * values
    # Without word weights: what the score loses when a word is taken out.
    n = len(columns)
    if not n:
        return np.zeros((number_of_scores(classifier), 0))
    with_all, without_one = values[None], np.where(np.eye(n, dtype=bool), 0.0, values)
    rows = sp.csr_matrix(np.vstack([with_all, without_one]))
    n_columns = classifier.model_.n_features_in_
    rows = sp.csr_matrix((rows.data, columns[rows.indices], rows.indptr), shape=(n + 1, n_columns))
    scores = classifier.model_.decision_function(rows).reshape(n + 1, -1)
    return (scores[0] - scores[1:]).T


def _towards(classifier: TextClassifier, added: FloatArray, column: int) -> FloatArray:
    """Pick what counts for a label; with two labels there is only the score of the second."""
    if classifier.target_type_ == "binary":
        return added[0] if column == 1 else -added[0]
    return added[column]


def _span_towards(classifier: TextClassifier, spans: FloatArray, column: int) -> FloatArray:
    """Pick the intervals of what counts for a label, words × 2, as :func:`_towards` picks the numbers."""
    if classifier.target_type_ == "binary":
        return spans[:, 0] if column == 1 else -spans[:, 0, ::-1]
    return spans[:, column]


def _pair(ends: FloatArray) -> tuple[float, float]:
    return float(ends[0]), float(ends[1])


def _row(weights: Any, place: int) -> FloatArray:
    found = weights[[place]]
    return np.asarray(found.toarray() if sp.issparse(found) else found).ravel()


def largest(words: Any, values: FloatArray, k: int) -> WeightedWords:
    """Return the k words with the largest absolute values, without those whose value is zero."""
    order = np.argsort(-np.abs(values), kind="stable")[:k]
    return [(str(words[place]), float(values[place])) for place in order.tolist() if values[place] != 0]


def nonzero_words(weights: Any) -> int:
    """Count the words with a weight in any category."""
    if sp.issparse(weights):
        return int(np.unique(weights.nonzero()[1]).size)
    return int(np.count_nonzero(np.any(weights != 0, axis=0)))
