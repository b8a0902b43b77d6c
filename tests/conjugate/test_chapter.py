"""Every exercise of Murphy (2012), chapter 3, that has a number for an answer and belongs to conjugate pairs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp
from scipy.stats import binom

from bayesift.conjugate import (
    BetaBinomial,
    DirichletMultinomial,
    GammaExponential,
    GammaPoisson,
    Mixture,
    ParetoUniform,
    bayes_factor,
)

UNIFORM = BetaBinomial(1, 1)


def test_the_posterior_of_figure_6():
    assert BetaBinomial(2, 2).update(3, 17) == BetaBinomial(5, 19)
    assert BetaBinomial(5, 2).update(11, 13) == BetaBinomial(16, 15)
    posterior = BetaBinomial(5, 19)
    assert_allclose([posterior.mean, posterior.mode, posterior.variance], [0.2083333, 0.1818182, 0.00659722], rtol=1e-6)


def test_the_predictions_of_figure_7():
    posterior = BetaBinomial(2, 2).update(3, 17)
    averaged = posterior.predictive(10)
    expected = [0.141777901, 0.253174824, 0.253174824, 0.181766540, 0.101789263, 0.045805168]
    assert_allclose(averaged.pmf(np.arange(6)), expected, rtol=1e-8)
    assert_allclose([averaged.mean, averaged.variance], [2.083333, 2.243056], rtol=1e-6)
    plugged_in = posterior.known(posterior.mode).predictive(10)
    expected = [0.134430633, 0.298734739, 0.298734739, 0.177027994, 0.068844220, 0.018358459]
    assert_allclose(plugged_in.pmf(np.arange(6)), expected, rtol=1e-7)
    assert_allclose(plugged_in.pmf(np.arange(11)), binom.pmf(np.arange(11), 10, 2 / 11))


def test_three_tails_do_not_make_heads_impossible():
    assert_allclose(UNIFORM.update([0, 0, 0]).predictive().pmf(1), 1 / 5)
    assert UNIFORM.update([0, 0, 0]).mode == 0


def test_exercise_2_the_evidence_of_a_sequence():
    assert_allclose(np.exp(UNIFORM.log_evidence([1, 0, 0, 1, 1])), 1 / 60)
    assert_allclose(np.exp(UNIFORM.log_evidence(3, 2)), 1 / 60)


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (0.3, 7.0), (40.0, 2.5)])
def test_exercise_3_a_single_trial_needs_the_mean_only(a, b):
    assert_allclose(BetaBinomial(a, b).predictive(1).pmf([0, 1]), [b / (a + b), a / (a + b)])


def test_exercise_4_fewer_than_three_heads_of_five():
    posterior = Mixture.from_censored(UNIFORM, range(3), n=5)
    assert posterior.components == (BetaBinomial(1, 6), BetaBinomial(2, 5), BetaBinomial(3, 4))
    assert_allclose(posterior.weights, 1 / 3)
    assert_allclose(posterior.mean, 2 / 7)
    # The density is that of the likelihood p(X < 3 | θ), normalised.
    theta = np.linspace(0.01, 0.99, 99)
    assert_allclose(posterior.pdf(theta), 2 * binom.cdf(2, 5, theta))


def test_exercises_6_and_7_the_mean_tends_to_that_of_the_counts():
    counts = [3, 0, 4, 1]
    assert GammaPoisson(2, 3).update(counts) == GammaPoisson(10, 7)
    assert_allclose(GammaPoisson(1e-9, 1e-9).update(counts).mean, 2.0, rtol=1e-8)


def test_exercise_9_both_cases_of_the_evidence():
    for b, k, largest, n in ((3.0, 2.0, 2.5, 4), (3.0, 2.0, 5.0, 4)):
        expected = k / ((n + k) * b**n) if largest <= b else k * b**k / ((n + k) * largest ** (n + k))
        assert_allclose(np.exp(ParetoUniform(b, k).log_evidence(largest, n)), expected)
    assert ParetoUniform(3, 2).update([1.0, 5.0, 4.0]) == ParetoUniform(5, 5)


def test_exercise_10_the_taxicabs():
    taxis = ParetoUniform(0, 0).update([100])
    assert taxis == ParetoUniform(100, 1)
    assert taxis.mean == np.inf
    assert taxis.mode == 100
    assert_allclose(taxis.quantile(0.5), 200)
    assert_allclose(taxis.predictive().pdf([100, 50, 150]), [0.005, 0.005, 1 / 450])


def test_exercise_11_the_machines():
    times = [5, 6, 4]
    prior = GammaExponential.from_effective_size(1 / 3, 3)
    assert_allclose([prior.a, prior.b], [1, 3])
    posterior = GammaExponential(1, 3).update(times)
    assert posterior == GammaExponential(4, 18)
    assert_allclose(posterior.mean, 0.2222222, rtol=1e-6)
    rates = np.linspace(0.1, 0.3, 2001)
    assert_allclose(rates[np.argmax(GammaExponential(1, 1).log_likelihood(rates, times))], 0.2)


def test_exercise_12_a_coin_that_is_fair_or_slightly_biased():
    prior = Mixture([UNIFORM.known(0.5), UNIFORM.known(0.4)])
    share = 0.4496602868
    n = 10**9
    for excess, expected in ((1, 0.5), (-1, 0.4)):
        heads = round(share * n) + excess
        assert prior.update(heads, n - heads).mode == expected
    assert prior.update(1, 1).mode == 0.5
    assert prior.update(0, 1).mode == 0.4


def test_exercise_13_a_batch_of_new_draws():
    old, new = np.array([5, 0, 2]), np.array([1, 1, 2])
    posterior = DirichletMultinomial([1, 2, 3]).update(old)
    chain, expected = posterior, 0.0
    for category in (0, 1, 2, 2):
        expected += chain.predictive().logpmf(category)
        chain = chain.update(np.eye(3)[category])
    assert_allclose(posterior.log_evidence(new), expected)
    assert_allclose(posterior.predictive(4).logpmf(new), expected + np.log(12))


def test_exercise_14_letters():
    counts = np.zeros(27)
    counts[[4, 0, 15]] = 260, 100, 87
    counts[26] = 2000 - counts.sum()
    posterior = DirichletMultinomial(np.full(27, 10.0)).update(counts)
    assert_allclose(posterior.predictive().pmf(4), 270 / 2270)
    then = posterior.update(np.eye(27)[15])
    both = posterior.predictive().pmf(15) * then.predictive().pmf(0)
    assert_allclose(both, (97 / 2270) * (110 / 2271))
    assert_allclose(np.exp(posterior.log_evidence(np.eye(27)[15] + np.eye(27)[0])), both)


def test_exercise_15_mean_and_standard_deviation():
    prior = BetaBinomial.from_mean_sd(0.7, 0.2)
    assert_allclose([prior.a, prior.b], [2.975, 1.275])
    assert_allclose([prior.mean, prior.variance], [0.7, 0.04])


def test_exercise_16_mean_and_interval():
    prior = BetaBinomial.from_mean_interval(0.15, 0.05, 0.30)
    assert_allclose([prior.a, prior.b], [4.5060624, 25.5343537], rtol=1e-8)
    assert_allclose(prior.effective_size, 30.04, atol=0.005)
    assert_allclose(prior.cdf(0.30) - prior.cdf(0.05), 0.95)


@pytest.mark.parametrize("n", [0, 1, 5, 100])
def test_exercise_17_all_numbers_of_heads_are_equally_probable(n):
    assert_allclose(UNIFORM.predictive(n).pmf(np.arange(n + 1)), 1 / (n + 1))


def test_exercise_18_bayes_factors():
    fair = UNIFORM.known(0.5)
    assert_allclose(bayes_factor(UNIFORM, fair, 9, 1), 9.3090909, rtol=1e-7)
    assert_allclose(bayes_factor(UNIFORM, fair, 90, 10), 7.250590218e14, rtol=1e-9)
    assert_allclose(bayes_factor(UNIFORM, fair, [1] * 9 + [0]), float(Fraction(2**10, 11 * 10)))
    assert_allclose(bayes_factor(fair, UNIFORM, 9, 1), 1 / 9.3090909, rtol=1e-7)
    assert_allclose(bayes_factor(UNIFORM, fair, 10**6, 0, log=True), 1e6 * np.log(2) - np.log(1e6 + 1))
    assert bayes_factor(UNIFORM, fair, 10**6, 0) == np.inf


def test_exercise_19_a_word_in_every_document_is_not_ignored():
    estimates = UNIFORM.update([10, 1000], [0, 0]).mean
    assert_allclose(estimates, [11 / 12, 1001 / 1002])


def test_exercise_22_maximum_likelihood_by_hand():
    spam = np.array([[0, 1, 0], [1, 0, 0], [1, 0, 0]])  # secret, dollar, sports
    ham = np.array([[0, 0, 0], [1, 0, 1], [0, 0, 1], [0, 0, 0]])
    assert_allclose(BetaBinomial(1, 1).update(3, 4).mode, 3 / 7)
    assert_allclose(BetaBinomial(1, 1).update(spam).mode, [2 / 3, 1 / 3, 0])
    assert_allclose(BetaBinomial(1, 1).update(ham).mode, [1 / 4, 0, 1 / 2])


def test_the_nursery_rhyme():
    posterior = DirichletMultinomial(np.ones(10)).update([2, 4, 4, 0, 1, 1, 0, 1, 0, 4])
    expected = np.array([3, 5, 5, 1, 2, 2, 1, 2, 1, 5]) / 27
    assert_allclose(posterior.mean, expected)
    assert_allclose(posterior.predictive().pmf(np.arange(10)), expected)


def test_the_mixture_of_two_coins():
    posterior = Mixture([BetaBinomial(20, 20), BetaBinomial(30, 10)], [0.5, 0.5]).update(20, 10)
    assert posterior.components == (BetaBinomial(40, 30), BetaBinomial(50, 20))
    assert_allclose(posterior.weights, [0.34575967, 0.65424033], rtol=1e-7)


def test_equation_73_sums_of_tiny_probabilities():
    far = UNIFORM.known(np.exp(-1.0))
    # A mixture whose two evidences are e⁻¹²⁰ and e⁻¹²¹ up to the weights.
    assert_allclose(far.log_evidence(120, 0), -120)
    both = Mixture([far, UNIFORM.known(np.exp(-121 / 120))])
    assert_allclose(both.log_evidence(120, 0) + np.log(2), -119.6867383125)
    assert_allclose(logsumexp([-120, -121]), -119.6867383125)
