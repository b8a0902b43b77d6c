"""What the online models share: labels, passes over the documents, threads over categories, and predictions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from numbers import Integral, Real
from typing import Any, Self, TypeVar

import numpy as np
from joblib import effective_n_jobs
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from bayesift._labels import Categories, batch_categories, categories_of, check_label_types, validate_documents
from bayesift._sparse import Compressed, compressed, selected
from bayesift._state import LABEL_KINDS, are_columns, check_array, check_fit, checked_count
from bayesift._typing import AnyArray, FloatArray, Int64Array
from bayesift.online._moments import expected_information, log_evidences
from bayesift.online.belief import Likelihood, LikelihoodName, likelihood_of

#: What the parameters that all models have may be.
SHARED_CONSTRAINTS: dict[str, Any] = {
    "likelihood": [StrOptions({"probit", "flip"})],
    "noise": [Interval(Real, 0, None, closed="neither")],
    "kappa": [Interval(Real, 0, 0.5, closed="left")],
    "passes": [Interval(Integral, 1, None, closed="left")],
    "features": ["array-like", None],
    "shuffle": ["boolean"],
    "n_jobs": [Integral, None],
    "random_state": ["random_state"],
}

State = TypeVar("State")


class OnlineClassifier(ClassifierMixin, BaseEstimator):
    """A belief for each category, changed by one document after the other.

    A subclass has the parameters of ``SHARED_CONSTRAINTS`` and says how a belief begins, learns and predicts; a belief
    is a named tuple with a ``log_evidence``.
    """

    likelihood: LikelihoodName
    noise: float
    kappa: float
    passes: int
    features: Any
    shuffle: bool
    n_jobs: int | None
    random_state: Any

    def _constant(self) -> bool:
        """Whether a constant feature is added to the documents."""
        raise NotImplementedError

    def _begin(self, columns: Int64Array | None) -> Any:
        """Return the belief before any document, over these columns (None: all)."""
        raise NotImplementedError

    def _learn(self, state: Any, rows: Compressed, y: FloatArray, order: Int64Array) -> Any:
        """Return the belief after these documents; arrays of the old one may be overwritten."""
        raise NotImplementedError

    def _fields(self, state: Any, rows: Compressed) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the field of each document."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from the documents afresh, in ``passes`` passes over them.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n_documents, n_features)
            Term weights; sparse matrices are the natural form.
        y : array of shape (n_documents,), or indicator matrix of shape (n_documents, n_categories)
            Labels of any type, or zeros and ones for each category.

        Returns
        -------
        self
        """
        self._validate_params()
        X, y = validate_documents(self, X, y, accept_sparse="csr")
        self._start(categories_of(y, type(self).__name__), X, self.passes)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Go on learning from more documents, one or many, in one pass.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n_documents, n_features)
            Term weights.
        y : array of shape (n_documents,), or indicator matrix of shape (n_documents, n_categories)
            Labels, or zeros and ones for each category.
        classes : array of shape (n_classes,), optional
            All labels that will ever occur; needed at the first call unless ``y`` is an indicator matrix.

        Returns
        -------
        self
        """
        self._validate_params()
        check_label_types(y)
        first = not hasattr(self, "states_")
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, multi_output=True, reset=first)
        if not first and classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(f"classes is {classes!r}; expected {self.classes_.tolist()} as in the first call")
        known = classes if first else self.classes_
        categories = batch_categories(y, known, None if first else self.target_type_, type(self).__name__)
        if first:
            self._start(categories, X, 1)
        else:
            self._learn_all(categories, X, 1)
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Return u = μ/λ, the mean of the field over the spread of field and noise; 0 is a probability of one half.

        Parameters
        ----------
        X : sparse matrix or array of shape (n_documents, n_features)

        Returns
        -------
        scores : ndarray of shape (n_documents,) for two classes, else (n_documents, n_categories)
        """
        sigma = self._likelihood().sigma

        def score(mean: FloatArray, variance: FloatArray) -> FloatArray:
            spread = np.sqrt(sigma * sigma + variance)
            return np.divide(mean, spread, out=np.zeros_like(mean), where=spread > 0)

        return self._predictions(X, score)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return log probabilities, with the weights integrated over the belief.

        Parameters
        ----------
        X : sparse matrix or array of shape (n_documents, n_features)

        Returns
        -------
        log_probabilities : ndarray of shape (n_documents, n_classes)
            For an indicator matrix, that of each category on its own; for several classes they are scaled to a sum of
            one.
        """
        likelihood = self._likelihood()
        if getattr(self, "target_type_", None) == "binary":
            pair = [
                self._predictions(X, lambda *field, y=y: log_evidences(y, *field, *likelihood)) for y in (-1.0, 1.0)
            ]
            return np.column_stack(pair)
        logs = self._predictions(X, lambda *field: log_evidences(1.0, *field, *likelihood))
        if self.target_type_ == "multiclass":
            logs -= logsumexp(logs, axis=1, keepdims=True)
        return logs

    def predict_proba(self, X: Any) -> FloatArray:
        """Return probabilities, with the weights integrated over the belief.

        Parameters
        ----------
        X : sparse matrix or array of shape (n_documents, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_documents, n_classes)
            For an indicator matrix, that of each category on its own.
        """
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> AnyArray:
        """Decide for a category where its probability is at least one half, or for the most probable class.

        Parameters
        ----------
        X : sparse matrix or array of shape (n_documents, n_features)

        Returns
        -------
        labels : ndarray of shape (n_documents,), or a 0/1 indicator of shape (n_documents, n_categories)
        """
        scores = self.decision_function(X)
        if self.target_type_ == "multiclass":
            return self.classes_[np.argmax(scores, axis=1)]
        decisions = (scores >= 0).astype(np.int64)
        return self.classes_[decisions] if self.target_type_ == "binary" else decisions

    def information_gain(self, X: Any) -> FloatArray:
        """Return the bits about the weights that the judgement of each document is expected to bring.

        It is the mutual information of judgement and weights, H₂(p) − E[H₂(p(y = 1 | a, x))], under the belief.

        Parameters
        ----------
        X : sparse matrix or array of shape (n_documents, n_features)

        Returns
        -------
        bits : ndarray of shape (n_documents,) for two classes, else (n_documents, n_categories)
        """
        likelihood = self._likelihood()
        return self._predictions(X, lambda *field: expected_information(*field, *likelihood))

    @property
    def log_evidence_(self) -> FloatArray:
        """Σ ln p(y | x) of each category, every document under the belief before it; later passes do not count."""
        check_is_fitted(self)
        return np.array([state.log_evidence for state in self.states_])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags

    def _check_belief(self, belief: Any, n_features: int) -> None:
        """Refuse a belief about so many columns whose arrays do not fit together."""
        raise NotImplementedError

    def _check_state(self) -> None:
        if not hasattr(self, "states_"):
            return
        n = checked_count(self, "n_features_in_")
        check_array(self, "classes_", (None,), LABEL_KINDS)
        expected = 1 if self.target_type_ == "binary" else self.classes_.size
        check_fit(len(self.columns_) == len(self.states_) == expected, self, "classes and beliefs")
        for columns, belief in zip(self.columns_, self.states_, strict=True):
            check_fit(columns is None or are_columns(columns, n), self, "columns")
            self._check_belief(belief, n if columns is None else columns.size)

    def _likelihood(self) -> Likelihood:
        return likelihood_of(self.likelihood, self.noise, self.kappa)

    def _start(self, categories: Categories, X: Any, passes: int) -> None:
        columns = columns_of(self.features, len(categories.members), X.shape[1])
        states = [self._begin(own) for own in columns]
        self.classes_, self.target_type_ = categories.classes, categories.target_type
        self.columns_, self.states_ = columns, states
        self._learn_all(categories, X, passes)

    def _learn_all(self, categories: Categories, X: Any, passes: int) -> None:
        n = X.shape[0]
        random = check_random_state(self.random_state)
        orders = [random.permutation(n) if self.shuffle else np.arange(n) for _ in range(passes)]

        def work(k: int, rows: Compressed) -> Any:
            y = categories.target(k)
            state = self._learn(self.states_[k], rows, y, orders[0])
            evidence = state.log_evidence
            for order in orders[1:]:
                state = self._learn(state, rows, y, order)
            return state._replace(log_evidence=evidence)

        self.states_ = self._for_categories(X, work)

    def _for_categories(self, X: Any, work: Callable[[int, Compressed], State]) -> list[State]:
        """Call ``work`` for every category with the rows it sees, on several threads that share the documents."""
        documents, n_features = compressed(X), X.shape[1]
        shared = None
        if all(columns is None for columns in self.columns_):
            shared = selected(documents, n_features, None, self._constant())

        def one(k: int) -> State:
            return work(k, shared or selected(documents, n_features, self.columns_[k], self._constant()))

        places = range(len(self.columns_))
        n_threads = min(int(effective_n_jobs(self.n_jobs)), len(places))
        if n_threads == 1:
            return [one(k) for k in places]
        with ThreadPoolExecutor(n_threads) as pool:
            return list(pool.map(one, places))

    def _predictions(self, X: Any, of_fields: Callable[[FloatArray, FloatArray], FloatArray]) -> FloatArray:
        """Compute something from the fields of every document and category."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        found = self._for_categories(X, lambda k, rows: of_fields(*self._fields(self.states_[k], rows)))
        return found[0] if self.target_type_ == "binary" else np.column_stack(found)

    def _add_columns(self, new: int | Sequence[str]) -> None:
        """Take note of more columns, by their number or their names."""
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            if isinstance(new, (int, np.integer)):
                raise ValueError(f"new is {new!r}; expected the names of the features, since the others have names")
            if set(new) & set(names) or len(set(new)) < len(new):
                raise ValueError(f"new is {new!r}; expected different names that no feature has yet")
            self.feature_names_in_ = np.append(names, np.asarray(new, dtype=object))
        fresh = np.arange(self.n_features_in_, self.n_features_in_ + number_of(new))
        self.columns_ = [None if columns is None else np.append(columns, fresh) for columns in self.columns_]
        self.n_features_in_ += fresh.size


def number_of(new: int | Sequence[str]) -> int:
    """Return how many features are added."""
    count = int(new) if isinstance(new, (int, np.integer)) else len(new)
    if count < 1:
        raise ValueError(f"new is {new!r}; expected at least one feature")
    return count


def columns_of(features: Any, n_categories: int, n_features: int) -> list[Int64Array | None]:
    """Return the column numbers that each category uses, from an indicator matrix or lists of numbers; None is all."""
    if features is None:
        return [None] * n_categories
    if len(features) != n_categories:
        raise ValueError(f"features has {len(features)} entries; expected {n_categories}, one for each category")
    result: list[Int64Array | None] = []
    for k, entry in enumerate(features):
        own = np.asarray(entry)
        if own.dtype == bool:
            if own.shape != (n_features,):
                raise ValueError(
                    f"features[{k}] has {own.size} truth values; expected {n_features}, one for each column"
                )
            own = np.flatnonzero(own)
        if own.size == 0:
            own = own.astype(np.int64)
        unique = np.unique(own)
        if own.ndim != 1 or own.dtype.kind not in "iu" or unique.size < own.size:
            raise ValueError(f"features[{k}] must list different column numbers or hold truth values, got {entry!r}")
        if own.size and not 0 <= unique[0] <= unique[-1] < n_features:
            raise ValueError(f"features[{k}] names column {unique[-1]}; X has the columns 0 to {n_features - 1}")
        result.append(own.astype(np.int64))
    return result
