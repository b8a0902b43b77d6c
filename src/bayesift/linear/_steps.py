"""Newton steps of the fast solver on a chosen set of columns, a small one or a large one."""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._sparse import Compressed, add_columns, columns_dot, transpose
from bayesift._typing import FloatArray, UInt32Array
from bayesift.linear._descent import descend_gram
from bayesift.linear._gram import merge_documents, take_columns, update_gram
from bayesift.linear._loss import guarded_curvature, loss_terms
from bayesift.linear._penalty import Penalties
from bayesift.linear._residual import descend_residual, number_uncertain, weigh_columns
from bayesift.linear._search import line_search
from bayesift.linear._working_set import set_violation, take_units

#: Relative change of a document's curvature that enters the curvature matrix.
_REFRESH = 0.3
#: Accuracy of the quadratic model's minimum, relative to the error before.
_FORCING = 0.2
#: Errors above this, in units of the rates, call for a guarded curvature on a small set.
_FAR = 0.5


@kernel
def add_set(columns: Compressed, order: UInt32Array, step: FloatArray, out: FloatArray) -> None:
    """Add X · step to out for a set of columns; the first step is the intercept's."""
    indptr, indices, data = columns
    out += step[0]
    for a in range(1, step.shape[0]):
        t = step[a]
        if t != 0.0:
            for k in range(indptr[order[a]], indptr[order[a] + np.uint32(1)]):
                out[indices[k]] += data[k] * t


@kernel
def small_steps(
    link: int,
    columns: Compressed,
    y: FloatArray,
    s: FloatArray,
    order: UInt32Array,
    b: FloatArray,
    prior: Penalties,
    factor: float,
    primal: float,
    free: float,
    reach: FloatArray,
    r: FloatArray,
    move: FloatArray,
    target: float,
    share: float,
    max_steps: int,
) -> None:
    """Newton steps on a curvature matrix, until errors of slopes are at most ``target`` or ``share`` of the first one.

    ``order`` holds the intercept's place and those of the columns, ``factor`` multiplies the rates. ``b`` and ``r`` are
    overwritten; ``move`` is room for as many numbers as there are documents.
    """
    place, label, weight, margin = merge_documents(columns, order[1:], y, s, r)
    start, rows, values = take_columns(columns, order[1:], place, label)
    by_rows = transpose(start, rows, values, label.shape[0])
    x, l1, l2, low, high = b[order], prior[0][order] * factor, prior[1][order], prior[2][order], prior[3][order]
    far = reach[order]
    units = take_units(l1, l2, primal, free)
    gram = np.zeros((order.shape[0], order.shape[0]), np.float32)
    count = label.shape[0]
    u, w, w_used, along, trial = np.empty(count), np.empty(count), np.zeros(count), np.empty(count), np.empty(count)
    c = np.empty(order.shape[0])
    loss = loss_terms(link, margin, weight, u, w)
    for k in range(max_steps):
        columns_dot(start, rows, values, u, c)
        worst = set_violation(c, x, l1, l2, low, high, units)
        if k == 0:
            target = max(target, share * worst)
        if worst <= target:
            break
        update_gram(
            by_rows, guarded_curvature(link, margin, weight, u, w, 0.5) if worst > _FAR else w, w_used, _REFRESH, gram
        )
        step = x.copy()
        lower, upper = np.maximum(low, x - far), np.minimum(high, x + far)
        goal = max(_FORCING * worst, 0.3 * target)
        descend_gram(gram, c.copy(), step, l1, l2, lower, upper, units, goal)
        step -= x
        along[:] = 0.0
        add_columns(start, rows, values, step, along)
        loss, moved = line_search(link, margin, along, weight, u, w, loss, x, step, c, l1, l2, trial)
        if not moved:
            break
    move[:] = 0.0
    add_set(columns, order, x - b[order], move)
    for i in range(r.shape[0]):
        r[i] += y[i] * move[i]
    for a in range(order.shape[0]):
        b[order[a]] = x[a]


@kernel
def large_step(
    link: int,
    columns: Compressed,
    y: FloatArray,
    s: FloatArray,
    order: UInt32Array,
    c: FloatArray,
    b: FloatArray,
    prior: Penalties,
    factor: float,
    primal: float,
    free: float,
    reach: FloatArray,
    state: tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray],
    loss: float,
    cut: float,
    max_passes: int,
) -> float:
    """One Newton step by coordinate descent on the documents with at least ``cut`` times the mean curvature.

    Arguments as for ``small_steps``; ``c`` holds all slopes, ``state`` the margins, slopes and curvatures of the
    documents and room for two vectors like them. Returns the loss.
    """
    r, u, w, move, trial = state
    x, own, l1, l2, low, high = (
        b[order],
        c[order],
        prior[0][order] * factor,
        prior[1][order],
        prior[2][order],
        prior[3][order],
    )
    far = reach[order]
    bend = guarded_curvature(link, r, s, u, w, 1.0)
    place, count = number_uncertain(bend, cut)
    weighed, curvature, rest = weigh_columns(columns, y, order, bend, place, count)
    step = x.copy()
    lower, upper = np.maximum(low, x - far), np.minimum(high, x + far)
    units = take_units(l1, l2, primal, free)
    descend_residual(weighed, curvature, rest, count, own, step, l1, l2, lower, upper, units, max_passes)
    step -= x
    move[:] = 0.0
    add_set(columns, order, step, move)
    move *= y
    loss, _ = line_search(link, r, move, s, u, w, loss, x, step, own, l1, l2, trial)
    for a in range(order.shape[0]):
        b[order[a]] = x[a]
    return loss
