"""Conjugate gradients for four systems (D + HᵀWH)x = Hᵀe + b at once, each with weights W of its own.

One pass over the documents serves all four: the columns of a vector lie side by side. Most of the work is done in
single precision, where a pass moves half of the bytes; what it leaves is computed in double precision, and where that
is too much the rest is solved for in double precision.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg.lapack import dpotri

from bayesift._kernel import kernel
from bayesift._typing import FloatArray
from bayesift.posterior._gaussian_draws import cholesky_root

#: Systems that are solved together.
LANES = 4
#: Single precision gives up after so many steps, double precision after this many times the number of unknowns.
_MOST_SINGLE, _MOST_DOUBLE = 200, 10


@kernel(error_model="numpy")
def rows_times(indptr: Any, indices: Any, data: Any, v: Any, w: Any, out: Any) -> None:
    """Fill out = W(Hv) for four columns of v, with weights for each."""
    zero = v.dtype.type(0.0)
    for i in range(out.shape[0]):
        a, b, c, d = zero, zero, zero, zero
        for k in range(indptr[i], indptr[i + 1]):
            x, j = data[k], indices[k]
            a += x * v[j, 0]
            b += x * v[j, 1]
            c += x * v[j, 2]
            d += x * v[j, 3]
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = w[i, 0] * a, w[i, 1] * b, w[i, 2] * c, w[i, 3] * d


@kernel(error_model="numpy")
def columns_times(
    indptr: Any, indices: Any, data: Any, u: Any, precision: Any, v: Any, out: Any, forms: FloatArray
) -> None:
    """Fill out = Hᵀu + Dv and forms = vᵀout for four columns; H is in compressed columns."""
    zero = u.dtype.type(0.0)
    forms[:] = 0.0
    for j in range(out.shape[0]):
        a, b, c, d = zero, zero, zero, zero
        for k in range(indptr[j], indptr[j + 1]):
            x, i = data[k], indices[k]
            a += x * u[i, 0]
            b += x * u[i, 1]
            c += x * u[i, 2]
            d += x * u[i, 3]
        out[j, 0] = a + precision[j] * v[j, 0]
        out[j, 1] = b + precision[j] * v[j, 1]
        out[j, 2] = c + precision[j] * v[j, 2]
        out[j, 3] = d + precision[j] * v[j, 3]
        for column in range(4):
            forms[column] += np.float64(v[j, column]) * np.float64(out[j, column])


@kernel(error_model="numpy")
def advance(
    alpha: Any, direction: Any, product: Any, total: Any, x: Any, residual: Any, part: Any, squares: FloatArray
) -> None:
    """Take a step of conjugate gradients: x += α direction, residual −= α product.

    ``part`` gets what the block solves for: the first entries of the residual, and its products with ``total``, which
    has an entry for each of the others. ``squares`` gets the squares of the others.
    """
    n_block = x.shape[0] - total.shape[0]
    sums = np.zeros(4)
    squares[:] = 0.0
    for j in range(x.shape[0]):
        for column in range(4):
            x[j, column] += alpha[column] * direction[j, column]
            left = residual[j, column] - alpha[column] * product[j, column]
            residual[j, column] = left
            if j < n_block:
                part[j, column] = left
            else:
                sums[column] += np.float64(total[j - n_block]) * np.float64(left)
                squares[column] += np.float64(left) * np.float64(left)
    for column in range(4):
        part[n_block, column] = sums[column]


@kernel(error_model="numpy")
def turn(
    part: Any,
    solved: Any,
    total: Any,
    residual: Any,
    squares: FloatArray,
    old: FloatArray,
    new: FloatArray,
    direction: Any,
) -> None:
    """Fill direction = towards + new/old direction, new = residualᵀtowards, towards = the preconditioned residual.

    That is what was solved for in the block, and elsewhere the residual with its part along ``total`` exchanged.
    """
    n_block = residual.shape[0] - total.shape[0]
    more, beta = np.zeros_like(solved[0]), np.zeros_like(solved[0])
    for column in range(4):
        more[column] = solved[n_block, column] - part[n_block, column]
        new[column] = squares[column] + np.float64(more[column]) * np.float64(part[n_block, column])
        for j in range(n_block):
            new[column] += np.float64(part[j, column]) * np.float64(solved[j, column])
        if old[column] > 0.0:
            beta[column] = new[column] / old[column]
    for j in range(n_block):
        for column in range(4):
            direction[j, column] = solved[j, column] + beta[column] * direction[j, column]
    for j in range(n_block, residual.shape[0]):
        for column in range(4):
            towards = residual[j, column] + more[column] * total[j - n_block]
            direction[j, column] = towards + beta[column] * direction[j, column]


class _Arrays(NamedTuple):
    """Documents in compressed rows and in compressed columns, and what the preconditioner needs, in one precision."""

    rows: tuple[Any, Any, Any]
    columns: tuple[Any, Any, Any]
    precision: Any
    total: Any
    inverse: Any

    def as_type(self, kind: type) -> _Arrays:
        """Return the same in another precision."""
        return _Arrays(
            (*self.rows[:2], self.rows[2].astype(kind)),
            (*self.columns[:2], self.columns[2].astype(kind)),
            *(np.asarray(array, dtype=kind) for array in self[2:]),
        )


def _compressed(H: Any) -> tuple[Any, Any, Any]:
    """Return a compressed matrix with unsigned indices: a kernel need not ask whether they count from the end."""
    return H.indptr.view(f"u{H.indptr.itemsize}"), H.indices.view(f"u{H.indices.itemsize}"), H.data


class System:
    """D + HᵀWH in units in which it is near the identity, for weights near known ones.

    With the known weights w̄, S² the diagonal of D + HᵀW̄H and Ĥ = W̄^½HS⁻¹, the unknowns are y = Sx. No entry of Ĥ is
    greater than 1, so that single precision neither overflows nor loses small documents beside great ones.

    Frequent words stand together in many documents, and conjugate gradients would need most of their steps for them. So
    the preconditioner is exact for the first columns, which should be those with the greatest entries, together with
    one further direction, the total of all other words: M⁻¹ = I + P(C⁻¹ − I)Pᵀ, where P has these directions as
    orthonormal columns and C = Pᵀ(D̂ + ĤᵀĤ)P. It only changes how many steps are needed.
    """

    def __init__(self, H: Any, w: FloatArray, precision: FloatArray, n_block: int):
        self._root_w = np.sqrt(w)
        weighted = H.data * np.repeat(self._root_w, np.diff(H.indptr))
        scale = np.sqrt(precision + np.bincount(H.indices, weighted**2, precision.size))
        # A column without entries and without a prior stays 0.
        self._scale = np.where(scale > 0.0, scale, 1.0)
        rows = sp.csr_matrix((weighted / self._scale[H.indices], H.indices, H.indptr), shape=H.shape)
        columns = rows.tocsc()
        own = precision / self._scale**2
        n_block = min(n_block, own.size)
        total = np.asarray(columns[:, n_block:].T @ self._root_w)
        length = np.sqrt(total @ total)
        total = total / length if length > 0.0 else total
        C = np.empty((n_block + 1, n_block + 1), order="F")
        others = columns[:, n_block:] @ total
        if n_block:
            frequent = columns[:, :n_block]
            C[:n_block, :n_block] = (frequent.T @ frequent).toarray()
            C[n_block, :n_block] = C[:n_block, n_block] = frequent.T @ others
        C[n_block, n_block] = others @ others
        C.flat[:: n_block + 2] += np.append(own[:n_block], own[n_block:] @ total**2 if length > 0.0 else 1.0)
        inverse = dpotri(cholesky_root(C), lower=1, overwrite_c=1)[0]
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        self._double = _Arrays(_compressed(rows), _compressed(columns), own, total, inverse)
        self._single = self._double.as_type(np.float32)

    def solve(self, w: FloatArray, e: FloatArray, b: FloatArray, tol: float) -> tuple[FloatArray, FloatArray, int]:
        """Solve (D + HᵀWH)x = Hᵀe + b for four columns; return x, Hx and the number of steps.

        The residual becomes at most this share of the right-hand side, in the norm of the preconditioner.
        """
        exact, forms = self._double, np.empty(LANES)
        ratios = w / (self._root_w**2)[:, None]
        aim, y, f = b / self._scale[:, None], np.zeros_like(b), np.zeros_like(e)
        residual = np.empty_like(b)
        columns_times(*exact.columns, e / self._root_w[:, None], np.ones(len(aim)), aim, residual, forms)
        aim[:] = residual
        size = np.maximum(np.abs(aim).max(axis=0, initial=0.0), np.finfo(float).tiny)
        limit = (tol * self._norms(aim / size)) ** 2
        steps = 0
        for arrays, most in ((self._single, _MOST_SINGLE), (exact, _MOST_DOUBLE * len(aim))):
            step, taken = _conjugate_gradients(arrays, ratios, residual / size, limit, most)
            steps += taken
            y += step * size
            rows_times(*exact.rows, y, np.ones_like(e), f)
            columns_times(*exact.columns, -ratios * f, -exact.precision, y, residual, forms)
            residual += aim
            # Rounding may leave a little more than was aimed for.
            if np.all(self._norms(residual / size) ** 2 <= 4.0 * limit):
                break
        return y / self._scale[:, None], f / self._root_w[:, None], steps

    def _norms(self, residual: FloatArray) -> FloatArray:
        """Return the norms of residuals, as the preconditioner measures them."""
        _, total, inverse = self._double[2:]
        n_block = len(inverse) - 1
        rest = residual[n_block:]
        part = np.vstack([residual[:n_block], total @ rest])
        squares = np.einsum("ij,ij->j", rest, rest) - part[-1] ** 2 + np.einsum("ij,ij->j", part, inverse @ part)
        return np.sqrt(np.maximum(squares, 0.0))


def _conjugate_gradients(
    known: _Arrays, w: FloatArray, b: FloatArray, limit: FloatArray, most: int
) -> tuple[FloatArray, int]:
    """Solve (D̂ + ĤᵀWĤ)y = b until the squared norms are at most the limits; return y and the number of steps."""
    kind = known.precision.dtype
    weights, residual = w.astype(kind), b.astype(kind)
    y, direction, product = (np.zeros_like(residual) for _ in range(3))
    scores, part = np.empty_like(weights), np.empty((len(known.inverse), LANES), dtype=kind)
    old, new, squares, forms = np.zeros((4, LANES))
    advance(np.zeros(LANES, dtype=kind), direction, product, known.total, y, residual, part, squares)
    turn(part, known.inverse @ part, known.total, residual, squares, old, new, direction)
    steps = 0
    while np.any(new > limit) and steps < most:
        steps += 1
        old[:] = new
        rows_times(*known.rows, direction, weights, scores)
        columns_times(*known.columns, scores, known.precision, direction, product, forms)
        alpha = np.divide(old, forms, out=np.zeros_like(old), where=forms > 0.0).astype(kind)
        advance(alpha, direction, product, known.total, y, residual, part, squares)
        turn(part, known.inverse @ part, known.total, residual, squares, old, new, direction)
    return y.astype(np.float64), steps
