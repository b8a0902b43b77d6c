"""What the online models share: labels, weights, passes over the documents, threads over categories, predictions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from bayesift._classifier import ScoreClassifier
from bayesift._documents import checked_weights, validated
from bayesift._labels import Categories, batch_categories, categories_of, validate_documents
from bayesift._sparse import Compressed, compressed, selected
from bayesift._state import State, are_columns, unchanged_by_errors
from bayesift._threads import map_threads
from bayesift._typing import FloatArray, Int64Array
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

#: Maximum number of turns of a pass over weighted documents: a constant, plus so many for each document.
MOST_TURNS, MEAN_TURNS = 1_000_000, 1000

Found = TypeVar("Found")


class Turns(NamedTuple):
    """Documents in the order in which they are learned, and the part of a document that each counts as."""

    order: Int64Array
    shares: FloatArray


@dataclass(eq=False, repr=False)
class OnlineClassifier(ScoreClassifier):
    """A belief for each category, changed by one document after the other.

    The score of a document is u = μ/λ, the mean of its field over the spread of field and noise, with the weights
    integrated over the belief. The probability is Φ(u), or κ + (1 − 2κ) Φ(u) for flip noise.

    A subclass has the parameters of ``SHARED_CONSTRAINTS`` and defines how a belief begins, learns and predicts; a
    belief is a named tuple with a ``log_evidence``.
    """

    _: KW_ONLY
    likelihood: LikelihoodName = "probit"
    noise: float = 0.5
    kappa: float = 0.05
    passes: int = 3
    features: Any = None
    shuffle: bool = False
    n_jobs: int | None = -1
    random_state: Any = 0

    def _has_constant(self) -> bool:
        """Whether a constant feature is added to the documents."""
        raise NotImplementedError

    def _begin(self, columns: Int64Array | None) -> Any:
        """Return the belief before any document, over these columns (None: all)."""
        raise NotImplementedError

    def _learn(self, state: Any, rows: Compressed, y: FloatArray, turns: Turns) -> Any:
        """Return the belief after these documents; arrays of the old one may be overwritten."""
        raise NotImplementedError

    def _fields(self, state: Any, rows: Compressed) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the field of each document."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn afresh from the documents, in ``passes`` passes over them.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n_documents, n_features)
            Term weights, preferably a sparse matrix.
        y : array of shape (n_documents,), or indicator matrix of shape (n_documents, n_categories)
            Labels of any type, or zeros and ones for each category.
        sample_weight : array of shape (n_documents,), optional
            How often in a row each document is seen; 0 is not at all. A fraction that remains counts as that part of a
            document: the factor by which it changes the belief is raised to this power.

        Returns
        -------
        self
        """
        self._validate_params()
        with unchanged_by_errors(self):
            X, y = validate_documents(self, X, y, accept_sparse="csr")
            weights = turn_weights(sample_weight, X)
            self._start(categories_of(y, type(self).__name__), X, weights, self.passes)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from further documents, one or many, in one pass.

        Parameters
        ----------
        X, y, sample_weight
            As for :meth:`fit`.
        classes : array of shape (n_classes,), optional
            All labels that will ever occur; needed in the first call unless ``y`` is an indicator matrix.

        Returns
        -------
        self
        """
        self._validate_params()
        with unchanged_by_errors(self):
            first = not hasattr(self, "states_")
            X, y = validate_documents(self, X, y, accept_sparse="csr", reset=first)
            if not first and classes is not None and not np.array_equal(np.unique(classes), self.classes_):
                raise ValueError(f"classes is {classes!r}; expected {self.classes_.tolist()}, as in the first call")
            weights = turn_weights(sample_weight, X, may_be_zero=True)
            known = classes if first else self.classes_
            categories = batch_categories(y, known, None if first else self.target_type_, type(self).__name__)
            if first:
                self._start(categories, X, weights, 1)
            else:
                self._learn_all(categories, X, weights, 1)
        return self

    def _score_documents(self, X: Any) -> FloatArray:
        # u = μ/λ, the mean of the field over the spread of field and noise
        sigma = self._likelihood().sigma

        def score(mean: FloatArray, variance: FloatArray) -> FloatArray:
            spread = np.sqrt(sigma * sigma + variance)
            return np.divide(mean, spread, out=np.zeros_like(mean), where=spread > 0)

        return self._predictions(X, score)

    def _log_probability(self, scores: FloatArray) -> FloatArray:
        flat = np.ascontiguousarray(scores, dtype=np.float64).ravel()
        found: FloatArray = log_evidences(flat, self._likelihood().kappa)
        return found.reshape(scores.shape)

    def information_gain(self, X: Any) -> FloatArray:
        """Return the expected information about the weights, in bits, from judging each document.

        It is the mutual information of judgement and weights, H₂(p) − E[H₂(p(y = 1 | a, x))], under the belief.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n_documents, n_features)

        Returns
        -------
        bits : ndarray of shape (n_documents,) for two classes, else (n_documents, n_categories)
        """
        likelihood = self._likelihood()
        return self._predictions(X, lambda *field: expected_information(*field, *likelihood))

    @property
    def log_evidence_(self) -> FloatArray:
        """Σ ln p(y | x) of each category, each document under the belief before it; later passes do not count."""
        check_is_fitted(self)
        return np.array([state.log_evidence for state in self.states_])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _check_belief(self, belief: Any, n_features: int) -> None:
        """Refuse, in a model file, a belief about so many columns whose arrays do not fit together."""
        raise NotImplementedError

    def _check_state(self, state: State) -> None:
        n, (classes, kind) = state.features(), state.targets()
        beliefs = state.entries("states_", 1 if kind == "binary" else classes.size)
        for columns, belief in zip(state.entries("columns_", len(beliefs)), beliefs, strict=True):
            state.require(columns is None or are_columns(columns, n), "columns")
            self._check_belief(belief, n if columns is None else columns.size)

    def _likelihood(self) -> Likelihood:
        return likelihood_of(self.likelihood, self.noise, self.kappa)

    def _start(self, categories: Categories, X: Any, weights: FloatArray | None, passes: int) -> None:
        columns = columns_of(self.features, len(categories.members), X.shape[1])
        states = [self._begin(own) for own in columns]
        self.classes_, self.target_type_ = categories.classes, categories.target_type
        self.columns_, self.states_ = columns, states
        self._learn_all(categories, X, weights, passes)

    def _learn_all(self, categories: Categories, X: Any, weights: FloatArray | None, passes: int) -> None:
        n = X.shape[0]
        random = check_random_state(self.random_state)
        orders = (random.permutation(n) if self.shuffle else np.arange(n) for _ in range(passes))
        turns = [repeated(order, weights) for order in orders]

        def work(k: int, rows: Compressed) -> Any:
            y = categories.target(k)
            state = self._learn(self.states_[k], rows, y, turns[0])
            evidence = state.log_evidence
            for later in turns[1:]:
                state = self._learn(state, rows, y, later)
            return state._replace(log_evidence=evidence)

        self.states_ = self._for_categories(X, work)

    def _for_categories(self, X: Any, work: Callable[[int, Compressed], Found]) -> list[Found]:
        """Call ``work`` for every category with the rows it sees, on several threads that share the documents."""
        documents, n_features = compressed(X), X.shape[1]
        shared = None
        if all(columns is None for columns in self.columns_):
            shared = selected(documents, n_features, None, self._has_constant())

        def one(k: int) -> Found:
            return work(k, shared or selected(documents, n_features, self.columns_[k], self._has_constant()))

        return map_threads(one, range(len(self.columns_)), self.n_jobs)

    def _predictions(self, X: Any, of_fields: Callable[[FloatArray, FloatArray], FloatArray]) -> FloatArray:
        """Compute something from the fields of every document and category."""
        check_is_fitted(self)
        X = validated(self, X, accept_sparse="csr", reset=False)
        found = self._for_categories(X, lambda k, rows: of_fields(*self._fields(self.states_[k], rows)))
        return found[0] if self.target_type_ == "binary" else np.column_stack(found)

    def _add_columns(self, new: int | Sequence[str]) -> None:
        """Take note of more columns, by their number or their names."""
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            if isinstance(new, (int, np.integer)):
                raise ValueError(f"new is {new!r}; expected the names of the features, since the others have names")
            if set(new) & set(names) or len(set(new)) < len(new):
                raise ValueError(f"new is {new!r}; expected different names, none of which a feature has yet")
            self.feature_names_in_ = np.append(names, np.asarray(new, dtype=object))
        fresh = np.arange(self.n_features_in_, self.n_features_in_ + number_of(new))
        self.columns_ = [None if columns is None else np.append(columns, fresh) for columns in self.columns_]
        self.n_features_in_ += fresh.size


def turn_weights(sample_weight: Any, X: Any, *, may_be_zero: bool = False) -> FloatArray | None:
    """Return the weights of the documents, or None if all count once; with ``may_be_zero`` all of them may be 0."""
    if sample_weight is None:
        return None
    weights = checked_weights(sample_weight, X, may_be_zero=may_be_zero)
    total, most = float(np.ceil(weights).sum()), MOST_TURNS + MEAN_TURNS * weights.size
    if total > most:
        raise ValueError(
            f"sample_weight adds up to {total:g}; expected at most {most:,}, since a document is learned as often as "
            f"its weight says; scale the weights"
        )
    return weights


def repeated(order: Int64Array, weights: FloatArray | None) -> Turns:
    """Repeat every document as often as its weight says, the last time with what is left of the weight."""
    if weights is None:
        return Turns(order, np.ones(order.size))
    own = weights[order]
    times = np.ceil(own).astype(np.int64)
    shares = np.ones(times.sum())
    shares[np.cumsum(times)[times > 0] - 1] = (own - times + 1.0)[times > 0]
    return Turns(np.repeat(order, times), shares)


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
                raise ValueError(f"features[{k}] has {own.size} booleans; expected {n_features}, one for each column")
            own = np.flatnonzero(own)
        if own.size == 0:
            own = own.astype(np.int64)
        unique = np.unique(own)
        if own.ndim != 1 or own.dtype.kind not in "iu" or unique.size < own.size:
            raise ValueError(f"features[{k}] is {entry!r}; expected different column numbers, or booleans")
        if own.size and not 0 <= unique[0] <= unique[-1] < n_features:
            raise ValueError(f"features[{k}] names column {unique[-1]}; X has the columns 0 to {n_features - 1}")
        result.append(own.astype(np.int64))
    return result
