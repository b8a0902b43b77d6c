"""The documents as the solvers want them: by columns and by rows, shared by all categories and folds."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from bayesift._sparse import Compressed, columns_dot, inner, squared_norms
from bayesift._typing import FloatArray, UInt32Array
from bayesift.linear._newton import Workspace, workspace
from bayesift.linear._working_set import column_reach

_MOST = np.iinfo(np.uint32).max


@dataclass(frozen=True, eq=False)
class Design:
    """A matrix by columns and by rows in one fixed set of types, so that kernels are compiled once.

    Unsigned numbers spare the kernels a test for negative indices at every entry.

    Parameters
    ----------
    columns, documents : tuples of arrays
        Where each column (document) starts, the documents (columns) of its entries, their values.
    reach : float array of shape (n_features + 1,)
        Largest step of each coefficient, the intercept's last.
    """

    columns: Compressed
    documents: Compressed
    reach: FloatArray
    _own: threading.local = field(default_factory=threading.local, repr=False)

    @property
    def n_documents(self) -> int:
        """Number of rows."""
        return self.documents[0].size - 1

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.columns[0].size - 1

    @cached_property
    def marks(self) -> FloatArray:
        """A number for each document, the same for copies: its product with random numbers."""
        marks = np.empty(self.n_documents)
        columns_dot(*self.documents, np.random.default_rng(0).random(self.n_features), marks)
        return marks

    def sums(self, weights: FloatArray) -> FloatArray:
        """Return Xᵀs, the sum of the weights last."""
        result = np.empty(self.n_features + 1)
        columns_dot(*self.columns, weights, result)
        result[-1] = weights.sum()
        return result

    def workspace(self) -> Workspace:
        """Return the solver's arrays of this thread; they live as long as the design."""
        if not hasattr(self._own, "workspace"):
            self._own.workspace = workspace(self.n_documents, self.n_features)
        return self._own.workspace


def design_of(X: Any) -> Design:
    """Bring a matrix into both forms; repeated entries are summed and nothing is made dense.

    The form in which X comes is not copied if it can be used as it stands.
    """
    matrix = X if sp.issparse(X) else sp.csr_matrix(X)
    if matrix.nnz > _MOST:
        raise ValueError(f"X has {matrix.nnz} entries; the solvers take at most {_MOST}")
    if not matrix.has_canonical_format:
        matrix = matrix.copy() if matrix is X else matrix
        matrix.sum_duplicates()
    columns, documents = _arrays(matrix.tocsc()), _arrays(matrix.tocsr())
    return Design(columns, documents, column_reach(columns[0], columns[2]))


def _arrays(matrix: Any) -> Compressed:
    return _unsigned(matrix.indptr), _unsigned(matrix.indices), _own_types(matrix.data, np.float64)


def _unsigned(numbers: Any) -> UInt32Array:
    """Return the same numbers as unsigned ones, without a copy where they have 32 bits."""
    return _own_types(numbers.view(np.uint32) if numbers.dtype == np.int32 else numbers, np.uint32)


def _own_types(values: Any, dtype: Any) -> Any:
    """Copy only arrays of other types, or such that kernels would be compiled for anew: read-only or not aligned."""
    return np.require(values, dtype, ["C", "A", "W"])


def norm_variance(design: Design, weights: FloatArray) -> float:
    """Return the norm-based variance σ² = D/u (21).

    D is the number of features, the constant among them; u the mean squared Euclidean norm of the documents, without
    the constant. Where all documents are empty no coefficient can matter, and the variance is 1.
    """
    starts, _, values = design.documents
    norm = float(inner(weights, squared_norms(starts, values))) / weights.sum()
    return (design.n_features + 1) / norm if norm > 0 else 1.0
