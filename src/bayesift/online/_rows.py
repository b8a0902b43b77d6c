"""Documents as the kernels want them: compressed rows of the columns that a category uses, and the constant."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from bayesift._kernel import kernel
from bayesift._typing import FloatArray, Int64Array, UInt32Array
from bayesift.linear._sparse import Compressed


@kernel
def _select(
    indptr: UInt32Array, indices: UInt32Array, data: FloatArray, place: Int64Array, constant: int
) -> tuple[UInt32Array, UInt32Array, FloatArray]:
    """Keep the entries of columns with a place (not −1), renumbered; constant ≥ 0 is the place of an entry of 1."""
    n = indptr.shape[0] - 1
    starts = np.zeros(n + 1, np.uint32)
    for i in range(n):
        count = 1 if constant >= 0 else 0
        for k in range(indptr[i], indptr[i + 1]):
            if place[indices[k]] >= 0:
                count += 1
        starts[i + 1] = starts[i] + np.uint32(count)
    columns, values = np.empty(starts[n], np.uint32), np.empty(starts[n])
    for i in range(n):
        to = starts[i]
        for k in range(indptr[i], indptr[i + 1]):
            if place[indices[k]] >= 0:
                columns[to] = np.uint32(place[indices[k]])
                values[to] = data[k]
                to += np.uint32(1)
        if constant >= 0:
            columns[to] = np.uint32(constant)
            values[to] = 1.0
    return starts, columns, values


def compressed(X: Any) -> Compressed:
    """Return the rows of a matrix in the types of the kernels; repeated entries are summed."""
    rows = sp.csr_matrix(X)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    if rows.nnz + rows.shape[0] > np.iinfo(np.uint32).max:
        raise ValueError(f"X has {rows.nnz} entries; expected fewer than 2³² with the constant")
    kinds = ((rows.indptr, np.uint32), (rows.indices, np.uint32), (rows.data, np.float64))
    starts, columns, values = (np.require(array, kind, ["C", "A", "W"]) for array, kind in kinds)
    return starts, columns, values


def selected(rows: Compressed, n_features: int, columns: Int64Array | None, constant: bool) -> Compressed:
    """Return the entries of the chosen columns (None: all), in their order, with a constant 1 last if wanted."""
    if columns is None and not constant:
        return rows
    place = np.full(n_features, -1, dtype=np.int64)
    chosen = np.arange(n_features) if columns is None else columns
    place[chosen] = np.arange(chosen.size)
    starts, numbers, values = _select(*rows, place, chosen.size if constant else -1)
    return starts, numbers, values
