"""Log probabilities that are sums over the non-zero entries of a document."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from bayesift._kernel import kernel
from bayesift._threads import in_blocks
from bayesift._typing import AnyArray, FloatArray


class LogTable(NamedTuple):
    """Logarithms of probabilities, features × groups, with those of probability 0 told apart from the finite ones."""

    logs: FloatArray
    never: AnyArray | None


def log_table(probabilities: FloatArray) -> LogTable:
    """Take logarithms; where a probability is 0, keep that as a mark of its own and 0 as its logarithm."""
    never = probabilities <= 0
    if not never.any():
        return LogTable(np.log(probabilities), None)
    return LogTable(np.log(np.where(never, 1.0, probabilities)), never.astype(np.float64))


def with_values(X: sp.csr_matrix, values: FloatArray) -> sp.csr_matrix:
    """Return a matrix with other values at the places of the stored ones."""
    return sp.csr_matrix((values, X.indices, X.indptr), shape=X.shape)


def split_missing(X: sp.csr_matrix) -> tuple[sp.csr_matrix, sp.csr_matrix | None]:
    """Return the values with zeros for the missing ones, and where values are missing (None where none is)."""
    missing = np.isnan(X.data)
    if not missing.any():
        return X, None
    return with_values(X, np.where(missing, 0.0, X.data)), with_values(X, missing.astype(np.float64))


@kernel
def _dot_rows(
    first: int, last: int, indptr: AnyArray, indices: AnyArray, values: FloatArray, table: FloatArray, out: FloatArray
) -> None:
    n_groups = np.uint64(table.shape[1])
    flat = table.ravel()
    total = np.zeros(table.shape[1])
    for i in range(first, last):
        for g in range(n_groups):
            total[g] = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            row = np.uint64(indices[k]) * n_groups
            for g in range(n_groups):
                total[g] += values[k] * flat[row + g]
        for g in range(n_groups):
            out[i, g] = total[g]


def dot(X: sp.csr_matrix, table: FloatArray, n_jobs: int | None) -> FloatArray:
    """Return X @ table for a contiguous table, on several threads."""
    out = np.empty((X.shape[0], table.shape[1]))

    def work(first: int, last: int) -> None:
        _dot_rows(first, last, X.indptr, X.indices, X.data, table, out)

    in_blocks(work, X.shape[0], X.nnz * table.shape[1], n_jobs)
    return out
