"""What the methods need of the two links: losses of labels, and a Gaussian belief about a score after its label.

A score f has the probability σ(f) with the logistic link, Φ(f) with the probit link. The tilted distribution of a
document is N(f; μ, v) σ(yf)^s, divided by its integral Z.
"""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np
from scipy.special import expit, log_expit, log_ndtr, ndtri_exp

from bayesift._checks import one_of
from bayesift._kernel import inner_kernel, kernel
from bayesift._special_kernels import exp_negative, log1p_unit, probit_curvature, probit_loss_and_slope
from bayesift._typing import FloatArray

Link = Literal["logistic", "probit"]

#: The tilted density is summed where its logarithm is less than this below its greatest.
_DEPTH = 38.0
#: Steps of the sum, in units of the score and of its standard deviation: the rule's error is below 1e-13 with both.
_STEP, _STEP_IN_DEVIATIONS = 0.6, 0.7
#: Beliefs so wide that the logistic function is a step to them, and means that leave them on it: probit formulas.
_WIDE, _LEAST_SLOPE = 3600.0, 0.02
#: Temperatures tried, and the price, in log probability, of moving the temperature by one unit.
_TEMPERATURES, _CAUTION = np.append(np.linspace(0.05, 0.45, 9), np.linspace(0.5, 1.0, 11)), 2.0
#: Variance of the logistic distribution.
_LOGISTIC_VARIANCE = math.pi**2 / 3.0
_MOST_STEPS, _NEWTON_STEPS, _NEWTON_TOL = 20_000, 100, 1e-9


def check_link(link: str) -> None:
    """Refuse a link that is neither logistic nor probit."""
    one_of("link", link, get_args(Link))


def probability(link: Link, scores: FloatArray) -> FloatArray:
    """Return the probability of a category for its scores."""
    return np.asarray(expit(scores) if link == "logistic" else np.exp(log_ndtr(scores)))


def score_of(link: Link, log_yes: FloatArray, log_no: FloatArray) -> FloatArray:
    """Return the scores of probabilities, given by their logarithms and those of their complements."""
    if link == "logistic":
        return log_yes - log_no
    return np.where(log_yes < log_no, ndtri_exp(np.minimum(log_yes, 0.0)), -ndtri_exp(np.minimum(log_no, 0.0)))


def log_likelihoods(link: Link, margins: FloatArray) -> FloatArray:
    """Return the log probability of every label for the margins r = yf."""
    return np.asarray(log_expit(margins) if link == "logistic" else log_ndtr(margins))


def slopes(link: Link, margins: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the first derivative of ln p with respect to the margin, and minus the second."""
    if link == "logistic":
        slope = np.asarray(expit(-margins))
        return slope, slope * expit(margins)
    slope, curvature = np.empty_like(margins), np.empty_like(margins)
    _probit_slopes(margins, slope, curvature)
    return slope, curvature


@kernel
def _probit_slopes(r: FloatArray, slope: FloatArray, curvature: FloatArray) -> None:
    for i in range(r.shape[0]):
        _, slope[i] = probit_loss_and_slope(r[i])
        curvature[i] = probit_curvature(r[i], slope[i])


@inner_kernel(error_model="numpy")
def _log_likelihood(probit: bool, r: float) -> float:
    if probit:
        loss, _ = probit_loss_and_slope(r)
        return -loss
    return min(r, 0.0) - log1p_unit(exp_negative(-abs(r)))


@inner_kernel(error_model="numpy")
def _derivatives(probit: bool, r: float) -> tuple[float, float]:
    """Return the slope of ln p and minus its curvature."""
    if probit:
        _, slope = probit_loss_and_slope(r)
        return slope, probit_curvature(r, slope)
    e = exp_negative(-abs(r))
    tail, near = e / (1.0 + e), 1.0 / (1.0 + e)
    return (tail if r > 0.0 else near), tail * near


@inner_kernel(error_model="numpy")
def _by_formula(mean: float, variance: float, own: float) -> tuple[float, float, float]:
    """Return ln Z and the moments for Φ(f/√own): closed forms."""
    total = own + variance
    root = math.sqrt(total)
    loss, slope = probit_loss_and_slope(mean / root)
    curvature = probit_curvature(mean / root, slope)
    return -loss, mean + variance * slope / root, variance * (1.0 - variance / total * curvature)


@inner_kernel(error_model="numpy")
def _tilted(probit: bool, mean: float, variance: float, weight: float) -> tuple[float, float, float]:
    """Return ln Z, mean and variance of N(f; mean, variance) p(f)^weight."""
    if variance <= 0.0:
        return weight * _log_likelihood(probit, mean), mean, 0.0
    if weight == 1.0 and probit:
        return _by_formula(mean, variance, 1.0)
    if weight == 1.0 and variance > _WIDE and abs(mean) < _LEAST_SLOPE * variance:
        return _by_formula(mean, variance, _LOGISTIC_VARIANCE)
    deviation = math.sqrt(variance)
    # The mode lies right of the mean; steps of Newton's method that leave its bounds are replaced by halving them.
    low, high = mean, mean + variance * weight * _derivatives(probit, mean)[0]
    mode = low
    for _ in range(_NEWTON_STEPS):
        slope, curvature = _derivatives(probit, mode)
        gradient = weight * slope - (mode - mean) / variance
        if gradient > 0.0:
            low = mode
        else:
            high = mode
        step = gradient / (weight * curvature + 1.0 / variance)
        if abs(step) <= _NEWTON_TOL * deviation:
            break
        mode += step
        if not low < mode < high:
            mode = 0.5 * (low + high)
    top = weight * _log_likelihood(probit, mode) - 0.5 * (mode - mean) ** 2 / variance
    reach = math.sqrt(2.0 * _DEPTH * variance)
    step = max(min(_STEP / max(1.0, math.sqrt(weight)), _STEP_IN_DEVIATIONS * deviation), reach / _MOST_STEPS)
    total, first, second = 1.0, 0.0, 0.0
    for side in (-1.0, 1.0):
        distance = step
        while distance <= reach:
            f = mode + side * distance
            depth = weight * _log_likelihood(probit, f) - 0.5 * (f - mean) ** 2 / variance - top
            # Not a number counts as low: it never ends otherwise.
            if not depth >= -_DEPTH:
                break
            density = math.exp(depth)
            total += density
            first += side * distance * density
            second += distance * distance * density
            distance += step
    shift = first / total
    log_z = top + math.log(total * step / deviation) - 0.5 * math.log(2.0 * math.pi)
    return log_z, mode + shift, second / total - shift * shift


@kernel
def _tilted_moments(
    probit: bool,
    y: FloatArray,
    means: FloatArray,
    variances: FloatArray,
    weights: FloatArray,
    log_z: FloatArray,
    new_means: FloatArray,
    new_variances: FloatArray,
) -> None:
    for i in range(y.shape[0]):
        # The score of a document outside of the category is mirrored: what is left is the case y = 1.
        found = _tilted(probit, y[i] * means[i], variances[i], weights[i])
        log_z[i], new_means[i], new_variances[i] = found[0], y[i] * found[1], found[2]


def tilted_moments(
    link: Link, y: FloatArray, means: FloatArray, variances: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return ln Z, mean and variance of every tilted distribution N(f_i; μ_i, v_i) p(y_i f_i)^s_i.

    The probit link has closed forms where s = 1. Everything else is summed at equal steps, which for functions that
    are smooth on and near the real line converges faster than any power of the step.
    """
    found = np.empty_like(means), np.empty_like(means), np.empty_like(means)
    _tilted_moments(link == "probit", y, means, variances, weights, *found)
    return found


def averaged_log_probability(link: Link, means: FloatArray, variances: FloatArray, y: float = 1.0) -> FloatArray:
    """Return ln E p(yf) of scores f with Gaussian beliefs."""
    ones = np.ones_like(means)
    return tilted_moments(link, y * ones, means, variances, ones)[0]


def best_temperature(
    link: Link, y: FloatArray, means: FloatArray, variances: FloatArray, weights: FloatArray, before: float = 1.0
) -> float:
    """Return the factor, at most 1, for the variances of beliefs about scores that gives the best probabilities.

    The beliefs about the score of a document are those without its label. The factor maximises the sum of the
    log probabilities of the labels, minus a small price for moving away from ``before``.
    """
    ones = np.ones_like(means)
    totals = [
        float(weights @ tilted_moments(link, y, means, temperature * variances, ones)[0])
        - _CAUTION * abs(temperature - before)
        for temperature in _TEMPERATURES
    ]
    return float(_TEMPERATURES[int(np.argmax(totals))])
