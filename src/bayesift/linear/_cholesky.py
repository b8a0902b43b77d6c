"""Symmetric systems in single precision, for Newton steps that the next slopes correct.

Written here instead of calling LAPACK: a matrix that is singular to rounding is no error but gets a little added to its
diagonal, and no library starts threads of its own within a thread.
"""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._typing import AnyArray

#: Columns that are finished together.
_BLOCK = 16
#: Least pivot as a share of the diagonal; single precision knows no smaller ones.
_LEAST = np.float32(1e-5)
_ZERO = np.float32(0.0)

_sums = {"reassoc", "contract"}


@kernel(error_model="numpy", fastmath=_sums)
def _subtract_tile(x: AnyArray, y: AnyArray, matrix: AnyArray, q: int, size: int) -> None:
    """Subtract the products of two rows with four rows of the factor from two by four entries."""
    a, b, c, d = matrix[q], matrix[q + 1], matrix[q + 2], matrix[q + 3]
    xa, xb, xc, xd = _ZERO, _ZERO, _ZERO, _ZERO
    ya, yb, yc, yd = _ZERO, _ZERO, _ZERO, _ZERO
    for k in range(size):
        s, t = x[k], y[k]
        xa += s * a[k]
        xb += s * b[k]
        xc += s * c[k]
        xd += s * d[k]
        ya += t * a[k]
        yb += t * b[k]
        yc += t * c[k]
        yd += t * d[k]
    x[q] -= xa
    x[q + 1] -= xb
    x[q + 2] -= xc
    x[q + 3] -= xd
    y[q] -= ya
    y[q + 1] -= yb
    y[q + 2] -= yc
    y[q + 3] -= yd


@kernel(error_model="numpy", fastmath=_sums)
def _dot(a, b, first, last):  # type: ignore[no-untyped-def]
    """Σ a_k b_k from ``first`` up to ``last``."""
    total = _ZERO
    for k in range(first, last):
        total += a[k] * b[k]
    return total


@kernel(error_model="numpy")
def factorise(matrix: AnyArray) -> None:
    """Replace the lower triangle by that of L with LLᵀ = matrix + D, where D ≥ 0 is zero but for tiny pivots.

    The size must be a multiple of four; what is above the diagonal is lost.
    """
    size = matrix.shape[0]
    least = np.empty(size, np.float32)
    for p in range(size):
        least[p] = _LEAST * matrix[p, p]
    for first in range(0, size, _BLOCK):
        last = min(first + _BLOCK, size)
        for p in range(first, size, 2):
            for q in range(first, min(p + 2, last), 4):
                _subtract_tile(matrix[p], matrix[p + 1], matrix, q, first)
        for p in range(first, size):
            line = matrix[p]
            for q in range(first, min(p, last)):
                line[q] = (line[q] - _dot(line, matrix[q], first, q)) / matrix[q, q]
            if p < last:
                line[p] = np.sqrt(max(line[p] - _dot(line, line, first, p), least[p]))


@kernel(error_model="numpy")
def solve(matrix: AnyArray, x: AnyArray) -> None:
    """Overwrite x by the solution of matrix · z = x; the matrix is overwritten by its factor."""
    factorise(matrix)
    size = x.shape[0]
    for p in range(size):
        x[p] = (x[p] - _dot(matrix[p], x, 0, p)) / matrix[p, p]
    for p in range(size - 1, -1, -1):
        x[p] /= matrix[p, p]
        t = x[p]
        for q in range(p):
            x[q] -= t * matrix[p, q]
