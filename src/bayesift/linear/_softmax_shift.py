"""One of many equal optima: adding a number to a feature's coefficients of all classes changes no probability."""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._typing import FloatArray
from bayesift.linear._penalty import Penalties

_ROUNDING = 1e-12


@kernel
def weighted_median(values: FloatArray, weights: FloatArray) -> float:
    """Give the t for which Σ w |v − t| is least; of several, an end of their range, the one that more values equal.

    If as many values equal both ends, it is the lower.
    """
    order = np.argsort(values)
    half = 0.5 * weights.sum()
    slack = _ROUNDING * half
    below = 0.0
    lower = upper = values[order[-1]]
    found = False
    for place in order:
        below += weights[place]
        if not found and below >= half - slack:
            lower = values[place]
            found = True
        if below > half + slack:
            upper = values[place]
            break
    if np.sum(values == upper) > np.sum(values == lower):
        return upper
    return lower


@kernel
def settle_shifts(b: FloatArray, mode: FloatArray, prior: Penalties) -> bool:
    """Shift the coefficients of each feature to where the penalty is least; return whether any penalty changed.

    Only features whose coefficients are all without signs and not fixed can be shifted: Laplace priors ask for the
    weighted median of the departures, Gaussian ones for the weighted mean, and without any penalty the coefficients are
    made to sum to zero. Where both families meet, the optimum is unique and is left to the solver.
    """
    l1, l2, low, high = prior
    changed = False
    for j in range(b.shape[0]):
        if np.any(low[j] == 0.0) or np.any(high[j] == 0.0):
            continue
        rates, precision = l1[j].sum(), l2[j].sum()
        if rates == 0.0 and precision == 0.0:
            b[j] -= np.mean(b[j] + mode[j])
            continue
        if not np.any(b[j]):
            continue
        if rates == 0.0:
            shift = np.sum(l2[j] * b[j]) / precision
        elif precision == 0.0:
            shift = weighted_median(b[j], l1[j])
        else:
            continue
        if shift != 0.0:
            b[j] -= shift
            changed = True
    return changed
