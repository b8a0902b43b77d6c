"""What holds for every conjugate pair: halves equal the whole, the chain rule, integrals of 1, batches, draws."""

from __future__ import annotations

import copy
from dataclasses import FrozenInstanceError, dataclass, fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import dblquad, quad

from bayesift.conjugate import (
    BetaBinomial,
    Conjugate,
    DirichletMultinomial,
    GammaExponential,
    GammaPoisson,
    Mixture,
    NormalGamma,
    ParetoUniform,
)

positive = st.floats(0.05, 50)
counts = st.integers(0, 30)
times = st.floats(0.01, 50)
priors = {
    "beta": st.builds(BetaBinomial, positive, positive),
    "dirichlet": st.builds(DirichletMultinomial, st.lists(positive, min_size=3, max_size=3)),
    "poisson": st.builds(GammaPoisson, positive, positive),
    "exponential": st.builds(GammaExponential, positive, positive),
    "pareto": st.builds(ParetoUniform, positive, positive),
    "normal": st.builds(NormalGamma, st.floats(-9, 9), positive, positive, positive),
}
observations = {
    "beta": st.integers(0, 1),
    "dirichlet": st.sampled_from([(1, 0, 0), (0, 1, 0), (0, 0, 1)]),
    "poisson": counts,
    "exponential": times,
    "pareto": times,
    "normal": st.floats(-20, 20),
}
families = pytest.mark.parametrize("family", list(priors))


def given_data(family: str, values: list[Any]) -> Any:
    """Put observations into the form the family takes: draws of categories are counted."""
    if family == "dirichlet":
        return np.sum(values, axis=0) if values else np.zeros(3)
    return np.array(values, dtype=float)


def parameters(model: Conjugate) -> np.ndarray:
    return np.hstack([np.ravel(getattr(model, field.name)) for field in fields(model)])


def log_predictive(model: Any, family: str, value: Any) -> float:
    predictive = model.predictive()
    if family == "dirichlet":
        return predictive.logpmf(int(np.argmax(value)))
    return predictive.logpmf(value) if hasattr(predictive, "logpmf") else predictive.logpdf(value)


@families
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_updating_in_halves_equals_updating_at_once_in_any_order(family, data):
    prior = data.draw(priors[family])
    values = data.draw(st.lists(observations[family], max_size=8))
    cut = data.draw(st.integers(0, len(values)))
    whole = prior.update(given_data(family, values))
    halves = prior.update(given_data(family, values[:cut])).update(given_data(family, values[cut:]))
    assert type(whole) is type(prior)
    assert_allclose(parameters(halves), parameters(whole), rtol=1e-9, atol=1e-9)
    shuffled = data.draw(st.permutations(values))
    assert_allclose(parameters(prior.update(given_data(family, shuffled))), parameters(whole), rtol=1e-9, atol=1e-9)


@families
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_the_evidence_is_the_product_of_predictions_in_any_order(family, data):
    prior = data.draw(priors[family])
    values = data.draw(st.lists(observations[family], max_size=6))
    chain, model = 0.0, prior
    for value in values:
        chain += log_predictive(model, family, value)
        model = model.update(given_data(family, [value]))
    evidence = prior.log_evidence(given_data(family, values))
    assert_allclose(evidence, chain, rtol=1e-8, atol=1e-8)
    shuffled = data.draw(st.permutations(values))
    assert_allclose(prior.log_evidence(given_data(family, shuffled)), evidence, rtol=1e-8, atol=1e-8)


@families
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_sufficient_statistics_stand_for_the_data(family, data):
    prior = data.draw(priors[family])
    sample = given_data(family, data.draw(st.lists(observations[family], min_size=1, max_size=6)))
    statistics = prior.statistics(sample)
    assert prior.update(*statistics) == prior.update(sample)
    assert_allclose(prior.log_evidence(*statistics), prior.log_evidence(sample))
    assert_allclose(prior.log_likelihood(prior.mean, *statistics), prior.log_likelihood(prior.mean, sample))


@families
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_bayes_rule_holds_at_every_parameter(family, data):
    # ln p(θ|D) = ln p(D|θ) + ln p(θ) − ln p(D), for θ drawn from the posterior.
    prior = data.draw(priors[family])
    sample = given_data(family, data.draw(st.lists(observations[family], max_size=6)))
    posterior = prior.update(sample)
    theta = posterior.sample(5, random_state=0)
    right = prior.log_likelihood(theta, sample) + prior.logpdf(theta) - prior.log_evidence(sample)
    inside = np.isfinite(posterior.logpdf(theta)) & np.isfinite(right)
    assert_allclose(np.asarray(posterior.logpdf(theta))[inside], right[inside], rtol=1e-7, atol=1e-7)


@dataclass
class Case:
    model: Any
    support: tuple[float, float]


LINES = [
    Case(BetaBinomial(5, 19), (0, 1)),
    Case(BetaBinomial(1, 1), (0, 1)),
    Case(GammaPoisson(3, 2), (0, 60)),
    Case(GammaExponential(1.5, 0.5), (0, 150)),
    Case(ParetoUniform(2, 4.5), (2, np.inf)),
    Case(Mixture([BetaBinomial(2, 8), BetaBinomial(9, 3)], [0.3, 0.7]), (0, 1)),
    Case(Mixture([GammaPoisson(2, 2), GammaPoisson(40, 4)]), (0, 60)),
]


def integral(function, low, high):
    middle = low + 1 if np.isinf(high) else (low + high) / 8
    return sum(quad(function, *ends, limit=400, epsabs=1e-13)[0] for ends in ((low, middle), (middle, high)))


@pytest.mark.parametrize("case", LINES, ids=lambda case: repr(case.model)[:40])
def test_density_mean_variance_and_shares_agree_by_integration(case):
    model, (low, high) = case.model, case.support
    assert_allclose(integral(model.pdf, low, high), 1, rtol=1e-7)
    mean = integral(lambda t: t * model.pdf(t), low, high)
    assert_allclose(model.mean, mean, rtol=1e-6)
    assert_allclose(model.variance, integral(lambda t: (t - mean) ** 2 * model.pdf(t), low, high), rtol=1e-5)
    for share in (0.01, 0.3, 0.9):
        point = model.quantile(share)
        assert_allclose(model.cdf(point), share, rtol=1e-9)
        assert_allclose(quad(model.pdf, low, point, limit=200)[0], share, rtol=1e-6)


@pytest.mark.parametrize("case", LINES, ids=lambda case: repr(case.model)[:40])
def test_the_mode_is_the_highest_place(case):
    model = case.model
    grid = np.linspace(model.quantile(0.0), model.quantile(0.999), 200_001)
    if np.isnan(model.mode):
        assert model == BetaBinomial(1, 1)
        return
    assert model.logpdf(model.mode) >= np.max(model.logpdf(grid)) - 1e-12
    assert_allclose(model.mode, grid[np.argmax(model.logpdf(grid))], atol=1e-3 * (grid[-1] - grid[0]))


@pytest.mark.parametrize("case", LINES, ids=lambda case: repr(case.model)[:40])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_intervals_hold_their_share_and_the_shortest_is_the_shortest(case, level):
    model = case.model
    tails, short = model.interval(level), model.interval(level, kind="hdi")
    for ends in (tails, short):
        assert_allclose(model.cdf(ends.high) - model.cdf(ends.low), level, rtol=1e-8)
    assert_allclose(model.cdf(tails.low), (1 - level) / 2)
    assert short.high - short.low <= tails.high - tails.low + 1e-12
    starts = np.linspace(0, 1 - level, 2001)[:-1]
    widths = model.quantile(starts + level) - model.quantile(starts)
    assert short.high - short.low <= widths.min() + 1e-9


def test_the_joint_density_of_mean_and_precision_integrates_to_one():
    model = NormalGamma(1, 2, 3, 2)
    total, _ = dblquad(lambda mu, lam: model.pdf([mu, lam]), 0, 12, -12, 14, epsabs=1e-7)
    assert_allclose(total, 1, atol=1e-5)
    marginal = [quad(lambda lam, at=mu: model.pdf([at, lam]), 0, 40)[0] for mu in (-1.0, 0.5, 2.0)]
    assert_allclose(marginal, np.exp(model.marginals.laws[0].logpdf([-1.0, 0.5, 2.0])), rtol=1e-6)
    assert model.logpdf(model.mode) >= np.max([model.logpdf(model.mode + e) for e in 1e-3 * np.eye(2)])


def test_the_dirichlet_density_integrates_to_one_over_the_simplex():
    model = DirichletMultinomial([2.0, 3.5, 1.2])
    total, _ = dblquad(lambda y, x: model.pdf([x, y, 1 - x - y]), 0, 1, 0, lambda x: 1 - x, epsabs=1e-8)
    assert_allclose(total, 1, atol=1e-5)
    assert model.pdf([0.5, 0.6, 0.1]) == 0
    assert model.pdf([0.5, 0.6, -0.1]) == 0


@families
def test_draws_have_the_mean_and_the_variance(family):
    model = {
        "beta": BetaBinomial([2, 0.5], 5),
        "dirichlet": DirichletMultinomial([[2, 3, 4], [0.1, 1, 0.2]]),
        "poisson": GammaPoisson([2, 0.3], 5),
        "exponential": GammaExponential([2, 6], 5),
        "pareto": ParetoUniform([2, 3], 9),
        "normal": NormalGamma([2, -3], 2, 5, 4),
    }[family]
    draws = model.sample(40_000, random_state=1)
    assert draws.shape == (40_000, *np.shape(model.mean))
    sd = np.sqrt(model.variance)
    assert_allclose(draws.mean(axis=0), model.mean, atol=5 * np.max(sd) / 200)
    assert_allclose(draws.var(axis=0), model.variance, rtol=0.15, atol=1e-3)
    assert_array_equal(model.sample(3, random_state=7), model.sample(3, random_state=7))
    assert model.sample().shape == np.shape(model.mean)
    assert model.sample((2, 3), random_state=np.random.default_rng(0)).shape == (2, 3, *np.shape(model.mean))


@families
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_a_batch_is_many_models_at_once(family, data):
    singles = data.draw(st.lists(priors[family], min_size=2, max_size=3))
    names = [field.name for field in fields(singles[0])]
    batch = type(singles[0])(*(np.stack([getattr(single, name) for single in singles]) for name in names))
    rows = [data.draw(st.lists(observations[family], min_size=3, max_size=3)) for _ in singles]
    each = [given_data(family, row) for row in rows]
    together = np.stack(each) if family == "dirichlet" else np.stack(each, axis=1)
    posterior = batch.update(together)
    posteriors = [single.update(one) for single, one in zip(singles, each, strict=True)]
    assert posterior.batch_shape == (len(singles),)
    for name in (*names, "mean", "mode", "variance"):
        expected = np.stack([getattr(one, name) for one in posteriors])
        assert_allclose(np.broadcast_to(getattr(posterior, name), expected.shape), expected, rtol=1e-12)
    evidences = [single.log_evidence(one) for single, one in zip(singles, each, strict=True)]
    assert_allclose(batch.log_evidence(together), evidences, rtol=1e-10, atol=1e-10)
    for kind in ("equal-tailed", "hdi"):
        low, high = posterior.interval(0.9, kind=kind)
        assert_allclose(low, np.stack([one.interval(0.9, kind=kind).low for one in posteriors]), rtol=1e-6, atol=1e-6)
        assert_allclose(high, np.stack([one.interval(0.9, kind=kind).high for one in posteriors]), rtol=1e-6, atol=1e-6)


@families
def test_objects_do_not_change(family):
    model = {
        "beta": BetaBinomial([2.0, 1.0], 5),
        "dirichlet": DirichletMultinomial([2.0, 3, 4]),
        "poisson": GammaPoisson([2.0, 1.0], 5),
        "exponential": GammaExponential([2.0, 1.0], 5),
        "pareto": ParetoUniform([2.0, 1.0], 9),
        "normal": NormalGamma([2.0, 1.0], 2, 5, 4),
    }[family]
    name = fields(model)[0].name
    with pytest.raises(FrozenInstanceError):
        setattr(model, name, 3.0)
    with pytest.raises(ValueError, match="read-only"):
        getattr(model, name)[0] = 3.0
    assert copy.deepcopy(model) == model
    assert model != object()
    assert eval(repr(model), {**globals(), "array": np.array}) == model


def test_the_callers_array_is_not_kept():
    alpha = np.array([1.0, 2.0])
    model = DirichletMultinomial(alpha)
    alpha[0] = 99
    assert model == DirichletMultinomial([1, 2])
