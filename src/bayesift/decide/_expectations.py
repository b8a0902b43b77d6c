"""Expectations of ratios of counts, when each document is in the category with its own probability.

All are based on 1/a = ∫₀^∞ exp(−as) ds: under the integral the documents are independent, so an expectation becomes a
product over them. The integral is a sum over nodes s = exp(x) on a regular grid of x, which gives 1/a with a relative
error of at most 2|Γ(1 + 2πi/h)| < 2e−16 for the step h = ¼, whatever a is. All terms are positive: nothing cancels.
"""

from __future__ import annotations

from math import exp, log

import numpy as np

from bayesift._kernel import kernel
from bayesift._typing import FloatArray

_STEP = 0.25


def nodes_and_weights(least: float, greatest: float) -> tuple[FloatArray, FloatArray]:
    """Return s and w with Σ w exp(−as) = 1/a to rounding for all a between ``least`` and ``greatest``."""
    low, high = log(1e-17 / greatest), log(40.0 / least)
    nodes = np.exp(low + _STEP * np.arange(int((high - low) / _STEP) + 1))
    return nodes, _STEP * nodes


@kernel
def f_curve(p: FloatArray, beta_squared: float, nodes: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the expected F_β of accepting the first m documents, m = 0…n.

    E[(1+β²)TP/(m + β²P)] = (1+β²) ∫ tᵐ ∏ᵢ(1−pᵢ+pᵢz) Σ_{i≤m} pᵢz/(1−pᵢ+pᵢz) ds with t = exp(−s), z = exp(−β²s);
    for m = 0 the probability that there is nothing to find.
    """
    n = p.shape[0]
    curve = np.zeros(n + 1)
    for k in range(nodes.shape[0]):
        t, z = exp(-nodes[k]), exp(-beta_squared * nodes[k])
        scale = (1 + beta_squared) * weights[k]
        for i in range(n):
            scale *= (1 - p[i]) + p[i] * z
        found = 0.0
        for m in range(1, n + 1):
            scale *= t
            if scale < 1e-300:
                break
            found += p[m - 1] * z / ((1 - p[m - 1]) + p[m - 1] * z)
            curve[m] += scale * found
    curve[0] = np.prod(1 - p)
    return curve


@kernel
def shares(p: FloatArray, nodes: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the share of the category that each document is expected to be, E[yᵢ/P] (0 if the category is empty)."""
    n = p.shape[0]
    share = np.zeros(n)
    for k in range(nodes.shape[0]):
        z = exp(-nodes[k])
        scale = weights[k] * z
        for i in range(n):
            scale *= (1 - p[i]) + p[i] * z
        if scale < 1e-300:
            continue
        for i in range(n):
            share[i] += scale * p[i] / ((1 - p[i]) + p[i] * z)
    return share
