"""The compiled integrals against scipy, over everything that real tags can ask of them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.special import betaln, digamma, expit

from bayesift.ard.tagging._bound import FULL_LIMIT, Quadrature
from bayesift.ard.tagging._integrals import best_alphas, log_integrals, log_normaliser, prior_mean

LIMIT = {"full": FULL_LIMIT, "trunc": float(np.log(9.0))}
RULES = {domain: Quadrature.of(limit, 200) for domain, limit in LIMIT.items()}


def compiled(slopes, sizes, alpha, domain):
    """ln I, its derivative, and the means of the groups, for one tag."""
    values, by_alpha, means = np.empty(1), np.empty(1), np.empty(len(slopes))
    log_integrals(
        np.arange(1),
        np.array([0, len(slopes)]),
        np.asarray(slopes, dtype=np.float64),
        np.asarray(sizes, dtype=np.float64),
        np.array([alpha]),
        *RULES[domain],
        values,
        by_alpha,
        means,
    )
    return values[0], by_alpha[0], means


def best(slopes, sizes, domain, greatest=1000.0):
    alpha, value = np.empty(1), np.empty(1)
    rule = RULES[domain]
    best_alphas(
        np.arange(1),
        np.array([0, len(slopes)]),
        np.asarray(slopes, dtype=np.float64),
        np.asarray(sizes, dtype=np.float64),
        rule.domain,
        greatest,
        rule.rule,
        alpha,
        value,
    )
    return alpha[0], value[0]


def twin(slopes, sizes, alpha, domain, weight=lambda w: 1.0):
    """The same integral by adaptive quadrature in w, around its peak."""
    slopes, sizes = np.asarray(slopes, dtype=np.float64), np.asarray(sizes, dtype=np.float64)

    def height(w):
        with np.errstate(over="ignore"):
            a = np.exp(sizes - slopes * w).sum()
        return -a + (alpha + 1) * np.log(expit(w) * expit(-w)) - betaln(alpha + 1, alpha + 1)

    grid = np.linspace(-LIMIT[domain], LIMIT[domain], 400_001)
    with np.errstate(over="ignore"):
        heights = -np.exp(sizes[:, None] - slopes[:, None] * grid).sum(axis=0)
    heights += (alpha + 1) * np.log(expit(grid) * expit(-grid)) - betaln(alpha + 1, alpha + 1)
    top = heights.max()
    inside = grid[heights > top - 50]
    edges = np.linspace(max(inside[0] - 1e-4, -LIMIT[domain]), min(inside[-1] + 1e-4, LIMIT[domain]), 60)
    parts = [quad(lambda w: np.exp(height(w) - top) * weight(w), a, b)[0] for a, b in pairwise(edges)]
    return top + np.log(sum(parts))


@pytest.mark.parametrize("alpha", [0.0, 1e-3, 0.3, 1.0, 7.5, 12.0, 100.0, 1000.0, 1e6])
def test_what_the_beta_distribution_needs(alpha):
    assert_allclose(log_normaliser(alpha), betaln(alpha + 1, alpha + 1) + alpha * np.log(4), rtol=1e-9, atol=1e-9)
    expected = 2 * digamma(alpha + 1) - 2 * digamma(2 * alpha + 2) + 2 * np.log(2)
    assert_allclose(prior_mean(alpha), expected, rtol=1e-7, atol=1e-13)


CASES = {
    "nothing": ([], []),
    "one positive object": ([1], [-0.7]),
    "few objects of both classes": ([2, 5, -3], [-1.0, 0.5, 0.1]),
    "a peak thinner than a node's share": ([300, -250], [0.3, 0.6]),
    "long documents of one class": ([1500], [-40.0]),
    "long documents far out": ([800, 900], [600.0, 500.0]),
    "many objects against the end": ([5, 8, 11], [3.0, 4.0, 8.0]),
    "hardly any weight": ([4, -4], [-200.0, -300.0]),
}


@pytest.mark.parametrize("domain", ["full", "trunc"])
@pytest.mark.parametrize("alpha", [0.0, 0.8, 30.0, 1000.0])
@pytest.mark.parametrize("case", CASES)
def test_integrals_equal_adaptive_quadrature(case, alpha, domain):
    slopes, sizes = CASES[case]
    value, by_alpha, means = compiled(slopes, sizes, alpha, domain)
    assert_allclose(value, twin(slopes, sizes, alpha, domain), rtol=1e-6, atol=1e-5)
    step = 1e-4 * (1 + alpha)
    high, low = (compiled(slopes, sizes, alpha + s, domain)[0] for s in (step, 0.0))
    higher = compiled(slopes, sizes, alpha + 2 * step, domain)[0]
    # one-sided, because α may be 0
    assert_allclose(by_alpha, (4 * high - 3 * low - higher) / (2 * step), rtol=1e-3, atol=1e-5)
    # The means matter only as far as the objects have weight.
    for slope, size, mean in zip(slopes, sizes, means, strict=True):
        if abs(slope) < 20 and size > -100:
            expected = twin(slopes, sizes, alpha, domain, lambda w, s=slope: np.exp(-s * w))
            assert_allclose(mean, expected - twin(slopes, sizes, alpha, domain), rtol=1e-4, atol=1e-4)


def test_a_tag_of_no_object_has_the_prior_mass_of_the_domain():
    assert abs(compiled([], [], 3.0, "full")[0]) < 1e-12
    assert compiled([], [], 0.0, "trunc")[0] == pytest.approx(np.log(0.8), abs=1e-12)


@pytest.mark.parametrize("domain", ["full", "trunc"])
@pytest.mark.parametrize("sizes", [[70.0, 70.0], [800.0, 800.0], [400.0, -5.0], [1e5, 1e5]])
def test_objects_that_contradict_each_other_utterly_give_finite_numbers(sizes, domain):
    """A search may try η at which the bound is as good as zero."""
    value, by_alpha, means = compiled([30, -30], sizes, 2.0, domain)
    assert np.isfinite([value, by_alpha, *means]).all()
    assert value < -10
    assert 0 <= best([30, -30], sizes, domain)[0] <= 1000


groups = st.lists(st.tuples(st.integers(1, 60), st.booleans(), st.floats(-6, 6)), min_size=1, max_size=6)


@settings(max_examples=60, deadline=None)
@given(groups, st.sampled_from(["full", "trunc"]))
def test_the_m_step_finds_the_best_alpha(drawn, domain):
    slopes = [m if positive else -m for m, positive, _ in drawn]
    sizes = [size for _, _, size in drawn]
    alpha, value = best(slopes, sizes, domain)
    tried = np.concatenate([[0.0], np.geomspace(1e-3, 1000, 60)])
    others = np.array([compiled(slopes, sizes, a, domain)[0] for a in tried])
    assert value >= others.max() - 1e-7
    assert compiled(slopes, sizes, alpha, domain)[0] == pytest.approx(value, abs=1e-6)


@settings(max_examples=30, deadline=None)
@given(groups, st.floats(0, 1000))
def test_swapping_the_classes_mirrors_every_number(drawn, alpha):
    slopes = np.array([m if positive else -m for m, positive, _ in drawn], dtype=float)
    sizes = np.array([size for _, _, size in drawn])
    here, there = compiled(slopes, sizes, alpha, "trunc"), compiled(-slopes, sizes, alpha, "trunc")
    assert_allclose(here[0], there[0], rtol=1e-12, atol=1e-12)
    assert_allclose(here[2], there[2], rtol=1e-9, atol=1e-9)
    assert best(slopes, sizes, "trunc")[0] == pytest.approx(best(-slopes, sizes, "trunc")[0], rel=1e-6, abs=1e-8)


def test_a_smaller_upper_end_is_kept():
    assert best([], [], "trunc", greatest=50.0)[0] == 50.0
