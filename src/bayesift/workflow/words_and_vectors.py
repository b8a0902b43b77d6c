"""Words and vectors: a linear model of both that takes only words, and the pile of texts that vectors come from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from bayesift._classifier import ScoreClassifier
from bayesift._documents import validated
from bayesift._state import State, unchanged_by_errors
from bayesift._typing import AnyArray, FloatArray
from bayesift.text import TextVectorizer
from bayesift.vectors import WordVectors, document_vectors
from bayesift.workflow._models import AUTO, vectorizer_for
from bayesift.workflow.errors import VectorsError

#: The linear models, whose features may be words and dense features.
LINEAR_MODELS = ("lasso", "ridge", "polytomous", "polytomous-ridge", "probit", "probit-ridge")

#: Whether to use vectors: always, of the texts and the pile, or as cross-validation says if there is a pile.
PILE = "pile"

#: Avoids a division by zero: the document frequency factor of a word in all texts may be 0.
_LEAST_FACTOR = 1e-3

#: Fewer texts without labels say too little to be worth trying.
LEAST_PILE = 50

#: With this many texts or more, only words in at least three texts get a vector; fewer texts have few words anyway.
_MANY_TEXTS = 1_000


class Shares(NamedTuple):
    """What the words of a document add to the scores, categories × words: by themselves, and by their vectors."""

    own: FloatArray
    company: FloatArray


@dataclass(eq=False, repr=False)
class WordsAndVectors(ScoreClassifier):
    """A linear model with a coefficient for each word and for each direction of the vector of a document.

    The score of a document with the term weights x is β₀ + Σ_w x_w (δ_w + e_wᵀγ / ‖xE‖): every word counts by itself,
    δ_w, and by its vector, e_wᵀγ. So words that occur in no labelled document count as well.

    Parameters
    ----------
    model : linear model
        One with the parameter ``dense_features``, such as :class:`bayesift.linear.BayesianLogisticRegression`.
    vectors : array of shape (n_words, rank)
        E, the vectors of the words by column, as :meth:`bayesift.vectors.WordVectors.matrix` returns them; kept in half
        precision.

    Attributes
    ----------
    classes_, target_type_, n_features_in_
        As in every classifier; the features are words.
    model_ : linear model
        Fitted to words and vectors.
    matrix_ : ndarray of float16 of shape (n_words, rank)
        The vectors in use.
    length_ : float
        Median length of xE in the documents it was fitted to.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.linear import BayesianLogisticRegression
    >>> from bayesift.workflow import WordsAndVectors
    >>> E = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]
    >>> X = np.array([[1.0, 0, 0, 0], [0, 0, 1.0, 0]])
    >>> linear = BayesianLogisticRegression("gaussian", 1.0, dense_variance=1.0)
    >>> model = WordsAndVectors(linear, E).fit(X, ["farm", "sea"])

    The second and fourth words were in no document, but have the vectors of the first and third:

    >>> model.predict(np.array([[0, 1.0, 0, 0], [0, 0, 0, 1.0]])).tolist()
    ['farm', 'sea']
    """

    model: Any
    vectors: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None, feature_names: Any = None) -> Self:
        """Fit the model to words and vectors.

        Parameters
        ----------
        X : sparse matrix or array of shape (n_documents, n_words)
            Term weights.
        y : array of shape (n_documents,), or indicator matrix of shape (n_documents, n_categories)
        sample_weight : array of shape (n_documents,), optional
        feature_names : sequence of str, optional
            The words, for priors that name them.

        Returns
        -------
        self
        """
        with unchanged_by_errors(self):
            self._fit(X, y, sample_weight, feature_names)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, feature_names: Any) -> None:
        with np.errstate(over="ignore"):
            matrix = np.asarray(self.vectors, dtype=np.float16)
        X = validated(self, X, accept_sparse="csr")
        if matrix.ndim != 2 or matrix.shape[0] != X.shape[1] or not np.isfinite(matrix).all():
            raise ValueError(
                f"vectors have shape {matrix.shape}; expected finite numbers, a row for each of the {X.shape[1]} words"
            )
        self.matrix_ = matrix
        directions, lengths = document_vectors(X, self._single())
        options = {} if sample_weight is None else {"sample_weight": sample_weight}
        if feature_names is not None:
            options["feature_names"] = [*feature_names, *map(str, range(matrix.shape[1]))]
        model = clone(self.model).set_params(dense_features=matrix.shape[1])
        self.model_ = model.fit(_side_by_side(X, directions), y, **options)
        self.length_ = float(np.median(lengths[lengths > 0])) if np.any(lengths > 0) else 1.0
        self.classes_, self.target_type_ = self.model_.classes_, self.model_.target_type_

    def decision_function(self, X: Any) -> FloatArray:
        """Return the scores of the model: an array of shape (n_documents,) for two classes."""
        return self.model_.decision_function(self.joined(X))

    def joined(self, X: Any) -> sp.csr_matrix:
        """Return what the model sees: the words, followed by the vectors of the documents."""
        check_is_fitted(self)
        X = validated(self, X, accept_sparse="csr", reset=False)
        return _side_by_side(X, document_vectors(X, self._single()).directions)

    def scores_to_log_proba(self, scores: FloatArray) -> FloatArray:
        """Turn scores of the model into log probabilities."""
        found: FloatArray = self.model_.scores_to_log_proba(scores)
        return found

    def word_weights(self) -> FloatArray:
        """Return the weight of every word in a document of the usual length, δ_w + e_wᵀγ / length."""
        own, _, _, company = self.parts()
        return own + company @ self._single().T / self.length_

    def parts(self) -> tuple[FloatArray, FloatArray, AnyArray, FloatArray]:
        """Return δ, the intercepts, E in single precision, and γ; a row for each category."""
        check_is_fitted(self)
        # With a posterior, scores are not linear; these are the weights at its mode.
        coef, intercept = self.model_.linear_scores() or (self.model_.coef_, self.model_.intercept_)
        coef = coef.toarray() if sp.issparse(coef) else coef
        n_words = self.matrix_.shape[0]
        return coef[:, :n_words], intercept, self._single(), coef[:, n_words:]

    def shares(self, columns: AnyArray, values: FloatArray) -> Shares:
        """Return what each word of a document adds to its scores, which are the sum of these and the intercepts.

        Parameters
        ----------
        columns : array of int
            The words of the document.
        values : array of float
            Their weights, x.

        Returns
        -------
        Shares
        """
        own, _, vectors, company = self.parts()
        found = vectors[columns].astype(np.float64)
        length = float(np.linalg.norm(values @ found))
        towards = company @ found.T / length if length > 0 else np.zeros((company.shape[0], len(columns)))
        return Shares(own[:, columns] * values, towards * values)

    def contributions(self, columns: AnyArray, values: FloatArray, length: float | None = None) -> sp.csr_matrix:
        """Return a row for each word of a document: its part of the document's features as the model sees them.

        Parameters
        ----------
        columns, values
            As for :meth:`shares`.
        length : float, optional
            The length of xE for the document; by default, that of these words.

        Returns
        -------
        csr_matrix of shape (n_words of the document, n_words + rank)
        """
        check_is_fitted(self)
        found = self._single()[columns].astype(np.float64) * values[:, None]
        length = float(np.linalg.norm(found.sum(axis=0))) if length is None else length
        own = sp.csr_matrix((values, columns, np.arange(len(columns) + 1)), shape=(len(columns), self.n_features_in_))
        return _side_by_side(own, found / length if length > 0 else np.zeros_like(found))

    def grow(self, n_words: int) -> None:
        """Make room for new words after the known ones; they have no vector."""
        more = n_words - self.matrix_.shape[0]
        if more > 0:
            self.matrix_ = np.vstack([self.matrix_, np.zeros((more, self.matrix_.shape[1]), dtype=np.float16)])
            self.n_features_in_ = n_words

    @property
    def threshold_(self) -> Any:
        """The thresholds of the model, if it has any."""
        return self.model_.threshold_

    @threshold_.setter
    def threshold_(self, threshold: Any) -> None:
        self.model_.threshold_ = threshold

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self.model.__sklearn_tags__().classifier_tags.multi_label
        return tags

    def _single(self) -> AnyArray:
        """Return the vectors in single precision, kept until they change."""
        kept = getattr(self, "_converted", None)
        if kept is None or kept[0] is not self.matrix_:
            kept = self._converted = self.matrix_, self.matrix_.astype(np.float32)
        return kept[1]

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        state.pop("_converted", None)
        # Kept in half precision, as matrix_.
        if "matrix_" in state:
            state["vectors"] = None
        return state

    def _check_state(self, state: State) -> None:
        n_words, (classes, kind) = state.features(), state.targets()
        matrix = state.value("matrix_")
        fits = isinstance(matrix, np.ndarray) and matrix.dtype == np.float16 and matrix.ndim == 2
        state.require(fits and matrix.shape[0] == n_words and bool(np.isfinite(matrix).all()), "vectors")
        length = state.value("length_")
        state.require(type(length) is float and 0 < length < np.inf, "length")
        model = state.value("model_")
        known = isinstance(model, ScoreClassifier) and getattr(model, "n_features_in_", None) == sum(matrix.shape)
        state.require(known and model.target_type_ == kind and model.classes_.size == classes.size, "model and vectors")
        state.require(hasattr(model, "coef_"), "model and vectors")


def linear_part(model: Any) -> Any:
    """Return the linear model inside a model of words and vectors; any other model as it is."""
    return model.model_ if isinstance(model, WordsAndVectors) else model


def keeps_posterior(classifier: Any) -> bool:
    """Tell whether the model of a fitted text classifier keeps its posterior and not only the mode."""
    return hasattr(linear_part(getattr(classifier, "model_", None)), "posteriors_")


def _side_by_side(X: Any, directions: FloatArray) -> sp.csr_matrix:
    return sp.hstack([sp.csr_matrix(X), sp.csr_matrix(directions)], format="csr")


class Pile:
    """Labelled and unlabelled texts together; vectors of their words are learned once, when first needed.

    Parameters
    ----------
    classifier : TextClassifier
        The classifier whose parameters apply.
    texts : sequence of str
        The texts with labels.
    unlabelled : iterable of str or None
        The texts without labels.
    """

    def __init__(self, classifier: Any, texts: Sequence[str], unlabelled: Iterable[str] | None) -> None:
        self._classifier = classifier
        more = [] if unlabelled is None else list(unlabelled)
        if isinstance(unlabelled, str) or not all(isinstance(text, str) for text in more):
            odd = [unlabelled] if isinstance(unlabelled, str) else [text for text in more if not isinstance(text, str)]
            raise TypeError(f"unlabelled has {odd[0]!r:.40} of type {type(odd[0]).__name__}; expected a list of texts")
        self._texts = [*texts, *more]
        self.n_unlabelled = len(more)
        self._learnt: WordVectors | None = None
        self._vectorizers: dict[str, Any] = {}

    def is_open(self) -> bool:
        """Tell whether vectors are used only if they help, and can be: there are words, and texts without labels."""
        setting = self._classifier.vectors
        is_auto = isinstance(setting, str) and setting == AUTO
        return is_auto and self.n_unlabelled >= LEAST_PILE and can_use_pile(self._classifier)

    def is_wanted(self) -> bool:
        """Tell whether vectors are used in any case."""
        setting = self._classifier.vectors
        return setting is not None and not (isinstance(setting, str) and setting == AUTO)

    def vectorizer(self, model: Any, *, pairs: bool) -> Any:
        """Return the vectorizer for words with vectors, fitted to all texts."""
        classifier = self._classifier
        made = vectorizer_for(classifier.vectorizer, model, len(self._texts), pairs=pairs, n_jobs=classifier.n_jobs)
        # A large pile is counted once for the comparison and the fit.
        key = repr(made.get_params())
        if key not in self._vectorizers:
            self._vectorizers[key] = made.fit(self._texts)
        return self._vectorizers[key]

    def with_vectors(self, model: Any, vectorizer: Any, kept: AnyArray | None = None) -> WordsAndVectors:
        """Return a linear model with the vectors of its words: those that ``kept`` selects, or all.

        Rare words have large weights in a text and long vectors too, which would count twice, so vectors are divided by
        the square root of the document frequency factor.
        """
        names, factor = vectorizer.get_feature_names_out(), np.asarray(vectorizer.idf_)
        vectors = self.word_vectors(vectorizer)
        if vectors is self._classifier.vectors and vectors.coverage(names) == 0:
            raise VectorsError(
                f"vectors have none of the {len(names):,} words of the texts, such as {names[0]!r}, but "
                f"{len(vectors):,} others; expected vectors of the same words"
            )
        matrix = vectors.matrix(names) / np.sqrt(np.maximum(factor, _LEAST_FACTOR))[:, None]
        return WordsAndVectors(model, (matrix if kept is None else matrix[kept]).astype(np.float16))

    def word_vectors(self, vectorizer: Any) -> WordVectors:
        """Return the vectors, which are learned now if necessary."""
        if self._learnt is None:
            setting = self._classifier.vectors
            given = setting if isinstance(setting, WordVectors) else None
            if given is not None and hasattr(given, "vectors_"):
                self._learnt = given
            else:
                words = clone(vectorizer).set_params(ngram_range=(1, 1)) if hasattr(vectorizer, "ngram_range") else None
                made = WordVectors() if given is None else clone(given)
                if given is None:
                    made.set_params(
                        vectorizer=words,
                        min_df=3 if len(self._texts) >= _MANY_TEXTS else 1,
                        n_jobs=self._classifier.n_jobs,
                    )
                self._learnt = made.fit(self._texts)
        return self._learnt


def can_use_pile(classifier: Any) -> bool:
    """Tell whether a classifier can use texts without labels: it may, its model is linear, and it knows its words."""
    model = classifier.model
    named = isinstance(model, str) and (model == AUTO or model in LINEAR_MODELS)
    if classifier.features is not None:
        return False
    return classifier.vectors is not None and has_words(classifier.vectorizer) and (named or classifier.vectors != AUTO)


def has_words(vectorizer: Any) -> bool:
    """Tell whether the terms of a vectorizer, given as in a classifier, are words that can have vectors."""
    if isinstance(vectorizer, TextVectorizer):
        vectorizer = vectorizer.get_params()
    options = vectorizer if isinstance(vectorizer, Mapping) else {}
    return options.get("n_features") is None and options.get("analyzer", "word") == "word"


def check_vectors(setting: Any, model: Any, vectorizer: Any = None) -> None:
    """Refuse an unknown setting, and vectors for a model or for terms that cannot have them."""
    named = isinstance(setting, str) and setting in (AUTO, PILE)
    if setting is not None and not named and not isinstance(setting, WordVectors):
        raise ValueError(f"vectors is {setting!r}; expected 'auto', 'pile', WordVectors or None")
    wanted = setting is not None and not (isinstance(setting, str) and setting == AUTO)
    if not wanted:
        return
    fits = model in (AUTO, *LINEAR_MODELS) if isinstance(model, str) else "dense_features" in model.get_params()
    if not fits:
        raise VectorsError(
            f"vectors is {setting!r}, but model is {model!r}; expected None, or a linear model: "
            f"{', '.join(LINEAR_MODELS)}"
        )
    if not has_words(vectorizer):
        raise VectorsError(f"vectors is {setting!r}, but terms are hashed or sequences of characters; expected words")
