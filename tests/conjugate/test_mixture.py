"""Mixtures of priors: weights from evidences, batches, modes with several peaks, point masses, censored data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binom, poisson

from bayesift.conjugate import (
    BetaBinomial,
    DirichletMultinomial,
    GammaExponential,
    GammaPoisson,
    Mixture,
    NormalGamma,
    ParetoUniform,
)

positive = st.floats(0.1, 30)
betas = st.lists(st.builds(BetaBinomial, positive, positive), min_size=1, max_size=4)


@given(betas, st.integers(0, 40), st.integers(0, 40), st.data())
@settings(deadline=None, max_examples=50)
def test_weights_follow_the_evidences_and_halves_equal_the_whole(parts, heads, tails, data):
    weights = np.array(data.draw(st.lists(positive, min_size=len(parts), max_size=len(parts))))
    prior = Mixture(parts, weights)
    posterior = prior.update(heads, tails)
    joint = weights / weights.sum() * np.exp([part.log_evidence(heads, tails) for part in parts])
    assert_allclose(posterior.weights, joint / joint.sum(), rtol=1e-8)
    assert_allclose(np.exp(prior.log_evidence(heads, tails)), joint.sum(), rtol=1e-8)
    assert posterior.components == tuple(part.update(heads, tails) for part in parts)
    halves = prior.update(heads, 0).update(0, tails)
    assert_allclose(halves.weights, posterior.weights, rtol=1e-8)
    assert_allclose(halves.mean, posterior.mean)
    chain = prior.log_evidence(heads, 0) + prior.update(heads, 0).log_evidence(0, tails)
    assert_allclose(chain, prior.log_evidence(heads, tails), rtol=1e-9, atol=1e-9)


def test_a_component_can_come_back_from_below_the_smallest_float():
    prior = Mixture([BetaBinomial(1, 1).known(0.1), BetaBinomial(1, 1).known(0.9)])
    away = prior.update(0, 2000)
    assert away.weights[1] == 0
    assert_allclose(away.update(2000, 0).weights, 0.5)


def test_one_component_is_the_component():
    alone, inside = BetaBinomial(3, 8), Mixture([BetaBinomial(3, 8)])
    theta = np.linspace(0.05, 0.95, 7)
    for name in ("mean", "mode", "variance"):
        assert_allclose(getattr(inside, name), getattr(alone, name))
    for name in ("logpdf", "cdf", "quantile"):
        assert_allclose(getattr(inside, name)(theta), getattr(alone, name)(theta), rtol=1e-10)
    for kind in ("equal-tailed", "hdi"):
        assert_allclose(inside.interval(0.8, kind), alone.interval(0.8, kind), rtol=1e-6)


def test_a_mixture_inside_is_taken_apart():
    inner = Mixture([BetaBinomial(1, 2), BetaBinomial(3, 4)], [0.25, 0.75])
    outer = Mixture([BetaBinomial(5, 6), inner], [0.6, 0.4])
    assert outer.components == (BetaBinomial(5, 6), BetaBinomial(1, 2), BetaBinomial(3, 4))
    assert_allclose(outer.weights, [0.6, 0.1, 0.3])


def test_every_member_of_a_batch_has_its_own_weights():
    parts = [BetaBinomial([20, 1, 5], 20), BetaBinomial(30, [10, 2, 5])]
    heads, tails = np.array([20, 3, 0]), np.array([10, 4, 0])
    batch = Mixture(parts).update(heads, tails)
    assert batch.batch_shape == (3,)
    for i in range(3):
        single = Mixture([BetaBinomial(part.a[i], part.b[i]) for part in parts]).update(heads[i], tails[i])
        assert_allclose(batch.weights[:, i], single.weights)
        for name in ("mean", "mode", "variance"):
            assert_allclose(getattr(batch, name)[i], getattr(single, name), rtol=1e-6)
        for kind in ("equal-tailed", "hdi"):
            assert_allclose([end[i] for end in batch.interval(0.9, kind)], single.interval(0.9, kind), rtol=1e-6)
        assert_allclose(batch.predictive(4).pmf(2)[i], single.predictive(4).pmf(2))
        assert_allclose(batch.log_evidence(1, 2)[i], single.log_evidence(1, 2))
    assert batch.sample(5, random_state=0).shape == (5, 3)


def test_vectors_are_mixed_as_well():
    parts = [DirichletMultinomial([5, 1, 1]), DirichletMultinomial([1, 2, 9])]
    posterior = Mixture(parts, [0.3, 0.7]).update([4, 1, 0])
    w = posterior.weights
    first, second = posterior.components
    assert_allclose(posterior.mean, w[0] * first.mean + w[1] * second.mean)
    assert_allclose(posterior.mean.sum(), 1)
    low, high = posterior.interval(0.9)
    for k in range(3):
        marginal = [part.marginals for part in posterior.components]
        inside = [
            BetaBinomial(law.a[k], law.b[k]).cdf(high[k]) - BetaBinomial(law.a[k], law.b[k]).cdf(low[k])
            for law in marginal
        ]
        assert_allclose(w @ inside, 0.9)
    assert_allclose(posterior.predictive().pmf([0, 1, 2]), posterior.mean)
    assert posterior.sample(7, random_state=0).shape == (7, 3)


@pytest.mark.parametrize(
    "mixture",
    [
        Mixture([DirichletMultinomial([5, 2, 2]), DirichletMultinomial([2, 3, 9]), DirichletMultinomial([4, 4, 4])]),
        Mixture([NormalGamma(0, 2, 3, 4), NormalGamma(1, 5, 2, 1)], [0.6, 0.4]),
    ],
    ids=["dirichlet", "normal"],
)
def test_no_place_near_the_mode_is_higher(mixture):
    rng = np.random.default_rng(0)
    steps = 10.0 ** rng.uniform(-6, -1, 3000)[:, np.newaxis] * rng.normal(size=(3000, mixture.mode.size))
    if mixture.mode.size == 3:
        steps -= steps.mean(axis=1, keepdims=True)
    assert np.max(mixture.logpdf(mixture.mode + steps)) <= mixture.logpdf(mixture.mode) + 1e-10
    assert mixture.logpdf(mixture.mode) >= max(mixture.logpdf(part.mode) for part in mixture.components)


def test_modes_at_the_edges():
    assert Mixture([ParetoUniform(2, 3), ParetoUniform(5, 40)]).mode == 5
    assert Mixture([ParetoUniform(2, 30), ParetoUniform(5, 1)]).mode == 2
    assert Mixture([BetaBinomial(0.5, 2), BetaBinomial(3, 3)]).mode == 0
    assert Mixture([GammaPoisson(1, 5), GammaPoisson(30, 30)], [0.9, 0.1]).mode == 0
    assert 0 < Mixture([BetaBinomial(1, 1), BetaBinomial(1, 3), BetaBinomial(9, 9)], [1, 1, 8]).mode < 1


def test_the_shortest_interval_around_the_higher_of_two_far_peaks():
    mixture = Mixture([BetaBinomial(30, 300), BetaBinomial(300, 30)], [0.3, 0.7])
    low, high = mixture.interval(0.6, kind="hdi")
    assert 0.8 < low < high < 1
    assert_allclose(mixture.cdf(high) - mixture.cdf(low), 0.6)
    assert low > mixture.interval(0.6).low


@pytest.mark.parametrize(
    "mixture",
    [
        Mixture([BetaBinomial(30, 300), BetaBinomial(300, 30)], [0.3, 0.7]),
        Mixture([BetaBinomial(0.01, 0.02), BetaBinomial(3, 0.5)]),
        Mixture([BetaBinomial(1, 1).known(0.2), BetaBinomial(2, 5), BetaBinomial(1, 1).known(0.7)]),
        Mixture([GammaPoisson(1, 5), GammaPoisson(30, 30)], [0.9, 0.1]),
        Mixture([ParetoUniform(2, 3), ParetoUniform(5, 40)]),
    ],
    ids=["two peaks", "of all magnitudes", "jumps", "one far within the other", "edges"],
)
def test_a_quantile_is_the_first_place_that_reaches_its_share(mixture):
    shares = np.append(np.linspace(0.001, 0.999, 333), 1 - 1e-9)
    places = mixture.quantile(shares)
    assert np.all(mixture.cdf(places) >= shares)
    assert np.all(mixture.cdf(places * (1 - 1e-12)) <= shares + 1e-14)


def test_a_point_mass_among_densities():
    spike = Mixture([BetaBinomial(1, 1).known(0.5), BetaBinomial(1, 1)], [0.5, 0.5])
    assert spike.mode == 0.5
    assert_allclose(spike.cdf([0.4999, 0.5]), [0.24995, 0.75])
    assert_allclose(spike.quantile([0.1, 0.25, 0.5, 0.75, 0.9]), [0.2, 0.5, 0.5, 0.5, 0.8])
    assert spike.logpdf(0.5) == np.inf
    assert_allclose(spike.pdf(0.3), 0.5)
    assert_allclose(spike.update(9, 1).weights[1] / spike.update(9, 1).weights[0], 9.3090909)
    assert_allclose(spike.predictive(2).pmf([0, 1, 2]), [(1 / 4 + 1 / 3) / 2, (1 / 2 + 1 / 3) / 2, (1 / 4 + 1 / 3) / 2])
    assert_allclose(np.mean(spike.sample(20_000, random_state=0) == 0.5), 0.5, atol=0.02)
    assert_allclose(spike.variance, (1 / 12) / 2)


def test_what_is_known_stays_known():
    fair = BetaBinomial(3, 4).known(0.5)
    assert fair.update(9, 1) is fair
    assert (fair.mean, fair.mode, fair.variance) == (0.5, 0.5, 0.0)
    assert fair.interval(0.9) == (0.5, 0.5)
    assert_array_equal(fair.sample(3), [0.5] * 3)
    assert_allclose(fair.log_evidence([1, 0, 1]), 3 * np.log(0.5))
    weights = DirichletMultinomial([1, 1, 1]).known([0.2, 0.3, 0.5])
    assert weights.batch_shape == ()
    assert weights.logpdf([0.2, 0.3, 0.5]) == np.inf
    assert_allclose(weights.predictive().pmf([0, 1, 2]), [0.2, 0.3, 0.5])
    assert weights.sample(4).shape == (4, 3)
    assert fair == BetaBinomial(3, 4).known(0.5)
    assert fair != BetaBinomial(3, 4).known(0.4)


@pytest.mark.parametrize("prior", [BetaBinomial(2, 5), Mixture([BetaBinomial(2, 5), BetaBinomial(9, 1)])])
def test_censored_trials_against_the_density(prior):
    outcomes, n = [1, 4, 6], 6
    posterior = Mixture.from_censored(prior, outcomes, n=n)
    theta = np.linspace(0.02, 0.98, 49)
    product = prior.pdf(theta) * binom.pmf(np.array(outcomes)[:, np.newaxis], n, theta).sum(axis=0)
    assert_allclose(posterior.pdf(theta), product / prior.predictive(n).pmf(outcomes).sum())


def test_censored_counts_and_categories():
    prior = GammaPoisson(2, 3)
    posterior = Mixture.from_censored(prior, range(5), n=2.5)
    rate = np.linspace(0.1, 5, 20)
    product = prior.pdf(rate) * poisson.cdf(4, 2.5 * rate)
    assert_allclose(posterior.pdf(rate), product / prior.predictive(2.5).pmf(np.arange(5)).sum())
    die = Mixture.from_censored(DirichletMultinomial([1, 2, 3]), np.eye(3)[:2])  # the first face or the second
    assert_allclose(die.weights, [1 / 3, 2 / 3])


def test_all_outcomes_teach_nothing():
    prior = BetaBinomial(2, 5)
    posterior = Mixture.from_censored(prior, range(8), n=7)
    theta = np.linspace(0.02, 0.98, 9)
    assert_allclose(posterior.pdf(theta), prior.pdf(theta))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Mixture([]), ValueError, "components is empty"),
        (lambda: Mixture([0.5]), TypeError, "components holds 0.5; expected conjugate priors"),
        (
            lambda: Mixture([BetaBinomial(1, 1), GammaPoisson(1, 1)]),
            TypeError,
            "components are of classes BetaBinomial, GammaPoisson",
        ),
        (lambda: Mixture([BetaBinomial(1, 1)], [1, 2]), ValueError, r"weights has shape \(2,\); expected 1"),
        (lambda: Mixture([BetaBinomial(1, 1)], [-1]), ValueError, "weights is -1 at 0"),
        (lambda: Mixture([BetaBinomial(1, 1)], [0]), ValueError, "weights has sum 0"),
        (lambda: Mixture.from_log_weights([BetaBinomial(1, 1)], [-np.inf]), ValueError, "log_weights is"),
        (lambda: Mixture.from_censored(BetaBinomial(1, 1), []), ValueError, "outcomes is empty"),
        (
            lambda: Mixture.from_censored(GammaExponential(1, 1), [1.0]),
            TypeError,
            "prior is GammaExponential; expected a prior for counts",
        ),
        (lambda: Mixture.from_censored(BetaBinomial(1, 1), [4], n=3), ValueError, "failures is -1"),
        (
            lambda: Mixture([BetaBinomial(1, 1).known(0.0), BetaBinomial(1, 1).known(1.0)]).update(1, 1),
            ValueError,
            "data are impossible for every component",
        ),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()
