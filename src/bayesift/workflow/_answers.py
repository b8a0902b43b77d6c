"""What a fitted text classifier can tell: labels, probabilities, words, and what it chose."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from operator import is_not
from typing import Any, NamedTuple, cast

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from bayesift._documents import checked_weights
from bayesift._labels import TargetType
from bayesift._typing import AnyArray, BoolArray, FloatArray
from bayesift.decide.utility import f_beta_of
from bayesift.text import TextScorer
from bayesift.vectors import WordVectors
from bayesift.workflow._label_sets import indicator, label_sets, one_column, rows_of
from bayesift.workflow._models import AUTO, decided, scores_of_rows, used_variance
from bayesift.workflow.certainty import USUAL_MASS, intervals_of
from bayesift.workflow.errors import FeatureWarning, NoWordsWarning, texts_without_words
from bayesift.workflow.explain import Explainer, Reason
from bayesift.workflow.features import FeatureColumns, Features
from bayesift.workflow.model_comparison import ModelComparison
from bayesift.workflow.words_and_vectors import WordsAndVectors, keeps_posterior, linear_part

#: Found in every text that can be cut into words, except words of a single letter.
_SOME_WORD = re.compile(r"\w\w")


class Predictions(NamedTuple):
    """Decisions and probabilities, texts × classes."""

    decisions: BoolArray
    probabilities: FloatArray


class TextAnswers(ClassifierMixin, BaseEstimator):
    """The methods of a fitted text classifier, which use its parts."""

    model: Any
    variance: Any
    features: Features | None
    classes_: AnyArray
    target_type_: TargetType
    vectorizer_: Any
    selector_: Any
    model_: Any
    threshold_: Any

    def predict(self, texts: Iterable[str]) -> AnyArray:
        """Return the label of each text or, if texts may have several, a tuple of labels."""
        return self.labels_of(self._warned_predictions(texts, proba=False).decisions)

    def predict_proba(self, texts: Iterable[str]) -> FloatArray:
        """Return the probability of each label.

        Parameters
        ----------
        texts : iterable of str

        Returns
        -------
        probabilities : ndarray of shape (n_texts, n_classes)
            In the order of ``classes_``; they sum to one if labels exclude each other.
        """
        return self._warned_predictions(texts).probabilities

    @available_if(keeps_posterior)
    def predict_interval(self, texts: Iterable[str], mass: float = USUAL_MASS) -> FloatArray:
        """Return intervals that contain the probability of each label with a given probability.

        Parameters
        ----------
        texts : iterable of str
        mass : float, default=0.9
            How probable it is, given the training labels, that the probability is inside the interval.

        Returns
        -------
        ends : ndarray of shape (n_texts, n_classes, 2)
            In the order of ``classes_``.
        """
        return intervals_of(self, rows_of(texts, self.features), mass)

    def decision_function(self, texts: Iterable[str]) -> FloatArray:
        """Return the scores that the thresholds apply to: log odds, or what the model has instead.

        Returns
        -------
        scores : ndarray of shape (n_texts,) for two labels, else (n_texts, n_classes)
        """
        return self._without_spare_column(self._scores(texts))

    def predictions(self, texts: Iterable[str], *, proba: bool = True) -> Predictions:
        """Return decisions and probabilities, computed together.

        Parameters
        ----------
        texts : iterable of str
        proba : bool, default=True
            Whether to compute probabilities; otherwise ``probabilities`` has no rows.

        Returns
        -------
        Predictions
            ``decisions`` and ``probabilities``, texts × classes.
        """
        scores = self._scores(texts)
        nothing = np.zeros((0, len(self.classes_)))
        if not len(scores):
            return Predictions(nothing > 0, nothing)
        decisions = decided(scores, self.threshold_.thresholds_, self.target_type_)
        if not proba:
            return Predictions(decisions, nothing)
        logs = self.model_.scores_to_log_proba(self._without_spare_column(scores))
        return Predictions(decisions, np.exp(logs, out=logs))

    def explain(self, texts: Iterable[str], k: int = 5) -> list[list[Reason]]:
        """Return for every text the words that count for and against its labels.

        Parameters
        ----------
        texts : iterable of str
        k : int, default=5
            How many words for each label.

        Returns
        -------
        list of list of Reason
            For each text, its labels (or the most probable one, if it has none) with probability and words; the number
            of a word is its weight times its value in the text.
        """
        return Explainer(self).reasons(rows_of(texts, self.features), k)

    def score(self, texts: Iterable[str], y: Iterable[Any], sample_weight: Any = None) -> float:
        """Return the share of texts with the right label or, for sets of labels, the F1 of all decisions together.

        Parameters
        ----------
        texts : iterable of str
        y : iterable of labels or sets of labels
            The truth.
        sample_weight : array of shape (n_texts,), optional
            How much each text counts.

        Returns
        -------
        float
        """
        truth = indicator(label_sets(one_column(y, "y")), self.classes_.tolist()).toarray() > 0
        decisions = self.predictions(texts, proba=False).decisions
        weights = checked_weights(sample_weight, decisions)
        if self.target_type_ == "multilabel-indicator":
            outcomes = truth & decisions, decisions & ~truth, truth & ~decisions
            return float(f_beta_of(*(weights @ outcome.sum(axis=1) for outcome in outcomes)))
        return float(np.average(np.all(truth == decisions, axis=1), weights=weights))

    def matrix(self, texts: Iterable[str]) -> sp.csr_matrix:
        """Return the numbers that the model sees, texts × words; columns of features follow those of words."""
        check_is_fitted(self)
        rows = rows_of(texts, self.features)
        X = self.vectorizer_.transform(rows)
        X = X if self.selector_ is None else self.selector_.transform(X)
        columns = self.features_
        return X if columns is None else sp.hstack([X, columns.transform(rows)], format="csr")

    def words(self) -> AnyArray:
        """List the words and the names of features, in the order of the columns of :meth:`matrix`."""
        check_is_fitted(self)
        names = self.vectorizer_.get_feature_names_out()
        names = names if self.selector_ is None else names[self.selector_.get_support()]
        columns = self.features_
        return names if columns is None else np.array([*names, *columns.terms()], dtype=object)

    def feature_notes(self, texts: Iterable[str]) -> list[str]:
        """Say which features of texts are missing or have unknown values; an empty list without features."""
        check_is_fitted(self)
        columns = self.features_
        return [] if columns is None else columns.sentences(columns.gaps(rows_of(texts, self.features)))

    def count_without_words(self, texts: Iterable[str]) -> int:
        """Return how many texts have no words: they are empty, or have only punctuation and single letters."""
        check_is_fitted(self)
        suspects = [text for text in rows_of(texts, self.features) if _SOME_WORD.search(text) is None]
        return int(np.sum(self.vectorizer_.transform(suspects).getnnz(axis=1) == 0)) if suspects else 0

    def labels_of(self, decisions: Any) -> AnyArray:
        """Turn decisions, texts × classes, into labels or tuples of labels."""
        if self.target_type_ != "multilabel-indicator":
            return self.classes_[np.argmax(decisions, axis=1)]
        found = np.empty(len(decisions), dtype=object)
        names = self.classes_.tolist()
        for place, row in enumerate(decisions):
            found[place] = tuple(names[column] for column in np.flatnonzero(row))
        return found

    def chosen_variance(self) -> Any:
        """Return the prior variance that the fit used, in the form of the parameter ``variance``."""
        check_is_fitted(self)
        return used_variance(self.model_, self.classes_, self.variance)

    def chosen_vector_variance(self) -> float:
        """Return the prior variance of the coefficients of vectors that the fit used; 0 without vectors."""
        check_is_fitted(self)
        return self._dense_variance() if isinstance(self.model_, WordsAndVectors) else 0.0

    def chosen_feature_variance(self) -> float:
        """Return the prior variance of the coefficients of numbers and categories; 0 without them, or if left out."""
        check_is_fitted(self)
        return 0.0 if self.features_ is None else self._dense_variance()

    def similar(self, word: str, k: int = 10, *, labelled: bool = False) -> list[tuple[str, float]]:
        """Return the words of the model that are used most like a word, with the cosines of their vectors.

        Parameters
        ----------
        word : str
            One of :meth:`words`; any other raises a KeyError.
        k : int, default=10
            How many.
        labelled : bool, default=False
            Return only words with a weight of their own, which comes from labelled texts.

        Returns
        -------
        list of (str, float)
            The closest first; empty without vectors of words.
        """
        check_is_fitted(self)
        if not isinstance(self.model_, WordsAndVectors):
            return []
        words, matrix = self.words(), self.model_.matrix_
        if labelled:
            kept = np.any(self.model_.parts()[0] != 0.0, axis=0) | (words == word)
            words, matrix = words[kept], matrix[kept]
        return WordVectors.from_matrix(words, matrix).most_similar(word, k)

    def comparison(self) -> ModelComparison | None:
        """Return the comparison by which the model was chosen; None if it was given."""
        found = getattr(self, "comparison_", None)
        return None if found is None else ModelComparison.from_dict(found)

    @property
    def model_name_(self) -> str:
        """Name of the model: the one given or chosen, or that of its class."""
        check_is_fitted(self)
        return self._chosen_model() if isinstance(self.model, str) else type(self.model_).__name__

    @property
    def features_(self) -> FeatureColumns | None:
        """What was learned about the columns beside the texts; None without features."""
        # Files of earlier versions have none.
        return getattr(self, "_features", None)

    def _warned_predictions(self, texts: Iterable[str], proba: bool = True) -> Predictions:
        """Return predictions, and warn if some texts have no words, or values of features say nothing."""
        texts = list(texts) if isinstance(texts, Iterator) else texts
        found = self.predictions(texts, proba=proba)
        if number := self.count_without_words(texts):
            warnings.warn(texts_without_words(number), NoWordsWarning, stacklevel=3)
        for note in self.feature_notes(texts):
            warnings.warn(note, FeatureWarning, stacklevel=3)
        return found

    def _scores(self, texts: Iterable[str]) -> FloatArray:
        """Return the scores, texts × categories; one column for two classes."""
        check_is_fitted(self)
        columns = self.features_
        rows = one_column(texts, "texts") if columns is None else rows_of(texts, self.features)
        if (scorer := self._linear_scorer()) is not None:
            scores = scorer.scores(rows)
            if columns is None:
                return scores
            return scores + columns.scores(cast("list[str]", rows), self.model_.word_weights())
        X = self.matrix(rows)
        return scores_of_rows(self.model_, X) if X.shape[0] else np.zeros((0, 1))

    def _without_spare_column(self, scores: FloatArray) -> FloatArray:
        """Return scores in the form of ``decision_function``: of one dimension for two classes."""
        return scores[:, 0] if self.target_type_ == "binary" else scores

    def _linear_scorer(self) -> TextScorer | None:
        """Return the fast scorer, kept until vectorizer or model change; None if there is none for them."""
        if not TextScorer.supports(self.vectorizer_):
            return None
        # The parts of both are compared, because a fit or an update may replace some of them.
        linear = linear_part(self.model_)
        key = [*vars(self.vectorizer_).values(), *vars(linear).values()]
        kept = getattr(self, "_scorer", None)
        if kept is None or len(kept[0]) != len(key) or any(map(is_not, key, kept[0])):
            selected = None if self.selector_ is None else np.flatnonzero(self.selector_.get_support())
            made = None
            scores = linear.linear_scores()
            if scores is not None and isinstance(self.model_, WordsAndVectors):
                own, intercept, vectors, weights = self.model_.parts()
                made = TextScorer(
                    self.vectorizer_, own, intercept, selected=selected, vectors=vectors, vector_weights=weights
                )
            elif scores is not None:
                weights, intercept = scores
                n_features = 0 if (columns := self.features_) is None else columns.n_columns
                weights = weights[:, : weights.shape[1] - n_features]
                made = TextScorer(self.vectorizer_, weights, intercept, selected=selected)
            kept = self._scorer = key, made
        return kept[1]

    def _dense_variance(self) -> float:
        used = getattr(linear_part(self.model_), "dense_variance_", [0.0])
        return float(used[0])

    def _is_open(self) -> bool:
        """Tell whether the model is to be chosen."""
        return isinstance(self.model, str) and self.model == AUTO

    def _chosen_model(self) -> Any:
        """Return the model as given, or the name of the one that was chosen."""
        chosen = self.comparison() if self._is_open() else None
        return self.model if chosen is None else chosen.candidate.model
