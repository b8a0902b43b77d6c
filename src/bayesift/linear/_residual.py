"""A Newton step on many columns: coordinate descent that keeps one number per uncertain document.

A document whose curvature w_i is far below the mean moves the model's slopes hardly at all. Such documents enter the
slope at the start and the diagonal, exactly, but not the coupling between columns; the step stays a descent direction
and the next slopes are exact again.
"""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._sparse import Compressed
from bayesift._typing import FloatArray, UInt32Array
from bayesift.linear._penalty import prox

#: Coordinate descent ends when a pass meets errors of at most this share of the first pass's.
_ENOUGH = 0.1
#: Added to every diagonal entry, so that a column without weight has a step.
_TINY = 1e-10


@kernel
def number_uncertain(w: FloatArray, cut: float) -> tuple[UInt32Array, int]:
    """Number the documents with a curvature above ``cut`` times the mean; the rest get the count itself."""
    floor = cut * w.mean()
    count = 0
    place = np.empty(w.shape[0], np.uint32)
    for i in range(w.shape[0]):
        if w[i] > floor:
            count += 1
    k = 0
    for i in range(w.shape[0]):
        if w[i] > floor:
            place[i] = k
            k += 1
        else:
            place[i] = count
    return place, count


@kernel
def weigh_columns(
    columns: Compressed, y: FloatArray, order: UInt32Array, w: FloatArray, place: UInt32Array, count: int
) -> tuple[Compressed, FloatArray, FloatArray]:
    """Copy the columns times y √w, uncertain documents only, after the intercept's column of y √w.

    ``order`` holds the intercept's place and those of the columns. Returns the copy, the full diagonal Σ_i w_i x_ij²
    and the part of it that the copy lacks.
    """
    indptr, indices, data = columns
    root = y * np.sqrt(w)
    size = order.shape[0]
    room = y.shape[0] + 1
    for a in range(1, size):
        room += indptr[order[a] + np.uint32(1)] - indptr[order[a]]
    rows = np.empty(room, np.uint32)
    values = np.empty(room)
    start = np.empty(size + 1, np.uint32)
    curvature = np.empty(size)
    rest = np.empty(size)
    k = np.uint32(0)
    start[0] = 0
    kept = 0.0
    for i in range(y.shape[0]):
        rows[k] = place[i]
        values[k] = root[i]
        inside = np.uint32(place[i] < count)
        kept += w[i] * inside
        k += inside
    start[1] = k
    curvature[0] = w.sum() + _TINY
    rest[0] = curvature[0] - kept
    for a in range(1, size):
        h = _TINY
        kept = 0.0
        for p in range(indptr[order[a]], indptr[order[a] + np.uint32(1)]):
            i = indices[p]
            v = data[p] * root[i]
            h += v * v
            # Written without a branch: an entry that is not kept is overwritten by the next one.
            rows[k] = place[i]
            values[k] = v
            inside = np.uint32(place[i] < count)
            kept += v * v * inside
            k += inside
        curvature[a] = h
        rest[a] = h - kept
        start[a + 1] = k
    return (start, rows, values), curvature, rest


@kernel(error_model="numpy")
def descend_residual(
    weighed: Compressed,
    curvature: FloatArray,
    rest: FloatArray,
    count: int,
    c: FloatArray,
    x: FloatArray,
    l1: FloatArray,
    l2: FloatArray,
    low: FloatArray,
    high: FloatArray,
    units: FloatArray,
    max_passes: int,
) -> None:
    """Minimise the quadratic model of the loss plus the penalty from x by cyclic coordinate descent.

    ``c`` holds the slopes at the start. A column that stays at its mode in a pass is left out of the following ones.
    """
    start, rows, values = weighed
    size = x.shape[0]
    q = np.zeros(count)
    active = np.empty(size, np.uint32)
    base = x.copy()
    kept = size
    for a in range(size):
        active[a] = a
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
            coupled = 0.0
            for k in range(first, last):
                coupled += values[k] * q[rows[k]]
            slope = c[a] - coupled - rest[a] * (old - base[a])
            new = prox(slope + h * old, h, l1[a], l2[a], low[a], high[a])
            if new != 0.0:
                active[kept] = a
                kept += 1
            if new != old:
                x[a] = new
                step = new - old
                worst = max(worst, (h + l2[a]) * abs(step) / units[a])
                for k in range(first, last):
                    q[rows[k]] += values[k] * step
        if sweep == 0:
            target = _ENOUGH * worst
        if worst <= target:
            return
