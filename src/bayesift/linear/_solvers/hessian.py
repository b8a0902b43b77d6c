"""Newton's equations for many coefficients at once, by products of the Hessian with a vector, one pass by rows each.

Dense features after the sparse ones, Z, are few and in every document: their part of the Hessian, Z diag(w) Zᵀ, is a
small matrix that couples all documents. It is computed once a step and divided by exactly, so that the products need
only find out what the sparse features change.

The time of a product goes into its loops over the entries of a document. Where these are short, most of it is lost at
their ends, which the processor guesses wrong; so short documents are copied once a step, sorted by their number of
entries, without the coefficients that do not move.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from bayesift._kernel import kernel
from bayesift._sparse import Compressed, columns_dot, inner
from bayesift._typing import BoolArray, FloatArray, Int64Array, UInt32Array

#: Accuracy relative to the gradient, and limit of products.
_FORCING = 0.1
_MAX_PRODUCTS = 200
#: With fewer entries in a document, on average, sorted copies pay.
_SHORT = 32
#: More entries than this count as equally many.
_MOST_ENTRIES = 2**16 - 1


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


@kernel
def _count_entries(documents: Compressed, rows: UInt32Array, place: UInt32Array, n_places: int) -> Int64Array:
    """Count the entries of each of some documents that have a place."""
    indptr, indices, _ = documents
    counts = np.zeros(rows.shape[0], np.int64)
    for a in range(rows.shape[0]):
        for k in range(indptr[rows[a]], indptr[rows[a] + np.uint32(1)]):
            counts[a] += place[indices[k]] < n_places
    return counts


@kernel
def _copy_entries(
    documents: Compressed, rows: UInt32Array, place: UInt32Array, n_places: int, start: UInt32Array
) -> tuple[UInt32Array, FloatArray]:
    """Copy the entries that have a place; ``start`` says where each document begins."""
    indptr, indices, data = documents
    # An entry without a place is overwritten by the next one.
    columns, values = np.empty(start[-1] + np.uint32(1), np.uint32), np.empty(start[-1] + np.uint32(1))
    for a in range(rows.shape[0]):
        t = start[a]
        for k in range(indptr[rows[a]], indptr[rows[a] + np.uint32(1)]):
            columns[t] = place[indices[k]]
            values[t] = data[k]
            t += np.uint32(place[indices[k]] < n_places)
    return columns, values


def sorted_copy(
    documents: Compressed, w: FloatArray, n_features: int, chosen: Int64Array | None
) -> tuple[Compressed, FloatArray]:
    """Copy the documents that have a weight, sorted by their number of entries, and their weights.

    ``chosen`` lists the features to copy, which are numbered anew; without it they are all copied.
    """
    place = np.arange(n_features, dtype=np.uint32)
    n_places = n_features
    if chosen is not None:
        n_places = chosen.size
        place.fill(n_places)
        place[chosen] = np.arange(n_places, dtype=np.uint32)
    rows = np.flatnonzero(w).astype(np.uint32)
    counts = _count_entries(documents, rows, place, n_places)
    # Numbers of 16 bits are sorted in a few passes.
    order = np.argsort(np.minimum(counts, _MOST_ENTRIES).astype(np.uint16), kind="stable")
    rows = rows[order]
    start = np.zeros(rows.size + 1, np.uint32)
    start[1:] = np.cumsum(counts[order])
    return (start, *_copy_entries(documents, rows, place, n_places, start)), w[rows]


class Hessian:
    """The Hessian l2 + Σ_i w_i x_i x_iᵀ of some coefficients, the intercept's last.

    Parameters
    ----------
    documents : compressed matrix
        X by rows.
    block : float array of shape (n_dense, n_documents)
        The dense features by columns, none if it has no row.
    w : float array of shape (n_documents,)
        The curvatures of the losses.
    l2 : float array of shape (n_features + 1,)
        The precisions of the priors.
    cut : float, default=0
        Documents with at most ``cut`` times the mean curvature enter the preconditioner only.
    chosen : int array, optional
        The coefficients of this matrix, the dense features and the intercept among them; without it all.
    """

    def __init__(
        self,
        documents: Compressed,
        block: FloatArray,
        w: FloatArray,
        l2: FloatArray,
        cut: float = 0.0,
        chosen: Int64Array | None = None,
    ) -> None:
        self._l2 = l2 if chosen is None else l2[chosen]
        self._block = block_hessian(block, w, self._l2[-len(block) - 1 :]) if len(block) else None
        least = cut * w.mean()
        if chosen is not None or documents[1].size < _SHORT * w.size:
            documents, w = sorted_copy(documents, w, l2.size - 1, None if chosen is None else chosen[:-1])
        self._documents, self._w = documents, w
        self._kept = np.flatnonzero(w > least).astype(np.uint32)
        self._diagonal = hessian_diagonal(documents, w, self._l2)

    def times(self, p: FloatArray, out: FloatArray) -> None:
        """Fill ``out`` with the product of the Hessian and p."""
        hessian_times(self._documents, self._w, self._kept, self._l2, p, out)

    def divider(self, free: BoolArray) -> Divider:
        """Return what divides by the diagonal, and by the block of dense features."""
        return Divider(self._diagonal, self._block, free)

    def solve(self, free: BoolArray, g: FloatArray, goal: float = np.inf) -> tuple[FloatArray, float]:
        """Solve H step = g roughly on the free coordinates by conjugate gradients; g is 0 on the others.

        Stops where the square of what is left of g, in units of the preconditioner, is at most ``goal`` and a small
        share of that of g. Returns the step and the goal.
        """
        divider = self.divider(free)
        step, residual, product = np.zeros_like(g), g.copy(), np.empty_like(g)
        p = divider.divide(residual)
        rho = inner(residual, p)
        goal = min(goal, _FORCING * _FORCING * rho)
        for _ in range(_MAX_PRODUCTS):
            if rho <= goal:
                break
            self.times(p, product)
            curvature = inner(p, product)
            if curvature <= 0.0:
                break
            size = rho / curvature
            step += size * p
            residual -= size * product
            z = divider.divide(residual)
            before, rho = rho, inner(residual, z)
            p *= rho / before
            p += z
        return step, goal


class Divider:
    """Divides by the diagonal of a Hessian and by its block of dense features; coordinates not free become 0.

    Parameters
    ----------
    diagonal : float array
    block : float array of shape (n_dense + 1, n_dense + 1) or None
        The Hessian of the dense features and the intercept.
    free : bool array
    """

    def __init__(self, diagonal: FloatArray, block: FloatArray | None, free: BoolArray) -> None:
        self._inverse = free / (diagonal + 1e-12)
        self._factor = None
        if block is None:
            return
        self._moves = moves = free[-len(block) :]
        matrix = block.copy()
        matrix[~moves] = matrix[:, ~moves] = 0.0
        # A share of the diagonal that no step notices, so that equal columns without a penalty are no obstacle.
        matrix[np.diag_indices(len(matrix))] += np.where(moves, 1e-10 * matrix.diagonal() + 1e-12, 1.0)
        try:
            self._factor = cho_factor(matrix, lower=True, overwrite_a=True)
        except (LinAlgError, ValueError):
            return

    def divide(self, v: FloatArray) -> FloatArray:
        """Return v divided."""
        result: FloatArray = self._inverse * v
        if self._factor is not None:
            moves = self._moves
            own = np.where(moves, v[-moves.size :], 0.0)
            result[-moves.size :] = np.where(moves, cho_solve(self._factor, own, check_finite=False), 0.0)
        return result
