"""Which terms have significantly different rates in relevant and other documents, for one topic at a time."""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._typing import BoolArray, FloatArray, Int32Array, Int64Array


@kernel(error_model="numpy")
def _part(observed: float, expected: float) -> float:
    return observed * np.log(observed / expected) if observed > 0.0 else 0.0


@kernel(error_model="numpy")
def log_ratio(a: float, n_inside: float, c: float, n_outside: float) -> float:
    """−2 ln λ of a in n_inside against c in n_outside: 2 Σ observed ln(observed/expected) over the four cells."""
    n, held = n_inside + n_outside, a + c
    if n_inside == 0.0 or n_outside == 0.0 or held == 0.0 or held == n:
        return 0.0
    p, q = held / n, (n - held) / n
    inside = _part(a, n_inside * p) + _part(n_inside - a, n_inside * q)
    return max(2.0 * (inside + _part(c, n_outside * p) + _part(n_outside - c, n_outside * q)), 0.0)


@kernel(error_model="numpy")
def _least_outside(n_inside: int, n_outside: int, cut: float) -> int:
    """Find the least count outside that makes a term significant which no relevant document holds."""
    low, high = 0, n_outside + 1
    while high - low > 1:
        middle = (low + high) // 2
        if log_ratio(0.0, float(n_inside), float(middle), float(n_outside)) > cut:
            high = middle
        else:
            low = middle
    return high


@kernel(error_model="numpy")
def significant_terms(
    inside: Int32Array, outside: Int32Array, n_inside: int, n_outside: int, cut: float, taken: BoolArray
) -> tuple[Int64Array, FloatArray]:
    """Return the columns with −2 ln λ > cut that are not taken, and their scores.

    Nearly all terms are in no relevant document. Their score grows with the count outside, so one comparison of whole
    numbers settles each of them.
    """
    enough = _least_outside(n_inside, n_outside, cut)
    columns, scores, found = np.empty(inside.shape[0], np.int64), np.empty(inside.shape[0]), 0
    for j in range(inside.shape[0]):
        if taken[j] or (inside[j] == 0 and outside[j] < enough):
            continue
        score = log_ratio(float(inside[j]), float(n_inside), float(outside[j]), float(n_outside))
        if score > cut:
            columns[found] = j
            scores[found] = score
            found += 1
    return columns[:found].copy(), scores[:found].copy()
