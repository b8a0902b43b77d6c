"""Sparse matrices in the form that kernels need: compressed rows or columns of fixed types, and products with them.

Row and column numbers are unsigned 32-bit integers: signed ones would cost a test for negative indices at every
element, which doubles the time of a pass.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array

from bayesift._kernel import kernel
from bayesift._typing import FloatArray, Int64Array, UInt32Array

#: A sparse matrix by columns or by rows: where each starts, the numbers of the other dimension, the values.
Compressed = tuple[UInt32Array, UInt32Array, FloatArray]

#: A sum that is smaller than this share of its terms is only rounding error.
ROUNDING = 2.0**-52


@kernel
def _transpose(
    indptr: UInt32Array,
    indices: UInt32Array,
    data: FloatArray,
    start: UInt32Array,
    rows: UInt32Array,
    values: FloatArray,
) -> None:
    """Fill the columns; ``start``, all zeros, has one place more than there are starts and ends."""
    for k in range(indices.shape[0]):
        start[indices[k] + np.uint32(2)] += np.uint32(1)
    for j in range(start.shape[0] - 1):
        start[j + 1] += start[j]
    # The start of a column moves to its end while it is filled: one place on, where the next one starts.
    for i in range(indptr.shape[0] - 1):
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k] + np.uint32(1)
            t = start[j]
            start[j] = t + np.uint32(1)
            rows[t] = i
            values[t] = data[k]


def transpose(
    indptr: UInt32Array, indices: UInt32Array, data: FloatArray, n_columns: int
) -> tuple[UInt32Array, UInt32Array, FloatArray]:
    """Turn compressed rows into compressed columns, or the reverse."""
    start = np.zeros(n_columns + 2, np.uint32)
    rows, values = np.empty(indices.size, np.uint32), np.empty(indices.size)
    _transpose(indptr, indices, data, start, rows, values)
    return start[:-1], rows, values


@kernel
def columns_dot(indptr: UInt32Array, indices: UInt32Array, data: FloatArray, v: FloatArray, out: FloatArray) -> None:
    """Fill out_j = Σ_i x_ij v_i for every column; four running sums hide the latency of an addition."""
    for j in range(indptr.shape[0] - 1):
        k = indptr[j]
        end = indptr[j + 1]
        a = 0.0
        b = 0.0
        c = 0.0
        d = 0.0
        while k + np.uint32(4) <= end:
            a += data[k] * v[indices[k]]
            b += data[k + np.uint32(1)] * v[indices[k + np.uint32(1)]]
            c += data[k + np.uint32(2)] * v[indices[k + np.uint32(2)]]
            d += data[k + np.uint32(3)] * v[indices[k + np.uint32(3)]]
            k += np.uint32(4)
        while k < end:
            a += data[k] * v[indices[k]]
            k += np.uint32(1)
        out[j] = (a + b) + (c + d)


@kernel
def add_columns(indptr: UInt32Array, indices: UInt32Array, data: FloatArray, b: FloatArray, z: FloatArray) -> None:
    """Add Xb to z, skipping the zeros of b."""
    for j in range(indptr.shape[0] - 1):
        t = b[j]
        if t != 0.0:
            for k in range(indptr[j], indptr[j + 1]):
                z[indices[k]] += data[k] * t


def squared_norms(indptr: UInt32Array, data: FloatArray) -> FloatArray:
    """Return Σ_k data_k² of every row (or column)."""
    out = np.zeros(indptr.shape[0] - 1)
    _add_squares(indptr, data, out)
    return out


@kernel
def _add_squares(indptr: UInt32Array, data: FloatArray, out: FloatArray) -> None:
    """Add data_k² to the number of its row; arrays that a kernel makes itself take long to compile."""
    for i in range(out.shape[0]):
        for k in range(indptr[i], indptr[i + 1]):
            out[i] += data[k] * data[k]


@kernel(error_model="numpy")
def quadratic_form(columns: UInt32Array, values: FloatArray, C: FloatArray) -> float:
    """Return xᵀCx for the entries of x and a covariance C, at least what rounding leaves of its terms."""
    total, diagonal = 0.0, 0.0
    for k in range(columns.shape[0]):
        row, product = C[columns[k]], 0.0
        for m in range(columns.shape[0]):
            product += row[columns[m]] * values[m]
        total += values[k] * product
        diagonal += values[k] * values[k] * row[columns[k]]
    return max(total, ROUNDING * diagonal)


@kernel(fastmath={"reassoc", "contract"})
def inner(a: FloatArray, b: FloatArray) -> float:
    """Σ a_i b_i, on this thread alone: a BLAS would wake threads of its own, in the way of those over categories."""
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


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


def canonical_rows(X: Any) -> sp.csr_array:
    """Check a matrix; return its rows in float64 whose stored entries are exactly its non-zeros, once each.

    The caller's matrix is never altered.
    """
    # The sum by which scikit-learn looks for what is not finite may overflow.
    with np.errstate(over="ignore", invalid="ignore"):
        given = check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X")
    # A dense array always gives fresh buffers, a sparse one may share the caller's.
    matrix = sp.csr_array(given)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    if not matrix.data.all():
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    return matrix


def compressed(X: Any) -> Compressed:
    """Return the rows of a matrix in the types that kernels use; repeated entries are summed."""
    rows = sp.csr_matrix(X)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    if rows.nnz + rows.shape[0] > np.iinfo(np.uint32).max:
        raise ValueError(f"X has {rows.nnz} entries; expected fewer than 2³² with the constant")
    return unsigned(rows.indptr), unsigned(rows.indices), own_types(rows.data, np.float64)


def unsigned(numbers: Any) -> UInt32Array:
    """Return the same numbers as unsigned integers, without a copy if they have 32 bits."""
    return own_types(numbers.view(np.uint32) if numbers.dtype == np.int32 else numbers, np.uint32)


def own_types(values: Any, dtype: Any) -> Any:
    """Copy only arrays of other types, or for which kernels would be compiled again: read-only or unaligned ones."""
    return np.require(values, dtype, ["C", "A", "W"])


def selected(rows: Compressed, n_features: int, columns: Int64Array | None, constant: bool) -> Compressed:
    """Return the entries of the chosen columns (None: all), in their order, with a constant 1 last if wanted."""
    if columns is None and not constant:
        return rows
    place = np.full(n_features, -1, dtype=np.int64)
    chosen = np.arange(n_features) if columns is None else columns
    place[chosen] = np.arange(chosen.size)
    starts, numbers, values = _select(*rows, place, chosen.size if constant else -1)
    return starts, numbers, values
