"""Newton's equations for all columns at once, by conjugate gradients over the documents."""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._sparse import Compressed
from bayesift._typing import BoolArray, FloatArray, UInt32Array
from bayesift.linear._dual import row_dot

#: Documents below this share of the mean curvature enter the preconditioner only.
_CUT = 0.02
#: Accuracy relative to the gradient, and limit of products.
_FORCING = 0.1
_MAX_PRODUCTS = 100


@kernel
def hessian_diagonal(documents: Compressed, w: FloatArray, l2: FloatArray) -> FloatArray:
    """Return l2 + Σ_i w_i x_ij², the intercept's last."""
    indptr, indices, data = documents
    out = l2.copy()
    for i in range(w.shape[0]):
        for k in range(indptr[i], indptr[i + 1]):
            out[indices[k]] += w[i] * data[k] * data[k]
    out[-1] += w.sum()
    return out


@kernel
def hessian_times(
    documents: Compressed, w: FloatArray, kept: UInt32Array, l2: FloatArray, p: FloatArray, out: FloatArray
) -> None:
    """Fill out = (l2 + Σ w_i x_i x_iᵀ) p over the kept documents, in one pass by rows."""
    indptr, indices, data = documents
    last = p.shape[0] - 1
    for j in range(p.shape[0]):
        out[j] = l2[j] * p[j]
    total = 0.0
    for i in kept:
        first = indptr[i]
        end = indptr[i + np.uint32(1)]
        t = (p[last] + row_dot(indices, data, first, end, p)) * w[i]
        total += t
        for k in range(first, end):
            out[indices[k]] += data[k] * t
    out[last] += total


@kernel(error_model="numpy")
def conjugate_gradients(
    documents: Compressed, w: FloatArray, l2: FloatArray, free: BoolArray, g: FloatArray, step: FloatArray
) -> None:
    """Solve H step = g roughly on the free coordinates, preconditioned by the diagonal."""
    size = g.shape[0]
    floor = _CUT * w.mean()
    kept = np.flatnonzero(w > floor).astype(np.uint32)
    diagonal = hessian_diagonal(documents, w, l2) + 1e-12
    out, res, p = np.empty(size), np.empty(size), np.empty(size)
    rho = 0.0
    for j in range(size):
        step[j] = 0.0
        res[j] = g[j] if free[j] else 0.0
        p[j] = res[j] / diagonal[j]
        rho += res[j] * p[j]
    goal = _FORCING * _FORCING * rho
    for _ in range(_MAX_PRODUCTS):
        if rho <= goal:
            return
        hessian_times(documents, w, kept, l2, p, out)
        bend = 0.0
        for j in range(size):
            bend += p[j] * out[j] if free[j] else 0.0
        if bend <= 0.0:
            return
        a = rho / bend
        new = 0.0
        for j in range(size):
            if free[j]:
                step[j] += a * p[j]
                res[j] -= a * out[j]
                new += res[j] * res[j] / diagonal[j]
        ratio = new / rho
        rho = new
        for j in range(size):
            p[j] = res[j] / diagonal[j] + ratio * p[j] if free[j] else 0.0
