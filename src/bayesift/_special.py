"""Ratios of gamma functions that stay accurate even if both are enormous."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from bayesift._typing import FloatArray

_LARGE = 10.0


def log_rising(a: ArrayLike, x: ArrayLike) -> Any:
    """Return ln Γ(a+x) − ln Γ(a) for a > 0 and x ≥ 0: the log of a(a+1)…(a+x−1) where x is whole.

    For large a the two logarithms agree in most of their digits, so Stirling's formula is subtracted in pieces:
    (a−½) ln(1+x/a) + x ln(a+x) − x + R(a+x) − R(a).
    """
    a, x = np.broadcast_arrays(np.asarray(a, dtype=np.float64), np.asarray(x, dtype=np.float64))
    large = np.where(a < _LARGE, _LARGE, a)
    pieces = (large - 0.5) * np.log1p(x / large) + x * np.log(large + x) - x + _rest(large + x) - _rest(large)
    small = np.where(a < _LARGE, a, 1.0)
    return np.where(a < _LARGE, gammaln(small + x) - gammaln(small), pieces)[()]


def _rest(z: FloatArray) -> FloatArray:
    """Return the remainder of Stirling's formula for ln Γ(z), z ≥ 10, to 14 decimal places."""
    inverse = 1.0 / z
    square = inverse * inverse
    series = 1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188)))
    return inverse * series


def log_beta(a: ArrayLike, b: ArrayLike) -> Any:
    """Return ln B(a, b), exact to the last digits even if one argument is much larger than the other."""
    less, more = np.minimum(a, b), np.maximum(a, b)
    return gammaln(less) - log_rising(more, less)


def log_beta_ratio(a: ArrayLike, b: ArrayLike, x: ArrayLike, y: ArrayLike) -> Any:
    """Return ln B(a+x, b+y) − ln B(a, b): the log probability of x successes and y failures in a given order.

    Of two ways to compute the sum, the one with smaller terms is used: rising factorials if the parameters are large
    and the counts small, beta functions if one kind of outcome prevails.
    """
    a, b, x, y = np.broadcast_arrays(*(np.asarray(part, dtype=np.float64) for part in (a, b, x, y)))
    before, after = log_beta(a, b), log_beta(a + x, b + y)
    total = log_rising(a + b, x + y)
    rising = log_rising(a, x) + log_rising(b, y) - total
    return np.where(np.abs(total) < np.maximum(np.abs(before), np.abs(after)), rising, after - before)[()]


def log_waiting(a: ArrayLike, x: ArrayLike) -> Any:
    """Return ln[Γ(a+x) / (Γ(a) x!)] for x ≥ 0, the log coefficient of the negative binomial distribution."""
    a, x = np.broadcast_arrays(np.asarray(a, dtype=np.float64), np.asarray(x, dtype=np.float64))
    return np.where(x < a, log_rising(a, x) - gammaln(x + 1), -log_beta(a, x + 1) - np.log(a + x))[()]


def log_choose(n: ArrayLike, x: ArrayLike) -> Any:
    """Return the log of the number of ways to choose x of n, for 0 ≤ x ≤ n."""
    n, x = np.asarray(n, dtype=np.float64), np.asarray(x, dtype=np.float64)
    return -np.log1p(n) - log_beta(n - x + 1, x + 1)


def log_dirichlet_ratio(alpha: FloatArray, counts: FloatArray) -> Any:
    """Return ln B(α + counts) − ln B(α) over the last axis: the log probability of draws in a given order.

    A Dirichlet distribution can be built by breaking off one share after the other, each with a beta distribution.
    """
    parts = log_beta_ratio(alpha[..., :-1], _after(alpha), counts[..., :-1], _after(counts))
    return parts.sum(axis=-1)


def log_orders(counts: FloatArray) -> Any:
    """Return the log of the number of orders in which draws with these counts (last axis) can come."""
    return log_choose(counts[..., :-1] + _after(counts), counts[..., :-1]).sum(axis=-1)


def _after(values: FloatArray) -> FloatArray:
    """Sum what follows each entry but the last."""
    return np.cumsum(values[..., :0:-1], axis=-1)[..., ::-1]
