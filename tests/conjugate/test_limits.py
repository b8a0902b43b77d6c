"""Improper priors, which are limits of proper ones, and maximum likelihood, which needs no prior."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad

from bayesift.conjugate import (
    BetaBinomial,
    DirichletMultinomial,
    GammaExponential,
    GammaPoisson,
    Mixture,
    NormalGamma,
    ParetoUniform,
)
from bayesift.plots import PosteriorDisplay

#: Improper priors with data that make them proper, and the density of the prior up to a constant.
LIMITS = {
    "flat log odds": (BetaBinomial(0, 0), (3, 17), lambda t: 1 / (t * (1 - t)), 1.0),
    "no failure yet": (BetaBinomial(2, 0), (0, 4), lambda t: t / (1 - t), 1.0),
    "flat log rate": (GammaPoisson(0, 0), ([3, 0, 4],), lambda t: 1 / t, np.inf),
    "flat rate": (GammaPoisson(1, 0), ([0, 0, 1],), lambda t: 1.0, np.inf),
    "flat log rate of waits": (GammaExponential(0, 0), ([5.0, 6.0, 4.0],), lambda t: 1 / t, np.inf),
    "flat log limit": (ParetoUniform(0, 0), ([60.0, 100.0],), lambda t: 1 / t, np.inf),
}
limits = pytest.mark.parametrize("name", list(LIMITS))
IMPROPER = [prior for prior, *_ in LIMITS.values()] + [GammaPoisson(0, 2), ParetoUniform(1, 0), ParetoUniform(0, 1)]


@limits
def test_the_posterior_is_likelihood_times_prior_normalised_by_integration(name):
    prior, data, density, end = LIMITS[name]
    posterior = prior.update(*data)
    assert prior.is_proper is False
    assert posterior.is_proper is True

    def joint(theta):
        return np.exp(prior.log_likelihood(theta, *data)) * density(theta)

    start = 100.0 if isinstance(prior, ParetoUniform) else 0.0
    total, _ = quad(joint, start, end)
    first, _ = quad(lambda t: t * joint(t), start, end)
    for theta in posterior.quantile([0.1, 0.5, 0.9]):
        assert_allclose(posterior.pdf(theta), joint(theta) / total, rtol=1e-6)
        assert_allclose(posterior.cdf(theta), quad(joint, start, theta)[0] / total, rtol=1e-6)
    assert_allclose(posterior.mean, first / total, rtol=1e-6)


@limits
def test_the_posterior_is_the_limit_of_those_of_proper_priors(name):
    prior, data, *_ = LIMITS[name]
    posterior = prior.update(*data)
    fields = vars(prior)
    for little in (1e-6, 1e-9):
        near = type(prior)(**{field: value + little for field, value in fields.items()}).update(*data)
        assert near.mean == pytest.approx(posterior.mean, rel=10 * little)
        assert near.interval(0.9).low == pytest.approx(posterior.interval(0.9).low, rel=100 * little)
        assert near.predictive().mean == pytest.approx(posterior.predictive().mean, rel=10 * little)


@pytest.mark.parametrize("prior", [*IMPROPER, DirichletMultinomial([1, 0, 2])], ids=repr)
def test_an_improper_prior_can_be_updated_and_nothing_else(prior):
    data = [1, 1, 1] if isinstance(prior, DirichletMultinomial) else [1.0]
    calls = {"pdf": [0.5], "cdf": [0.5], "quantile": [0.5], "interval": [], "sample": [], "predictive": []}
    asked = [lambda part=part: getattr(prior, part) for part in ("mean", "mode", "variance")]
    asked += [
        lambda part=part, given=given: getattr(prior, part)(*given)
        for part, given in calls.items()
        if hasattr(prior, part)
    ]
    asked.append(lambda: prior.log_evidence(data))
    asked.append(lambda: Mixture([prior, prior]).update(data))
    for ask in asked:
        with pytest.raises(ValueError, match=r"is 0, so \w+ is improper"):
            ask()
    assert Mixture([prior, prior]).is_proper is False
    assert np.isfinite(prior.maximum_likelihood(data)).all()


def test_the_message_names_what_is_zero():
    with pytest.raises(ValueError, match=r"^b is 0, so BetaBinomial is improper; expected .* data first"):
        _ = BetaBinomial(0, 0).update([1, 1, 1]).mean


def test_a_prior_stays_improper_until_there_are_data_enough():
    after = BetaBinomial([0, 1], 0).update([[1, 0], [1, 0]])
    assert_array_equal(after.is_proper, [False, True])
    assert after.update([[0, 1]]).is_proper.all()
    assert after.update([[0, 1]]) == BetaBinomial([0, 1], 0).update([[1, 0], [1, 0], [0, 1]])
    words = DirichletMultinomial([0.0, 0.0, 0.0])
    assert not words.update([4, 2, 0]).is_proper
    assert_array_equal(words.update([[4, 2, 0], [4, 2, 1]]).is_proper, [False, True])
    assert_allclose(words.update([4, 2, 2]).mean, words.maximum_likelihood([4, 2, 2]))


def test_the_posterior_mean_under_flat_logarithms_is_the_maximum_of_the_likelihood():
    # Exercises 3.5, 3.7b and 3.11.
    assert BetaBinomial(0, 0).update(3, 17).mean == BetaBinomial(1, 1).maximum_likelihood(3, 17) == 0.15
    counts = [3, 0, 4, 1]
    assert GammaPoisson(0, 0).update(counts).mean == GammaPoisson(5, 9).maximum_likelihood(counts) == 2.0
    assert GammaExponential(0, 0).update([5, 6, 4]).mean == GammaExponential(1, 3).maximum_likelihood([5, 6, 4]) == 0.2
    # The mode under a flat rate, Gamma(1, 0), is that maximum as well.
    assert GammaPoisson(1, 0).update(counts).mode == 2.0


def test_maximum_likelihood_of_the_uniform_distribution():
    # Exercise 3.8, a width of 2a around 0: â = max abs(x), and nothing beyond it is possible.
    x = np.array([-3.0, 1.0, 2.5])
    limit = ParetoUniform(0, 0).maximum_likelihood(np.abs(x))
    assert limit == 3.0
    plugged_in = ParetoUniform(0, 0).known(limit).predictive()
    assert_array_equal(plugged_in.pdf([2.9, 3.1]), [1 / 3, 0])


def test_maxima_where_there_is_no_single_or_no_finite_one():
    assert np.isnan(BetaBinomial(1, 1).maximum_likelihood(0, 0))
    assert np.isnan(GammaPoisson(1, 1).maximum_likelihood([]))
    assert np.isnan(ParetoUniform(1, 1).maximum_likelihood([]))
    assert np.isnan(NormalGamma(0, 1, 1, 1).maximum_likelihood([])).all()
    assert np.isnan(DirichletMultinomial([1, 1]).maximum_likelihood([0, 0])).all()
    assert GammaExponential(1, 1).maximum_likelihood([0.0]) == np.inf
    assert_array_equal(NormalGamma(0, 1, 1, 1).maximum_likelihood([2.0, 2.0]), [2.0, np.inf])
    assert_array_equal(BetaBinomial([1, 2], 1).maximum_likelihood([[1, 0], [1, 1]]), [1.0, 0.5])


models = {
    "beta": (BetaBinomial(2, 3), st.integers(0, 1), (0.001, 0.999)),
    "poisson": (GammaPoisson(2, 3), st.integers(0, 9), (0.001, 30.0)),
    "exponential": (GammaExponential(2, 3), st.floats(0.1, 9), (0.001, 30.0)),
    "uniform": (ParetoUniform(2, 3), st.floats(0.1, 9), (0.001, 30.0)),
}


@pytest.mark.parametrize("name", list(models))
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_no_parameter_makes_the_data_more_probable(name, data):
    model, values, (low, high) = models[name]
    x = np.array(data.draw(st.lists(values, min_size=1, max_size=6)), dtype=float)
    best = model.maximum_likelihood(x)
    grid = np.linspace(low, high, 4001)
    reached, others = model.log_likelihood(best, x), model.log_likelihood(grid, x)
    assert others.max() <= reached + 1e-9
    # The grid comes as near as it is fine: the best is not only a bound.
    assert abs(grid[others.argmax()] - np.clip(best, low, high)) <= 2 * (grid[1] - grid[0])
    assert Mixture([model, model]).maximum_likelihood(x) == model.known(1.0).maximum_likelihood(x) == best


@given(st.lists(st.floats(-9, 9), min_size=2, max_size=6).filter(lambda x: np.ptp(x) > 0.1))
@settings(max_examples=30, deadline=None)
def test_no_mean_and_precision_make_numbers_more_probable(x):
    model = NormalGamma(0, 1, 1, 1)
    best = model.maximum_likelihood(x)
    assert_allclose(best, [np.mean(x), 1 / np.var(x)])
    for step in ([1e-3, 0], [-1e-3, 0], [0, 1e-3 * best[1]], [0, -1e-3 * best[1]]):
        assert model.log_likelihood(best + step, x) < model.log_likelihood(best, x)


def test_an_improper_prior_is_drawn_without_a_curve_of_its_own():
    display = PosteriorDisplay.from_model(BetaBinomial(0, 0), 3, 17)
    assert np.isnan(display.prior).all()
    assert_allclose(display.theta[display.posterior.argmax()], 2 / 18, atol=0.002)
