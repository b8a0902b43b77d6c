"""Which coefficients, pairs of a feature and a class, are worth moving, and how far from right they are."""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._sparse import Compressed
from bayesift._typing import BoolArray, FloatArray, Int64Array, UInt32Array
from bayesift.linear._penalty import Penalties, violation

#: The pairs of a step, by class: the feature of each, and where each class begins. Intercepts come first in a class.
Pairs = tuple[UInt32Array, Int64Array]


@kernel
def useful_columns(columns: Compressed, s: FloatArray, prior: Penalties) -> BoolArray:
    """Tell which features can ever leave their modes.

    No slope exceeds Σ_i s_i |x_ij|, since no residual exceeds its weight; below the rate of every class the optimum is
    at the mode whatever the other coefficients are.
    """
    indptr, indices, data = columns
    l1, _, low, high = prior
    useful = np.zeros(indptr.shape[0] - 1, np.bool_)
    for j in range(useful.shape[0]):
        largest = 0.0
        for e in range(indptr[j], indptr[j + 1]):
            largest += s[indices[e]] * abs(data[e])
        for k in range(l1.shape[1]):
            if low[j, k] < high[j, k] and largest > l1[j, k]:
                useful[j] = True
    return useful


@kernel
def pick_columns(columns: Compressed, chosen: Int64Array) -> Compressed:
    """Copy some columns of the matrix."""
    indptr, indices, data = columns
    start = np.zeros(chosen.shape[0] + 1, np.uint32)
    for a in range(chosen.shape[0]):
        start[a + 1] = start[a] + indptr[chosen[a] + 1] - indptr[chosen[a]]
    rows, values = np.empty(start[-1], np.uint32), np.empty(start[-1])
    for a in range(chosen.shape[0]):
        place = start[a]
        for e in range(indptr[chosen[a]], indptr[chosen[a] + 1]):
            rows[place] = indices[e]
            values[place] = data[e]
            place += np.uint32(1)
    return start, rows, values


@kernel(inline="always", error_model="numpy")
def error_unit(l1, l2, primal, free):  # type: ignore[no-untyped-def]
    """What counts as one unit of error of a slope: its rate, or for other priors what moves the gap as much."""
    if l1 > 0.0:
        return l1
    return np.sqrt(l2 * primal) if l2 > 0.0 else free


@kernel
def survey_pairs(
    c: FloatArray, b: FloatArray, prior: Penalties, factor: float, primal: float, free: float
) -> tuple[float, float]:
    """Return the worst error of a slope in its unit, all rates times ``factor``, and the largest multiple of a rate."""
    l1, l2, low, high = prior
    worst = 0.0
    ratio = 0.0
    for j in range(c.shape[0]):
        for k in range(c.shape[1]):
            if not low[j, k] < high[j, k]:
                continue
            rate = factor * l1[j, k]
            error = violation(c[j, k], b[j, k], rate, l2[j, k], low[j, k], high[j, k])
            if error > 0.0:
                worst = max(worst, error / error_unit(rate, l2[j, k], primal, free))
            if l1[j, k] > 0.0 and abs(c[j, k]) > ratio * l1[j, k]:
                ratio = max(ratio, violation(c[j, k], 0.0, 0.0, 0.0, low[j, k], high[j, k]) / l1[j, k])
    return worst, ratio


@kernel
def choose_pairs(c: FloatArray, b: FloatArray, prior: Penalties, share: float) -> Pairs:
    """Take the pairs away from their modes or with a slope beyond ``share`` of their rate, and all intercepts."""
    l1, _, low, high = prior
    d, n_classes = c.shape[0] - 1, c.shape[1]
    taken = np.zeros((n_classes, d), np.bool_)
    start = np.zeros(n_classes + 1, np.int64)
    for j in range(d):
        for k in range(n_classes):
            if low[j, k] < high[j, k] and (
                b[j, k] != 0.0 or violation(c[j, k], 0.0, share * l1[j, k], 0.0, low[j, k], high[j, k]) > 0.0
            ):
                taken[k, j] = True
                start[k + 1] += 1
    for k in range(n_classes):
        start[k + 1] += start[k] + (1 if low[d, k] < high[d, k] else 0)
    feature = np.empty(start[-1], np.uint32)
    place = 0
    for k in range(n_classes):
        if low[d, k] < high[d, k]:
            feature[place] = d
            place += 1
        for j in range(d):
            if taken[k, j]:
                feature[place] = j
                place += 1
    return feature, start


@kernel
def take_pairs(table: FloatArray, pairs: Pairs) -> FloatArray:
    """Return the entries of a table of features by classes at some pairs."""
    feature, start = pairs
    out = np.empty(feature.shape[0])
    for k in range(start.shape[0] - 1):
        for a in range(start[k], start[k + 1]):
            out[a] = table[feature[a], k]
    return out


@kernel
def put_pairs(values: FloatArray, pairs: Pairs, table: FloatArray) -> None:
    """Write the entries of a table of features by classes at some pairs."""
    feature, start = pairs
    for k in range(start.shape[0] - 1):
        for a in range(start[k], start[k + 1]):
            table[feature[a], k] = values[a]


@kernel
def add_pairs(columns: Compressed, pairs: Pairs, step: FloatArray, move: FloatArray) -> None:
    """Fill move = X · step for some pairs."""
    indptr, indices, data = columns
    feature, start = pairs
    d = indptr.shape[0] - 1
    for i in range(move.shape[0]):
        for k in range(move.shape[1]):
            move[i, k] = 0.0
    for k in range(start.shape[0] - 1):
        for a in range(start[k], start[k + 1]):
            t = step[a]
            j = feature[a]
            if t == 0.0:
                continue
            if j == d:
                for i in range(move.shape[0]):
                    move[i, k] += t
            else:
                for e in range(indptr[j], indptr[j + np.uint32(1)]):
                    move[indices[e], k] += data[e] * t
