"""Draws of Gibbs samplers against integration, long chains of other samplers, and the prior they come from."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import chi2
from sklearn.exceptions import ConvergenceWarning

import bayesift.posterior.gibbs as module
from bayesift.posterior import effective_sample_size, gibbs_sampling
from bayesift.posterior._gaussian_draws import RELAXATION, CoordinateSampler, DocumentSampler
from bayesift.posterior._gradient_draws import RELAXATION as RELAXATION_BY_GRADIENTS
from bayesift.posterior._gradient_draws import GradientSampler
from bayesift.priors import Gaussian, Laplace
from posterior_cases import LOG_P, by_integration, few_texts, small_problem

LINKS = ["logistic", "probit"]


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("intercept_variance", [1.0, np.inf])
@pytest.mark.parametrize("mode", [0.0, 1.0])
@pytest.mark.parametrize("n", [3, 12])
def test_draws_have_the_moments_of_the_posterior(link, intercept_variance, mode, n):
    X, y = small_problem(n=n)
    variance = [4.0, 2.0, intercept_variance]
    _, mean, covariance, _, _ = by_integration(X, y, variance, [mode, mode, 0.0], link)
    found = gibbs_sampling(
        X, y, Gaussian([4.0, 2.0], mode=mode), link=link, intercept_variance=intercept_variance, n_draws=700
    )
    draws = found.sample(2800)
    error = np.sqrt(np.diag(covariance) / found.diagnostics.effective.min())
    assert np.all(np.abs(draws.mean(axis=0) - mean) < 4.5 * error)
    np.testing.assert_allclose(draws.var(axis=0), np.diag(covariance), rtol=0.25)
    np.testing.assert_allclose(np.append(found.coef, found.intercept), mean, atol=4.5 * error.max())


@pytest.mark.slow
@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("most", [1, 1000])
def test_laplace_priors(link, most, monkeypatch):
    monkeypatch.setattr(module, "MOST_BY_DECOMPOSITION", most)
    X, y = small_problem(n=10, d=1)
    rate = 1.5
    grid = np.stack(np.meshgrid(np.linspace(-12, 12, 301), np.linspace(-20, 20, 301), indexing="ij"), -1).reshape(-1, 2)
    scores = grid @ np.column_stack([X, np.ones(10)]).T
    logs = LOG_P[link](np.where(y > 0, 1, -1) * scores).sum(axis=1) - rate * np.abs(grid[:, 0] - 0.5)
    mass = np.exp(logs - logs.max())
    mass /= mass.sum()
    mean = mass @ grid
    deviation = np.sqrt(mass @ (grid - mean) ** 2)
    found = gibbs_sampling(X, y, Laplace.of_rate(rate, mode=0.5), link=link, n_draws=700, warmup=50)
    draws = found.sample(2800)
    assert np.all(np.abs(draws.mean(axis=0) - mean) < 4.5 * deviation / np.sqrt(found.diagnostics.effective.min()))
    np.testing.assert_allclose(draws.std(axis=0), deviation, rtol=0.12)


@pytest.mark.parametrize("n_flat", [0, 1])
def test_all_ways_to_draw_have_the_same_mean_and_covariance(n_flat):
    rng = np.random.default_rng(0)
    H = rng.normal(size=(6, 4))
    if n_flat:
        H[:, -1] = 1.0
    offset, t, w = rng.normal(size=6), rng.normal(size=6), rng.exponential(size=6)
    precision = np.append(np.ones(4 - n_flat), np.zeros(n_flat))
    Q = np.diag(precision) + H.T @ (w[:, None] * H)
    mean = np.linalg.solve(Q, H.T @ (t - w * offset))
    samplers = [
        CoordinateSampler(H, offset, precision),
        DocumentSampler(H, offset, n_flat),
        GradientSampler(sp.csr_matrix(H), offset, precision, n_block=2),
    ]
    root = np.linalg.cholesky(Q)
    n = 1500
    for sampler in samplers:
        first = [sampler.draw(t, w, rng) for _ in range(n)]
        # Draws that go on from these are over-relaxed: the same distribution, and correlated by ρ.
        second = [sampler.draw(t, w, rng, last) for last in first]
        white = []
        for found in (first, second):
            phi = np.array([draw for draw, _ in found])
            np.testing.assert_allclose(found[-1][1], offset + H @ phi[-1], atol=1e-10)
            white.append((phi - mean) @ root)
            assert np.all(np.abs(white[-1].mean(axis=0)) < 4.5 / np.sqrt(n))
            assert np.all(np.abs(np.cov(white[-1].T) - np.eye(4)) < 4.5 * np.sqrt(2 / n))
        rho = RELAXATION_BY_GRADIENTS if isinstance(sampler, GradientSampler) else RELAXATION
        assert np.all(np.abs(white[0].T @ white[1] / n - rho * np.eye(4)) < 4.5 * np.sqrt(2 / n))


@pytest.mark.parametrize("prior", [Gaussian(4.0), Laplace(4.0)])
def test_many_and_few_documents_give_the_same_posterior(prior, monkeypatch):
    X, y, _ = few_texts(n=25, d=60)
    new = few_texts(n=10, d=60, seed=4)[0]
    few = gibbs_sampling(X, y, prior, n_draws=300, warmup=50)
    monkeypatch.setattr(module, "MOST_BY_DECOMPOSITION", 1)
    many = gibbs_sampling(X, y, prior, n_draws=300, warmup=50, random_state=1)
    (one, variance), (other, _) = few.score_moments(new), many.score_moments(new)
    effective = min(few.diagnostics.effective.min(), many.diagnostics.effective.min())
    assert np.all(np.abs(one - other) < 4.5 * np.sqrt(2 * variance / effective))


def test_unseen_words_of_a_laplace_prior_have_laplace_draws():
    X, y, _ = few_texts(n=10, d=40)
    X = X.tolil()
    X[:, 7] = 0
    found = gibbs_sampling(X.tocsr(), y, Laplace(2.0))
    draws = found.sample(20_000, [7], random_state=2)[:, 0]
    assert draws.var() == pytest.approx(2.0, rel=0.1)
    assert np.abs(draws).mean() == pytest.approx(1.0, rel=0.05)
    for mass in (0.5, 0.9):
        # Rate 1: the share e^−t lies further from 0 than t.
        np.testing.assert_allclose(found.coef_interval(mass, [7])[0], np.log(1 - mass) * np.array([1, -1]), rtol=0.15)
    text = np.zeros((1, 40))
    text[0, 7] = 3.0
    scores = found.score_draws(text) - found.score_draws(np.zeros((1, 40)))
    assert np.abs(scores).mean() == pytest.approx(3.0, rel=0.1)


def test_a_seed_gives_the_same_bits():
    X, y, _ = few_texts()
    one, other, third = (gibbs_sampling(X, y, Gaussian(1.0), n_draws=100, random_state=s) for s in (3, 3, 4))
    np.testing.assert_array_equal(one.draws, other.draws)
    assert not np.array_equal(one.draws, third.draws)


def test_weights_are_copies():
    X, y = small_problem(n=6)
    weights = np.array([1, 2, 0, 3, 1, 1])
    one = gibbs_sampling(X, y, Gaussian(1.0), sample_weight=weights, n_draws=50)
    other = gibbs_sampling(np.repeat(X, weights, axis=0), np.repeat(y, weights), Gaussian(1.0), n_draws=50)
    np.testing.assert_array_equal(one.draws, other.draws)


def test_short_chains_warn():
    X, y, _ = few_texts()
    with pytest.warns(ConvergenceWarning, match="fewest effective draws has .*Raise n_draws"):
        gibbs_sampling(X, y, Gaussian(1.0), n_draws=8, warmup=0)


@pytest.mark.parametrize("link", LINKS)
def test_a_category_with_a_single_positive(link):
    X, _, _ = few_texts(n=60, d=200)
    y = np.arange(60) == 7
    found = gibbs_sampling(X, y, Gaussian(4.0), link=link, n_draws=1000)
    assert found.diagnostics.effective.min() > 200
    assert np.argmax(found.predict_proba(X)) == 7


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the chains are too short")
@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("most", [1, 1000])
def test_simulation_based_calibration(link, most, monkeypatch):
    """Truths drawn from the prior are anywhere among the draws of their posteriors with the same probability."""
    monkeypatch.setattr(module, "MOST_BY_DECOMPOSITION", most)
    rng = np.random.default_rng(0)
    X, _, _ = few_texts(n=12, d=40)
    new = few_texts(n=3, d=40, seed=8)[0]
    ranks = []
    for _ in range(48):
        beta, intercept = 2 * rng.normal(size=40), rng.normal()
        p = np.exp(LOG_P[link](X @ beta + intercept))
        y = (rng.random(12) < p).astype(int)
        found = gibbs_sampling(
            X, y, Gaussian(4.0), link=link, intercept_variance=1.0, n_draws=60, warmup=40, n_chains=2, random_state=rng
        )
        thin = found.score_draws(new)[::4]
        ranks.append((thin < new @ beta + intercept).mean(axis=0))
    for one in np.transpose(ranks):
        counts = np.histogram(one, bins=6, range=(0, 1 + 1e-9))[0]
        assert ((counts - 8) ** 2 / 8).sum() < chi2(5).ppf(0.9995)


def test_effective_draws_are_reported_for_scores():
    X, y, _ = few_texts(n=10)
    found = gibbs_sampling(X, y, Gaussian(1.0), n_draws=200)
    scores = found.score_draws(X).reshape(4, 200, 10)
    distances = np.abs(scores - np.median(scores, axis=(0, 1)))
    # Over-relaxed chains know the mean better than how far from it scores lie: the worse of the two counts.
    expected = np.minimum(effective_sample_size(scores), effective_sample_size(distances))
    np.testing.assert_allclose(found.diagnostics.effective[:10], expected, rtol=1e-6)


def test_weights_that_would_repeat_documents_without_end_are_refused():
    with pytest.raises(ValueError, match="sample_weight adds up to 4e\\+10; Gibbs sampling takes documents that often"):
        gibbs_sampling(np.eye(4), [0, 1, 0, 1], Gaussian(1.0), sample_weight=[1e10] * 4)
