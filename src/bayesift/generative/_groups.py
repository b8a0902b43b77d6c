"""Labels or an indicator matrix as groups of documents whose statistics are added up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from bayesift._labels import TargetType, labels_or_indicator
from bayesift._state import MOST_FEATURES, State
from bayesift._typing import AnyArray, FloatArray, Int64Array


class Members(NamedTuple):
    """The sums that each document is added to: those with the numbers ``sums[start[i]:start[i + 1]]``."""

    start: Int64Array
    sums: Int64Array


@dataclass(frozen=True)
class Layout:
    """How groups of documents stand side by side on the last axis of every table.

    Labels are one task of ``n`` classes, with one group for each. An indicator matrix is ``n`` tasks of two classes:
    the documents without and with the category. For these, sums are kept for every category and for all documents; what
    is left for the documents without it is their difference, so that no document is counted once for each category.

    Parameters
    ----------
    multilabel : bool
        Whether the targets are an indicator matrix.
    n : int
        Number of classes or of categories.
    """

    multilabel: bool
    n: int

    def _check_state(self, state: State) -> None:
        state.instance("multilabel", bool)
        state.count("n", 1, MOST_FEATURES)

    @property
    def target_type(self) -> TargetType:
        """What the targets are, as scikit-learn calls it."""
        if self.multilabel:
            return "multilabel-indicator"
        return "binary" if self.n == 2 else "multiclass"

    @property
    def tasks(self) -> tuple[int, int]:
        """Number of tasks, and of the classes of each."""
        return (self.n, 2) if self.multilabel else (1, self.n)

    @property
    def n_groups(self) -> int:
        """Number of groups: the classes of all tasks."""
        return self.tasks[0] * self.tasks[1]

    @property
    def n_sums(self) -> int:
        """Number of sums that are kept."""
        return self.n + self.multilabel

    def groups(self, sums: FloatArray) -> FloatArray:
        """Return the sums of the groups from those that are kept, along the last axis."""
        if not self.multilabel:
            return sums
        inside, everyone = sums[..., :-1], sums[..., -1:]
        # Where weights are fractions the difference may miss 0 by a rounding error.
        return np.stack([np.maximum(everyone - inside, 0.0), inside], axis=-1).reshape(*sums.shape[:-1], self.n_groups)

    def by_task(self, values: FloatArray) -> FloatArray:
        """Split the last axis, that of the groups, into tasks and their classes."""
        return values.reshape(*values.shape[:-1], *self.tasks)

    def by_class(self, table: FloatArray) -> FloatArray:
        """Turn features × groups into classes × features, or categories × 2 × features."""
        return np.moveaxis(self.by_task(table), 0, -1) if self.multilabel else table.T


class Targets(NamedTuple):
    """Labels as they were read: ``classes`` are those found, and ``codes`` the place of each document's label.

    After an indicator matrix, ``classes`` are the numbers of its columns, and ``indicator`` is the matrix.
    """

    classes: AnyArray
    codes: Int64Array | None
    indicator: sp.csr_matrix | None

    @property
    def multilabel(self) -> bool:
        """Whether they came as an indicator matrix."""
        return self.indicator is not None

    def part(self, first: int, last: int) -> Targets:
        """Return the targets of some documents that follow each other."""
        codes = None if self.codes is None else self.codes[first:last]
        return self._replace(codes=codes, indicator=None if self.indicator is None else self.indicator[first:last])

    def members(self, places: Int64Array) -> Members:
        """Return the sums of each document; ``places`` says where the classes found stand among all."""
        if self.codes is not None:
            return class_members(places[self.codes])
        return category_members(self.indicator)


def read_targets(y: Any) -> Targets:
    """Read labels of any type, or an indicator matrix."""
    target_type, labels = labels_or_indicator(y)
    if target_type == "multilabel-indicator":
        return Targets(np.arange(labels.shape[1]), None, labels)
    classes, codes = np.unique(labels, return_inverse=True)
    return Targets(classes, codes, None)


def class_members(codes: AnyArray) -> Members:
    """Return the sum of each document: that of its class."""
    return Members(np.arange(codes.size + 1, dtype=np.int64), codes.astype(np.int64))


def category_members(indicator: sp.csr_matrix) -> Members:
    """Return the sums of each document: those of its categories, and that of all documents."""
    everyone = sp.csr_matrix(np.ones((indicator.shape[0], 1)))
    both = sp.csr_matrix(sp.hstack([indicator, everyone]))
    both.sort_indices()
    return Members(both.indptr.astype(np.int64), both.indices.astype(np.int64))


def every_group(members: Members, layout: Layout) -> Members:
    """Return the groups of each document, without or with every category, for sums that cannot be subtracted."""
    if not layout.multilabel:
        return members
    n_documents = members.start.size - 1
    inside = np.zeros((n_documents, layout.n_sums), dtype=np.int64)
    inside[np.repeat(np.arange(n_documents), np.diff(members.start)), members.sums] = 1
    groups = 2 * np.arange(layout.n) + inside[:, :-1]
    return Members(np.arange(n_documents + 1, dtype=np.int64) * layout.n, groups.ravel())
