"""The documents as a small set of columns sees them, and the curvature matrix of that set."""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._sparse import Compressed
from bayesift._typing import AnyArray, FloatArray, UInt32Array


@kernel
def merge_documents(
    columns: Compressed, chosen: UInt32Array, y: FloatArray, s: FloatArray, r: FloatArray
) -> tuple[UInt32Array, FloatArray, FloatArray, FloatArray]:
    """Number the documents anew: those without any chosen column that share label and margin count as one.

    Documents of weight zero are left out. Returns each document's new number (that of documents if left out), and the
    labels, weights and margins of the merged ones.
    """
    indptr, indices, _ = columns
    n = y.shape[0]
    place = np.zeros(n, np.uint32)
    for j in chosen:
        for k in range(indptr[j], indptr[j + np.uint32(1)]):
            place[indices[k]] = 1
    label, weight, margin = np.empty(n), np.empty(n), np.empty(n)
    count = 0
    shared = np.array([-1, -1])
    for i in range(n):
        side = 1 if y[i] > 0.0 else 0
        known = shared[side]
        if s[i] == 0.0:
            place[i] = n
        elif place[i] == 0 and known >= 0 and margin[known] == r[i]:
            weight[known] += s[i]
            place[i] = known
        else:
            if place[i] == 0 and known < 0:
                shared[side] = count
            label[count], weight[count], margin[count] = y[i], s[i], r[i]
            place[i] = count
            count += 1
    return place, label[:count].copy(), weight[:count].copy(), margin[:count].copy()


@kernel
def take_columns(
    columns: Compressed, chosen: UInt32Array, place: UInt32Array, label: FloatArray
) -> tuple[UInt32Array, UInt32Array, FloatArray]:
    """Copy the chosen columns times y into compact storage, after a first column y for the intercept."""
    indptr, indices, data = columns
    count = label.shape[0]
    size = count
    for j in chosen:
        size += indptr[j + np.uint32(1)] - indptr[j]
    start = np.empty(chosen.shape[0] + 2, np.uint32)
    rows = np.empty(size, np.uint32)
    values = np.empty(size)
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
    return start, rows[:t], values[:t]


@kernel
def update_gram(by_rows: Compressed, w: FloatArray, w_used: FloatArray, change: float, gram: AnyArray) -> None:
    """Bring Σ_i w_i x_i x_iᵀ up to date for the rows whose curvature moved by more than the share ``change``.

    ``w_used`` holds the curvature that each row has in ``gram``.
    """
    row_start, columns, values = by_rows
    changed = False
    for i in range(w.shape[0]):
        step = w[i] - w_used[i]
        if abs(step) <= change * max(w[i], w_used[i]):
            continue
        changed = True
        w_used[i] = w[i]
        first = row_start[i]
        for p in range(first, row_start[i + 1]):
            t = np.float32(step * values[p])
            line = gram[columns[p]]
            for q in range(first, p + 1):
                line[columns[q]] += t * np.float32(values[q])
    if changed:
        mirror(gram)


@kernel
def mirror(gram: AnyArray) -> None:
    """Copy the lower triangle to the upper one, block by block."""
    size = gram.shape[0]
    for a in range(0, size, 32):
        for b in range(0, a + 1, 32):
            for p in range(a, min(a + 32, size)):
                for q in range(b, min(b + 32, p)):
                    gram[q, p] = gram[p, q]
