"""How far to go along a step of all classes' scores."""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._typing import FloatArray, Int64Array
from bayesift.linear._softmax import softmax_terms

#: State of the documents: scores, probabilities, residuals s∘(Y − P), the move of a step, trial scores.
State = tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]


def state_of(n_documents: int, n_classes: int) -> State:
    """Make the arrays that a fit needs."""
    z, p, r, move, trial = np.empty((5, n_documents, n_classes))
    return z, p, r, move, trial


@kernel(error_model="numpy", fastmath={"reassoc", "contract"})
def loss_along(codes: Int64Array, s: FloatArray, state: State, size: float) -> tuple[float, float]:
    """Loss at z + size × move and its slope along the move; trial scores, p and r are filled there."""
    z, p, r, move, trial = state
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


@kernel
def accept(state: State) -> None:
    """Make the trial scores the scores."""
    z, trial = state[0], state[4]
    for i in range(z.shape[0]):
        for k in range(z.shape[1]):
            z[i, k] = trial[i, k]


@kernel(error_model="numpy")
def smooth_search(
    codes: Int64Array, s: FloatArray, state: State, loss: float, linear: float, quadratic: float, first: float
) -> tuple[float, float]:
    """Minimise the loss plus linear × t + ½ quadratic × t² over the size t > 0; move the scores there.

    Products with the matrix cost far more than a look along the step, so that the minimum is found well: the slope at
    it is at most a tenth of that at the start. Returns the loss and the size, 0 if no size is better than none.
    """
    low, high = 0.0, np.inf
    r, move = state[2], state[3]
    start = linear
    for i in range(r.shape[0]):
        for k in range(r.shape[1]):
            start -= r[i, k] * move[i, k]
    rounding = 1e-14 * abs(loss)
    size, at_low, best = first, start, 0.0
    for _ in range(20):
        new, slope = loss_along(codes, s, state, size)
        slope += linear + quadratic * size
        falls = new + linear * size + 0.5 * quadratic * size * size <= loss + 1e-4 * size * start + rounding
        if falls and slope <= 0.0:
            low, at_low, best = size, slope, size
        else:
            high = size
        if falls and abs(slope) <= -0.1 * start:
            accept(state)
            return new, size
        # The straight line through the slopes at the lower end and here, kept well inside what is known.
        guess = low + (size - low) * at_low / (at_low - slope) if slope != at_low and size != low else 2.0 * size
        if high == np.inf:
            size = min(max(guess, 1.5 * size), 5.0 * size) if slope < 0.0 else 2.0 * size
        else:
            size = min(max(guess, low + 0.1 * (high - low)), high - 0.1 * (high - low))
    new, _ = loss_along(codes, s, state, best)
    accept(state)
    return new, best
