"""The slopes of the loss, which coefficients are worth moving, and how far from right they are."""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._sparse import Compressed, columns_dot
from bayesift._typing import BoolArray, FloatArray, Int64Array, UInt32Array
from bayesift.linear._losses import BinarySample
from bayesift.linear._solvers.duality import Penalties, class_sums, violation

#: No single coefficient may move a margin by more in one step.
RADIUS = 4.0
#: Share of its rate from which a slope counts as near.
NEAR = 0.9
#: The pairs of a step, by class: the feature of each, and where each class begins. Intercepts come first in a class.
Pairs = tuple[UInt32Array, Int64Array]


@kernel(error_model="numpy")
def common_share(v: FloatArray, s: FloatArray, indptr: UInt32Array, q: FloatArray) -> tuple[float, int]:
    """Fill q = v/s; return the value that more than half of the documents share, and the entries of the others.

    The value is found by a majority vote: if there is none, the entries are most of all.
    """
    value = 0.0
    lead = 0
    for i in range(v.shape[0]):
        if s[i] > 0.0:
            q[i] = v[i] / s[i]
            if lead == 0:
                value = q[i]
                lead = 1
            elif q[i] == value:
                lead += 1
            else:
                lead -= 1
    others = 0
    for i in range(v.shape[0]):
        if s[i] > 0.0 and q[i] != value:
            others += int(indptr[i + 1]) - int(indptr[i])
    return value, others


@kernel
def add_others(
    documents: Compressed, v: FloatArray, s: FloatArray, q: FloatArray, common: float, c: FloatArray
) -> None:
    """Add Xᵀ(v − common s) to c, reading only the documents that differ."""
    indptr, indices, data = documents
    for i in range(v.shape[0]):
        if s[i] > 0.0 and q[i] != common:
            t = v[i] - common * s[i]
            for k in range(indptr[i], indptr[i + 1]):
                c[indices[k]] += data[k] * t


def all_slopes(
    columns: Compressed,
    documents: Compressed,
    block: FloatArray,
    sums: FloatArray,
    sample: BinarySample,
    u: FloatArray,
    c: FloatArray,
) -> None:
    """Fill c = Xᵀ(y∘u), the intercept's sum last.

    Documents without any term of the model have the same y_i u_i / s_i. When they are many, their part is that number
    times ``sums`` = Xᵀs, and only the others are read, by rows. With a block of dense features there are none.
    """
    y, s, _ = sample
    v = y * u
    if len(block):
        indptr, indices, data = columns
        columns_dot(indptr[: -len(block)], indices, data, v, c)
        c[-len(block) - 1 : -1] = block @ v
        c[-1] = v.sum()
        return
    q = np.empty_like(v)
    common, others = common_share(v, s, documents[0], q)
    if 2 * others > documents[1].size:
        columns_dot(*columns, v, c)
    else:
        np.multiply(sums, common, out=c)
        add_others(documents, v, s, q, common, c)
    c[-1] = v.sum()


@kernel
def some_columns_dot(columns: Compressed, chosen: UInt32Array, v: FloatArray, out: FloatArray) -> None:
    """Fill out_j = Σ_i x_ij v_i for the chosen columns."""
    indptr, indices, data = columns
    for j in chosen:
        total = 0.0
        for k in range(indptr[j], indptr[j + np.uint32(1)]):
            total += data[k] * v[indices[k]]
        out[j] = total


def set_slopes(
    columns: Compressed, block: FloatArray, y: FloatArray, u: FloatArray, order: UInt32Array, c: FloatArray
) -> None:
    """Fill c_j = Σ_i x_ij y_i u_i for a set of columns and the dense features; the intercept's place is first."""
    v = y * u
    c[order[0]] = v.sum()
    chosen = order[1:]
    if len(block):
        c[-len(block) - 1 : -1] = block @ v
        chosen = chosen[chosen < c.size - 1 - len(block)]
    some_columns_dot(columns, chosen, v, c)


def largest_steps(indptr: UInt32Array, data: FloatArray) -> FloatArray:
    """The largest step of each coefficient (the intercept's last): it moves some margin by RADIUS."""
    max_step = np.zeros(indptr.size)
    max_step[-1] = RADIUS
    filled = np.flatnonzero(np.diff(indptr))
    if filled.size:
        # Between the starts of columns that hold something lie all entries of the first; nothing as long as these.
        starts = indptr[filled]
        largest = np.maximum(np.maximum.reduceat(data, starts), -np.minimum.reduceat(data, starts))
        max_step[filled] = np.divide(RADIUS, largest, out=np.zeros(filled.size), where=largest > 0.0)
    return max_step


@kernel(inline="always", error_model="numpy")
def error_unit(l1, l2, primal, free):  # type: ignore[no-untyped-def]
    """What counts as one unit of error of a slope: its rate, or for other priors what moves the gap as much."""
    if l1 > 0.0:
        return l1
    return np.sqrt(l2 * primal) if l2 > 0.0 else free


def smaller_class_sum(y: FloatArray, u: FloatArray) -> float:
    """Σ u over the class where it is smaller: the unit of error of an unpenalised intercept."""
    plus, minus = class_sums(y, u)
    return max(min(plus, minus), 1e-12)


@kernel(error_model="numpy")
def check_slopes(
    c: FloatArray, b: FloatArray, prior: Penalties, factor: float, primal: float, free: float, near: UInt32Array
) -> tuple[int, float, float]:
    """Look at every slope once, all rates times ``factor``.

    ``near`` is filled with the columns (not the intercept) that are away from their modes or have a slope near or
    beyond their rate. Returns their number, the worst error of a slope in its unit, and the largest multiple of its
    rate that a slope reaches.
    """
    l1, l2, low, high = prior
    last = c.shape[0] - 1
    n_looked_at = 0
    for j in range(last + 1):
        # Without a branch: a column that is not looked at is written over by the next.
        near[n_looked_at] = j
        n_looked_at += (abs(c[j]) > NEAR * factor * l1[j]) | (b[j] != 0.0) | (l2[j] != 0.0)
    worst = 0.0
    ratio = 0.0
    count = 0
    for place in range(n_looked_at):
        j = near[place]
        if not low[j] < high[j]:
            continue
        rate = factor * l1[j]
        error = violation(c[j], b[j], rate, l2[j], low[j], high[j])
        if error > 0.0:
            worst = max(worst, error / error_unit(rate, l2[j], primal, free))
        # What a slope is worth at the mode: nothing if it pushes out of the support.
        push = violation(c[j], 0.0, 0.0, 0.0, low[j], high[j])
        if l1[j] > 0.0:
            ratio = max(ratio, push / l1[j])
        if j < last and (b[j] != 0.0 or push > NEAR * rate):
            near[count] = j
            count += 1
    return count, worst, ratio


def choose(
    near: UInt32Array, c: FloatArray, b: FloatArray, l1: FloatArray, share: float, indptr: UInt32Array
) -> UInt32Array:
    """The near columns that are not at their mode or exceed ``share`` of their rate, frequent columns first.

    Frequent columns share many documents: their products then fall into one corner of the curvature matrix. Before them
    stands the intercept's place. Equally frequent ones are in the reverse of their order, which takes fewer rounds than
    the order itself. Numpy's own order of them depends on the processor, and with it would depend which of several
    words that always occur together is kept.
    """
    chosen = near[(b[near] != 0.0) | (np.abs(c[near]) > share * l1[near])]
    frequency = indptr[1:][chosen] - indptr[chosen]
    return np.append(np.uint32(b.size - 1), chosen[np.argsort(frequency, kind="stable")[::-1]])


def take_units(l1: FloatArray, l2: FloatArray, primal: float, free: float) -> FloatArray:
    """The units of error of a set of columns; see ``error_unit``."""
    units = np.where(l1 > 0.0, l1, np.where(l2 > 0.0, np.sqrt(l2 * primal), free))
    return np.maximum(units, 1e-300, out=units)


@kernel(error_model="numpy")
def set_violation(c: FloatArray, b: FloatArray, prior: Penalties, units: FloatArray) -> float:
    """The worst error of a slope in its unit, within a set."""
    l1, l2, low, high = prior
    worst = 0.0
    for j in range(b.shape[0]):
        worst = max(worst, violation(c[j], b[j], l1[j], l2[j], low[j], high[j]) / units[j])
    return worst


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


@kernel
def check_pair_slopes(
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
