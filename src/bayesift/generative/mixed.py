"""Naive Bayes for columns of different kinds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.metaestimators import _BaseComposition

from bayesift._state import State, are_columns
from bayesift._typing import FloatArray, Int64Array
from bayesift.generative._groups import Layout, Members
from bayesift.generative.gaussian import GaussianNB
from bayesift.generative.naive_bayes import Likelihood, NaiveBayes

Part = tuple[str, NaiveBayes, Any]


@dataclass(eq=False, repr=False)
class MixedNB(NaiveBayes, _BaseComposition):
    """Naive Bayes with a different likelihood for every column or group of columns.

    Given the class, the groups are independent of each other, so their log likelihoods add up.

    Parameters
    ----------
    parts : list of (name, naive Bayes classifier, columns), default=None
        The models of the columns: each a naive Bayes classifier of this package with its prior and ``estimate`` (its
        ``class_prior`` is not used), for columns given by numbers, a slice, a mask, or the names of a data frame's
        columns. Every column belongs to one part. None: all columns are real numbers, as in :class:`GaussianNB`.
    class_prior : float, array, "uniform" or None, default=1.0
        Pseudo counts of the classes; ``"uniform"``: equal probabilities for any data; None: the shares in the data.
    estimate : {"posterior", "map", "mle"}, default="posterior"
        How the probabilities of the classes are learned.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : ndarray
        The labels (column numbers for an indicator matrix), their numbers of documents and their log probabilities (for
        an indicator matrix, without and with each category).
    columns_ : dict of str to ndarray
        Column numbers of each part.
    log_evidence_ : float
        Log probability of the training data, with the parameters integrated out.
    mutual_information_ : ndarray of shape (n_features,)
        Mutual information of each feature with the class.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.generative import BernoulliNB, GaussianNB, MixedNB
    >>> X = np.array([[1, 0, 1.1], [1, 1, 0.9], [0, 1, 3.2], [0, 0, 2.9]])     # two words and a length
    >>> model = MixedNB([("words", BernoulliNB(), [0, 1]), ("length", GaussianNB(), [2])])
    >>> model.fit(X, ["short", "short", "long", "long"]).predict([[1, 0, 1.0], [0, 0, np.nan]]).tolist()
    ['short', 'long']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **NaiveBayes._parameter_constraints,
        "parts": [list, None],
    }

    parts: Sequence[Part] | None = None

    @property
    def columns_(self) -> dict[str, Int64Array]:
        """Column numbers of each part."""
        likelihood = self._fitted()
        return {name: own for (name, _, _), own in zip(self._all_parts(), likelihood.columns, strict=True)}

    @property
    def _named_parts(self) -> list[tuple[str, NaiveBayes]]:
        """Names and classifiers, whose parameters scikit-learn reads and sets."""
        try:
            return [(name, model) for name, model, _ in self.parts or []]
        except (TypeError, ValueError):
            # Settings are checked when they are used.
            return []

    @_named_parts.setter
    def _named_parts(self, value: list[tuple[str, NaiveBayes]]) -> None:
        columns = [own for _, _, own in self.parts or []]
        self.parts = [(name, model, own) for (name, model), own in zip(value, columns, strict=True)]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, with ``deep`` also those of the parts, as ``name__parameter``."""
        return self._get_params("_named_parts", deep=deep)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of the parts, as ``name__parameter``."""
        self._set_params("_named_parts", **params)
        return self

    def _all_parts(self) -> list[Part]:
        return [("numbers", GaussianNB(), slice(None))] if self.parts is None else list(self.parts)

    def _new_likelihood(self, n_features: int, layout: Layout) -> MixedLikelihood:
        models, columns = [], []
        for part in self._all_parts():
            if not (isinstance(part, tuple) and len(part) == 3 and isinstance(part[1], NaiveBayes)):
                raise ValueError(f"parts holds {part!r}; expected (name, naive Bayes classifier, columns)")
            model: NaiveBayes = clone(part[1])
            model._validate_params()
            models.append(model)
            columns.append(self._numbers_of(part[0], part[2], n_features))
        times = np.bincount(np.concatenate([*columns, np.empty(0, dtype=np.int64)]), minlength=n_features)
        if np.any(times != 1):
            place = int(np.flatnonzero(times != 1)[0])
            raise ValueError(f"parts names column {place} {times[place]} times; expected every column exactly once")
        return MixedLikelihood(n_features, layout, models, columns)

    def _numbers_of(self, name: str, columns: Any, n_features: int) -> Int64Array:
        """Return the numbers of columns given as numbers, a slice, a mask or names."""
        if isinstance(columns, slice):
            return np.arange(n_features)[columns]
        given = np.atleast_1d(np.asarray(columns))
        if given.dtype.kind in "UO":
            known = {str(found): place for place, found in enumerate(getattr(self, "feature_names_in_", []))}
            unknown = [str(column) for column in given if str(column) not in known]
            if unknown:
                raise ValueError(f"part {name!r} names the column {unknown[0]!r}; expected one of {list(known)}")
            return np.array([known[str(column)] for column in given], dtype=np.int64)
        if given.dtype.kind not in "biu" or (given.dtype.kind == "b" and given.shape != (n_features,)):
            raise ValueError(f"part {name!r} has the columns {columns!r}; expected numbers, a slice, a mask or names")
        if given.dtype.kind != "b" and not np.all((given >= 0) & (given < n_features)):
            raise ValueError(f"part {name!r} has the columns {columns!r}; expected numbers from 0 to {n_features - 1}")
        return np.arange(n_features)[given]

    def _checked_rows(self, X: Any, *, learning: bool) -> Any:
        found = super()._checked_rows(X, learning=learning)
        return found if sp.issparse(X) else found.toarray()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        kinds = [model.__sklearn_tags__() for _, model in self._named_parts if isinstance(model, NaiveBayes)]
        tags.input_tags.positive_only = any(kind.input_tags.positive_only for kind in kinds)
        return tags


class MixedLikelihood(Likelihood):
    """Different likelihoods for different columns."""

    _model: ClassVar[type[NaiveBayes]] = MixedNB

    def __init__(self, n_features: int, layout: Layout, models: list[NaiveBayes], columns: list[Int64Array]) -> None:
        super().__init__(n_features, layout, "posterior")
        self.models, self.columns = models, columns
        self.parts = [model._new_likelihood(len(own), layout) for model, own in zip(models, columns, strict=True)]

    def blocks(self, X: Any, *, learning: bool) -> list[Any]:
        """Return the columns of each part in the form it works on."""
        by_column = sp.csc_matrix(X) if sp.issparse(X) else X
        found = []
        for model, own in zip(self.models, self.columns, strict=True):
            block = by_column[:, own]
            if model._takes_sparse:
                block = sp.csr_matrix(block)
            elif sp.issparse(block):
                block = block.toarray()
            model._check_values(block, learning=learning)
            found.append(block)
        return found

    def _check_sums(self, state: State, n_features: int, layout: Layout) -> None:
        parts = state.entries("parts")
        models, columns = (state.entries(name, len(parts)) for name in ("models", "columns"))
        for model, part, own in zip(models, parts, columns, strict=True):
            state.require(isinstance(model, NaiveBayes) and isinstance(part, Likelihood), "parts")
            state.require(part._model is type(model) and part.layout == layout, "parts")
            state.require(are_columns(own, n_features) and part.n_features == own.size, "columns")
        every = np.concatenate([*columns, np.empty(0, dtype=np.int64)])
        state.require(every.size == n_features and are_columns(every, n_features), "columns")

    def add(self, X: Any, members: Members, weights: FloatArray) -> None:
        """Let every part learn from its columns."""
        for part, block in zip(self.parts, self.blocks(X, learning=True), strict=True):
            part.add(block, members, weights)

    def extend(self, places: Int64Array, layout: Layout) -> None:
        """Make room for new classes in every part."""
        self.layout = layout
        for part in self.parts:
            part.extend(places, layout)

    def log_likelihood(self, X: Any) -> FloatArray:
        """Return the sum of the log likelihoods of the parts."""
        blocks = self.blocks(X, learning=False)
        scores = [part.log_likelihood(block) for part, block in zip(self.parts, blocks, strict=True)]
        return np.sum(scores, axis=0)

    def log_evidence(self) -> FloatArray:
        """Return the sum of the log evidences of the parts."""
        return np.sum([part.log_evidence() for part in self.parts], axis=0)

    def mutual_information(self, shares: FloatArray) -> FloatArray:
        """Return that of each feature, from the part it belongs to."""
        result = np.zeros((self.layout.tasks[0], self.n_features))
        for part, own in zip(self.parts, self.columns, strict=True):
            result[:, own] = part.mutual_information(shares)
        return result

    def draw(self, group: int, n: int, length: Any, rng: np.random.Generator) -> FloatArray:
        """Draw every part on its own."""
        result = np.zeros((n, self.n_features))
        for part, own in zip(self.parts, self.columns, strict=True):
            block = part.draw(group, n, length, rng)
            result[:, own] = block.toarray() if sp.issparse(block) else block
        return result
