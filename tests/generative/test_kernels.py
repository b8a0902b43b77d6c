"""Compiled loops against slow twins."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import gammaln

from bayesift._special import log_rising as slow_rising
from bayesift._special_kernels import log_rising
from bayesift.generative._groups import Layout, category_members, class_members, every_group
from bayesift.generative._kernels import (
    add_categories,
    add_moments,
    add_rows,
    add_weights,
    dot,
    rising_scores,
)


def test_sums_over_documents():
    rng = np.random.default_rng(0)
    X = sp.random(30, 6, density=0.4, random_state=1, format="csr")
    weights = rng.random(30)
    indicator = sp.csr_matrix((rng.random((30, 3)) < 0.4).astype(float))
    for members, n, inside in (
        (class_members(np.arange(30) % 4), 4, np.eye(4)[np.arange(30) % 4]),
        (category_members(indicator), 4, np.column_stack([indicator.toarray(), np.ones(30)])),
    ):
        total = np.zeros((6, n))
        add_rows(X.indptr, X.indices, X.data, *members, weights, total)
        assert_allclose(total, X.toarray().T @ (inside * weights[:, None]))
        heavy = np.zeros(n)
        add_weights(*members, weights, heavy)
        assert_allclose(heavy, inside.T @ weights)
        codes = rng.integers(-1, 3, 30)
        counted = np.zeros((3, n))
        add_categories(codes, *members, weights, counted)
        assert_allclose(counted, np.eye(3)[:, codes] @ (inside * ((codes >= 0) * weights)[:, None]))


def test_moments_of_every_group():
    rng = np.random.default_rng(0)
    X = rng.normal(1e6, 1.0, (30, 3))
    X[rng.random((30, 3)) < 0.2] = np.nan
    indicator = (rng.random((30, 2)) < 0.4).astype(float)
    layout = Layout(True, 2)
    members = every_group(category_members(sp.csr_matrix(indicator)), layout)
    weights = rng.integers(0, 3, 30).astype(float)
    count, mean, squares = (np.zeros((4, 3)) for _ in range(3))
    add_moments(X, *members, weights, count, mean, squares)
    for group in range(4):
        rows = np.flatnonzero(indicator[:, group // 2] == group % 2)
        for j in range(3):
            values = np.repeat(X[rows, j], weights[rows].astype(int))
            values = values[~np.isnan(values)]
            assert count[group, j] == values.size
            assert_allclose(mean[group, j], values.mean(), rtol=1e-14)
            assert_allclose(squares[group, j], np.square(values - values.mean()).sum(), rtol=1e-8)


def test_the_groups_of_an_indicator_are_without_and_with():
    layout = Layout(True, 2)
    sums = np.array([[1.0, 2.0, 5.0]])
    assert_array_equal(layout.groups(sums), [[4, 1, 3, 2]])
    assert_array_equal(layout.by_task(layout.groups(sums)), [[[4, 1], [3, 2]]])
    assert_array_equal(layout.by_class(layout.groups(sums)), [[[4], [1]], [[3], [2]]])


@settings(max_examples=60, deadline=None)
@given(a=st.floats(1e-300, 1e12), x=st.floats(0, 1e6))
def test_ratios_of_gamma_functions(a, x):
    slow = float(gammaln(a + x) - gammaln(a))
    assert_allclose(log_rising(a, x), slow, rtol=1e-9, atol=2e-15 * abs(gammaln(a + x)) * 4 + 1e-13)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), scale=st.sampled_from([1e-280, 1e-30, 1e-3, 1.0, 1e5, 1e30, 1e290]))
def test_products_of_factors_neither_overflow_nor_underflow(seed, scale):
    rng = np.random.default_rng(seed)
    X = sp.random(6, 8, density=0.7, random_state=rng, data_rvs=lambda n: rng.integers(0, 200, n).astype(float)).tocsr()
    X.data[::5] += 0.25
    counts = np.where(rng.random((8, 3)) < 0.5, 0.0, rng.gamma(0.5, scale, (8, 3)))
    prior = np.full(8, scale)
    a = counts + prior[:, None]
    scores = rising_scores(X, counts, prior, (scale, float(a.max())), 1)
    slow = [[slow_rising(a[:, g], row).sum() for g in range(3)] for row in X.toarray()]
    assert_allclose(scores, slow, rtol=1e-11, atol=1e-9)


def test_products_with_a_table():
    rng = np.random.default_rng(3)
    X, table = sp.random(50, 20, density=0.3, random_state=1, format="csr"), rng.normal(size=(20, 7))
    assert_allclose(dot(X, table, 2), X @ table, atol=1e-14)
