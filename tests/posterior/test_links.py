"""Beliefs about a score after its label, against numeric integration."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_expit, log_ndtr

from bayesift.posterior._links import (
    averaged_log_probability,
    best_temperature,
    probability,
    score_of,
    slopes,
    tilted_moments,
)

LOG_P = {"logistic": log_expit, "probit": log_ndtr}


def by_integration(link, y, mean, variance, weight):
    """ln Z, mean and variance by a very fine sum."""
    reach = 14 * np.sqrt(variance) + min(weight * variance, 14 * np.sqrt(variance))
    grid, step = np.linspace(mean - reach, mean + reach, 400_001, retstep=True)
    log_density = weight * LOG_P[link](y * grid) - 0.5 * (grid - mean) ** 2 / variance
    peak = log_density.max()
    density = np.exp(log_density - peak)
    z = density.sum()
    first = (density * (grid - mean)).sum() / z
    second = (density * (grid - mean - first) ** 2).sum() / z
    return peak + np.log(z * step / np.sqrt(2 * np.pi * variance)), mean + first, second


@pytest.mark.parametrize("link", ["logistic", "probit"])
@pytest.mark.parametrize("weight", [1.0, 0.3, 7.0])
@pytest.mark.parametrize(
    ("mean", "variance"), [(0.0, 1e-4), (0.5, 1.0), (-3.0, 4.0), (8.0, 25.0), (-40.0, 30.0), (20.0, 900.0)]
)
@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_tilted_moments(link, weight, mean, variance, y):
    found = tilted_moments(link, *(np.array([v]) for v in (y, mean, variance, weight)))
    expected = by_integration(link, y, mean, variance, weight)
    assert found[0][0] == pytest.approx(expected[0], rel=1e-9, abs=1e-9)
    assert abs(found[1][0] - expected[1]) < 1e-8 * np.sqrt(variance) + 1e-9 * abs(expected[1])
    assert found[2][0] == pytest.approx(expected[2], rel=1e-7)


@pytest.mark.parametrize("link", ["logistic", "probit"])
@pytest.mark.parametrize("weight", [1.0, 0.3, 7.0])
@pytest.mark.parametrize(("mean", "variance"), [(-500.0, 1e3), (-500.0, 700.0), (-300.0, 3e3), (-900.0, 3.5e3)])
def test_the_mode_is_found_far_from_the_mean(link, weight, mean, variance):
    """Newton's steps alone would go to and fro between the mean and a place as far on the other side."""
    found = tilted_moments(link, *(np.array([v]) for v in (1.0, mean, variance, weight)))
    expected = by_integration(link, 1.0, mean, variance, weight)
    assert found[0][0] == pytest.approx(expected[0], rel=1e-9)
    assert abs(found[1][0] - expected[1]) < 1e-8 * np.sqrt(variance) + 1e-9 * abs(expected[1])
    assert found[2][0] == pytest.approx(expected[2], rel=1e-7)


@pytest.mark.parametrize("weight", [1.0, 0.3, 7.0])
@pytest.mark.parametrize(("mean", "variance"), [(0.0, 4e3), (50.0, 4e3), (-60.0, 1e4), (-1000.0, 1e6)])
def test_very_wide_beliefs(mean, variance, weight):
    found = tilted_moments("logistic", *(np.array([v]) for v in (1.0, mean, variance, weight)))
    expected = by_integration("logistic", 1.0, mean, variance, weight)
    assert found[0][0] == pytest.approx(expected[0], abs=1e-6)
    assert abs(found[1][0] - expected[1]) < 1e-6 * np.sqrt(variance)
    assert found[2][0] == pytest.approx(expected[2], rel=1e-5)


@pytest.mark.parametrize("link", ["logistic", "probit"])
def test_probabilities_of_both_labels_sum_to_one(link):
    rng = np.random.default_rng(0)
    means, variances = 5 * rng.normal(size=50), rng.exponential(10, size=50)
    yes, no = (np.exp(averaged_log_probability(link, means, variances, y)) for y in (1.0, -1.0))
    np.testing.assert_allclose(yes + no, 1.0, atol=1e-10)


def test_a_certain_score_has_its_own_probability():
    scores = np.array([-800.0, -1.0, 3.0])
    for link, log_p in LOG_P.items():
        np.testing.assert_allclose(averaged_log_probability(link, scores, np.zeros(3)), log_p(scores), rtol=1e-12)
        np.testing.assert_allclose(probability(link, scores), np.exp(log_p(scores)), rtol=1e-12)


@pytest.mark.parametrize("link", ["logistic", "probit"])
def test_slopes_are_derivatives(link):
    r, h = np.linspace(-6, 6, 25), 1e-4
    slope, curvature = slopes(link, r)
    log_p = LOG_P[link]
    np.testing.assert_allclose(slope, (log_p(r + h) - log_p(r - h)) / (2 * h), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(
        curvature, -(slopes(link, r + h)[0] - slopes(link, r - h)[0]) / (2 * h), rtol=1e-5, atol=1e-7
    )


@pytest.mark.parametrize("link", ["logistic", "probit"])
def test_a_score_is_found_again_from_its_probability(link):
    # Beyond 39 the greater of both probabilities is 1 in the probit link, even by its logarithm.
    scores = np.array([-60.0, -30.0, -5.0, -0.1, 0.0, 0.1, 5.0, 30.0, 60.0])
    log_p = LOG_P[link]
    np.testing.assert_allclose(score_of(link, log_p(scores), log_p(-scores)), scores, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("link", ["logistic", "probit"])
@pytest.mark.parametrize("before", [1.0, 0.3])
@pytest.mark.parametrize("right", [0.55, 0.8, 1.0])
def test_the_best_temperature_has_the_greatest_sum_of_log_probabilities_less_a_price(link, before, right):
    """Against nodes of Gauss and Hermite, for labels that are right more often or less often than the beliefs say."""
    means, variances = np.linspace(-3, 3, 12), np.linspace(1, 6, 12)
    weights = np.tile([1.0, 2.5], 6)
    y = np.where(np.arange(12) < 12 * right, np.sign(means), -np.sign(means))
    nodes, mass = np.polynomial.hermite_e.hermegauss(60)
    mass /= mass.sum()

    def value(temperature):
        scores = means[:, None] + np.sqrt(temperature * variances)[:, None] * nodes
        return weights @ np.log(np.exp(LOG_P[link](y[:, None] * scores)) @ mass) - 2.0 * abs(temperature - before)

    found = best_temperature(link, y, means, variances, weights, before)
    assert 0.0 < found <= 1.0
    assert value(found) >= max(map(value, np.linspace(0.05, 1.0, 20))) - 1e-6


@pytest.mark.parametrize("mean", [np.nan, np.inf, 0.0, 1e308])
@pytest.mark.parametrize("variance", [np.nan, np.inf, 1e308, 1e-308])
@pytest.mark.parametrize("weight", [0.5, 1.0, 1e50, 1e300])
def test_no_belief_keeps_the_sums_from_ending(mean, variance, weight):
    means, variances, weights = (np.array([value]) for value in (mean, variance, weight))
    for link in ("logistic", "probit"):
        tilted_moments(link, np.ones(1), means, variances, weights)
