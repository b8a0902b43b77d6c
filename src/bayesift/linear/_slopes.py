"""The slopes c = Xᵀ(y∘u) of the loss: all of them by the cheaper of two ways, or those of a set of columns."""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._sparse import Compressed, columns_dot
from bayesift._typing import FloatArray, UInt32Array


@kernel
def commonest(q: FloatArray, s: FloatArray) -> float:
    """The value that more than half of the documents share, if there is one (majority vote)."""
    value = 0.0
    lead = 0
    for i in range(q.shape[0]):
        if s[i] > 0.0:
            if lead == 0:
                value = q[i]
                lead = 1
            elif q[i] == value:
                lead += 1
            else:
                lead -= 1
    return value


@kernel(error_model="numpy")
def all_slopes(
    columns: Compressed,
    documents: Compressed,
    sums: FloatArray,
    y: FloatArray,
    s: FloatArray,
    u: FloatArray,
    c: FloatArray,
) -> None:
    """Fill c = Xᵀ(y∘u), the intercept's sum last.

    Documents without any term of the model have the same y_i u_i / s_i. When they are many, their part is that number
    times ``sums`` = Xᵀs, and only the others are read, by rows.
    """
    indptr, indices, data = documents
    n = y.shape[0]
    v = y * u
    q = np.empty(n)
    for i in range(n):
        q[i] = v[i] / s[i] if s[i] > 0.0 else 0.0
    common = commonest(q, s)
    work = 0
    for i in range(n):
        if q[i] != common and s[i] > 0.0:
            work += indptr[i + 1] - indptr[i]
    if 2 * work > indices.shape[0]:
        columns_dot(columns[0], columns[1], columns[2], v, c)
    else:
        for j in range(sums.shape[0]):
            c[j] = common * sums[j]
        for i in range(n):
            if q[i] != common and s[i] > 0.0:
                t = v[i] - common * s[i]
                for k in range(indptr[i], indptr[i + 1]):
                    c[indices[k]] += data[k] * t
    c[-1] = v.sum()


@kernel
def set_slopes(columns: Compressed, y: FloatArray, u: FloatArray, order: UInt32Array, c: FloatArray) -> None:
    """Fill c_j = Σ_i x_ij y_i u_i for a set of columns, of which the first is the intercept's place."""
    indptr, indices, data = columns
    v = y * u
    c[order[0]] = v.sum()
    for a in range(1, order.shape[0]):
        j = order[a]
        total = 0.0
        for k in range(indptr[j], indptr[j + np.uint32(1)]):
            total += data[k] * v[indices[k]]
        c[j] = total
