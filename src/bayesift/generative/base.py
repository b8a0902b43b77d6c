"""What all generative classifiers have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import xlogy
from sklearn.utils.validation import check_is_fitted

from bayesift._checks import POSITIVE, generator, numbers
from bayesift._classifier import ScoreClassifier
from bayesift._documents import checked_weights, validated
from bayesift._labels import validate_documents
from bayesift._special import log_rising
from bayesift._state import State, unchanged_by_errors
from bayesift._typing import AnyArray, FloatArray
from bayesift.generative._groups import Layout, Targets, read_targets


class GenerativeClassifier(ScoreClassifier, ABC):
    """A classifier that models the documents of every class and inverts the models by Bayes' rule.

    p(class | document) ∝ p(document | class) p(class). A subclass learns and provides ``_joint_log_likelihood``;
    probabilities and decisions follow from it, both for classes that exclude each other and for an indicator matrix of
    categories that do not. If a document has probability 0 in every class, the probabilities of its classes are those
    before it was seen.
    """

    #: Whether the model takes sparse matrices; other input is then converted to one.
    _takes_sparse: ClassVar[bool] = True
    #: Whether values are amounts, which cannot be negative.
    _takes_amounts: ClassVar[bool] = False
    #: Whether the model cannot separate the point clouds of scikit-learn's checks.
    _poor_for_points: ClassVar[bool] = False

    class_count_: FloatArray
    class_prior: Any
    estimate: Any
    _layout: Layout

    @abstractmethod
    def _joint_log_likelihood(self, X: Any) -> FloatArray:
        """Return ln p(document, class) of checked documents: a column for each class.

        For an indicator matrix, two columns for each category: without and with it.
        """

    @abstractmethod
    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Learn from documents."""

    def _check_values(self, X: Any, *, learning: bool) -> None:
        """Refuse values that the model cannot use."""

    def _draw(self, group: int, n: int, length: Any, rng: np.random.Generator) -> Any:
        """Draw documents of a group."""
        raise NotImplementedError(f"{type(self).__name__} cannot sample documents")

    def _class_shares(self) -> FloatArray:
        """Return the probabilities of the classes, tasks × classes."""
        return np.atleast_2d(class_shares(self.class_count_, self.class_prior, self.estimate))

    @property
    def class_log_prior_(self) -> FloatArray:
        """Log probabilities of the classes; categories × 2 (without, with) for an indicator matrix."""
        check_is_fitted(self)
        with np.errstate(divide="ignore"):
            return np.log(class_shares(self.class_count_, self.class_prior, self.estimate))

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from documents, forgetting what was learned before.

        Parameters
        ----------
        X : sparse matrix, array, data frame or Shards of shape (n_documents, n_features)
            NaN, or a masked entry, is a missing value if the class allows it. The naive Bayes models and the
            Dirichlet compound multinomial learn from :class:`bayesift.shards.Shards` as well.
        y : array of shape (n_documents,), or indicator matrix of shape (n_documents, n_categories)
            Labels of any type, or zeros and ones for each category.
        sample_weight : array of shape (n_documents,), optional
            How often each document counts; a weight of 2 equals two copies.

        Returns
        -------
        self
        """
        with unchanged_by_errors(self):
            return self._fit(X, y, sample_weight)

    def predict_joint_log_proba(self, X: Any) -> FloatArray:
        """Return ln p(document, class).

        Parameters
        ----------
        X : sparse matrix or array of shape (n_documents, n_features)
            NaN, or a masked entry, is a missing value.

        Returns
        -------
        joint : ndarray of shape (n_documents, n_classes), or (n_documents, n_categories, 2)
            The second shape is for an indicator matrix: without and with each category.
        """
        check_is_fitted(self)
        joint = self._layout.by_task(self._joint_log_likelihood(self._documents(X)))
        # A document that is impossible in every class says nothing about its class.
        impossible = np.all(joint == -np.inf, axis=-1, keepdims=True)
        joint = np.where(impossible, self.class_log_prior_, joint) if impossible.any() else joint
        return joint if self._layout.multilabel else joint[:, 0]

    def decision_function(self, X: Any) -> FloatArray:
        """Return log odds, which stay exact where probabilities round to 0 or 1.

        The shape is (n_documents,) for two classes and (n_documents, n_categories) for an indicator matrix. For more
        than two classes the result is the log probabilities, of shape (n_documents, n_classes).
        """
        joint = self.predict_joint_log_proba(X)
        if self.target_type_ != "multiclass":
            return joint[..., 1] - joint[..., 0]
        joint -= joint.max(axis=1, keepdims=True)
        joint -= np.log(np.exp(joint).sum(axis=1, keepdims=True))  # (3.74)
        return joint

    def scores_to_log_proba(self, scores: FloatArray) -> FloatArray:
        """Turn scores into log probabilities; the scores of several classes are log probabilities already."""
        return np.array(scores) if self.target_type_ == "multiclass" else super().scores_to_log_proba(scores)

    def predict(self, X: Any) -> AnyArray:
        """Return the decisions: log odds of 0 are a yes; of equally probable classes the first wins."""
        check_is_fitted(self)
        if self.target_type_ != "multiclass":
            return super().predict(X)
        # The greatest can be found without normalising.
        return self.classes_[np.argmax(self.predict_joint_log_proba(X), axis=1)]

    def sample(
        self, n_samples: int = 1, *, label: Any = None, length: Any = None, random_state: Any = None
    ) -> tuple[Any, AnyArray]:
        """Draw new documents.

        Parameters
        ----------
        n_samples : int, default=1
            Number of documents.
        label : optional
            Their class; by default, classes are drawn too. A model of an indicator matrix needs a column number,
            because categories are modelled one by one, not together.
        length : int or array of shape (n_samples,), optional
            Number of words of each document, for models of counts; by default the mean length in the class.
        random_state : int, Generator or None
            Seed, or a generator to draw from.

        Returns
        -------
        X : csr_matrix or array of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        """
        check_is_fitted(self)
        rng = generator(random_state)
        places = _drawn_places(self.classes_, self._layout, self._class_shares(), n_samples, label, rng)
        blocks, order = [], np.argsort(places, kind="stable")
        lengths = length if length is None else np.broadcast_to(length, (n_samples,))
        for place in np.unique(places):
            rows = np.flatnonzero(places == place)
            group = 2 * int(place) + 1 if self._layout.multilabel else int(place)
            own = None if lengths is None else lengths[rows]
            blocks.append(self._draw(group, rows.size, own, rng))
        stacked = sp.vstack(blocks, format="csr") if sp.issparse(blocks[0]) else np.vstack(blocks)
        return stacked[np.argsort(order, kind="stable")], self.classes_[places]

    def _documents(self, X: Any) -> Any:
        """Return documents to predict, in the form the model works on."""
        X = validated(self, _filled(X), reset=False, **self._input_options())
        return self._checked_rows(X, learning=False)

    def _labelled(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> tuple[Any, Targets, FloatArray]:
        """Return documents to learn from, their targets and their weights."""
        self._validate_params()
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        X, y = validate_documents(self, _filled(X), y, reset=reset, **self._input_options())
        X = self._checked_rows(X, learning=True)
        weights = checked_weights(sample_weight, X)
        return X, read_targets(y), weights

    def _input_options(self) -> dict[str, Any]:
        return {"accept_sparse": "csr" if self._takes_sparse else False, "missing": True}

    def _checked_rows(self, X: Any, *, learning: bool) -> Any:
        if self._takes_sparse:
            X = X if type(X) is sp.csr_matrix else sp.csr_matrix(X)
            if not X.has_canonical_format:
                X = X.copy()
                X.sum_duplicates()
        self._check_values(X, learning=learning)
        return X

    def _set_layout(self, layout: Layout) -> None:
        self._layout = layout
        self.target_type_ = layout.target_type

    def _set_class_count(self, weights: FloatArray) -> None:
        """Keep the weight of the documents of each group."""
        counts = self._layout.by_task(weights)
        self.class_count_ = counts if self._layout.multilabel else counts[0]

    def _check_groups(self, state: State) -> Layout:
        """Refuse a state whose classes are not those of its groups; return the groups."""
        layout = state.instance("_layout", Layout)
        state.labels(layout.n)
        n_tasks, n_classes = layout.tasks
        state.array("class_count_", (n_tasks, n_classes) if layout.multilabel else (n_classes,), least=0.0)
        state.require(state.value("target_type_") == layout.target_type, "targets and classes")
        return layout

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse
        tags.input_tags.allow_nan = True
        tags.input_tags.positive_only = self._takes_amounts
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.poor_score = self._poor_for_points
        return tags


def contrast(logs: FloatArray) -> FloatArray:
    """Return how much each class's logarithms exceed those of the mean of the others; one row for two classes.

    Parameters
    ----------
    logs : array of shape (n_classes, n_features), or (n_categories, 2, n_features)
        Log probabilities; the second shape is for an indicator matrix, whose categories are compared with their
        absence. A single class gets 0.
    """
    if logs.ndim == 3:
        return logs[:, 1] - logs[:, 0]
    if logs.shape[0] == 1:
        return np.zeros_like(logs)
    if logs.shape[0] == 2:
        return logs[[1]] - logs[[0]]
    highest = logs.max(axis=0)
    shares = np.exp(logs - highest)
    others = (shares.sum(axis=0) - shares) / (logs.shape[0] - 1)
    return logs - highest - np.log(np.maximum(others, np.finfo(np.float64).tiny))


def _filled(X: Any) -> Any:
    """Return documents with NaN for masked entries."""
    return np.ma.filled(X.astype(np.float64), np.nan) if np.ma.isMaskedArray(X) else X


def _drawn_places(
    classes: AnyArray, layout: Layout, shares: FloatArray, n_samples: int, label: Any, rng: np.random.Generator
) -> AnyArray:
    """Return the place of the class of every document to draw."""
    if label is None:
        if layout.multilabel:
            raise ValueError("label is None; expected a column number, because categories are modelled one by one")
        return rng.choice(layout.n, size=n_samples, p=shares[0])
    found = np.flatnonzero(classes == label)
    if not found.size:
        raise ValueError(f"label is {label!r}; expected one of {classes.tolist()}")
    return np.full(n_samples, found[0])


def concentrations(class_prior: Any, n_classes: int) -> FloatArray | None:
    """Return the Dirichlet parameters of the classes; None if their probabilities have no prior."""
    if class_prior is None or isinstance(class_prior, str):
        return None
    alpha = numbers("class_prior", class_prior, POSITIVE)
    if alpha.ndim and alpha.shape != (n_classes,):
        raise ValueError(f"class_prior has shape {alpha.shape}; expected a number or {n_classes}, one for each class")
    return np.broadcast_to(alpha, (n_classes,))


def class_shares(counts: FloatArray, class_prior: Any, estimate: str) -> FloatArray:
    """Return the probabilities of the classes, (3.68) or a point estimate, from their counts along the last axis."""
    n_classes = counts.shape[-1]
    alpha = concentrations(class_prior, n_classes)
    if isinstance(class_prior, str):
        return np.full(counts.shape, 1.0 / n_classes)
    if estimate == "mle" or alpha is None:
        return shares(counts)
    return shares(counts + alpha) if estimate == "posterior" else shares(np.maximum(counts + alpha - 1.0, 0.0))


def shares(weights: FloatArray) -> FloatArray:
    """Divide by the sum over the last axis; equal shares if the sum is 0."""
    total = weights.sum(axis=-1, keepdims=True)
    return np.where(total > 0, weights / np.where(total > 0, total, 1.0), 1.0 / max(weights.shape[-1], 1))


def class_log_evidence(counts: FloatArray, class_prior: Any) -> FloatArray:
    """Return ln p(labels in their order), with the probabilities integrated out if they have a prior."""
    alpha = concentrations(class_prior, counts.shape[-1])
    if alpha is None:
        return xlogy(counts, class_shares(counts, class_prior, "mle")).sum(axis=-1)
    return log_rising(alpha, counts).sum(axis=-1) - log_rising(alpha.sum(), counts.sum(axis=-1))
