"""Who belongs to what: labels or an indicator matrix as groups of documents whose statistics are added up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from bayesift._typing import AnyArray, FloatArray, Int64Array

Kind = Literal["classes", "categories"]


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
    kind : {"classes", "categories"}
        Labels, or an indicator matrix.
    n : int
        Number of classes or of categories.
    """

    kind: Kind
    n: int

    @property
    def tasks(self) -> tuple[int, int]:
        """Number of tasks, and of the classes of each."""
        return (1, self.n) if self.kind == "classes" else (self.n, 2)

    @property
    def n_groups(self) -> int:
        """Number of groups: the classes of all tasks."""
        return self.tasks[0] * self.tasks[1]

    @property
    def n_sums(self) -> int:
        """Number of sums that are kept."""
        return self.n if self.kind == "classes" else self.n + 1

    def groups(self, sums: FloatArray) -> FloatArray:
        """Return the sums of the groups from those that are kept, along the last axis."""
        if self.kind == "classes":
            return sums
        inside, everyone = sums[..., :-1], sums[..., -1:]
        # Where weights are fractions the difference may miss 0 by a rounding error.
        return np.stack([np.maximum(everyone - inside, 0.0), inside], axis=-1).reshape(*sums.shape[:-1], self.n_groups)

    def by_task(self, values: FloatArray) -> FloatArray:
        """Split the last axis, that of the groups, into tasks and their classes."""
        return values.reshape(*values.shape[:-1], *self.tasks)

    def by_class(self, table: FloatArray) -> FloatArray:
        """Turn features × groups into classes × features, or categories × 2 × features."""
        return table.T if self.kind == "classes" else np.moveaxis(self.by_task(table), 0, -1)


def read_targets(y: Any) -> tuple[Kind, AnyArray]:
    """Return labels as a flat array, or an indicator matrix in compressed rows of zeros and ones."""
    if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
        y = y.toarray().ravel() if sp.issparse(y) else column_or_1d(y, warn=True)
    kind = type_of_target(y, input_name="y")
    if kind not in ("binary", "multiclass", "multilabel-indicator", "multiclass-multioutput"):
        check_classification_targets(y)
    if kind == "multiclass-multioutput":
        raise ValueError("y has several columns with values other than 0 and 1; expected an indicator matrix")
    if kind == "multilabel-indicator":
        indicator = sp.csr_matrix(y, dtype=np.float64)
        indicator.sum_duplicates()
        indicator.eliminate_zeros()
        return "categories", indicator
    return "classes", np.asarray(y)


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
    if layout.kind == "classes":
        return members
    n_documents = members.start.size - 1
    inside = np.zeros((n_documents, layout.n_sums), dtype=np.int64)
    inside[np.repeat(np.arange(n_documents), np.diff(members.start)), members.sums] = 1
    groups = 2 * np.arange(layout.n) + inside[:, :-1]
    return Members(np.arange(n_documents + 1, dtype=np.int64) * layout.n, groups.ravel())
