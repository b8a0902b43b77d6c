"""One of many equal optima: adding a number to a feature's coefficients of all classes changes no probability."""

from __future__ import annotations

import numpy as np

from bayesift._typing import FloatArray
from bayesift.linear._penalty import Penalties

_ROUNDING = 1e-12


def weighted_medians(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return for each row the t for which Σ w |v − t| is least.

    Of several it is an end of their range: the one that more values equal, or else the lower.
    """
    order = np.argsort(values, axis=1)
    below = np.cumsum(np.take_along_axis(weights, order, axis=1), axis=1)
    half = 0.5 * below[:, -1:]
    slack = _ROUNDING * half
    lower, upper = (
        np.take_along_axis(values, np.take_along_axis(order, place[:, None], axis=1), axis=1)
        for place in (np.argmax(below >= half - slack, axis=1), np.argmax(below > half + slack, axis=1))
    )
    more = np.sum(values == upper, axis=1) > np.sum(values == lower, axis=1)
    return np.where(more, upper[:, 0], lower[:, 0])


def settle_shifts(b: FloatArray, mode: FloatArray, prior: Penalties) -> bool:
    """Shift the coefficients of each feature to where the penalty is least; return whether any penalty changed.

    Only features whose coefficients are all without signs and not fixed can be shifted: Laplace priors ask for the
    weighted median of the departures, and without any penalty the coefficients are made to sum to zero. Where there is
    a Gaussian prior the optimum is unique and is left to the solver.
    """
    l1, l2, low, high = prior
    rows = np.flatnonzero(np.any(b, axis=1) | np.any(mode, axis=1))
    free = ~np.any(l2[rows], axis=1) & np.all(low[rows] < 0.0, axis=1) & np.all(high[rows] > 0.0, axis=1)
    kinked = np.any(l1[rows], axis=1)
    flat = rows[free & ~kinked]
    b[flat] -= np.mean(b[flat] + mode[flat], axis=1, keepdims=True)
    rows = rows[free & kinked]
    shifts = weighted_medians(b[rows], l1[rows])
    b[rows] -= shifts[:, None]
    return bool(np.any(shifts))
