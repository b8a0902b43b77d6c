"""One update against numeric integration of the exact posterior, and the pure functions on a belief."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from bayesift.online import expected_information, grow, outcome_information, outcome_moments, prior_belief, update

LIKELIHOODS = [(0.5, 0.0), (2.0, 0.0), (0.05, 0.0), (0.0, 0.1), (0.0, 0.001), (0.0, 0.0)]


def outcome(y, f, sigma, kappa):
    return norm.cdf(y * f / sigma) if sigma > 0 else kappa + (1 - 2 * kappa) * (y * f > 0)


def integrate(function, mean, variance, corner):
    """∫ function(f) N(f; mean, variance) df, cut where the function or its slope may jump."""
    spread = np.sqrt(variance)
    low, high = mean - 12 * spread, mean + 12 * spread
    cuts = sorted({low, high, *(c for c in (*np.linspace(low, high, 9), 0.0, -corner, corner) if low < c < high)})
    pieces = pairwise(cuts)
    weighted = [quad(lambda f: function(f) * norm.pdf(f, mean, spread), a, b, epsabs=1e-13)[0] for a, b in pieces]
    return sum(weighted)


@pytest.mark.parametrize(("sigma", "kappa"), LIKELIHOODS)
@pytest.mark.parametrize(("mean", "variance"), [(0.0, 1.0), (0.7, 0.3), (-1.5, 1.2), (1.2, 4.0)])
@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_moments_are_those_of_the_exact_posterior(sigma, kappa, mean, variance, y):
    log_z, gain, shrink = outcome_moments(y, mean, variance, sigma, kappa)
    parts = [integrate(lambda f, k=k: f**k * outcome(y, f, sigma, kappa), mean, variance, 6 * sigma) for k in range(3)]
    assert np.exp(log_z) == pytest.approx(parts[0], rel=1e-8)
    exact = parts[1] / parts[0]
    assert mean + gain * variance == pytest.approx(exact, rel=1e-7, abs=1e-8)
    assert variance - shrink * variance**2 == pytest.approx(parts[2] / parts[0] - exact**2, rel=1e-6)


@pytest.mark.parametrize("likelihood", ["probit", "flip"])
def test_update_of_many_weights_has_the_moments_of_weighted_draws(likelihood):
    random = np.random.default_rng(0)
    A = random.normal(size=(4, 4))
    belief = prior_belief(
        4, likelihood=likelihood, kappa=0.1, prior_mean=random.normal(size=4), prior_covariance=A @ A.T
    )
    x = random.normal(size=4)
    draws = random.multivariate_normal(belief.mean, belief.covariance, 1_000_000)
    weights = outcome(-1, draws @ x, *belief.likelihood)
    after, info = update(belief, x, -1)
    assert np.exp(info.log_evidence) == pytest.approx(weights.mean(), rel=5e-3)
    np.testing.assert_allclose(after.mean, np.average(draws, axis=0, weights=weights), atol=0.02)
    np.testing.assert_allclose(after.covariance, np.cov(draws.T, aweights=weights), atol=0.03)


@pytest.mark.parametrize("u", [-300.0, -40.0, -8.0, 8.0, 40.0, 300.0])
@pytest.mark.parametrize(("sigma", "kappa"), [(0.5, 0.0), (0.0, 0.05), (0.0, 0.0)])
def test_moments_stay_right_far_out(u, sigma, kappa):
    variance = 1.0 - sigma**2
    log_z, gain, shrink = outcome_moments(1.0, u, variance, sigma, kappa)
    assert np.isfinite([log_z, gain, shrink]).all()
    if kappa == 0.0:
        assert log_z == pytest.approx(norm.logcdf(u), rel=1e-12)
        assert gain == pytest.approx(np.exp(norm.logpdf(u) - norm.logcdf(u)), rel=1e-10, abs=1e-300)
    assert shrink * variance < 1.0


def test_a_surprise_under_flip_noise_widens_the_belief():
    belief, _ = update(prior_belief(1, likelihood="flip", kappa=0.1, prior_mean=3.0), [1.0], -1)
    assert belief.covariance[0, 0] > 1.0


@pytest.mark.parametrize(("sigma", "kappa"), LIKELIHOODS)
@pytest.mark.parametrize(("mean", "variance"), [(0.0, 1.0), (0.4, 0.01), (-1.5, 2.0), (2.0, 30.0)])
def test_expected_information_is_the_mutual_information(sigma, kappa, mean, variance):
    def entropy(p):
        return -sum(q * np.log2(q) for q in (p, 1 - p) if q > 0)

    p = integrate(lambda f: outcome(1, f, sigma, kappa), mean, variance, 6 * sigma)
    noise = integrate(lambda f: entropy(outcome(1, f, sigma, kappa)), mean, variance, 6 * sigma)
    [found] = expected_information(np.array([mean]), np.array([variance]), sigma, kappa)
    assert found == pytest.approx(entropy(p) - noise, abs=1e-8)


def test_information_of_a_flip_is_at_most_one_bit_less_its_entropy():
    kappa = 0.1
    most = 1 + kappa * np.log2(kappa) + (1 - kappa) * np.log2(1 - kappa)
    [found] = expected_information(np.zeros(1), np.ones(1), 0.0, kappa)
    assert found == pytest.approx(most, rel=1e-12)
    assert expected_information(np.array([0.3]), np.ones(1), 0.0, kappa)[0] < most


def test_information_of_an_outcome_by_draws():
    random = np.random.default_rng(1)
    draws = random.normal(0.6, 1.1, 2_000_000)
    for sigma, kappa in ((0.5, 0.0), (0.0, 0.2)):
        p = outcome(-1, draws, sigma, kappa)
        logs = np.log2(np.maximum(p, 1e-300))
        exact = np.mean(p * logs) / p.mean() - np.log2(p.mean())
        assert outcome_information(-1.0, 0.6, 1.21, sigma, kappa) == pytest.approx(exact, rel=5e-3)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["probit", "flip"]), st.floats(1e-3, 1e3))
def test_any_update_keeps_a_covariance_symmetric_and_positive(seed, likelihood, scale):
    random = np.random.default_rng(seed)
    belief = prior_belief(5, likelihood=likelihood, kappa=0.2)
    for _ in range(30):
        belief, info = update(belief, scale * random.normal(size=5), random.choice([-1, 1]))
        assert info.log_evidence <= 0 <= info.information_gain
    np.testing.assert_array_equal(belief.covariance, belief.covariance.T)
    assert np.linalg.eigvalsh(belief.covariance)[0] > 0


@pytest.mark.parametrize("covariance", ["full", "diagonal", "low-rank"])
def test_an_update_leaves_the_old_belief_alone(covariance):
    belief = prior_belief(3, covariance=covariance, rank=1)
    for _ in range(2):
        belief, _ = update(belief, [1.0, 0.5, 0.0], 1)
    parts = belief.covariance if covariance == "low-rank" else [belief.covariance]
    copies = [np.copy(part) for part in (belief.mean, *parts)]
    update(belief, [1.0, -1.0, 2.0], -1)
    for part, copy in zip((belief.mean, *parts), copies, strict=True):
        np.testing.assert_array_equal(part, copy)


@pytest.mark.parametrize(
    ("covariance", "forgetting"),
    [("full", 1.0), ("full", 0.9), ("diagonal", 1.0), ("diagonal", 0.9), ("low-rank", 1.0)],
)
def test_features_added_later_equal_features_that_were_zero(covariance, forgetting):
    random = np.random.default_rng(2)
    options = {"covariance": covariance, "forgetting": forgetting, "rank": 3}
    variances = np.array([1.0, 1.0, 4.0, 4.0, 1.0])
    late, early = prior_belief(3, **options), prior_belief(5, prior_covariance=variances, **options)
    for _ in range(8):
        x, y = random.normal(size=3), random.choice([-1, 1])
        late, _ = update(late, x, y)
        early, _ = update(early, np.array([x[0], x[1], 0.0, 0.0, x[2]]), y)
    late = grow(late, 2, variance=4.0, at=2)
    for _ in range(8):
        x, y = sp.csr_matrix(random.normal(size=(1, 5))), random.choice([-1, 1])
        late, info = update(late, x, y)
        early, expected = update(early, x, y)
        np.testing.assert_allclose(info, expected, rtol=1e-10)
    np.testing.assert_allclose(late.mean, early.mean, rtol=1e-10)


def test_an_empty_example_moves_nothing():
    for likelihood in ("probit", "flip"):
        belief = prior_belief(3, likelihood=likelihood)
        after, info = update(belief, np.zeros(3), 1)
        np.testing.assert_array_equal(after.mean, belief.mean)
        np.testing.assert_array_equal(after.covariance, belief.covariance)
        assert info.log_evidence == pytest.approx(np.log(0.5))
        assert info.information_gain == 0.0


def test_drift_leaves_the_prior_as_it_is_and_leads_back_to_it():
    prior = {"prior_mean": [1.0, -1.0], "prior_covariance": [[2.0, 0.5], [0.5, 1.0]]}
    belief = prior_belief(2, forgetting=0.5, **prior)
    after, _ = update(belief, [0.0, 0.0], 1)
    np.testing.assert_allclose(after.mean, belief.mean)
    np.testing.assert_allclose(after.covariance, belief.covariance)
    moved, _ = update(belief, [1.0, 2.0], 1)
    exact, _ = update(prior_belief(2, **prior), [1.0, 2.0], 1)
    np.testing.assert_allclose(moved.mean, belief.mean + 0.5 * (exact.mean - belief.mean))
    np.testing.assert_allclose(moved.covariance, 0.25 * exact.covariance + 0.75 * belief.covariance)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"likelihood": "logit"}, "likelihood is 'logit'"),
        ({"noise": 0.0}, "noise is 0.0"),
        ({"likelihood": "flip", "kappa": 0.5}, "kappa is 0.5"),
        ({"covariance": "sparse"}, "covariance is 'sparse'"),
        ({"prior_mean": [1.0]}, r"prior_mean has shape \(1,\)"),
        ({"prior_covariance": [1.0, -1.0]}, "prior_covariance holds -1.0"),
        ({"prior_covariance": np.ones((2, 2))}, "not symmetric and positive definite"),
        ({"prior_covariance": np.ones((3, 3))}, r"prior_covariance has shape \(3, 3\)"),
        ({"prior_covariance": np.eye(2), "covariance": "diagonal"}, "expected variances"),
        ({"forgetting": 0.0}, "forgetting is 0.0"),
        ({"forgetting": 0.5, "covariance": "low-rank"}, "cannot drift"),
    ],
)
def test_bad_settings_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        prior_belief(2, **options)


def test_bad_examples_are_refused():
    belief = prior_belief(2)
    with pytest.raises(ValueError, match="y is 0"):
        update(belief, [1.0, 2.0], 0)
    with pytest.raises(ValueError, match="expected one row of 2 features"):
        update(belief, [1.0, 2.0, 3.0], 1)
    with pytest.raises(ValueError, match="not finite"):
        update(belief, [1.0, np.nan], 1)
    with pytest.raises(ValueError, match="at is 3"):
        grow(belief, 1, at=3)
    with pytest.raises(ValueError, match="variance is a matrix"):
        grow(belief, 2, variance=np.eye(2))
