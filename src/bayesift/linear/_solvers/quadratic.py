"""The quadratic model of a Newton step on some columns, minimised in one of two ways.

Few columns: their curvature matrix in single precision, coordinate descent in the space of slopes, and now and then a
Newton step for all coefficients that are not at their modes. Its Cholesky factorisation is written here instead of
calling LAPACK: a matrix that is singular to rounding is no error but gets a little added to its diagonal, and no
library starts threads of its own within a thread.

Many columns: coordinate descent that keeps one number per uncertain document. A document whose curvature w_i is far
below the mean moves the model's slopes hardly at all. Such documents enter the slope at the start and the diagonal,
exactly, but not the coupling between columns; the step stays a descent direction and the next slopes are exact again.
For the coupling single precision is enough, in units in which no entry exceeds 1, so that none overflows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesift._kernel import inner_kernel, kernel
from bayesift._sparse import Compressed
from bayesift._typing import AnyArray, FloatArray, Int64Array, UInt32Array
from bayesift.linear._losses import BinarySample
from bayesift.linear._solvers.duality import Penalties, prox

#: Compressed columns with values in single precision.
ShortEntries = tuple[UInt32Array, UInt32Array, AnyArray]

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
#: Coordinate descent ends when a pass meets errors of at most this share of the first pass's.
_ENOUGH = 0.1


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


@kernel
def _update_rows(by_rows: Compressed, w: FloatArray, w_used: FloatArray, change: float, gram: AnyArray) -> bool:
    """Bring the lower triangle up to date as ``update_gram`` says; return whether anything changed."""
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


def update_gram(by_rows: Compressed, w: FloatArray, w_used: FloatArray, change: float, gram: AnyArray) -> None:
    """Bring Σ_i w_i x_i x_iᵀ up to date for the rows whose curvature moved by more than the share ``change``.

    ``w_used`` holds the curvature that each row has in ``gram``.
    """
    if _update_rows(by_rows, w, w_used, change, gram):
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


def number_uncertain(w: FloatArray, cut: float) -> tuple[UInt32Array, int]:
    """Number the documents with a curvature above ``cut`` times the mean; the rest get the count itself."""
    uncertain = np.flatnonzero(w > cut * w.mean())
    place = np.full(w.size, uncertain.size, np.uint32)
    place[uncertain] = np.arange(uncertain.size, dtype=np.uint32)
    return place, uncertain.size


@kernel
def _weight(
    columns: Compressed,
    chosen: UInt32Array,
    root: FloatArray,
    unit: FloatArray,
    place: UInt32Array,
    count: int,
    weighted: ShortEntries,
    curvature: FloatArray,
    rest: FloatArray,
) -> None:
    """Fill the arrays of ``weight_columns``."""
    indptr, indices, data = columns
    start, rows, values = weighted
    start[0] = 0
    curvature[0] = _TINY
    rest[0] = _TINY
    k = np.uint32(0)
    for i in range(root.shape[0]):
        square = root[i] * root[i]
        curvature[0] += square
        if place[i] < count:
            rows[k] = place[i]
            values[k] = root[i] / unit[0]
            k += np.uint32(1)
        else:
            rest[0] += square
    start[1] = k
    for a in range(chosen.shape[0]):
        j = chosen[a]
        scale = 1.0 / unit[a + 1]
        h = _TINY
        kept = 0.0
        for p in range(indptr[j], indptr[j + np.uint32(1)]):
            i = indices[p]
            v = data[p] * root[i]
            h += v * v
            # Written without a branch: an entry that is not kept is overwritten by the next one.
            rows[k] = place[i]
            values[k] = v * scale
            inside = np.uint32(place[i] < count)
            kept += v * v * inside
            k += inside
        curvature[a + 1] = h
        rest[a + 1] = h - kept
        start[a + 2] = k


class WeightedColumns(NamedTuple):
    """Columns times y √w, uncertain documents only, the intercept's first.

    Entry k of column a is y_i √w_i x_ij / unit_a, where ``unit`` is ``size`` times the root of the largest curvature.
    ``curvature`` is the full diagonal Σ_i w_i x_ij², ``rest`` the part of it that the entries lack; ``n_documents``
    counts those that are uncertain.
    """

    entries: ShortEntries
    curvature: FloatArray
    rest: FloatArray
    size: FloatArray
    largest: float
    n_documents: int


def weight_columns(
    columns: Compressed, y: FloatArray, order: UInt32Array, w: FloatArray, size: FloatArray, cut: float
) -> WeightedColumns:
    """Copy some columns for ``descend_residual``, with the documents of at least ``cut`` times the mean curvature.

    ``order`` holds the intercept's place and those of the columns, ``size`` the largest entry of each.
    """
    place, count = number_uncertain(w, cut)
    largest = max(float(w.max()), _TINY)
    # An entry that is not kept needs a place, too.
    room = count + entries_of(columns, order[1:]) + 1
    entries = (np.empty(order.size + 1, np.uint32), np.empty(room, np.uint32), np.empty(room, np.float32))
    curvature, rest = np.empty((2, order.size))
    _weight(columns, order[1:], y * np.sqrt(w), size * np.sqrt(largest), place, count, entries, curvature, rest)
    return WeightedColumns(entries, curvature, rest, size, largest, count)


def descend_residual(
    weighted: WeightedColumns, c: FloatArray, x: FloatArray, prior: Penalties, units: FloatArray, max_passes: int
) -> None:
    """Minimise the quadratic model of the loss plus the penalty from x by cyclic coordinate descent.

    ``c`` holds the slopes at the start. A column that stays at its mode in a pass is left out of the following ones.
    """
    q, active = np.zeros(weighted.n_documents, np.float32), np.arange(x.size, dtype=np.uint32)
    _descend_residual(*weighted[:5], c, x, x.copy(), prior, units, max_passes, q, active)


@kernel(inline="always")
def _coupled(rows, values, first, last, q):  # type: ignore[no-untyped-def]
    """Σ_k values_k q[rows_k]; four running sums hide the latency of an addition."""
    a, b, c, d = _ZERO, _ZERO, _ZERO, _ZERO
    k = first
    while k + np.uint32(4) <= last:
        a += values[k] * q[rows[k]]
        b += values[k + np.uint32(1)] * q[rows[k + np.uint32(1)]]
        c += values[k + np.uint32(2)] * q[rows[k + np.uint32(2)]]
        d += values[k + np.uint32(3)] * q[rows[k + np.uint32(3)]]
        k += np.uint32(4)
    while k < last:
        a += values[k] * q[rows[k]]
        k += np.uint32(1)
    return np.float64((a + b) + (c + d))


@kernel(error_model="numpy")
def _descend_residual(
    entries: ShortEntries,
    curvature: FloatArray,
    rest: FloatArray,
    size: FloatArray,
    largest: float,
    c: FloatArray,
    x: FloatArray,
    base: FloatArray,
    prior: Penalties,
    units: FloatArray,
    max_passes: int,
    q: FloatArray,
    active: UInt32Array,
) -> None:
    """Descend from x = base; q is 0 for every document, and ``active`` lists the columns."""
    start, rows, values = entries
    l1, l2, low, high = prior
    kept = x.shape[0]
    target = 0.0
    for sweep in range(max_passes):
        worst = 0.0
        todo = kept
        kept = 0
        for p in range(todo):
            a = active[p]
            first = start[a]
            last = start[a + np.uint32(1)]
            old = x[a]
            h = curvature[a]
            coupled = largest * size[a] * _coupled(rows, values, first, last, q)
            slope = c[a] - coupled - rest[a] * (old - base[a])
            new = prox(slope + h * old, h, l1[a], l2[a], low[a], high[a])
            if new != 0.0:
                active[kept] = a
                kept += 1
            if new != old:
                x[a] = new
                step = new - old
                worst = max(worst, (h + l2[a]) * abs(step) / units[a])
                short = np.float32(step * size[a])
                for k in range(first, last):
                    q[rows[k]] += values[k] * short
        if sweep == 0:
            target = _ENOUGH * worst
        if worst <= target:
            return
