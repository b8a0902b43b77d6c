"""The prior variance integrated out, and the variances of two blocks by the evidence."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit
from scipy.stats import norm

from bayesift.linear import BayesianLogisticRegression
from bayesift.posterior import (
    MixedPosterior,
    SampledPosterior,
    expectation_propagation,
    greatest_evidence,
    integrate_variance,
)
from bayesift.priors import Gaussian
from posterior_cases import few_texts


@pytest.fixture(scope="module")
def texts():
    X, y, _ = few_texts(n=40, d=60, coefficient=4.0)
    return X[:30], y[:30], X[30:]


@pytest.fixture(scope="module")
def mixed(texts):
    X, y, _ = texts
    return integrate_variance(X, y, Gaussian(), intercept_variance=1.0)


def test_it_is_near_the_integral_over_a_fine_grid(texts, mixed):
    X, y, new = texts
    steps = np.arange(-4.0, 11.0, 0.25)
    fine = [expectation_propagation(X, y, Gaussian(np.exp(step)), intercept_variance=1.0) for step in steps]
    logs = np.array([one.log_evidence for one in fine])
    # Rows have norm 1, so the mean prior variance of what words add to scores is the variance.
    logs -= 0.5 * ((steps - np.log(10)) / np.log(10)) ** 2
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    expected = weights @ np.array([one.predict_proba(new) for one in fine])
    np.testing.assert_allclose(mixed.predict_proba(new), expected, atol=0.005)
    means, variances = (np.array(values) for values in zip(*(one.score_moments(new) for one in fine), strict=True))
    for k, ends in enumerate(mixed.score_interval(new, 0.9)):
        held = weights @ (norm.cdf(ends[1], means[:, k], np.sqrt(variances[:, k])))
        held -= weights @ (norm.cdf(ends[0], means[:, k], np.sqrt(variances[:, k])))
        assert held == pytest.approx(0.9, abs=0.012)


def test_moments_draws_and_ends_agree(texts, mixed):
    _, _, new = texts
    draws = mixed.sample(20_000, np.arange(60))
    scores = draws[:, :-1] @ new.toarray().T + draws[:, -1:]
    means, variances = mixed.score_moments(new)
    np.testing.assert_allclose(scores.mean(axis=0), means, atol=5 * np.sqrt(variances.max() / 20_000))
    np.testing.assert_allclose(scores.var(axis=0), variances, rtol=0.1)
    ends = mixed.score_interval(new, 0.8)
    np.testing.assert_allclose(((scores > ends[:, 0]) & (scores < ends[:, 1])).mean(axis=0), 0.8, atol=0.015)
    np.testing.assert_allclose(expit(scores).mean(axis=0), mixed.predict_proba(new), atol=0.015)
    error = draws[:, :-1].std(axis=0) / np.sqrt(20_000)
    assert np.abs(mixed.coef - draws[:, :-1].mean(axis=0)).max() < 5 * error.max()


def test_the_interval_of_one_component_is_its_own(texts, mixed):
    _, _, new = texts
    one = mixed.components[0]
    alone = MixedPosterior("logistic", (one, one), np.array([0.3, 0.7]), np.ones((2, 1)))
    np.testing.assert_allclose(alone.score_interval(new, 0.7), one.score_interval(new, 0.7), rtol=1e-9)
    np.testing.assert_allclose(alone.predict_proba(new), one.predict_proba(new), rtol=1e-12)


def test_intervals_are_wider_than_with_the_best_variance(texts, mixed):
    X, y, new = texts
    best = greatest_evidence(X, y, Gaussian(), intercept_variance=1.0)
    assert best.variance == pytest.approx(mixed.variances[np.argmax(mixed.weights), 0])
    assert best.log_evidence == pytest.approx(mixed.log_evidence, abs=1e-3)
    plain = expectation_propagation(X, y, Gaussian(best.variance), intercept_variance=1.0)
    widths = [np.ptp(one.score_interval(new), axis=1).mean() for one in (mixed, plain)]
    assert widths[0] > 1.05 * widths[1]


def test_sampled_components(texts, monkeypatch):
    X, y, new = texts
    # Three variances show what nine would.
    monkeypatch.setattr("bayesift.posterior.evidence._MOST_STEPS", 1)
    nodes = {"variances": (20.0,), "intercept_variance": 1.0}
    mixed = integrate_variance(X, y, Gaussian(), method="ep", **nodes)
    sampled = integrate_variance(X, y, Gaussian(), method="gibbs", **nodes)
    assert len(sampled.components) == 3
    assert {type(one) for one in sampled.components} == {SampledPosterior}
    np.testing.assert_allclose(sampled.weights, mixed.weights)
    np.testing.assert_allclose(sampled.predict_proba(new), mixed.predict_proba(new), atol=0.02)
    np.testing.assert_allclose(sampled.predict_interval(new), mixed.predict_interval(new), atol=0.04)
    assert np.isnan(sampled.log_evidence)


def two_blocks(share, seed):
    """Draw documents with 40 words and 3 dense features, and labels that depend on one of the blocks."""
    rng = np.random.default_rng(seed)
    X = np.hstack([rng.normal(size=(120, 40)) / np.sqrt(40), rng.normal(size=(120, 3)) / np.sqrt(3)])
    beta = np.sqrt(np.repeat([20 * (1 - share), 20 * share], [40, 3])) * rng.normal(size=43)
    return X, (rng.random(120) < expit(X @ beta)).astype(int)


@pytest.mark.parametrize("share", [0.02, 0.98])
def test_the_block_that_matters_has_the_greater_variance(share):
    X, y = two_blocks(share, 3)
    found = greatest_evidence(X, y, Gaussian(), dense_features=3)
    assert (found.dense_variance > found.variance) == (share > 0.5)
    grid = np.exp(np.arange(-3.0, 6.0, 3.0))

    def prior(variance, dense_variance):
        blocks = Gaussian(variance).resolve(40).extended(Gaussian(dense_variance).resolve(3))
        return blocks.extended(Gaussian(1.0).resolve_intercept(np.inf))

    def log_posterior(words, dense):
        # The mean squared norms of the blocks are near 1, not 1.
        spread = np.array([words, dense]) * [(X[:, :40] ** 2).sum() / 120, (X[:, 40:] ** 2).sum() / 120]
        evidence = expectation_propagation(X, y, prior(words, dense)).log_evidence
        flat = 0.5 * np.log(spread.sum() + np.pi**2 / 3)
        return evidence - flat - 0.5 * ((np.log(spread / 5) / np.log(10)) ** 2).sum()

    assert found.log_posteriors.max() >= max(log_posterior(a, b) for a in grid for b in grid) - 0.01
    assert found.log_posteriors.max() == pytest.approx(log_posterior(found.variance, found.dense_variance), abs=0.01)
    if share < 0.5:
        return
    by_function = greatest_evidence(X, y, prior, dense_features=3)
    assert by_function.variance == pytest.approx(found.variance)
    assert by_function.dense_variance == pytest.approx(found.dense_variance)


def test_both_variances_are_scaled_together():
    X, y = two_blocks(0.5, 0)
    mixed = integrate_variance(X, y, Gaussian(), dense_features=3, variances=(2.0, 6.0))
    np.testing.assert_allclose(mixed.variances[:, 1] / mixed.variances[:, 0], 3.0)
    assert mixed.weights.sum() == pytest.approx(1.0)


def test_dense_features_may_have_no_variance():
    X, y = two_blocks(0.5, 0)
    mixed = integrate_variance(X, y, Gaussian(), dense_features=3, variances=(2.0, 0.0))
    without = [expectation_propagation(X[:, :-3], y, Gaussian(v)).coef for v in mixed.variances[:, 0]]
    np.testing.assert_array_equal(mixed.variances[:, 1], 0.0)
    np.testing.assert_array_equal(mixed.coef[-3:], 0.0)
    np.testing.assert_allclose(mixed.coef[:-3], mixed.weights @ without, rtol=1e-5)


def test_categories_that_share_a_choice_keep_their_posteriors_where_dense_features_do_not_help():
    rng = np.random.default_rng(0)
    X = np.hstack([sp.random(90, 12, 0.4, random_state=0).toarray(), rng.normal(size=(90, 2))])
    y = X[:, :3].argmax(axis=1)
    model = BayesianLogisticRegression([Gaussian(0.5), "gaussian", "gaussian"], "evidence", dense_features=2)
    model.set_params(posterior="ep", random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.dense_variance_[1:], 0.0)
    assert model.predict_interval(X).shape == (90, 3, 2)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"dense_features": 44}, "dense_features is 44; expected 0 to 43"),
        ({"dense_features": 3, "variances": (1.0,)}, r"variances is \(1.0,\); expected a tuple of two"),
        ({"variances": 5.0}, r"variances is 5.0; expected a tuple of one"),
        ({"variances": (0.0,)}, r"variances\[0\] is 0; expected a finite number above 0"),
        ({"variances": (np.inf,)}, "variances is inf at 0; expected a finite number"),
        ({"method": "vb"}, "method is 'vb'"),
    ],
)
def test_what_cannot_be(given, message):
    X, y = two_blocks(0.5, 0)
    with pytest.raises(ValueError, match=message):
        integrate_variance(X, y, Gaussian(), **given)
