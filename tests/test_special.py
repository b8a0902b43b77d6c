"""Ratios of gamma functions against exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from bayesift._special import (
    log_beta_ratio,
    log_choose,
    log_dirichlet_ratio,
    log_orders,
    log_rising,
    log_waiting,
)


@given(st.floats(1e-6, 1e15), st.integers(0, 40))
def test_rising_factorials_of_whole_steps(a, x):
    exact = math.fsum(math.log(a + i) for i in range(x))
    assert_allclose(log_rising(a, x), exact, rtol=3e-14, atol=3e-13)


@given(st.floats(1e-3, 1e8), st.floats(0, 1e8), st.floats(0, 1e8))
def test_steps_add_up(a, x, y):
    together = log_rising(a, x + y)
    assert_allclose(log_rising(a, x) + log_rising(a + x, y), together, rtol=1e-12, atol=1e-10)


@pytest.mark.parametrize("a", [9.999999999, 10.0, 10.0000001])
def test_both_formulas_meet(a):
    for x in (0.5, 3.0, 1e5):
        assert_allclose(log_rising(a, x), math.lgamma(a + x) - math.lgamma(a), rtol=1e-13)


def test_no_step_is_exactly_nothing():
    assert np.all(log_rising([1e-9, 1.0, 10.0, 1e17], 0) == 0)


@pytest.mark.parametrize(("n", "x"), [(0, 0), (5, 2), (52, 5), (1000, 500)])
def test_ways_to_choose(n, x):
    exact = Fraction(math.comb(n, x))
    assert_allclose(log_choose(n, x), math.log(exact), atol=1e-12)


@given(st.floats(1e-3, 1e12), st.floats(1e-3, 1e12), st.integers(0, 25), st.integers(0, 25))
def test_successes_and_failures_in_order(a, b, x, y):
    steps = [(a + i, a + b + i) for i in range(x)] + [(b + i, a + b + x + i) for i in range(y)]
    exact = math.fsum(math.log(up / down) for up, down in steps)
    assert_allclose(log_beta_ratio(a, b, x, y), exact, rtol=1e-11, atol=1e-11)


@given(st.lists(st.tuples(st.floats(1e-2, 1e6), st.integers(0, 12)), min_size=2, max_size=5))
def test_draws_of_categories(pairs):
    alpha, counts = (np.array(part, dtype=float) for part in zip(*pairs, strict=True))
    exact = sum(log_rising(a, x) for a, x in pairs) - log_rising(alpha.sum(), counts.sum())
    assert_allclose(log_dirichlet_ratio(alpha, counts), exact, rtol=1e-9, atol=1e-9)
    whole = counts.astype(int).tolist()
    orders = math.factorial(sum(whole)) // math.prod(math.factorial(x) for x in whole)
    assert_allclose(log_orders(counts), math.log(orders), atol=1e-10)


@given(st.floats(1e-3, 1e9), st.integers(0, 60))
def test_coefficients_of_the_negative_binomial(a, x):
    exact = math.fsum(math.log((a + i) / (i + 1)) for i in range(x))
    assert_allclose(log_waiting(a, x), exact, rtol=1e-11, atol=1e-11)
