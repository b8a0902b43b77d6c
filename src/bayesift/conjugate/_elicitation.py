"""How much a prior must weigh to say what a person believes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc

from bayesift._checks import INSIDE_UNIT, NOT_NEGATIVE, numbers
from bayesift._typing import FloatArray
from bayesift.conjugate._checks import common_shape

_LOG_SIZES = np.linspace(np.log(1e-6), np.log(1e14), 400)


def sizes_by_interval(m: FloatArray, low: ArrayLike, high: ArrayLike, mass: ArrayLike) -> FloatArray:
    """Return the a + b with which a beta distribution of mean m has the given mass between low and high.

    The mass need not grow with a + b from the start; of several solutions the largest is taken, above which it does.
    """
    ends = numbers("low", low, NOT_NEGATIVE), numbers("high", high, NOT_NEGATIVE)
    share = numbers("mass", mass, INSIDE_UNIT)
    shape = common_shape(m=m, low=low, high=high, mass=mass)
    m, bottom, top, share = (np.broadcast_to(part, shape) for part in (m, *ends, share))
    wrong = ~((bottom < m) & (m < top) & (top <= 1))
    if wrong.any():
        raise ValueError(
            f"low is {bottom[wrong][0]:g}, m is {m[wrong][0]:g} and high is {top[wrong][0]:g}; "
            "expected 0 <= low < m < high <= 1"
        )

    def inside(log_size: FloatArray) -> FloatArray:
        a, b = m * np.exp(log_size), (1 - m) * np.exp(log_size)
        return betainc(a, b, top) - betainc(a, b, bottom)

    grid = _LOG_SIZES.reshape(-1, *([1] * len(shape)))
    short = inside(grid) < share
    if not short.any(axis=0).all():
        raise ValueError(
            f"mass is {np.min(share):g}; expected more: every beta distribution with this mean has more in the interval"
        )
    last = len(grid) - 1 - np.argmax(short[::-1], axis=0)
    left = _LOG_SIZES[last]
    right = _LOG_SIZES[np.minimum(last + 1, len(grid) - 1)]
    for _ in range(60):
        middle = (left + right) / 2
        below = inside(middle) < share
        left, right = np.where(below, middle, left), np.where(below, right, middle)
    return np.exp((left + right) / 2)
