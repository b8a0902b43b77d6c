"""Naive Bayes: features that are independent of each other within each class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass, field
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import rel_entr
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from bayesift._checks import POSITIVE, numbers
from bayesift._documents import checked_weights
from bayesift._labels import labels_of_shards
from bayesift._state import MOST_FEATURES, State, unchanged_by_errors
from bayesift._typing import AnyArray, FloatArray, Int64Array
from bayesift.generative._groups import Layout, Members, Targets
from bayesift.generative._kernels import add_weights
from bayesift.generative.base import GenerativeClassifier, class_log_evidence, concentrations
from bayesift.shards import Shards

Estimate = Literal["posterior", "map", "mle"]


class Likelihood(ABC):
    """Sufficient statistics of some columns for all groups of documents, and the distribution of new documents.

    Parameters
    ----------
    n_features : int
        Number of columns.
    layout : Layout
        The groups.
    estimate : {"posterior", "map", "mle"}
        Integrate the parameters out, or plug in a point estimate.
    """

    #: The classifier that has this likelihood.
    _model: ClassVar[type[NaiveBayes]]
    #: Attributes that are computed again when needed, and empty in a file, with their types.
    _caches: ClassVar[dict[str, type]] = {}

    def __init__(self, n_features: int, layout: Layout, estimate: Estimate) -> None:
        self.n_features = n_features
        self.layout = layout
        self.estimate = estimate

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {name: kind() for name, kind in self._caches.items()}

    def _check_state(self, state: State) -> None:
        n, layout = state.count("n_features", 0, MOST_FEATURES), state.instance("layout", Layout)
        state.choice("estimate", "posterior", "map", "mle")
        for name, kind in self._caches.items():
            # The content of a cache would be trusted.
            state.require(not state.instance(name, kind), "values that are to be computed,")
        self._check_sums(state, n, layout)

    @abstractmethod
    def _check_sums(self, state: State, n_features: int, layout: Layout) -> None:
        """Refuse, in a model file, sums that are not those of so many columns and these groups."""

    @abstractmethod
    def add(self, X: Any, members: Members, weights: FloatArray) -> None:
        """Learn from documents."""

    @abstractmethod
    def extend(self, places: Int64Array, layout: Layout) -> None:
        """Make room for new classes; ``places`` says where the old ones go."""

    @abstractmethod
    def log_likelihood(self, X: Any) -> FloatArray:
        """Return ln p(document | group), documents × groups; a missing value (NaN) is integrated out."""

    @abstractmethod
    def log_evidence(self) -> FloatArray:
        """Return ln p(documents of the group), parameters integrated out, for each group."""

    @abstractmethod
    def mutual_information(self, shares: FloatArray) -> FloatArray:
        """Return the information of each feature about the class, tasks × features, for p(class), tasks × classes."""

    @abstractmethod
    def draw(self, group: int, n: int, length: Any, rng: np.random.Generator) -> Any:
        """Draw documents of a group."""


@dataclass(eq=False, repr=False)
class NaiveBayes(GenerativeClassifier):
    """Learn sums over documents, at once or in batches, and predict by Bayes' rule.

    A subclass defines the likelihood of its columns in ``_new_likelihood``.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "class_prior": [Interval(Real, 0, None, closed="neither"), "array-like", StrOptions({"uniform"}), None],
        "estimate": [StrOptions({"posterior", "map", "mle"})],
    }

    _: KW_ONLY
    class_prior: Any = 1.0
    estimate: Estimate = "posterior"
    _likelihood: Likelihood = field(init=False)

    @abstractmethod
    def _new_likelihood(self, n_features: int, layout: Layout) -> Likelihood:
        """Return a likelihood that has learned nothing yet."""

    def _check_state(self, state: State) -> None:
        layout, own = self._check_groups(state), state.value("_likelihood")
        state.require(isinstance(own, Likelihood) and own._model is type(self), "parts")
        state.require(own.n_features == state.features(), "features")
        state.require(own.layout == layout, "groups")
        state.array("_weights", (layout.n_sums,), least=0.0)
        state.instance("_announced", bool)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        if isinstance(X, Shards):
            return self._fit_shards(X, y, sample_weight)
        return self._learn(X, y, None, sample_weight, reset=True)

    def _fit_shards(self, shards: Shards, y: Any, sample_weight: Any) -> Self:
        """Learn from one shard after the other, since only sums are kept."""
        labels, weights = labels_of_shards(shards, y), checked_weights(sample_weight, shards)
        flat = not sp.issparse(labels) and labels.ndim == 1
        rows = labels.tocsr() if sp.issparse(labels) else labels
        reset = True
        for block, first, last in zip(shards, shards.starts[:-1], shards.starts[1:], strict=True):
            if first < last:
                classes = np.unique(labels) if flat else None
                self._learn(block, rows[first:last], classes, weights[first:last], reset=reset)
                reset = False
        # Further batches may have new classes, as after a fit to a matrix.
        self._announced = False
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from further documents; all batches together give the same model as one ``fit``.

        The time is proportional to the entries of the batch, whatever the number of features.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n_documents, n_features)
        y : array of shape (n_documents,), or indicator matrix of shape (n_documents, n_categories)
        classes : array, optional
            All labels that will ever occur; any other label is then an error. Without it, new classes are added as they
            occur.
        sample_weight : array of shape (n_documents,), optional

        Returns
        -------
        self
        """
        with unchanged_by_errors(self):
            return self._learn(X, y, classes, sample_weight, reset=not hasattr(self, "_likelihood"))

    def _learn(self, X: Any, y: Any, classes: Any, sample_weight: Any, *, reset: bool) -> Self:
        X, targets, weights = self._labelled(X, y, sample_weight, reset=reset)
        if reset:
            self._begin(targets, classes)
        elif targets.multilabel != self._layout.multilabel:
            found, expected = ("categories", "classes") if targets.multilabel else ("classes", "categories")
            raise ValueError(f"y holds {found}; expected {expected}, as in the first batch")
        members = targets.members(self._match(targets.classes, classes))
        concentrations(self.class_prior, self._layout.tasks[1])
        self._likelihood.add(X, members, weights)
        add_weights(members.start, members.sums, weights, self._weights)
        self._set_class_count(self._layout.groups(self._weights))
        return self

    def _begin(self, targets: Targets, classes: Any) -> None:
        """Start with no documents; ``classes`` may announce the labels to come."""
        self._announced = classes is not None
        self.classes_ = targets.classes if classes is None or targets.multilabel else np.unique(np.asarray(classes))
        self._set_layout(Layout(targets.multilabel, len(self.classes_)))
        self._weights = np.zeros(self._layout.n_sums)
        self._likelihood = self._new_likelihood(self.n_features_in_, self._layout)

    def _match(self, found: AnyArray, classes: Any) -> Int64Array:
        """Return the places of labels among the classes, and make room for new ones."""
        if self._layout.multilabel:
            if found.size != self._layout.n:
                raise ValueError(f"y has {found.size} columns; expected {self._layout.n}, as in the first batch")
            return found
        if classes is not None and not np.array_equal(np.unique(np.asarray(classes)), self.classes_):
            raise ValueError(
                f"classes is {classes!r}; expected the classes of the first call, {self.classes_.tolist()}"
            )
        if (found.dtype.kind in "US") != (self.classes_.dtype.kind in "US"):
            raise ValueError(f"y has the label {found[0]!r}; expected labels of one type, like {self.classes_[0]!r}")
        unknown = found[~np.isin(found, self.classes_)]
        if unknown.size and self._announced:
            raise ValueError(
                f"y has the label {unknown[0]!r}; expected one of the classes announced in the first call, "
                f"{self.classes_.tolist()}"
            )
        if unknown.size:
            self._add_classes(unknown)
        return np.searchsorted(self.classes_, found)

    def _add_classes(self, found: AnyArray) -> None:
        every = np.union1d(self.classes_, found)
        places = np.searchsorted(every, self.classes_)
        self.classes_ = every
        self._set_layout(Layout(False, len(every)))
        self._weights = with_new_classes(self._weights, places, len(every))
        self._likelihood.extend(places, self._layout)

    def _joint_log_likelihood(self, X: Any) -> FloatArray:
        return self._likelihood.log_likelihood(X) + self.class_log_prior_.ravel()

    def _fitted(self) -> Any:
        """Return the likelihood; an error if nothing was learned yet."""
        check_is_fitted(self)
        return self._likelihood

    def _draw(self, group: int, n: int, length: Any, rng: np.random.Generator) -> Any:
        return self._likelihood.draw(group, n, length, rng)

    @property
    def log_evidence_(self) -> Any:
        """Log probability of all training documents and labels, with all parameters integrated out.

        It depends on the prior, not on ``estimate``; counts are of words in their order. For an indicator matrix, one
        number for each category.
        """
        check_is_fitted(self)
        documents = self._layout.by_task(self._likelihood.log_evidence()).sum(axis=-1)
        total = documents + class_log_evidence(np.atleast_2d(self.class_count_), self.class_prior)
        return total if self._layout.multilabel else float(total[0])

    @property
    def mutual_information_(self) -> FloatArray:
        """Mutual information of every feature with the class (3.76), in nats.

        Categories × features for an indicator matrix.
        """
        check_is_fitted(self)
        information = self._likelihood.mutual_information(self._class_shares())
        return information if self._layout.multilabel else information[0]


def with_new_classes(sums: FloatArray, places: Int64Array, n: int, axis: int = -1) -> FloatArray:
    """Return the sums with room for ``n`` on an axis, the old ones at their new places."""
    shape = list(sums.shape)
    shape[axis] = n
    result = np.zeros(shape)
    target = np.moveaxis(result, axis, -1)
    target[..., places] = np.moveaxis(sums, axis, -1)
    return result


def event_information(theta: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the mutual information of an event and the class (3.76), in nats.

    Parameters
    ----------
    theta : array of shape (..., n_classes)
        Probability of the event in each class.
    shares : array of shape (..., n_classes)
        Probability of each class.
    """
    overall = (theta * shares).sum(axis=-1, keepdims=True)
    parts = rel_entr(theta, overall) + rel_entr(1.0 - theta, 1.0 - np.minimum(overall, 1.0))
    # Rounding may leave a class some 1 − θ when the mean has none.
    return np.where(np.isfinite(parts), shares * parts, 0.0).sum(axis=-1)


def pseudo_counts(name: str, value: Any, n_features: int) -> FloatArray:
    """Return the pseudo counts of a prior, one for each feature."""
    counts = numbers(name, value, POSITIVE)
    if counts.ndim and counts.shape != (n_features,):
        raise ValueError(f"{name} has shape {counts.shape}; expected a number or {n_features}, one for each feature")
    return np.array(np.broadcast_to(counts, (n_features,)))
