"""Priors as arrays, and the one-dimensional arithmetic that every solver needs.

A prior on coefficient j arrives as ``kind`` (0 none, 1 Laplace, 2 Gaussian, 3 fixed), ``weight`` (Laplace rate λ_j or
Gaussian precision 1/v_j), ``mode`` and ``sign`` (−1, 0, +1). Solvers work with the departure δ_j = β_j − m_j, whose
penalty is l1_j |δ_j| + ½ l2_j δ_j² on low_j ≤ δ_j ≤ high_j; the intercept is the last entry of every array.
"""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._typing import AnyArray, FloatArray
from bayesift.priors import FIXED, GAUSSIAN, LAPLACE

#: The arrays l1, l2, low and high.
Penalties = tuple[FloatArray, FloatArray, FloatArray, FloatArray]


@kernel
def penalty_arrays(kind: AnyArray, weight: FloatArray, sign: AnyArray) -> Penalties:
    """Turn kinds, weights and signs into the arrays l1, l2, low and high."""
    size = kind.shape[0]
    l1 = np.zeros(size)
    l2 = np.zeros(size)
    low = np.full(size, -np.inf)
    high = np.full(size, np.inf)
    for j in range(size):
        if kind[j] == LAPLACE:
            l1[j] = weight[j]
        elif kind[j] == GAUSSIAN:
            l2[j] = weight[j]
        if kind[j] == FIXED or sign[j] > 0:
            low[j] = 0.0
        if kind[j] == FIXED or sign[j] < 0:
            high[j] = 0.0
    return l1, l2, low, high


@kernel(inline="always", error_model="numpy")
def prox(a, h, l1, l2, low, high):  # type: ignore[no-untyped-def]
    """Minimise ½ h x² − a x + l1 |x| + ½ l2 x² over low ≤ x ≤ high."""
    if a > l1:
        x = (a - l1) / (h + l2)
    elif a < -l1:
        x = (a + l1) / (h + l2)
    else:
        x = 0.0
    return min(max(x, low), high)


@kernel(inline="always")
def violation(c, b, l1, l2, low, high):  # type: ignore[no-untyped-def]
    """Distance of c = −∂loss/∂δ to the subdifferential of the penalty at δ = b."""
    c -= l2 * b
    if b > 0.0:
        return abs(c - l1)
    if b < 0.0:
        return abs(c + l1)
    up = max(c - l1, 0.0) if high > 0.0 else 0.0
    down = max(-c - l1, 0.0) if low < 0.0 else 0.0
    return max(up, down)


@kernel(inline="always")
def conjugate(c, l1, l2, low, high):  # type: ignore[no-untyped-def]
    """p*(c): infinite where c is no slope of the penalty."""
    excess = max(c - l1, 0.0) if high > 0.0 else 0.0
    if low < 0.0:
        excess = max(excess, -c - l1)
    if excess == 0.0:
        return 0.0
    if l2 == 0.0:
        return np.inf
    return 0.5 * excess * excess / l2


@kernel
def penalty(b: FloatArray, l1: FloatArray, l2: FloatArray) -> float:
    """Σ_j l1_j |δ_j| + ½ l2_j δ_j²."""
    total = 0.0
    for j in range(b.shape[0]):
        if b[j] != 0.0:
            total += l1[j] * abs(b[j]) + 0.5 * l2[j] * b[j] * b[j]
    return total
