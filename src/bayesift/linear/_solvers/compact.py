"""The part of the data that a Newton step on some columns needs, copied into compact storage.

Documents without any of the columns that share label and margin count as one.
"""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._sparse import Compressed, add_columns, columns_dot, transpose
from bayesift._typing import FloatArray, UInt32Array
from bayesift.linear._losses import BinarySample


@kernel
def _merge(
    columns: Compressed,
    chosen: UInt32Array,
    sample: BinarySample,
    place: UInt32Array,
    label: FloatArray,
    weight: FloatArray,
    margin: FloatArray,
) -> int:
    """Fill the arrays that ``merge_documents`` returns, ``place`` from zeros; return how many documents are left.

    The margins of all documents stand in the place of the offsets of ``sample``.
    """
    indptr, indices, _ = columns
    y, s, r = sample
    for j in chosen:
        for k in range(indptr[j], indptr[j + np.uint32(1)]):
            place[indices[k]] = 1
    count = 0
    shared_plus = shared_minus = -1
    for i in range(y.shape[0]):
        known = shared_plus if y[i] > 0.0 else shared_minus
        if s[i] == 0.0:
            place[i] = y.shape[0]
        elif place[i] == 0 and known >= 0 and margin[known] == r[i]:
            weight[known] += s[i]
            place[i] = known
        else:
            if place[i] == 0 and known < 0:
                if y[i] > 0.0:
                    shared_plus = count
                else:
                    shared_minus = count
            label[count] = y[i]
            weight[count] = s[i]
            margin[count] = r[i]
            place[i] = count
            count += 1
    return count


def merge_documents(
    columns: Compressed, chosen: UInt32Array, y: FloatArray, s: FloatArray, r: FloatArray
) -> tuple[UInt32Array, FloatArray, FloatArray, FloatArray]:
    """Number the documents anew: those without any chosen column that share label and margin count as one.

    Documents of weight zero are left out. Returns each document's new number (that of documents if left out), and the
    labels, weights and margins of the merged ones.
    """
    place = np.zeros(y.size, np.uint32)
    label, weight, margin = np.empty((3, y.size))
    count = _merge(columns, chosen, (y, s, r), place, label, weight, margin)
    return place, label[:count], weight[:count], margin[:count]


@kernel
def _take(
    columns: Compressed,
    chosen: UInt32Array,
    place: UInt32Array,
    label: FloatArray,
    start: UInt32Array,
    rows: UInt32Array,
    values: FloatArray,
) -> None:
    """Fill the arrays that ``take_columns`` returns."""
    indptr, indices, data = columns
    count = label.shape[0]
    for i in range(count):
        rows[i] = i
        values[i] = label[i]
    start[0] = 0
    start[1] = count
    t = count
    for a in range(chosen.shape[0]):
        j = chosen[a]
        for k in range(indptr[j], indptr[j + np.uint32(1)]):
            i = place[indices[k]]
            if i < count:
                rows[t] = i
                values[t] = data[k] * label[i]
                t += 1
        start[a + 2] = t


def take_columns(
    columns: Compressed, chosen: UInt32Array, place: UInt32Array, label: FloatArray
) -> tuple[UInt32Array, UInt32Array, FloatArray]:
    """Copy the chosen columns times y into compact storage, after a first column y for the intercept."""
    size = label.size + entries_of(columns, chosen)
    start = np.empty(chosen.size + 2, np.uint32)
    rows, values = np.empty(size, np.uint32), np.empty(size)
    _take(columns, chosen, place, label, start, rows, values)
    return start, rows[: start[-1]], values[: start[-1]]


def entries_of(columns: Compressed, chosen: UInt32Array) -> int:
    """Count the entries of some columns."""
    indptr = columns[0]
    return int((indptr[1:][chosen] - indptr[chosen]).sum())


class TakenColumns:
    """Columns in compact storage, the first of them full where there is a block of dense features.

    Parameters
    ----------
    taken : tuple of arrays
        What :func:`take_columns` returns.
    n_documents : int
    has_block : bool
        Whether to look for columns with an entry in every document; they are the most frequent, and so the first.

    Attributes
    ----------
    short : float32 array of shape (n_documents, n_full)
        The full columns by rows.
    by_rows : tuple of arrays
        The others by rows.
    """

    def __init__(self, taken: tuple[UInt32Array, UInt32Array, FloatArray], n_documents: int, has_block: bool) -> None:
        start, rows, values = taken
        n_full = 0
        if has_block:
            is_full = np.diff(start) == n_documents
            n_full = int(np.append(is_full, False).argmin())
        first = n_full * n_documents
        self._full = values[:first].reshape(n_full, n_documents)
        self._rest = start[n_full:] - np.uint32(first), rows[first:], values[first:]
        self.short = np.ascontiguousarray(self._full.T, dtype=np.float32)
        self.by_rows = transpose(*self._rest, n_documents)

    def slopes(self, u: FloatArray, c: FloatArray) -> None:
        """Fill c_j = Σ_i x_ij u_i."""
        n_full = len(self._full)
        if n_full:
            c[:n_full] = self._full @ u
        columns_dot(*self._rest, u, c[n_full:])

    def fill_scores(self, step: FloatArray, z: FloatArray) -> None:
        """Fill z_i = Σ_j x_ij step_j."""
        n_full = len(self._full)
        if n_full:
            np.matmul(step[:n_full], self._full, out=z)
        else:
            z.fill(0.0)
        add_columns(*self._rest, step[n_full:], z)
