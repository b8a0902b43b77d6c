"""The quadratic model of a Newton step, minimised in the space of slopes with a curvature matrix."""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._typing import AnyArray, FloatArray
from bayesift.linear._cholesky import solve
from bayesift.linear._penalty import prox

#: Passes of coordinate descent before all coefficients that are not at their modes are moved at once.
_PATIENCE = 8
_MAX_PASSES = 100
#: Added to every diagonal entry, so that a column without weight has a step.
_TINY = 1e-10


@kernel(fastmath={"contract"})
def _subtract(t: float, line: AnyArray, out: FloatArray) -> None:
    """Subtract t × line from out."""
    for k in range(out.shape[0]):
        out[k] -= t * line[k]


@kernel
def _active_step(
    gram: AnyArray, slope: FloatArray, x: FloatArray, l1: FloatArray, l2: FloatArray, active: AnyArray, count: int
) -> AnyArray:
    """Solve (gram + l2) step = slope − l1 sign(x) − l2 x on the active columns, up to rounding."""
    # Rows beyond the count, for a size that is a multiple of four, have a one on the diagonal and a step of zero.
    size = (count + 3) // 4 * 4
    matrix = np.zeros((size, size), np.float32)
    step = np.zeros(size, np.float32)
    for p in range(size):
        matrix[p, p] = 1.0
    for p in range(count):
        a = active[p]
        line = gram[a]
        for q in range(p + 1):
            matrix[p, q] = line[active[q]]
            matrix[q, p] = matrix[p, q]
        matrix[p, p] = matrix[p, p] * np.float32(1.000001) + np.float32(l2[a] + 1e-8)
        step[p] = slope[a] - l1[a] * np.sign(x[a]) - l2[a] * x[a]
    solve(matrix, step)
    return step


@kernel(error_model="numpy")
def move_active(
    gram: AnyArray, slope: FloatArray, x: FloatArray, l1: FloatArray, l2: FloatArray, low: FloatArray, high: FloatArray
) -> None:
    """Newton step for the coefficients away from their modes and bounds, cut where the first of them meets one.

    ``x`` and ``slope`` are overwritten.
    """
    active = np.empty(x.shape[0], np.int64)
    count = 0
    for a in range(x.shape[0]):
        if x[a] != 0.0 and low[a] < x[a] < high[a]:
            active[count] = a
            count += 1
    step = _active_step(gram, slope, x, l1, l2, active, count)
    share = 1.0
    hit = -1
    for p in range(count):
        a = active[p]
        if l1[a] > 0.0 and x[a] * (x[a] + step[p]) < 0.0 and -x[a] / step[p] < share:
            share = -x[a] / step[p]
            hit = a
        elif not low[a] <= x[a] + step[p] <= high[a]:
            edge = high[a] if step[p] > 0.0 else low[a]
            if (edge - x[a]) / step[p] < share:
                share = (edge - x[a]) / step[p]
                hit = -1
    for p in range(count):
        t = share * step[p]
        a = active[p]
        x[a] = min(max(x[a] + t, low[a]), high[a])
        _subtract(t, gram[a], slope)
    if hit >= 0:
        x[hit] = 0.0


@kernel(error_model="numpy")
def descend_gram(
    gram: AnyArray,
    slope: FloatArray,
    x: FloatArray,
    l1: FloatArray,
    l2: FloatArray,
    low: FloatArray,
    high: FloatArray,
    units: FloatArray,
    target: float,
) -> None:
    """Minimise −slopeᵀ(x − b) + ½ (x − b)ᵀ gram (x − b) + penalty(x) from x = b by cyclic coordinate descent.

    ``slope`` is overwritten by the slopes at x. Passes over all columns alternate with passes over those that are not
    at their modes; when these take too long they are moved together by a Newton step. Stops when no slope met in a pass
    over all columns was off by more than ``target`` times its unit.
    """
    size = x.shape[0]
    active = np.empty(size, np.uint32)
    count = 0
    everything = True
    waited = 0
    for _ in range(_MAX_PASSES):
        waited += 1
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
                return
            everything = True
        elif waited >= _PATIENCE:
            move_active(gram, slope, x, l1, l2, low, high)
            everything = True
            waited = 0
        else:
            everything = False
