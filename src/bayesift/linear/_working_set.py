"""Which columns are worth moving, and how far from right they are."""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._typing import FloatArray, UInt32Array
from bayesift.linear._penalty import Penalties, violation

#: No single coefficient may move a margin by more in one step.
RADIUS = 4.0
#: Share of its rate from which a slope counts as near.
NEAR = 0.9


@kernel
def column_reach(indptr: UInt32Array, data: FloatArray) -> FloatArray:
    """The largest step of each coefficient (the intercept's last): it moves some margin by RADIUS."""
    d = indptr.shape[0] - 1
    reach = np.full(d + 1, RADIUS)
    for j in range(d):
        largest = 0.0
        for k in range(indptr[j], indptr[j + 1]):
            largest = max(largest, abs(data[k]))
        reach[j] = RADIUS / largest if largest > 0.0 else 0.0
    return reach


@kernel(inline="always", error_model="numpy")
def unit(l1, l2, primal, free):  # type: ignore[no-untyped-def]
    """What counts as one unit of error of a slope: its rate, or for other priors what moves the gap as much."""
    if l1 > 0.0:
        return l1
    return np.sqrt(l2 * primal) if l2 > 0.0 else free


@kernel
def smaller_class_sum(y: FloatArray, u: FloatArray) -> float:
    """Σ u over the class where it is smaller: the unit of error of an unpenalised intercept."""
    plus = 0.0
    minus = 0.0
    for i in range(y.shape[0]):
        if y[i] > 0.0:
            plus += u[i]
        else:
            minus += u[i]
    return max(min(plus, minus), 1e-12)


@kernel(error_model="numpy")
def survey(
    c: FloatArray, b: FloatArray, prior: Penalties, factor: float, primal: float, free: float, near: UInt32Array
) -> tuple[int, float, float]:
    """Look at every slope once, all rates times ``factor``.

    ``near`` is filled with the columns (not the intercept) that are away from their modes or have a slope near or
    beyond their rate. Returns their number, the worst error in its unit, and the largest multiple of its rate that a
    slope reaches.
    """
    l1, l2, low, high = prior
    d = c.shape[0] - 1
    worst = 0.0
    ratio = 0.0
    count = 0
    for j in range(d + 1):
        rate = factor * l1[j]
        a = abs(c[j])
        if b[j] == 0.0 and l2[j] == 0.0 and a <= NEAR * rate:
            continue
        if not low[j] < high[j]:
            continue
        error = violation(c[j], b[j], rate, l2[j], low[j], high[j])
        if error > 0.0:
            worst = max(worst, error / unit(rate, l2[j], primal, free))
        if l1[j] > 0.0 and a > ratio * l1[j]:
            ratio = max(ratio, violation(c[j], 0.0, 0.0, 0.0, low[j], high[j]) / l1[j])
        if j < d and (b[j] != 0.0 or violation(c[j], 0.0, NEAR * rate, 0.0, low[j], high[j]) > 0.0):
            near[count] = j
            count += 1
    return count, worst, ratio


@kernel
def choose(
    near: UInt32Array, c: FloatArray, b: FloatArray, l1: FloatArray, share: float, indptr: UInt32Array
) -> UInt32Array:
    """The near columns that are not at their mode or exceed ``share`` of their rate, frequent columns first.

    Frequent columns share many documents: their products then fall into one corner of the curvature matrix. Before them
    stands the intercept's place.
    """
    chosen = np.empty(near.shape[0], np.uint32)
    frequency = np.empty(near.shape[0])
    count = 0
    for j in near:
        if b[j] != 0.0 or abs(c[j]) > share * l1[j]:
            chosen[count] = j
            frequency[count] = -(np.float64(indptr[j + np.uint32(1)]) - indptr[j])
            count += 1
    order = np.empty(count + 1, np.uint32)
    order[0] = b.shape[0] - 1
    order[1:] = chosen[:count][np.argsort(frequency[:count])]
    return order


@kernel
def take_units(l1: FloatArray, l2: FloatArray, primal: float, free: float) -> FloatArray:
    """The units of error of a set of columns."""
    units = np.empty(l1.shape[0])
    for a in range(l1.shape[0]):
        units[a] = max(unit(l1[a], l2[a], primal, free), 1e-300)
    return units


@kernel(error_model="numpy")
def set_violation(
    c: FloatArray,
    b: FloatArray,
    l1: FloatArray,
    l2: FloatArray,
    low: FloatArray,
    high: FloatArray,
    units: FloatArray,
) -> float:
    """The worst error of a slope in its unit, within a set."""
    worst = 0.0
    for j in range(b.shape[0]):
        worst = max(worst, violation(c[j], b[j], l1[j], l2[j], low[j], high[j]) / units[j])
    return worst
