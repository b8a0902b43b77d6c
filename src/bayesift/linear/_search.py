"""How far to go along a Newton step."""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._sparse import inner
from bayesift._typing import FloatArray
from bayesift.linear._loss import loss_terms


@kernel
def moved_penalty(b: FloatArray, step: FloatArray, size: float, l1: FloatArray, l2: FloatArray) -> tuple[float, float]:
    """Penalty at b + size × step, and its slope along the step just before that point."""
    value = 0.0
    slope = 0.0
    for j in range(b.shape[0]):
        t = b[j] + size * step[j]
        value += l1[j] * abs(t) + 0.5 * l2[j] * t * t
        slope += step[j] * (l1[j] * np.sign(t if t != 0.0 else b[j]) + l2[j] * t)
    return value, slope


@kernel(error_model="numpy")
def line_search(
    link: int,
    r: FloatArray,
    move: FloatArray,
    s: FloatArray,
    u: FloatArray,
    w: FloatArray,
    loss: float,
    b: FloatArray,
    step: FloatArray,
    c: FloatArray,
    l1: FloatArray,
    l2: FloatArray,
    trial: FloatArray,
) -> tuple[float, bool]:
    """Move r and b along the step as far as the objective falls; fill u and w there.

    ``move`` is what the full step adds to r, ``c`` the slopes of the loss before it. A step that overshoots is cut
    where a straight line through the slopes at both ends crosses zero. Returns the new loss and whether anything moved.
    """
    old, _ = moved_penalty(b, step, 0.0, l1, l2)
    new_penalty, slope = moved_penalty(b, step, 1.0, l1, l2)
    expected = new_penalty - old - inner(c, step)
    rounding = (loss + old) * 1e-14
    size = 1.0
    for _ in range(30):
        for i in range(r.shape[0]):
            trial[i] = r[i] + size * move[i]
        new = loss_terms(link, trial, s, u, w)
        rise = slope - inner(u, move)
        falls = new + new_penalty <= loss + old + 1e-4 * size * expected + rounding
        if falls and (rise <= -0.5 * expected or size < 1.0):
            r[:] = trial
            for j in range(b.shape[0]):
                b[j] += size * step[j]
            return new, True
        size *= min(max(expected / (expected - rise), 0.1), 0.7) if rise > 0.0 else 0.5
        new_penalty, slope = moved_penalty(b, step, size, l1, l2)
    return loss_terms(link, r, s, u, w), False
