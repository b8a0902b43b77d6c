"""Random draws that numpy does not have: Pólya–Gamma, the tail of a normal distribution, inverse Gaussian.

All take a numpy generator, so that a chain has a state of its own and a seed gives the same draws everywhere.
"""

from __future__ import annotations

import math

import numpy as np

from bayesift._kernel import inner_kernel, kernel
from bayesift._special_kernels import exp_negative, log1p_unit, probit_loss_and_slope
from bayesift._typing import FloatArray

#: Where Devroye's two series for the density of J*(1, 0) change over.
_CHANGE = 0.64
#: From here on a normal variable above a bound is drawn by its tail, below by trial.
_TAIL = 0.5
#: How often a slice is stepped out, and shrunk before the chain stays where it is.
_MOST_STEPS, _MOST_SHRINKS = 100, 200


@inner_kernel(error_model="numpy")
def _exponential_share(z: float) -> float:
    """Return the probability that J*(1, z) is proposed right of the change, by an exponential distribution."""
    rate = 0.125 * math.pi**2 + 0.5 * z * z
    root = 1.0 / math.sqrt(_CHANGE)
    above, _ = probit_loss_and_slope(root * (_CHANGE * z - 1.0))
    below, _ = probit_loss_and_slope(-root * (_CHANGE * z + 1.0))
    level = math.log(rate) + rate * _CHANGE
    left = 4.0 / math.pi * (math.exp(min(level - z - above, 700.0)) + math.exp(min(level + z - below, 700.0)))
    return 1.0 / (1.0 + left)


@inner_kernel(error_model="numpy")
def _inverse_gaussian(mean: float, shape: float, rng: np.random.Generator) -> float:
    """Draw by Michael, Schucany & Haas, the smaller root written without a difference."""
    normal = rng.standard_normal()
    w = 0.5 * mean * normal * normal / shape
    x = mean / (1.0 + w + math.sqrt(w) * math.sqrt(w + 2.0))
    if rng.random() * (mean + x) <= mean:
        return x
    return mean * (mean / x)


@inner_kernel(error_model="numpy")
def _left_of_change(z: float, rng: np.random.Generator) -> float:
    """Draw an inverse Gaussian variable of mean 1/z and shape 1 that is less than the change."""
    if z * _CHANGE < 1.0:
        while True:
            while True:
                first, second = rng.standard_exponential(), rng.standard_exponential()
                if first * first <= 2.0 * second / _CHANGE:
                    break
            x = _CHANGE / (1.0 + _CHANGE * first) ** 2
            if rng.random() <= math.exp(-0.5 * z * z * x):
                return x
    while True:
        x = _inverse_gaussian(1.0 / z, 1.0, rng)
        if x < _CHANGE:
            return x


@inner_kernel(error_model="numpy")
def _coefficient(n: int, x: float) -> float:
    """Return the nth term a_n(x) of the alternating series of the density of J*(1, 0)."""
    k = n + 0.5
    if x > _CHANGE:
        return math.pi * k * math.exp(-0.5 * k * k * math.pi**2 * x)
    return math.pi * k * (2.0 / (math.pi * x)) ** 1.5 * math.exp(-2.0 * k * k / x)


@inner_kernel(error_model="numpy")
def _polya_gamma(tilt: float, rng: np.random.Generator) -> float:
    """Draw PG(1, tilt) as J*(1, abs(tilt)/2)/4: the algorithm of Polson, Scott & Windle (2013), after Devroye."""
    z = 0.5 * abs(tilt)
    rate = 0.125 * math.pi**2 + 0.5 * z * z
    share = _exponential_share(z)
    while True:
        right = rng.random() < share
        x = _CHANGE + rng.standard_exponential() / rate if right else _left_of_change(z, rng)
        total = _coefficient(0, x)
        level = rng.random() * total
        n = 0
        while True:
            n += 1
            if n % 2 == 1:
                total -= _coefficient(n, x)
                if level <= total:
                    return 0.25 * x
            else:
                total += _coefficient(n, x)
                if level > total:
                    break


@kernel
def polya_gamma(tilt: FloatArray, rng: np.random.Generator, out: FloatArray) -> None:
    """Fill ``out`` with independent draws of PG(1, tilt), the Pólya–Gamma distribution."""
    for i in range(tilt.shape[0]):
        out[i] = _polya_gamma(tilt[i], rng)


@inner_kernel(error_model="numpy")
def _normal_above(bound: float, rng: np.random.Generator) -> float:
    """Draw a standard normal variable that is greater than a bound (the tail by Marsaglia)."""
    if bound < _TAIL:
        while True:
            x = rng.standard_normal()
            if x > bound:
                return x
    while True:
        x = math.sqrt(bound * bound + 2.0 * rng.standard_exponential())
        if rng.random() * x <= bound:
            return x


@kernel
def latent_scores(scores: FloatArray, y: FloatArray, rng: np.random.Generator, out: FloatArray) -> None:
    """Fill ``out`` with draws of N(score, 1) that have the sign of the label (Albert & Chib 1993)."""
    for i in range(scores.shape[0]):
        out[i] = scores[i] + y[i] * _normal_above(-y[i] * scores[i], rng)


@kernel(error_model="numpy")
def sweep_latent_scores(
    M: FloatArray, offset: FloatArray, y: FloatArray, rng: np.random.Generator, e: FloatArray, slopes: FloatArray
) -> None:
    """Draw each e_i given the others from the density exp(−½ eᵀMe) where offset + e has the signs of the labels.

    ``e`` and ``slopes``, which is Me, are overwritten.
    """
    for i in range(e.shape[0]):
        deviation = 1.0 / math.sqrt(M[i, i])
        mean = e[i] - slopes[i] * deviation * deviation
        bound = -y[i] * (offset[i] + mean) / deviation
        step = mean + y[i] * deviation * _normal_above(bound, rng) - e[i]
        e[i] += step
        for j in range(e.shape[0]):
            slopes[j] += step * M[i, j]


@kernel
def inverse_gaussian(mean: FloatArray, shape: FloatArray, rng: np.random.Generator, out: FloatArray) -> None:
    """Fill ``out`` with draws of the inverse Gaussian distributions of given means and shapes."""
    for i in range(mean.shape[0]):
        out[i] = _inverse_gaussian(mean[i], shape[i], rng)


@inner_kernel(error_model="numpy")
def _along(y: FloatArray, scores: FloatArray, shift: FloatArray, linear: float, quadratic: float, s: float) -> float:
    total = -linear * s - 0.5 * quadratic * s * s
    for i in range(y.shape[0]):
        r = y[i] * (scores[i] + s * shift[i])
        total += min(r, 0.0) - log1p_unit(exp_negative(-abs(r)))
    return total


@kernel
def slice_along(
    y: FloatArray,
    scores: FloatArray,
    shift: FloatArray,
    linear: float,
    quadratic: float,
    width: float,
    rng: np.random.Generator,
) -> float:
    """Draw s from a density that leaves exp(−linear s − ½ quadratic s²) ∏ σ(y_i (f_i + s shift_i)) unchanged, from 0.

    A slice is stepped out a limited number of times and shrunk (Neal 2003).
    """
    level = _along(y, scores, shift, linear, quadratic, 0.0) - rng.standard_exponential()
    low = -width * rng.random()
    high = low + width
    to_left = int(_MOST_STEPS * rng.random())
    to_right = _MOST_STEPS - 1 - to_left
    while to_left > 0 and _along(y, scores, shift, linear, quadratic, low) > level:
        low -= width
        to_left -= 1
    while to_right > 0 and _along(y, scores, shift, linear, quadratic, high) > level:
        high += width
        to_right -= 1
    for _ in range(_MOST_SHRINKS):
        s = low + (high - low) * rng.random()
        if _along(y, scores, shift, linear, quadratic, s) >= level:
            return s
        if s < 0.0:
            low = s
        else:
            high = s
    return 0.0
