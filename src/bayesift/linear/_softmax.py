"""The softmax loss of many documents at once, and products of a sparse matrix with one row of numbers per document.

Scores, probabilities and slopes of the documents have a row for each document and a column for each class; coefficients
have a row for each feature, the intercepts last, and a column for each class: the numbers of all classes lie together.
"""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._sparse import Compressed
from bayesift._special_kernels import exp_negative, log1p_unit, log_positive
from bayesift._typing import FloatArray, Int64Array


@kernel(error_model="numpy", fastmath={"reassoc", "contract"})
def softmax_terms(z: FloatArray, codes: Int64Array, s: FloatArray, p: FloatArray, r: FloatArray) -> float:
    """Fill p_ik = exp(z_ik) / Σ_l exp(z_il) and r = s∘(Y − p); return the loss Σ_i s_i [ln Σ_k exp(z_ik) − z_i,y].

    What is missing to 1 in p_i,y is summed over the other classes, so that r and the loss are exact in the tails.
    """
    n, n_classes = z.shape
    total = 0.0
    for i in range(n):
        own = codes[i]
        top = z[i, 0]
        for k in range(1, n_classes):
            top = max(top, z[i, k])
        mass = 0.0
        for k in range(n_classes):
            e = exp_negative(z[i, k] - top)
            p[i, k] = e
            mass += e
        other = mass - p[i, own]
        if p[i, own] == 1.0:
            # Nothing is lost to rounding when the own class's share is never added.
            other = 0.0
            for k in range(n_classes):
                other += p[i, k] if k != own else 0.0
            total += s[i] * (log1p_unit(other) if other <= 1.0 else log_positive(1.0 + other))
        else:
            total += s[i] * (log_positive(mass) + (top - z[i, own]))
        share = 1.0 / mass
        for k in range(n_classes):
            p[i, k] *= share
            r[i, k] = -s[i] * p[i, k]
        r[i, own] = s[i] * other * share
    return total


@kernel
def class_scores(columns: Compressed, b: FloatArray, offset: FloatArray, z: FloatArray) -> None:
    """Fill z_i = o_i + b_0 + Σ_j x_ij b_j, skipping features whose coefficients are all zero."""
    indptr, indices, data = columns
    d = indptr.shape[0] - 1
    n_classes = z.shape[1]
    for i in range(z.shape[0]):
        for k in range(n_classes):
            z[i, k] = offset[i, k] + b[d, k]
    for j in range(d):
        if np.any(b[j]):
            for e in range(indptr[j], indptr[j + 1]):
                i = indices[e]
                x = data[e]
                for k in range(n_classes):
                    z[i, k] += x * b[j, k]


@kernel
def class_slopes(columns: Compressed, r: FloatArray, c: FloatArray) -> None:
    """Fill c_j = Σ_i x_ij r_i, the intercepts' Σ_i r_i last: one pass over the matrix for all classes."""
    indptr, indices, data = columns
    d = indptr.shape[0] - 1
    n_classes = r.shape[1]
    for j in range(d):
        for k in range(n_classes):
            c[j, k] = 0.0
        for e in range(indptr[j], indptr[j + 1]):
            i = indices[e]
            x = data[e]
            for k in range(n_classes):
                c[j, k] += x * r[i, k]
    for k in range(n_classes):
        c[d, k] = 0.0
    for i in range(r.shape[0]):
        for k in range(n_classes):
            c[d, k] += r[i, k]
