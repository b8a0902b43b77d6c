"""The quadratic model of a Newton step on some pairs of features and classes, minimised by coordinate descent.

With t = X(x − b), one number per document and class, and m_i = Σ_k p_ik t_ik, the model's slope at pair (j, k) is
c_jk − Σ_i x_ij s_i p_ik (t_ik − m_i): the full curvature, with all classes coupled. A document with a small curvature
s_i p_ik (1 − p_ik) in a class enters the slope at the start and the diagonal of that class, but not its coupling.
"""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._sparse import Compressed
from bayesift._typing import FloatArray, UInt32Array
from bayesift.linear._penalty import prox
from bayesift.linear._softmax_pairs import Pairs

#: Steps of coordinate descent from which the next ones are extrapolated.
_DEPTH = 5
#: Added to every diagonal entry, so that a column without weight has a step.
_TINY = 1e-10

#: Probabilities, the same times the weights, t (all by classes) and m.
Coupling = tuple[FloatArray, FloatArray, FloatArray, FloatArray]
#: Entries of the pairs that couple: where each pair starts, documents, values; the full diagonal; what they lack of it.
Entries = tuple[UInt32Array, UInt32Array, FloatArray, FloatArray, FloatArray]
#: Rates, precisions and bounds of the pairs.
PairPenalties = tuple[FloatArray, FloatArray, FloatArray, FloatArray]


@kernel
def couple(s: FloatArray, p: FloatArray) -> Coupling:
    """Lay the probabilities out by classes, with t = 0 and m = 0."""
    n, n_classes = p.shape
    by_class, weighed = np.empty((n_classes, n)), np.empty((n_classes, n))
    for k in range(n_classes):
        for i in range(n):
            by_class[k, i] = p[i, k]
            weighed[k, i] = s[i] * p[i, k]
    return by_class, weighed, np.zeros((n_classes, n)), np.zeros(n)


@kernel
def take_entries(columns: Compressed, pairs: Pairs, coupling: Coupling, cut: float) -> Entries:
    """Copy the entries of the pairs in documents with more than ``cut`` times the mean curvature of their class."""
    indptr, indices, data = columns
    feature, begin = pairs
    p, w = coupling[0], coupling[1]
    d, n = indptr.shape[0] - 1, p.shape[1]
    size = feature.shape[0]
    room = np.int64(1)
    for a in range(size):
        if feature[a] == d:
            room += n
        else:
            room += np.int64(indptr[feature[a] + np.uint32(1)] - indptr[feature[a]])
    rows, values = np.empty(room, np.uint32), np.empty(room)
    start = np.zeros(size + 1, np.uint32)
    curvature, rest = np.empty(size), np.empty(size)
    bend = np.empty(n)
    place = np.uint32(0)
    for k in range(begin.shape[0] - 1):
        total = 0.0
        for i in range(n):
            bend[i] = w[k, i] * (1.0 - p[k, i])
            total += bend[i]
        floor = cut * total / n
        for a in range(begin[k], begin[k + 1]):
            j = feature[a]
            h = _TINY
            kept = 0.0
            if j == d:
                h += total
                for i in range(n):
                    # Written without a branch: an entry that is not kept is overwritten by the next one.
                    rows[place] = i
                    values[place] = 1.0
                    inside = np.uint32(bend[i] > floor)
                    kept += bend[i] * inside
                    place += inside
            else:
                for e in range(indptr[j], indptr[j + np.uint32(1)]):
                    i = indices[e]
                    rows[place] = i
                    values[place] = data[e]
                    v = data[e] * data[e] * bend[i]
                    inside = np.uint32(bend[i] > floor)
                    h += v
                    kept += v * inside
                    place += inside
            curvature[a] = h
            rest[a] = h - kept
            start[a + 1] = place
    return start, rows, values, curvature, rest


@kernel(inline="always")
def coupled_slope(start, rows, values, a, w, t, m):  # type: ignore[no-untyped-def]
    """Σ_i x_ij w_i (t_i − m_i) over the entries of a pair."""
    total = 0.0
    for e in range(start[a], start[a + 1]):
        i = rows[e]
        total += values[e] * w[i] * (t[i] - m[i])
    return total


@kernel
def add_step(entries: Entries, a: int, k: int, step: float, coupling: Coupling) -> None:
    """Move t and m by a step of pair a, which is of class k."""
    start, rows, values, _, _ = entries
    p, _, t, m = coupling
    for e in range(start[a], start[a + 1]):
        i = rows[e]
        v = values[e] * step
        t[k, i] += v
        m[i] += p[k, i] * v


@kernel
def move_to(pairs: Pairs, entries: Entries, base: FloatArray, x: FloatArray, coupling: Coupling) -> None:
    """Fill t and m for the step from base to x."""
    _, begin = pairs
    _, _, t, m = coupling
    for k in range(t.shape[0]):
        for i in range(t.shape[1]):
            t[k, i] = 0.0
    for i in range(m.shape[0]):
        m[i] = 0.0
    for k in range(begin.shape[0] - 1):
        for a in range(begin[k], begin[k + 1]):
            if x[a] != base[a]:
                add_step(entries, a, k, x[a] - base[a], coupling)


@kernel(error_model="numpy", fastmath={"reassoc", "contract"})
def model_value(
    coupling: Coupling, rest: FloatArray, c: FloatArray, base: FloatArray, x: FloatArray, prior: PairPenalties
) -> float:
    """−cᵀ(x − b) + ½ Σ_i s_i (Σ_k p_ik t_ik² − m_i²) + ½ Σ rest (x − b)² + penalty(x)."""
    _, w, t, m = coupling
    l1, l2, _, _ = prior
    value = 0.0
    for k in range(t.shape[0]):
        for i in range(t.shape[1]):
            value += 0.5 * w[k, i] * t[k, i] * (t[k, i] - m[i])
    for a in range(x.shape[0]):
        step = x[a] - base[a]
        value += l1[a] * abs(x[a]) + 0.5 * l2[a] * x[a] * x[a] + (0.5 * rest[a] * step - c[a]) * step
    return value


@kernel(error_model="numpy")
def solve_positive(matrix: FloatArray, x: FloatArray) -> None:
    """Solve a small positive definite system by elimination; both arguments are overwritten, x by the solution."""
    size = x.shape[0]
    for p in range(size):
        for q in range(p + 1, size):
            f = matrix[q, p] / matrix[p, p]
            for k in range(p, size):
                matrix[q, k] -= f * matrix[p, k]
            x[q] -= f * x[p]
    for p in range(size - 1, -1, -1):
        for q in range(p + 1, size):
            x[p] -= matrix[p, q] * x[q]
        x[p] /= matrix[p, p]


@kernel(error_model="numpy")
def extrapolate(history: FloatArray, curvature: FloatArray, prior: PairPenalties) -> FloatArray:
    """Guess the limit of the rows of ``history`` (Anderson): their mix whose last step would have been the shortest."""
    _, _, low, high = prior
    depth, size = history.shape[0] - 1, history.shape[1]
    products = np.zeros((depth, depth))
    for f in range(depth):
        for g in range(f + 1):
            total = 0.0
            for a in range(size):
                total += curvature[a] * (history[f + 1, a] - history[f, a]) * (history[g + 1, a] - history[g, a])
            products[f, g] = products[g, f] = total
    total = 0.0
    for f in range(depth):
        total += products[f, f]
    for f in range(depth):
        products[f, f] += 1e-10 * total
    mix = np.ones(depth)
    solve_positive(products, mix)
    total = mix.sum()
    for f in range(depth):
        mix[f] /= total
    x = np.zeros(size)
    for a in range(size):
        for f in range(depth):
            x[a] += mix[f] * history[f + 1, a]
        x[a] = min(max(x[a], low[a]), high[a])
    return x


@kernel(error_model="numpy")
def descend_model(
    pairs: Pairs,
    entries: Entries,
    coupling: Coupling,
    c: FloatArray,
    x: FloatArray,
    prior: PairPenalties,
    units: FloatArray,
    target: float,
    share: float,
    max_passes: int,
) -> None:
    """Minimise the model from x by cyclic coordinate descent; ``c`` holds the slopes at the start.

    Passes over all pairs alternate with passes over those that are not at their modes; every few passes their limit is
    extrapolated. Stops when a pass over all pairs meets no error above ``target`` or ``share`` of the first.
    """
    start, rows, values, curvature, rest = entries
    _, w, t, m = coupling
    l1, l2, low, high = prior
    _, begin = pairs
    base = x.copy()
    active = np.ones(x.shape[0], np.bool_)
    history = np.empty((_DEPTH + 1, x.shape[0]))
    trial = (coupling[0], w, np.empty_like(t), np.empty_like(m))
    everything = True
    known = 0
    for sweep in range(max_passes):
        worst = 0.0
        for k in range(begin.shape[0] - 1):
            w_k, t_k = w[k], t[k]
            for a in range(begin[k], begin[k + 1]):
                if not (everything or active[a]):
                    continue
                h, old = curvature[a], x[a]
                slope = c[a] - coupled_slope(start, rows, values, a, w_k, t_k, m) - rest[a] * (old - base[a])
                new = prox(slope + h * old, h, l1[a], l2[a], low[a], high[a])
                active[a] = new != 0.0
                if new != old:
                    x[a] = new
                    worst = max(worst, (h + l2[a]) * abs(new - old) / units[a])
                    add_step(entries, a, k, new - old, coupling)
        if sweep == 0:
            target = max(target, share * worst)
        if worst <= target:
            if everything:
                return
            everything = True
            continue
        everything = False
        for a in range(x.shape[0]):
            history[known, a] = x[a]
        known += 1
        if known > _DEPTH:
            # What is extrapolated may have left some of the others wrong.
            everything = True
            known = 0
            guess = extrapolate(history, curvature, prior)
            move_to(pairs, entries, base, guess, trial)
            if model_value(trial, rest, c, base, guess, prior) < model_value(coupling, rest, c, base, x, prior):
                for a in range(x.shape[0]):
                    x[a] = guess[a]
                for k in range(t.shape[0]):
                    for i in range(t.shape[1]):
                        t[k, i] = trial[2][k, i]
                for i in range(m.shape[0]):
                    m[i] = trial[3][i]
