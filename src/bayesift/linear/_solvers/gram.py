"""The quadratic model of a Newton step on few columns, minimised through their curvature matrix.

The matrix is kept in single precision. Coordinate descent moves in the space of slopes, and now and then a Newton step
all coefficients that are not at their modes. Its Cholesky factorisation is written here instead of calling LAPACK: a
matrix that is singular to rounding is no error but gets a little added to its diagonal, and no library starts threads
of its own within a thread. Dense features, which stand in every document, are the first columns; their corner of the
matrix is a product of full matrices.
"""

from __future__ import annotations

import numpy as np

from bayesift._kernel import inner_kernel, kernel
from bayesift._sparse import Compressed
from bayesift._typing import AnyArray, FloatArray, Int64Array, UInt32Array
from bayesift.linear._solvers.duality import Penalties, prox

#: Columns that are finished together.
_BLOCK = 16
#: Least pivot as a share of the diagonal; single precision knows no smaller ones.
_LEAST = np.float32(1e-5)
_ZERO = np.float32(0.0)
_sums = {"reassoc", "contract"}

#: Passes of coordinate descent before all coefficients that are not at their modes are moved at once.
_PATIENCE = 8
_MAX_ROUNDS = 12
#: Added to every diagonal entry, so that a column without weight has a step.
_TINY = 1e-10


@inner_kernel(error_model="numpy", fastmath=_sums)
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


@inner_kernel(error_model="numpy", fastmath=_sums)
def _dot(a, b, first, last):  # type: ignore[no-untyped-def]
    """Σ a_k b_k from ``first`` up to ``last``."""
    total = _ZERO
    for k in range(first, last):
        total += a[k] * b[k]
    return total


@kernel(error_model="numpy")
def factorise(matrix: AnyArray, least: AnyArray) -> None:
    """Replace the lower triangle by that of L with LLᵀ = matrix + D, D ≥ 0 being 0 but for pivots below ``least``.

    The size must be a multiple of four; what is above the diagonal is lost.
    """
    size = matrix.shape[0]
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


@kernel(error_model="numpy", fastmath=_sums)
def _substitute(factor: AnyArray, x: AnyArray) -> None:
    """Overwrite x by the solution of LLᵀ z = x for the factor L."""
    for p in range(x.shape[0]):
        total = x[p]
        for q in range(p):
            total -= factor[p, q] * x[q]
        x[p] = total / factor[p, p]
    for p in range(x.shape[0] - 1, -1, -1):
        x[p] /= factor[p, p]
        t = x[p]
        for q in range(p):
            x[q] -= t * factor[p, q]


def solve(matrix: AnyArray, x: AnyArray) -> None:
    """Overwrite x by the solution of matrix · z = x; the matrix is overwritten by its factor."""
    factorise(matrix, _LEAST * matrix.diagonal())
    _substitute(matrix, x)


@inner_kernel(fastmath={"contract"})
def subtract_short(t, line, out):  # type: ignore[no-untyped-def]
    """Subtract t × line from the beginning of out, in single precision."""
    for k in range(line.shape[0]):
        out[k] -= t * line[k]


@kernel
def _update_rows(
    by_rows: Compressed,
    full: AnyArray,
    w: FloatArray,
    w_used: FloatArray,
    change: float,
    gram: AnyArray,
    by: FloatArray,
) -> bool:
    """Bring the lower triangle up to date as ``update_gram`` says, but for its corner of full columns.

    ``by`` is filled with the changes of curvature; returns whether there are any.
    """
    row_start, columns, values = by_rows
    n_full = full.shape[1]
    changed = False
    for i in range(w.shape[0]):
        step = w[i] - w_used[i]
        by[i] = 0.0
        if abs(step) <= change * max(w[i], w_used[i]):
            continue
        changed = True
        w_used[i] = w[i]
        by[i] = step
        first = row_start[i]
        for p in range(first, row_start[i + 1]):
            t = np.float32(step * values[p])
            line = gram[n_full + columns[p]]
            subtract_short(-t, full[i], line)
            for q in range(first, p + 1):
                line[n_full + columns[q]] += t * np.float32(values[q])
    return changed


@kernel
def _mirror(gram: AnyArray) -> None:
    """Copy the lower triangle to the upper one, block by block."""
    size = gram.shape[0]
    for a in range(0, size, 32):
        for b in range(0, a + 1, 32):
            for p in range(a, min(a + 32, size)):
                for q in range(b, min(b + 32, p)):
                    gram[q, p] = gram[p, q]


def update_gram(
    by_rows: Compressed, full: AnyArray, w: FloatArray, w_used: FloatArray, change: float, gram: AnyArray
) -> None:
    """Bring Σ_i w_i x_i x_iᵀ up to date for the rows whose curvature moved by more than the share ``change``.

    ``full`` holds, by rows and in single precision, the first columns, ``by_rows`` the sparse ones after them;
    ``w_used`` the curvature that each row has in ``gram``.
    """
    by = np.empty_like(w)
    if not _update_rows(by_rows, full, w, w_used, change, gram, by):
        return
    n_full = full.shape[1]
    if n_full:
        moved = np.flatnonzero(by)
        some = full if 2 * moved.size > by.size else full[moved]
        weights = by if some is full else by[moved]
        gram[:n_full, :n_full] += some.T @ (some * weights.astype(np.float32)[:, None])
    _mirror(gram)


@inner_kernel(fastmath={"contract"})
def _subtract(t: float, line: AnyArray, out: FloatArray) -> None:
    """Subtract t × line from out."""
    for k in range(out.shape[0]):
        out[k] -= t * line[k]


@kernel
def _subtract_rows(steps: FloatArray, chosen: Int64Array, gram: AnyArray, slope: FloatArray) -> None:
    """Subtract from the slopes what steps of the chosen coefficients change in them."""
    for p in range(chosen.shape[0]):
        _subtract(steps[p], gram[chosen[p]], slope)


def _active_step(gram: AnyArray, right: FloatArray, l2: FloatArray, active: Int64Array) -> FloatArray:
    """Solve (gram + l2) step = right on the active columns, up to rounding."""
    count = active.size
    # Rows beyond the count, for a size that is a multiple of four, have a one on the diagonal and a step of zero.
    size = (count + 3) // 4 * 4
    matrix, step = np.zeros((size, size), np.float32), np.zeros(size, np.float32)
    matrix[:count, :count] = gram[active].take(active, axis=1)
    diagonal = np.ones(size, np.float32)
    diagonal[:count] = gram.diagonal()[active] * np.float32(1.000001) + (l2[active] + 1e-8)
    np.fill_diagonal(matrix, diagonal)
    step[:count] = right
    solve(matrix, step)
    return step[:count].astype(np.float64)


def move_active(gram: AnyArray, slope: FloatArray, x: FloatArray, prior: Penalties) -> None:
    """Newton step for the coefficients away from their modes and bounds, cut where the first of them meets one.

    ``x`` and ``slope`` are overwritten.
    """
    active = np.flatnonzero((x != 0.0) & (prior[2] < x) & (x < prior[3]))
    if not active.size:
        return
    old = x[active]
    l1, l2, low, high = (part[active] for part in prior)
    step = _active_step(gram, slope[active] - l1 * np.sign(old) - l2 * old, prior[1], active)
    new = old + step
    crosses = (l1 > 0.0) & (old * new < 0.0)
    edge = np.clip(np.where(crosses, 0.0, new), low, high)
    cut = np.flatnonzero(edge != new)
    shares = (edge[cut] - old[cut]) / step[cut]
    share = min(1.0, shares.min(initial=1.0))
    step *= share
    x[active] = np.clip(old + step, low, high)
    if share < 1.0:
        first = cut[shares.argmin()]
        x[active[first]] = edge[first]
    _subtract_rows(step, active, gram, slope)


def descend_gram(
    gram: AnyArray, slope: FloatArray, x: FloatArray, prior: Penalties, units: FloatArray, target: float
) -> None:
    """Minimise −slopeᵀ(x − b) + ½ (x − b)ᵀ gram (x − b) + penalty(x) from x = b by cyclic coordinate descent.

    ``slope`` is overwritten by the slopes at x. When passes take too long, the coefficients that are not at their modes
    are moved together by a Newton step. Stops when no slope met in a pass over all columns was off by more than
    ``target`` times its unit.
    """
    active = np.empty(x.size, np.uint32)
    for _ in range(_MAX_ROUNDS):
        if _descend(gram, slope, x, prior, units, target, active):
            return
        move_active(gram, slope, x, prior)


@kernel(error_model="numpy")
def _descend(
    gram: AnyArray,
    slope: FloatArray,
    x: FloatArray,
    prior: Penalties,
    units: FloatArray,
    target: float,
    active: UInt32Array,
) -> bool:
    """A few passes as ``descend_gram`` says; return whether they were enough.

    Passes over all columns alternate with passes over those that are not at their modes, for which ``active`` is room.
    """
    l1, l2, low, high = prior
    size = x.shape[0]
    count = 0
    everything = True
    for _ in range(_PATIENCE):
        worst = 0.0
        if everything:
            for a in range(size):
                active[a] = a
            count = size
        kept = 0
        for p in range(count):
            a = active[p]
            h = np.float64(gram[a, a]) + _TINY
            old = x[a]
            new = prox(slope[a] + h * old, h, l1[a], l2[a], low[a], high[a])
            if new != 0.0:
                active[kept] = a
                kept += 1
            if new != old:
                x[a] = new
                step = new - old
                worst = max(worst, (h + l2[a]) * abs(step) / units[a])
                _subtract(step, gram[a], slope)
        count = kept
        if worst <= target:
            if everything:
                return True
            everything = True
        else:
            everything = False
    return False
