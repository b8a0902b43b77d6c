"""How far to go along a Newton step: of one category, or of the scores of all classes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesift._kernel import kernel
from bayesift._sparse import inner
from bayesift._typing import FloatArray, Int64Array
from bayesift.linear._losses import loss_terms, softmax_terms

#: Numbers per document: margins r, slopes u, curvatures w, what a step adds to the margins, trial margins.
BinaryState = tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]


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


def line_search(
    link: int, s: FloatArray, state: BinaryState, loss: float, b: FloatArray, step: FloatArray, c: FloatArray,
    l1: FloatArray, l2: FloatArray,
) -> tuple[float, bool]:  # fmt: skip
    """Move the margins and b along the step as far as the objective falls; fill slopes and curvatures there.

    The move in ``state`` is what the full step adds to the margins, ``c`` are the slopes of the loss before it. A step
    that overshoots is cut where a straight line through the slopes at both ends crosses zero. Returns the new loss and
    whether anything moved.
    """
    r, u, w, move, trial = state
    old, _ = moved_penalty(b, step, 0.0, l1, l2)
    new_penalty, slope = moved_penalty(b, step, 1.0, l1, l2)
    expected = new_penalty - old - inner(c, step)
    rounding = (loss + old) * 1e-14
    if expected > rounding:
        # Not even the linear part of the loss falls: the equations of the step were too ill-conditioned.
        return loss, False
    size = 1.0
    for _ in range(30):
        np.multiply(move, size, out=trial)
        trial += r
        new = loss_terms(link, trial, s, u, w)
        rise = slope - inner(u, move)
        falls = new + new_penalty <= loss + old + 1e-4 * size * expected + rounding
        if falls and (rise <= -0.5 * expected or size < 1.0):
            r[:] = trial
            b += size * step
            return new, True
        size *= min(max(expected / (expected - rise), 0.1), 0.7) if rise > 0.0 > expected else 0.5
        new_penalty, slope = moved_penalty(b, step, size, l1, l2)
    return loss_terms(link, r, s, u, w), False


class State(NamedTuple):
    """Numbers per document and class: scores, probabilities, residuals s∘(Y − P), the move of a step, trial scores."""

    z: FloatArray
    p: FloatArray
    r: FloatArray
    move: FloatArray
    trial: FloatArray


class Sample(NamedTuple):
    """The documents of a fit: their classes, weights and scores at the modes of the priors."""

    codes: Int64Array
    s: FloatArray
    offset: FloatArray

    def state(self) -> State:
        """Make the arrays that a fit needs."""
        return State(*np.empty((5, *self.offset.shape)))


@kernel(error_model="numpy", fastmath={"reassoc", "contract"})
def loss_along(
    codes: Int64Array,
    s: FloatArray,
    z: FloatArray,
    p: FloatArray,
    r: FloatArray,
    move: FloatArray,
    trial: FloatArray,
    size: float,
) -> tuple[float, float]:
    """Loss at z + size × move and its slope along the move; trial scores, p and r are filled there."""
    n, n_classes = z.shape
    for i in range(n):
        for k in range(n_classes):
            trial[i, k] = z[i, k] + size * move[i, k]
    loss = softmax_terms(trial, codes, s, p, r)
    slope = 0.0
    for i in range(n):
        for k in range(n_classes):
            slope -= r[i, k] * move[i, k]
    return loss, slope


def smooth_line_search(
    sample: Sample, state: State, loss: float, linear: float, quadratic: float
) -> tuple[float, float]:
    """Minimise the loss plus linear × t + ½ quadratic × t² over the size t > 0; move the scores there.

    Products with the matrix cost far more than a look along the step, so that the minimum is found well: the slope at
    it is at most a tenth of that at the start. Returns the loss and the size, 0 if no size is better than none.
    """
    low, high, best = 0.0, np.inf, 0.0
    at_low = start = linear - inner(state.r.ravel(), state.move.ravel())
    rounding = 1e-14 * abs(loss)
    size = 1.0
    for _ in range(20):
        new, slope = loss_along(sample.codes, sample.s, *state, size)
        slope += linear + quadratic * size
        falls = new + linear * size + 0.5 * quadratic * size**2 <= loss + 1e-4 * size * start + rounding
        if falls and abs(slope) <= -0.1 * start:
            state.z[:] = state.trial
            return new, size
        # The straight line through the slopes at the lower end and here, kept well inside what is known.
        guess = low + (size - low) * at_low / (at_low - slope) if slope != at_low else 2.0 * size
        if falls and slope <= 0.0:
            low, at_low, best = size, slope, size
        else:
            high = size
        if high == np.inf:
            size = min(max(guess, 1.5 * size), 5.0 * size)
        else:
            size = min(max(guess, low + 0.1 * (high - low)), high - 0.1 * (high - low))
    new, _ = loss_along(sample.codes, sample.s, *state, best)
    state.z[:] = state.trial
    return new, best


def kinked_line_search(
    sample: Sample,
    state: State,
    loss: float,
    x: FloatArray,
    step: FloatArray,
    c: FloatArray,
    l1: FloatArray,
    l2: FloatArray,
) -> float:
    """Move the scores and x along the step as far as the objective falls; return the loss there.

    ``c`` holds the slopes of the loss at x. A step that overshoots is cut where a straight line through the slopes at
    both ends crosses zero.
    """
    old, _ = moved_penalty(x, step, 0.0, l1, l2)
    new_penalty, slope = moved_penalty(x, step, 1.0, l1, l2)
    expected = new_penalty - old - inner(c, step)
    rounding = (loss + old) * 1e-14
    size = 1.0
    for _ in range(30):
        new, rise = loss_along(sample.codes, sample.s, *state, size)
        rise += slope
        falls = new + new_penalty <= loss + old + 1e-4 * size * expected + rounding
        if falls and (rise <= -0.5 * expected or size < 1.0):
            state.z[:] = state.trial
            x += size * step
            return float(new)
        size *= min(max(expected / (expected - rise), 0.1), 0.7) if rise > 0.0 > expected else 0.5
        new_penalty, slope = moved_penalty(x, step, size, l1, l2)
    return float(loss_along(sample.codes, sample.s, *state, 0.0)[0])
