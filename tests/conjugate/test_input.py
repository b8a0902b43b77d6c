"""Moments and modes at the edges, elicitation, forms of data, and errors that say what is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayesift.conjugate import (
    BetaBinomial,
    DirichletMultinomial,
    GammaExponential,
    GammaPoisson,
    Mixture,
    NormalGamma,
    ParetoUniform,
    bayes_factor,
)

B = BetaBinomial(1, 1)
D = DirichletMultinomial([1, 1, 1])
P = GammaPoisson(1, 1)


@pytest.mark.parametrize(
    ("a", "b", "mode"),
    [
        (2, 2, 0.5),
        (1, 5, 0),
        (0.5, 5, 0),
        (0.5, 1, 0),
        (5, 1, 1),
        (5, 0.5, 1),
        (1, 0.5, 1),
        (1, 1, np.nan),
        (0.5, 0.5, np.nan),
        (0.2, 0.9, np.nan),
    ],
)
def test_modes_of_the_beta_distribution(a, b, mode):
    assert_array_equal(BetaBinomial(a, b).mode, mode)
    assert_array_equal(DirichletMultinomial([a, b]).mode, [mode, 1 - mode])


def test_modes_of_the_others_at_the_edge():
    assert_array_equal(DirichletMultinomial([1, 3, 2]).mode, [0, 2 / 3, 1 / 3])
    assert_array_equal(DirichletMultinomial([[1, 1, 1], [0.5, 2, 3]]).mode, np.full((2, 3), np.nan))
    assert_array_equal(GammaPoisson([0.5, 1, 3], 2).mode, [0, 0, 1])
    assert_array_equal(NormalGamma(7, 1, [0.5, 0.3, 1.5], 2).mode, [[np.nan, 0], [np.nan, 0], [7, 0.5]])


def test_moments_that_do_not_exist():
    assert_array_equal(ParetoUniform(2, [0.5, 1, 2, 3]).mean, [np.inf, np.inf, 4, 3])
    assert_array_equal(ParetoUniform(2, [0.5, 1, 1.5, 2, 3]).variance, [np.nan, np.nan, np.inf, np.inf, 3])
    assert_array_equal(NormalGamma(7, 2, [0.5, 1, 2], 4).mean[:, 0], [np.nan, 7, 7])
    assert_array_equal(NormalGamma(7, 2, [0.5, 1, 2], 4).variance[:, 0], [np.nan, np.inf, 2])


def test_densities_outside_the_support():
    assert_array_equal(BetaBinomial(2, 3).pdf([-0.1, 1.1]), 0)
    assert_array_equal(GammaPoisson(2, 3).pdf([-0.1, np.inf]), 0)
    assert_array_equal(ParetoUniform(2, 3).pdf([1.9]), 0)
    assert_array_equal(NormalGamma(0, 1, 1, 1).pdf([[0, -1.0]]), 0)
    assert_array_equal(BetaBinomial(2, 3).cdf([-1, 2]), [0, 1])
    assert_array_equal(GammaPoisson(2, 3).cdf(-1), 0)
    assert_array_equal(ParetoUniform(2, 3).cdf(1), 0)
    assert ParetoUniform(2, 3).log_likelihood(3, [4.0]) == -np.inf
    for model in (BetaBinomial(2, 3), GammaPoisson(2, 3), ParetoUniform(2, 3)):
        assert np.isnan(model.logpdf(np.nan))


@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99), st.floats(0.2, 0.999))
@settings(deadline=None, max_examples=60)
def test_elicited_priors_say_what_was_said(m, relative, mass):
    sd = relative * np.sqrt(m * (1 - m))
    prior = BetaBinomial.from_mean_sd(m, sd)
    assert_allclose([prior.mean, np.sqrt(prior.variance)], [m, sd])
    low, high = m * (1 - relative), m + (1 - m) * relative
    assume(low > 0.001 and high < 0.999)
    prior = BetaBinomial.from_mean_interval(m, low, high, mass)
    assert_allclose(prior.mean, m)
    assert_allclose(prior.cdf(high) - prior.cdf(low), mass, rtol=1e-7)


def test_elicitation_of_many_at_once():
    priors = BetaBinomial.from_mean_interval([0.15, 0.5], [0.05, 0.4], [0.3, 0.6], 0.95)
    assert priors.batch_shape == (2,)
    assert_allclose(priors.a[0], 4.5060624, rtol=1e-7)
    # An interval from the edge: of two solutions the more certain one.
    edge = BetaBinomial.from_mean_interval(0.15, 0.0, 0.3, 0.9)
    assert_allclose(edge.cdf(0.3), 0.9)
    assert edge.effective_size > 1
    assert BetaBinomial.from_effective_size(0.25, 8) == BetaBinomial(2, 6)
    assert DirichletMultinomial.from_effective_size([0.25, 0.75], [4, 8]) == DirichletMultinomial([[1, 3], [2, 6]])
    assert_allclose(DirichletMultinomial([[1, 3], [2, 6]]).effective_size, [4, 8])
    rate = GammaPoisson.from_mean_sd(3, 1.5)
    assert_allclose([rate.mean, rate.variance], [3, 2.25])


def test_a_single_number_is_one_observation():
    assert BetaBinomial(1, 1).update(1) == BetaBinomial(2, 1)
    assert BetaBinomial([1, 2], 1).update(True) == BetaBinomial([2, 3], 1)
    assert GammaPoisson(1, 1).update(3) == GammaPoisson(4, 2)
    assert GammaPoisson(1, 1).update(3, 2.5) == GammaPoisson(4, 3.5)
    assert GammaExponential(1, 1).update(3) == GammaExponential(2, 4)
    assert GammaExponential(1, 1).update(0, 7.5) == GammaExponential(1, 8.5)  # still waiting
    assert ParetoUniform(1, 1).update(3) == ParetoUniform(3, 2)
    assert NormalGamma(0, 1, 1, 1).update(1.5, 0, 1) == NormalGamma(0, 2.5, 1.75, 1.5)


@pytest.mark.parametrize(
    ("model", "theta", "data"),
    [
        (B, 1.5, (3, 0)),
        (B, -1, (0, 2)),
        (D, [1, 1, 1], ([3, 2, 1],)),
        (D, [-1, 1, 1], ([0, 2, 1],)),
        (D, [np.inf, -np.inf, 1], ([0, 2, 1],)),
        (P, -1, (0, 5)),
        (P, np.inf, (1, 5)),
        (GammaExponential(1, 1), -1, (0, 5)),
        (NormalGamma(0, 1, 1, 1), [0, -1], (0, 0, 0)),
        (NormalGamma(0, 1, 1, 1), [0, np.inf], (2, 0, 1)),
        (ParetoUniform(1, 1), -1, (0, 0)),
    ],
)
def test_an_impossible_parameter_explains_no_data(model, theta, data):
    assert model.log_likelihood(theta, *data) == -np.inf
    assert model.logpdf(theta) == -np.inf
    assert Mixture([model, model]).log_likelihood(theta, *data) == -np.inf
    assert np.isnan(model.log_likelihood(np.full(np.shape(theta), np.nan), *data))


def test_no_quantile_of_a_share_outside_the_unit_interval():
    for model in (B, P, ParetoUniform(1, 1)):
        assert_array_equal(model.quantile([-0.1, 1.1, np.nan]), np.nan)


def test_no_observation_changes_nothing():
    for model in (BetaBinomial(2, 3), GammaPoisson(2, 3), GammaExponential(2, 3), ParetoUniform(2, 3)):
        assert model.update([]) == model
        assert model.log_evidence([]) == 0
    assert NormalGamma(1, 2, 3, 4).update([]) == NormalGamma(1, 2, 3, 4)


def test_the_evidence_of_a_count_over_an_exposure_is_its_prediction():
    model = GammaPoisson(2, 3)
    assert_allclose(model.log_evidence(7, 2.5), model.predictive(2.5).logpmf(7))
    assert model.log_evidence(0, 0) == 0


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: BetaBinomial(-1, 1), ValueError, "^a is -1; expected a finite number of at least 0"),
        (lambda: BetaBinomial(1, [1, -2]), ValueError, "^b is -2 at 1; expected a finite number of at least 0"),
        (lambda: BetaBinomial(1, np.nan), ValueError, "^b is nan"),
        (lambda: BetaBinomial("x", 1), TypeError, "^a is 'x'; expected a finite number of at least 0, or an array"),
        (lambda: BetaBinomial([1, 2], [1, 2, 3]), ValueError, r"a has shape \(2,\), b has shape \(3,\); expected"),
        (lambda: DirichletMultinomial([1, -1]), ValueError, "^alpha is -1 at 1"),
        (lambda: DirichletMultinomial([[1, 1], [1, -3]]), ValueError, r"^alpha is -3 at \(1, 1\)"),
        (lambda: DirichletMultinomial([1]), ValueError, r"alpha has shape \(1,\); expected at least two categories"),
        (lambda: DirichletMultinomial(3), ValueError, r"alpha has shape \(\); expected at least two categories"),
        (lambda: GammaPoisson(1, np.inf), ValueError, "^b is inf"),
        (lambda: ParetoUniform(-1, 1), ValueError, "^b is -1; expected a finite number of at least 0"),
        (lambda: NormalGamma(np.inf, 1, 1, 1), ValueError, "^m is inf"),
        (lambda: NormalGamma(0, 0, 1, 1), ValueError, "^kappa is 0"),
        (lambda: B.update(), TypeError, "no data given"),
        (lambda: B.update([0, 2]), ValueError, "^data is 2 at 1; expected 0 or 1"),
        (lambda: B.update(["a"]), TypeError, "^data is"),
        (lambda: B.update(2.5, 1), ValueError, "^successes is 2.5; expected a whole number"),
        (lambda: B.update(2, -1), ValueError, "^failures is -1; expected a whole number"),
        (
            lambda: B.update(1, 2, 3),
            TypeError,
            "data has 3 arguments; expected observations, or successes and failures",
        ),
        (lambda: BetaBinomial([1, 2], 1).update([[0, 1, 1]]), ValueError, r"batch shape \(3,\).*; expected .* \(2,\)"),
        (lambda: D.update([1, 2]), ValueError, r"counts has shape \(2,\); expected 3 on the last axis"),
        (lambda: D.update(1), ValueError, r"counts has shape \(\); expected 3"),
        (lambda: D.update([1, 2, 0.5]), ValueError, "^counts is 0.5 at 2; expected a whole number"),
        (lambda: D.update([1, 2, 3], [1, 2, 3]), TypeError, "data has 2 arguments; expected one, the counts"),
        (lambda: D.predictive(2).pmf([1, 1]), ValueError, r"x has shape \(2,\); expected 3 counts"),
        (lambda: D.predictive(-2), ValueError, "^n is -2"),
        (lambda: P.update([1, -1]), ValueError, "^data is -1 at 1"),
        (lambda: P.update([1, 1.5]), ValueError, "^data is 1.5 at 1; expected a whole number"),
        (lambda: P.update(3, 0), ValueError, "exposure is 0 where the count is above 0"),
        (lambda: P.predictive(0), ValueError, "^exposure is 0; expected a finite number above 0"),
        (lambda: GammaExponential(1, 1).update([-1.0]), ValueError, "^data is -1 at 0"),
        (lambda: GammaExponential(1, 1).update(1.5, 2), ValueError, "^events is 1.5"),
        (lambda: ParetoUniform(1, 1).update([-1.0]), ValueError, "^data is -1 at 0"),
        (lambda: NormalGamma(0, 1, 1, 1).update([np.nan]), ValueError, "^data is nan at 0"),
        (lambda: NormalGamma(0, 1, 1, 1).update(1, 2), TypeError, "expected observations, or n and mean and squares"),
        (lambda: NormalGamma(0, 1, 1, 1).pdf(3), ValueError, r"theta has shape \(\); expected mean and precision"),
        (lambda: B.interval(1.0), ValueError, "^level is 1; expected a number between 0 and 1"),
        (lambda: B.interval(0.9, kind="hpd"), ValueError, "^kind is 'hpd'; expected one of 'equal-tailed', 'hdi'"),
        (lambda: B.sample(-1), ValueError, "^size is -1; expected a whole number"),
        (lambda: B.sample(2.5), ValueError, "^size is 2.5; expected a whole number"),
        (lambda: B.sample(2, random_state="x"), TypeError, "^random_state is 'x'; expected a seed"),
        (lambda: B.sample(2, random_state=-1), ValueError, "^random_state is -1; expected a seed"),
        (
            lambda: BetaBinomial.from_mean_sd(0.5, 0.6),
            ValueError,
            r"^sd is 0.6; expected less than √\(m\(1−m\)\) = 0.5",
        ),
        (lambda: BetaBinomial.from_mean_sd(1.5, 0.6), ValueError, "^m is 1.5; expected a number between 0 and 1"),
        (lambda: BetaBinomial.from_mean_interval(0.5, 0.6, 0.7), ValueError, "expected 0 <= low < m < high <= 1"),
        (lambda: BetaBinomial.from_mean_interval(0.5, 0.4, 1.7), ValueError, "expected 0 <= low < m < high <= 1"),
        (lambda: BetaBinomial.from_mean_interval(0.5, 0.4, 0.6, 1.0), ValueError, "^mass is 1; expected"),
        (lambda: BetaBinomial.from_mean_interval(0.1, 0.0, 0.99, 0.2), ValueError, "^mass is 0.2; expected more"),
        (lambda: BetaBinomial.from_effective_size(0.1, 0), ValueError, "^size is 0"),
        (lambda: DirichletMultinomial.from_effective_size([0.1, 0.1], 3), ValueError, "^m has sum 0.2; expected 1"),
        (lambda: B.known(np.nan), ValueError, "^value is nan"),
        (lambda: B.known(1.5), ValueError, "^value is 1.5; expected a number from 0 to 1"),
        (lambda: P.known([2, -1]), ValueError, "^value is -1.0; expected a finite number of at least 0"),
        (lambda: D.known([1, 1, 1]), ValueError, "^value is .*; expected probabilities with sum 1 on the last axis"),
        (lambda: D.known([0.5, 0.5]), ValueError, r"^theta has shape \(2,\); expected 3 on the last axis"),
        (lambda: D.pdf(0.5), ValueError, r"^theta has shape \(\); expected 3 on the last axis"),
        (lambda: NormalGamma(0, 1, 1, 1).known([0, -1]), ValueError, "^value is .*; expected a finite mean, and"),
        (lambda: ParetoUniform(1, 1).known(0), ValueError, "^value is 0.0; expected a finite number above 0"),
        (lambda: bayes_factor(B, 0.5, [1]), TypeError, "^model_b is 0.5; expected a conjugate model"),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()
