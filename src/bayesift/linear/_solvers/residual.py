"""The quadratic model of a Newton step on many columns, minimised through a number for each uncertain document.

A document whose curvature w_i is far below the mean moves the model's slopes hardly at all. Such documents enter the
slope at the start and the diagonal, exactly, but not the coupling between columns; the step stays a descent direction
and the next slopes are exact again. For the coupling single precision is enough, in units in which no entry exceeds 1,
so that none overflows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesift._kernel import inner_kernel, kernel
from bayesift._sparse import Compressed
from bayesift._typing import AnyArray, FloatArray, UInt32Array
from bayesift.linear._solvers.compact import entries_of
from bayesift.linear._solvers.duality import Penalties, prox
from bayesift.linear._solvers.gram import subtract_short

#: Compressed columns with values in single precision.
ShortEntries = tuple[UInt32Array, UInt32Array, AnyArray]

_ZERO = np.float32(0.0)
#: Added to every diagonal entry, so that a column without weight has a step.
_TINY = 1e-10
#: Coordinate descent ends when a pass meets errors of at most this share of the first pass's.
_ENOUGH = 0.1


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


@inner_kernel(fastmath={"reassoc", "contract"})
def _full_coupled(values, q):  # type: ignore[no-untyped-def]
    """Σ_k values_k q_k of a column with an entry in every document."""
    total = _ZERO
    for k in range(q.shape[0]):
        total += values[k] * q[k]
    return np.float64(total)


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
            # The documents of a column are in order, so that one with as many entries as there are has all of them.
            is_full = last - first == q.shape[0]
            coupled = _full_coupled(values[first:last], q) if is_full else _coupled(rows, values, first, last, q)
            slope = c[a] - largest * size[a] * coupled - rest[a] * (old - base[a])
            new = prox(slope + h * old, h, l1[a], l2[a], low[a], high[a])
            if new != 0.0:
                active[kept] = a
                kept += 1
            if new != old:
                x[a] = new
                step = new - old
                worst = max(worst, (h + l2[a]) * abs(step) / units[a])
                short = np.float32(step * size[a])
                if is_full:
                    subtract_short(-short, values[first:last], q)
                else:
                    for k in range(first, last):
                        q[rows[k]] += values[k] * short
        if sweep == 0:
            target = _ENOUGH * worst
        if worst <= target:
            return
