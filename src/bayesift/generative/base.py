"""What all generative classifiers have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.special import xlogy
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bayesift._checks import POSITIVE, generator, numbers
from bayesift._special import log_rising
from bayesift._typing import AnyArray, FloatArray
from bayesift.generative._groups import Layout


class GenerativeClassifier(ClassifierMixin, BaseEstimator, ABC):
    """A classifier that models the documents of every class, and turns that round by Bayes' rule.

    p(class | document) ∝ p(document | class) p(class). A subclass learns, and gives one thing,
    ``_joint_log_likelihood``; probabilities and decisions follow from it, for classes that exclude each other as well
    as for an indicator matrix of categories that do not. Where a document has probability 0 in every class, its
    classes have the probabilities they had before.
    """

    #: Whether a sparse matrix is taken; then everything else is made one.
    _takes_sparse: ClassVar[bool] = True

    classes_: AnyArray
    class_count_: FloatArray
    class_prior: Any
    estimate: Any
    _layout: Layout

    @abstractmethod
    def _joint_log_likelihood(self, X: Any) -> FloatArray:
        """Return ln p(document, class) of checked documents: a column for each class.

        For an indicator matrix, two columns for each category: without and with it.
        """

    def _check_values(self, X: Any, *, learning: bool) -> None:
        """Complain about values the model cannot use."""

    def _draw(self, group: int, n: int, length: Any, rng: np.random.Generator) -> Any:
        """Draw documents of a group."""
        raise NotImplementedError(f"{type(self).__name__} draws no documents")

    def _shares(self) -> FloatArray:
        """Probabilities of the classes, tasks × classes."""
        return np.atleast_2d(class_shares(self.class_count_, self.class_prior, self.estimate))

    @property
    def class_log_prior_(self) -> FloatArray:
        """Log probabilities of the classes; categories × 2 (without, with) for an indicator matrix."""
        check_is_fitted(self)
        with np.errstate(divide="ignore"):
            return np.log(class_shares(self.class_count_, self.class_prior, self.estimate))

    def predict_joint_log_proba(self, X: Any) -> FloatArray:
        """Return ln p(document, class).

        Parameters
        ----------
        X : sparse matrix or array of shape (n_documents, n_features)
            NaN, or a masked entry, is a missing value.

        Returns
        -------
        joint : ndarray of shape (n_documents, n_classes), or (n_documents, n_categories, 2)
            The latter for an indicator matrix: without and with each category.
        """
        check_is_fitted(self)
        joint = self._layout.by_task(self._joint_log_likelihood(self._documents(X)))
        prior = self.class_log_prior_
        # Nothing can be said from a document that no class could have written.
        impossible = np.all(joint == -np.inf, axis=-1, keepdims=True)
        joint = np.where(impossible, prior, joint) if impossible.any() else joint
        return joint[:, 0] if self._layout.kind == "classes" else joint

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return log probabilities, exact far into the tails.

        Parameters
        ----------
        X : sparse matrix or array of shape (n_documents, n_features)

        Returns
        -------
        log_probabilities : ndarray of shape (n_documents, n_classes)
            For an indicator matrix, that of each category on its own.
        """
        joint = self.predict_joint_log_proba(X)
        if self._layout.kind == "categories":
            return -np.logaddexp(0.0, joint[..., 0] - joint[..., 1])
        largest = joint.max(axis=1, keepdims=True)
        joint -= largest
        joint -= np.log(np.exp(joint).sum(axis=1, keepdims=True))  # (3.74)
        return joint

    def predict_proba(self, X: Any) -> FloatArray:
        """Return probabilities.

        Parameters
        ----------
        X : sparse matrix or array of shape (n_documents, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_documents, n_classes)
            For an indicator matrix, that of each category on its own.
        """
        logs = self.predict_log_proba(X)
        return np.exp(logs, out=logs)

    def predict_log_odds(self, X: Any) -> FloatArray:
        """Return log odds, which go on where probabilities are 0 or 1 to the last digit.

        Parameters
        ----------
        X : sparse matrix or array of shape (n_documents, n_features)

        Returns
        -------
        scores : ndarray of shape (n_documents,) for two classes, else (n_documents, n_classes or n_categories)
            For more than two classes, the log probabilities.
        """
        joint = self.predict_joint_log_proba(X)
        if self._layout.kind == "categories" or joint.shape[1] == 2:
            with np.errstate(invalid="ignore"):
                return joint[..., 1] - joint[..., 0]
        return joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)

    def predict(self, X: Any) -> AnyArray:
        """Return the most probable class, or the categories that are more probable than not.

        Parameters
        ----------
        X : sparse matrix or array of shape (n_documents, n_features)

        Returns
        -------
        labels : ndarray of shape (n_documents,), or a 0/1 indicator of shape (n_documents, n_categories)
        """
        joint = self.predict_joint_log_proba(X)
        if self._layout.kind == "categories":
            return (joint[..., 1] > joint[..., 0]).astype(np.int64)
        return self.classes_[np.argmax(joint, axis=1)]

    def sample(
        self, n_samples: int = 1, *, label: Any = None, length: Any = None, random_state: Any = None
    ) -> tuple[Any, AnyArray]:
        """Draw new documents.

        Parameters
        ----------
        n_samples : int, default=1
            How many.
        label : optional
            Their class; by default, classes are drawn too. After an indicator matrix, a column number is needed:
            categories are modelled one by one, not together.
        length : int or array of shape (n_samples,), optional
            Number of words, for models of counts; by default the mean length in the class.
        random_state : int, Generator or None
            Seed, or the generator to go on with.

        Returns
        -------
        X : csr_matrix or array of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        """
        check_is_fitted(self)
        rng = generator(random_state)
        places = _drawn_places(self.classes_, self._layout, self._shares(), n_samples, label, rng)
        blocks, order = [], np.argsort(places, kind="stable")
        lengths = length if length is None else np.broadcast_to(length, (n_samples,))
        for place in np.unique(places):
            rows = np.flatnonzero(places == place)
            group = int(place) if self._layout.kind == "classes" else 2 * int(place) + 1
            own = None if lengths is None else lengths[rows]
            blocks.append(self._draw(group, rows.size, own, rng))
        stacked = sp.vstack(blocks, format="csr") if sp.issparse(blocks[0]) else np.vstack(blocks)
        return stacked[np.argsort(order, kind="stable")], self.classes_[places]

    def _documents(self, X: Any, y: Any = None, *, reset: bool = False) -> Any:
        """Return documents, or documents and targets, in the form the model works on."""
        if np.ma.isMaskedArray(X):
            X = np.ma.filled(X.astype(np.float64), np.nan)
        options = {
            "accept_sparse": "csr" if self._takes_sparse else False,
            "dtype": np.float64,
            "ensure_all_finite": "allow-nan",
            "reset": reset,
        }
        if y is None:
            X, targets = validate_data(self, X, **options), None
        else:
            X, targets = validate_data(self, X, y, multi_output=True, **options)
        if self._takes_sparse:
            X = sp.csr_matrix(X)
            if not X.has_canonical_format:
                X = X.copy()
                X.sum_duplicates()
        self._check_values(X, learning=y is not None)
        return X if y is None else (X, targets)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse
        tags.input_tags.allow_nan = True
        tags.classifier_tags.multi_label = True
        return tags


def _drawn_places(
    classes: AnyArray, layout: Layout, shares: FloatArray, n_samples: int, label: Any, rng: np.random.Generator
) -> AnyArray:
    """Return the place of the class of every document to draw."""
    if label is None:
        if layout.kind == "categories":
            raise ValueError("label is None; expected a column number: categories are modelled one by one")
        return rng.choice(layout.n, size=n_samples, p=shares[0])
    found = np.flatnonzero(classes == label)
    if not found.size:
        raise ValueError(f"label is {label!r}; expected one of {classes.tolist()}")
    return np.full(n_samples, found[0])


def concentrations(class_prior: Any, n_classes: int) -> FloatArray | None:
    """Return the Dirichlet parameters of the classes; None where their probabilities are not learned by a prior."""
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
    """Divide by the sum over the last axis; equal shares where nothing is there to divide."""
    total = weights.sum(axis=-1, keepdims=True)
    return np.where(total > 0, weights / np.where(total > 0, total, 1.0), 1.0 / weights.shape[-1])


def class_log_evidence(counts: FloatArray, class_prior: Any) -> FloatArray:
    """Return ln p(labels in their order), the probabilities integrated out where they have a prior."""
    alpha = concentrations(class_prior, counts.shape[-1])
    if alpha is None:
        return xlogy(counts, class_shares(counts, class_prior, "mle")).sum(axis=-1)
    return log_rising(alpha, counts).sum(axis=-1) - log_rising(alpha.sum(), counts.sum(axis=-1))
