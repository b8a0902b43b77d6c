"""Distributions of new data: sums of 1, scipy's own, integration over the parameter, draws, what cannot occur."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
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

positive = st.floats(0.01, 200)


@given(positive, positive, st.integers(0, 60))
@settings(deadline=None)
def test_counts_of_successes_sum_to_one_and_equal_scipys(a, b, n):
    predictive = BetaBinomial(a, b).predictive(n)
    x = np.arange(n + 1)
    assert_allclose(predictive.pmf(x).sum(), 1)
    assert_allclose(predictive.logpmf(x), stats.betabinom.logpmf(x, n, a, b), rtol=1e-9, atol=1e-9)
    assert_allclose(predictive.mean, x @ predictive.pmf(x), atol=1e-9)
    assert_allclose(predictive.variance, (x - predictive.mean) ** 2 @ predictive.pmf(x), atol=1e-8)


@given(st.lists(positive, min_size=2, max_size=4), st.integers(0, 5))
@settings(deadline=None, max_examples=50)
def test_count_vectors_sum_to_one_and_equal_scipys(alpha, n):
    predictive = DirichletMultinomial(alpha).predictive(n)
    vectors = np.array([x for x in product(range(n + 1), repeat=len(alpha)) if sum(x) == n])
    mass = predictive.pmf(vectors)
    assert_allclose(mass.sum(), 1)
    assert_allclose(mass, [stats.dirichlet_multinomial.pmf(x, alpha, n) for x in vectors], rtol=1e-8)
    assert_allclose(predictive.mean, mass @ vectors, atol=1e-9)
    assert_allclose(predictive.variance, mass @ (vectors - predictive.mean) ** 2, atol=1e-8)


@given(positive, positive, st.floats(0.1, 5))
@settings(deadline=None)
def test_counts_over_an_exposure_equal_scipys(a, b, exposure):
    predictive = GammaPoisson(a, b).predictive(exposure)
    law = stats.nbinom(a, b / (b + exposure))
    x = np.arange(30)
    assert_allclose(predictive.logpmf(x), law.logpmf(x), rtol=1e-6, atol=1e-8)
    assert_allclose([predictive.mean, predictive.variance], law.stats("mv"))


def test_counts_over_an_exposure_sum_to_one():
    assert_allclose(GammaPoisson(3, 2).predictive(1.5).pmf(np.arange(400)).sum(), 1)


@pytest.mark.parametrize(
    ("prior", "arguments", "observed"),
    [
        (BetaBinomial(3, 7), (6,), [0, 2, 6]),
        (GammaPoisson(2, 3), (2.5,), [0, 1, 7]),
        (GammaExponential(2.5, 3), (), [0.0, 0.4, 6.0]),
        (ParetoUniform(2, 3), (), [0.0, 1.0, 2.0, 5.0]),
        (Mixture([BetaBinomial(3, 7), BetaBinomial(8, 1)], [0.2, 0.8]), (6,), [0, 2, 6]),
        (Mixture([GammaExponential(3, 1), GammaExponential(8, 30)]), (), [0.0, 0.4, 6.0]),
    ],
    ids=str,
)
def test_it_is_the_known_law_averaged_over_the_parameter(prior: Any, arguments, observed):
    def value(law: Any, x: float) -> float:
        return law.pmf(x) if hasattr(law, "pmf") else law.pdf(x)

    ends = [prior.quantile(share) for share in (0, 0.1, 0.5, 0.9, 1)]
    for x in observed:
        integral = sum(
            quad(lambda t, at=x: value(prior.known(t).predictive(*arguments), at) * prior.pdf(t), low, high)[0]
            for low, high in pairwise(ends)
        )
        assert_allclose(value(prior.predictive(*arguments), x), integral, rtol=1e-5)


@pytest.mark.parametrize(
    "predictive",
    [
        GammaExponential(4, 18).predictive(),
        GammaExponential(0.5, 1).predictive(),
        NormalGamma(1, 2, 3, 4).predictive(),
        ParetoUniform(100, 1).predictive(),
        ParetoUniform(2, 3.5).predictive(),
        Mixture([NormalGamma(1, 2, 3, 4), NormalGamma(-5, 1, 2, 1)], [0.2, 0.8]).predictive(),
    ],
    ids=lambda predictive: type(predictive).__name__,
)
def test_densities_integrate_to_one(predictive):
    cuts = [-np.inf, -1e3, -50, -10, -5, 0, 1, 2, 10, 50, 100, 1e3, 1e4, np.inf]
    total = sum(quad(predictive.pdf, *ends, limit=200)[0] for ends in pairwise(cuts))
    assert_allclose(total, 1, rtol=1e-6)


def test_the_t_distribution_equals_scipys():
    predictive = NormalGamma([1, 0], [2, 0.1], [3, 400], [4, 2]).predictive()
    law = stats.t([6, 800], [1, 0], np.sqrt(np.array([4 * 1.5 / 3, 2 / 400 * 11])))
    x = np.array([[-3.0, 0.1], [0, 0], [2, 9]])
    assert_allclose(predictive.logpdf(x), law.logpdf(x))
    assert_allclose(predictive.mean, law.mean())
    assert_allclose(predictive.variance, law.var())
    assert_allclose(predictive.cdf(x), law.cdf(x))
    assert_allclose(predictive.quantile([0.1, 0.7]), law.ppf([0.1, 0.7]))


@pytest.mark.parametrize(
    ("predictive", "mean", "variance"),
    [
        (GammaExponential(1, 3).predictive(), np.inf, np.nan),
        (GammaExponential(2, 3).predictive(), 3, np.inf),
        (GammaExponential(4, 18).predictive(), 6, 4 * 36 / 2),
        (NormalGamma(5, 1, 0.5, 1).predictive(), np.nan, np.nan),
        (NormalGamma(5, 1, 1, 1).predictive(), 5, np.inf),
        (ParetoUniform(100, 1).predictive(), np.inf, np.nan),
        (ParetoUniform(100, 2).predictive(), 100, np.inf),
    ],
)
def test_moments_that_do_not_exist(predictive, mean, variance):
    assert_array_equal([predictive.mean, predictive.variance], [mean, variance])


PAIR = [[0.5, 0.1], [0.5, 0.9]]
DRAWN = [
    (BetaBinomial([2, 9], 3), ()),
    (BetaBinomial([2, 9], 3), (4,)),
    (DirichletMultinomial([[1, 2, 3], [4, 1, 1]]), ()),
    (DirichletMultinomial([[1, 2, 3], [4, 1, 1]]), (4,)),
    (GammaPoisson([2, 9], 3), ()),
    (GammaPoisson([2, 9], 3), (2.5,)),
    (GammaExponential([5, 9], 3), ()),
    (ParetoUniform([5, 9], 6), ()),
    (NormalGamma([5, 9], 6, 4, 2), ()),
    (Mixture([BetaBinomial(2, 5), BetaBinomial(7, 2)], PAIR), (4,)),
    (Mixture([DirichletMultinomial([1, 2, 3]), DirichletMultinomial([4, 1, 1])], PAIR), (4,)),
    (Mixture([NormalGamma(5, 6, 4, 2), NormalGamma(9, 6, 4, 2)], PAIR), ()),
]


@pytest.mark.parametrize(("model", "arguments"), DRAWN, ids=lambda value: repr(value)[:30])
@pytest.mark.parametrize("known", [False, True])
def test_draws_have_the_mean_and_the_variance(model, arguments, known):
    law = (model.known(model.mean) if known else model).predictive(*arguments)
    assert law.batch_shape == (2,)
    draws = law.sample(40_000, random_state=3)
    assert draws.shape[:2] == (40_000, 2)
    assert_allclose(draws.mean(axis=0), law.mean, atol=6 * np.sqrt(np.max(law.variance)) / 200)
    assert_allclose(draws.var(axis=0), law.variance, rtol=0.2)
    assert_array_equal(law.sample(2, random_state=0), law.sample(2, random_state=0))


def test_what_cannot_occur_has_no_probability():
    assert_array_equal(BetaBinomial(1, 1).predictive(3).pmf([-1, 4, 1.5]), 0)
    assert_array_equal(DirichletMultinomial([1, 1, 1]).predictive().pmf([-1, 3, 0.5]), 0)
    assert_array_equal(DirichletMultinomial([1, 1]).predictive(3).pmf([[1, 1], [4, -1], [1.5, 1.5]]), 0)
    assert_array_equal(DirichletMultinomial([1, 1]).known([0.5, 0.5]).predictive(3).pmf([[1, 1], [4, -1]]), 0)
    assert_array_equal(GammaPoisson(1, 1).predictive().pmf([-1, 0.5, np.inf]), 0)
    assert_array_equal(GammaExponential(1, 1).predictive().pdf([-1, np.inf]), 0)
    assert_array_equal(ParetoUniform(1, 1).predictive().pdf([-1, np.inf]), 0)
    assert np.isnan(BetaBinomial(1, 1).predictive(3).pmf(np.nan))
    assert np.isnan(GammaPoisson(1, 1).predictive().pmf(np.nan))


@given(positive, positive, st.integers(1, 10**6))
@settings(deadline=None, max_examples=30)
def test_no_black_swan_is_impossible(a, b, n):
    assert 0 < BetaBinomial(a, b).update(0, n).predictive().pmf(1) < 1
    assert GammaPoisson(a, b).update(0, n).predictive().pmf(1) > 0
    assert ParetoUniform(a, b).update(1.0, n).predictive().logpdf(2 * max(a, 1.0)) > -np.inf
    seen = DirichletMultinomial([a, b, 1]).update([n, 0, 0])
    assert (seen.predictive().pmf([0, 1, 2]) > 0).all()


@pytest.mark.parametrize("size", [10, 10**6, 10**9, 10**12, 10**15])
def test_huge_parameters_against_exact_fractions(size):
    a, b, n = 3 * size // 10, 7 * size // 10, 12
    rising = [[math.prod(range(start, start + x)) for x in range(n + 1)] for start in (a, b)]
    total = math.prod(range(a + b, a + b + n))
    exact = [float(Fraction(math.comb(n, x) * rising[0][x] * rising[1][n - x], total)) for x in range(n + 1)]
    assert_allclose(BetaBinomial(a, b).predictive(n).pmf(np.arange(n + 1)), exact, rtol=1e-12)


def test_huge_counts_keep_their_digits():
    assert_allclose(np.exp(BetaBinomial(1, 1).log_evidence(10**15, 0)), 1e-15, rtol=1e-9)
    assert_allclose(np.exp(BetaBinomial(10**15, 1).log_evidence(10**15, 0)), 0.5)
    assert_allclose(np.exp(DirichletMultinomial([1, 1, 1]).log_evidence([0, 10**15, 0])), 2e-30)
    assert_allclose(GammaPoisson(1, 1e-15).predictive().pmf(10**15), 1e-15 * np.exp(-1))
    assert_allclose(GammaPoisson(4e12, 1e12).predictive().pmf(np.arange(9)), stats.poisson.pmf(np.arange(9), 4))
    alpha = 1e11 * np.array([1.0, 2, 7])
    counts = np.array([1, 1, 3])
    expected = stats.multinomial.pmf(counts, 5, [0.1, 0.2, 0.7])
    assert_allclose(DirichletMultinomial(alpha).predictive(5).pmf(counts), expected, rtol=1e-9)
    assert_allclose(NormalGamma(0, 1e12, 1e12, 1e12).predictive().pdf([0, 2]), stats.norm.pdf([0, 2]), rtol=1e-9)


def test_one_word_each_from_a_sparse_matrix():
    rng = np.random.default_rng(0)
    X = rng.poisson(0.3, (50, 7))
    for make in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        assert BetaBinomial(1, 2).update(make((X > 0) * 1)) == BetaBinomial(1, 2).update(X > 0)
        rates = GammaPoisson(1, 2)
        assert rates.update(make(X)) == rates.update(X)
        assert_allclose(rates.log_evidence(make(X)), rates.log_evidence(X))
    with pytest.raises(ValueError, match="data is 2 at"):
        BetaBinomial(1, 2).update(sparse.csr_array(np.array([[0, 2], [1, 1]])))


def test_a_sparse_matrix_is_left_as_it_is():
    # Unsorted, with a repeated entry: 1 and 1 make 2.
    parts = np.array([1, 1, 1]), np.array([1, 0, 1]), np.array([0, 3])
    X = sparse.csc_array(parts, shape=(2, 1))
    before = [getattr(X, name).copy() for name in ("data", "indices", "indptr")]
    assert GammaPoisson(1, 1).update(X) == GammaPoisson([4], [3])
    assert_allclose(GammaPoisson(1, 1).log_evidence(X), GammaPoisson(1, 1).log_evidence([[1], [2]]))
    for name, array in zip(("data", "indices", "indptr"), before, strict=True):
        assert_array_equal(getattr(X, name), array)
