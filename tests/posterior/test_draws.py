"""The random draws have the distributions they are named after."""

from __future__ import annotations

import numpy as np
import pytest
from polyagamma import polyagamma_cdf
from scipy.stats import invgauss, kstest, levy, truncnorm

from bayesift.posterior._draws import inverse_gaussian, latent_scores, polya_gamma

N = 20_000


def pg_draws(tilt, n=N, seed=0):
    out = np.empty(n)
    polya_gamma(np.full(n, float(tilt)), np.random.default_rng(seed), out)
    return out


def pg_moments(c):
    if c == 0:
        return 1 / 4, 1 / 24
    return np.tanh(c / 2) / (2 * c), (np.sinh(c) - c) / (4 * c**3 * np.cosh(c / 2) ** 2)


@pytest.mark.parametrize("tilt", [0.0, 0.5, 2.0, 3.1, 3.2, 10.0])
def test_polya_gamma_has_the_distribution_of_the_oracle(tilt):
    assert kstest(pg_draws(tilt), lambda x: polyagamma_cdf(x, 1.0, tilt)).pvalue > 1e-3


@pytest.mark.parametrize("tilt", [0.0, -1.0, 4.0, 30.0, 300.0])
def test_polya_gamma_has_its_mean_and_variance(tilt):
    draws = pg_draws(tilt, seed=1)
    mean, variance = pg_moments(abs(tilt))
    assert abs(draws.mean() - mean) < 4.5 * np.sqrt(variance / N)
    spread = np.sqrt(((draws - mean) ** 2).var() / N)
    assert abs(((draws - mean) ** 2).mean() - variance) < 4.5 * spread


@pytest.mark.parametrize(("tilt", "t"), [(0.0, 2.0), (3.0, 1.0), (8.0, 20.0)])
def test_polya_gamma_has_its_laplace_transform(tilt, t):
    draws = np.exp(-t * pg_draws(tilt, seed=2))
    expected = np.cosh(tilt / 2) / np.cosh(np.sqrt(tilt**2 / 4 + t / 2))
    assert abs(draws.mean() - expected) < 4.5 * draws.std() / np.sqrt(N)


def test_polya_gamma_of_huge_scores_is_finite_and_positive():
    draws = pg_draws(1e9, 100)
    assert np.all(draws > 0)
    assert draws.mean() == pytest.approx(0.5e-9, rel=1e-3)


@pytest.mark.parametrize("score", [-30.0, -3.0, -0.6, -0.4, 0.0, 5.0])
@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_latent_scores_are_truncated_normal(score, label):
    out = np.empty(N)
    latent_scores(np.full(N, score), np.full(N, label), np.random.default_rng(3), out)
    assert np.all(out * label > 0)
    assert kstest(label * out - label * score, truncnorm(-label * score, np.inf).cdf).pvalue > 1e-3


@pytest.mark.parametrize(("mean", "shape"), [(0.1, 2.0), (1.0, 1.0), (50.0, 0.5)])
def test_inverse_gaussian(mean, shape):
    out = np.empty(N)
    inverse_gaussian(np.full(N, mean), np.full(N, shape), np.random.default_rng(4), out)
    assert kstest(out, invgauss(mean / shape, scale=shape).cdf).pvalue > 1e-3


def test_inverse_gaussian_of_enormous_mean_is_the_levy_distribution():
    out = np.empty(N)
    inverse_gaussian(np.full(N, 1e300), np.full(N, 2.0), np.random.default_rng(5), out)
    assert kstest(out, levy(scale=2.0).cdf).pvalue > 1e-3


def test_a_seed_gives_the_same_draws():
    np.testing.assert_array_equal(pg_draws(1.0, 50, seed=7), pg_draws(1.0, 50, seed=7))
    assert not np.array_equal(pg_draws(1.0, 50, seed=7), pg_draws(1.0, 50, seed=8))
