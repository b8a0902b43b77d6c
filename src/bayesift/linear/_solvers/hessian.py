"""Newton's equations for many coefficients at once, by products of the Hessian with a vector, one pass by rows each.

Dense features after the sparse ones, Z, are few and in every document: their part of the Hessian, Z diag(w) Zᵀ, is a
small matrix that couples all documents. It is computed once a step and divided by exactly, so that the products need
only find out what the sparse features change.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from bayesift._kernel import kernel
from bayesift._sparse import Compressed, columns_dot, inner
from bayesift._typing import BoolArray, FloatArray, UInt32Array

#: Accuracy relative to the gradient, and limit of products.
_FORCING = 0.1
_MAX_PRODUCTS = 200


@kernel(inline="always")
def row_dot(indices, data, first, end, b):  # type: ignore[no-untyped-def]
    """Σ_k data_k b[indices_k]; four running sums hide the latency of an addition."""
    z0 = 0.0
    z1 = 0.0
    z2 = 0.0
    z3 = 0.0
    k = first
    while k + np.uint32(4) <= end:
        z0 += data[k] * b[indices[k]]
        z1 += data[k + np.uint32(1)] * b[indices[k + np.uint32(1)]]
        z2 += data[k + np.uint32(2)] * b[indices[k + np.uint32(2)]]
        z3 += data[k + np.uint32(3)] * b[indices[k + np.uint32(3)]]
        k += np.uint32(4)
    while k < end:
        z0 += data[k] * b[indices[k]]
        k += np.uint32(1)
    return (z0 + z1) + (z2 + z3)


def row_scores(documents: Compressed, b: FloatArray, z: FloatArray) -> None:
    """Fill z_i = b_0 + x_iᵀb."""
    columns_dot(*documents, b, z)
    z += b[-1]


@kernel
def _add_column_squares(documents: Compressed, w: FloatArray, out: FloatArray) -> None:
    """Add Σ_i w_i x_ij² to out_j."""
    indptr, indices, data = documents
    for i in range(w.shape[0]):
        for k in range(indptr[i], indptr[i + 1]):
            out[indices[k]] += w[i] * data[k] * data[k]


def hessian_diagonal(documents: Compressed, w: FloatArray, l2: FloatArray) -> FloatArray:
    """Return l2 + Σ_i w_i x_ij², the intercept's last."""
    out = l2.copy()
    _add_column_squares(documents, w, out)
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


def block_hessian(block: FloatArray, w: FloatArray, l2: FloatArray) -> FloatArray:
    """Return l2 + Σ_i w_i z_i z_iᵀ for the dense features of every document and a constant last.

    Parameters
    ----------
    block : float array of shape (n_dense, n_documents)
    w : float array of shape (n_documents,)
    l2 : float array of shape (n_dense + 1,)
    """
    weighted = block * w
    matrix = np.empty((l2.size, l2.size))
    np.matmul(weighted, block.T, out=matrix[:-1, :-1])
    matrix[-1, :-1] = matrix[:-1, -1] = weighted.sum(axis=1)
    matrix[-1, -1] = w.sum()
    matrix[np.diag_indices(l2.size)] += l2
    return matrix


def preconditioner(
    documents: Compressed, block: FloatArray, w: FloatArray, l2: FloatArray, free: BoolArray
) -> Callable[[FloatArray], FloatArray]:
    """Return the function that divides by the diagonal of the Hessian, and by its block of dense features.

    Coordinates that are not free become 0.
    """
    inverse = free / (hessian_diagonal(documents, w, l2) + 1e-12)
    if not len(block):
        return lambda v: inverse * v
    last = slice(-len(block) - 1, None)
    matrix, moves = block_hessian(block, w, l2[last]), free[last]
    matrix[~moves] = matrix[:, ~moves] = 0.0
    # A share of the diagonal that no step notices, so that equal columns without a penalty are no obstacle.
    matrix[np.diag_indices(len(matrix))] += np.where(moves, 1e-10 * matrix.diagonal() + 1e-12, 1.0)
    try:
        factor = cho_factor(matrix, lower=True, overwrite_a=True)
    except (LinAlgError, ValueError):
        return lambda v: inverse * v

    def divide(v: FloatArray) -> FloatArray:
        result: FloatArray = inverse * v
        result[last] = np.where(moves, cho_solve(factor, np.where(moves, v[last], 0.0), check_finite=False), 0.0)
        return result

    return divide


def conjugate_gradients(
    documents: Compressed,
    block: FloatArray,
    w: FloatArray,
    l2: FloatArray,
    free: BoolArray,
    g: FloatArray,
    cut: float,
    goal: float = np.inf,
) -> tuple[FloatArray, float]:
    """Solve H step = g roughly on the free coordinates, preconditioned as said above; g is 0 on the others.

    ``block`` holds the dense features by columns, none if it has no row. Documents with at most ``cut`` times the mean
    curvature enter the preconditioner only. Stops where the square of what is left of g, in its units, is at most
    ``goal`` and a small share of that of g. Returns the step and the goal.
    """
    kept = np.flatnonzero(w > cut * w.mean()).astype(np.uint32)
    divide = preconditioner(documents, block, w, l2, free)
    step, residual, product = np.zeros_like(g), g.copy(), np.empty_like(g)
    p = divide(residual)
    rho = inner(residual, p)
    goal = min(goal, _FORCING * _FORCING * rho)
    for _ in range(_MAX_PRODUCTS):
        if rho <= goal:
            break
        hessian_times(documents, w, kept, l2, p, product)
        curvature = inner(p, product)
        if curvature <= 0.0:
            break
        size = rho / curvature
        step += size * p
        residual -= size * product
        z = divide(residual)
        before, rho = rho, inner(residual, z)
        p *= rho / before
        p += z
    return step, goal
