"""The compiled kernels of the softmax model beside slow numpy twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

import linear_cases
from bayesift.linear._fit.problem import design_of
from bayesift.linear._losses import class_scores, class_slopes, softmax_terms
from bayesift.linear._solvers.clg import log_odds
from bayesift.linear._solvers.duality import solve_small
from bayesift.linear._solvers.line_search import Sample, smooth_line_search
from bayesift.linear._solvers.softmax_newton import couple, descend_model, solve_positive, take_entries
from bayesift.linear._solvers.softmax_ridge import Intercepts, conjugate_step, gram_times
from bayesift.linear._solvers.working_set import (
    add_pairs,
    check_pair_slopes,
    choose_pairs,
    pick_columns,
    take_pairs,
    useful_columns,
)

N, D, K = 25, 6, 4


class Case:
    """A small random state of a fit: matrix, classes, weights, scores, probabilities, residuals."""

    def __init__(self, seed: int, size: float = 1.0) -> None:
        self.random = random = np.random.default_rng(seed)
        self.X = random.normal(size=(N, D)) * (random.random((N, D)) < 0.6)
        self.A = linear_cases.with_constant(self.X)
        self.columns = design_of(self.X).columns
        self.codes = np.arange(N) % K
        self.Y = np.eye(K)[self.codes]
        self.s = random.choice([0.5, 1.0, 2.0], N)
        self.z = size * random.normal(size=(N, K))
        self.p = softmax(self.z, axis=1)
        self.r = self.s[:, None] * (self.Y - self.p)
        self.sample = Sample(self.codes, self.s, np.zeros((N, K)))

    def bent(self, t: np.ndarray) -> np.ndarray:
        """W t with W_i = s_i (diag p_i − p_i p_iᵀ)."""
        return self.s[:, None] * self.p * (t - np.sum(self.p * t, axis=1, keepdims=True))

    def state(self):
        state = self.sample.state()
        state.z[:], state.p[:], state.r[:] = self.z, self.p, self.r
        return state

    def loss(self, z: np.ndarray) -> float:
        return -float(np.sum(self.s * log_softmax(z, axis=1)[np.arange(N), self.codes]))


seeds = st.integers(0, 10**6)
few = settings(max_examples=30, deadline=None)


@settings(deadline=None)
@given(seed=seeds, size=st.sampled_from([0.01, 1.0, 30.0, 800.0]))
def test_loss_probabilities_and_residuals(seed, size):
    case = Case(seed, size)
    p, r = np.empty((2, N, K))
    assert softmax_terms(case.z, case.codes, case.s, p, r) == pytest.approx(case.loss(case.z), rel=1e-12)
    assert_allclose(p, case.p, rtol=1e-11, atol=1e-300)
    # What is missing to 1 is exact however small it is.
    missing = np.where(case.Y > 0, 0, case.p).sum(axis=1)
    assert_allclose(r[np.arange(N), case.codes], case.s * missing, rtol=1e-11, atol=1e-300)
    assert_allclose(np.where(case.Y > 0, 0, r), np.where(case.Y > 0, 0, case.r), rtol=1e-11, atol=1e-300)


def test_a_certain_document_still_has_a_loss():
    z, p, r = np.array([[50.0, 0.0, 0.0]]), np.empty((1, 3)), np.empty((1, 3))
    assert softmax_terms(z, np.array([0]), np.ones(1), p, r) == pytest.approx(2 * np.exp(-50), rel=1e-12)
    assert r[0, 0] == pytest.approx(2 * np.exp(-50), rel=1e-12)
    assert log_odds(z[0], 0) == pytest.approx(50 - np.log(2))


@settings(deadline=None)
@given(seed=seeds, per_class=st.booleans())
def test_products_with_the_matrix(seed, per_class):
    case = Case(seed)
    beta = case.random.normal(size=(D + 1, K)) * (case.random.random((D + 1, 1)) < 0.5)
    z, c, out = np.empty((N, K)), np.empty((D + 1, K)), np.empty((N, K))
    class_scores(case.columns, beta, case.z, z)
    assert_allclose(z, case.z + case.A @ beta, atol=1e-12)
    class_slopes(case.columns, case.r, c)
    assert_allclose(c, case.A.T @ case.r, atol=1e-12)
    variance = case.random.uniform(0, 2, (D, K if per_class else 1))
    gram_times(case.columns, variance, case.r, out)
    assert_allclose(out, case.X @ (variance * (case.X.T @ case.r)), atol=1e-12)


@few
@given(seed=seeds, flat=st.booleans(), fixed=st.booleans())
def test_newtons_equations_among_documents_are_those_of_the_coefficients(seed, flat, fixed):
    case = Case(seed)
    variance = case.random.uniform(0.1, 2, (D, 1))
    free = np.ones(K, dtype=bool)
    free[0] = not fixed
    own = Intercepts(np.zeros(K) if flat else case.random.uniform(0.1, 2, K), free)
    rest = case.random.normal(size=(N, K))
    scores = np.empty((N, K))
    gram_times(case.columns, variance, rest, scores)
    bend = own.curvature(case.s, case.p)
    for _ in range(10):
        # The error falls by a factor in each call.
        before, size = rest.copy(), np.sum(rest * scores)
        step, move, shift = conjugate_step(case.columns, variance, case.s, case.p, rest, scores, bend, free, 0.0)
        assert_allclose(move, case.X @ (variance * (case.X.T @ step)), atol=1e-9)
        left = before - step - case.bent(move + shift)
        assert_allclose(case.X.T @ left, case.X.T @ rest, atol=1e-8)
        assert np.sum(rest * scores) <= 0.0101 * size + 1e-20
        # The intercepts have no slope of their own left.
        slopes = case.bent(move + shift).sum(axis=0) + own.precision * shift
        assert_allclose(slopes[free], 0, atol=1e-9)
        assert shift[0] == 0 or free[0]


@settings(deadline=None)
@given(seed=seeds, flat=st.booleans(), fixed=st.booleans())
def test_curvature_and_optimum_of_the_intercepts(seed, flat, fixed):
    case = Case(seed)
    free = np.ones(K, dtype=bool)
    free[1] = not fixed
    own = Intercepts(np.zeros(K) if flat else np.full(K, 0.7), free)
    expected = np.diag(case.s @ case.p) - (case.s[:, None] * case.p).T @ case.p + np.diag(own.precision)
    found = own.curvature(case.s, case.p)
    if flat and not fixed:
        # What is added stands in the direction of equal numbers, in which there is nothing to move.
        assert_allclose(found - expected, np.mean(found - expected), atol=1e-9)
        assert np.linalg.cond(found) < 1e3
    else:
        assert_allclose(found[np.ix_(free, free)], expected[np.ix_(free, free)], rtol=1e-9, atol=1e-9)
        assert_array_equal(found[~free], np.eye(K)[~free])
    at, state = case.random.normal(size=K), case.state()
    kept = at[1]
    loss = own.fit(case.sample, state, case.loss(case.z), at, 1e-18)
    assert loss == pytest.approx(case.loss(state.z), rel=1e-12)
    assert_allclose(own.slopes(state.r, at), 0, atol=1e-7)
    assert at[1] == kept or free[1]


@settings(deadline=None)
@given(seed=seeds, far=st.sampled_from([0.01, 1.0, 20.0]), quadratic=st.sampled_from([0.0, 3.0]))
def test_a_search_along_a_step_finds_the_minimum_roughly(seed, far, quadratic):
    case = Case(seed)
    state = case.state()
    state.move[:] = far * case.r
    start = -np.sum(case.r * state.move)
    loss, size = smooth_line_search(case.sample, state, case.loss(case.z), 0.0, quadratic)
    assert size > 0
    assert_allclose(state.z, case.z + size * far * case.r, atol=1e-10)
    assert loss == pytest.approx(case.loss(state.z), rel=1e-10)
    assert loss + 0.5 * quadratic * size**2 < case.loss(case.z)
    assert abs(-np.sum(state.r * state.move) + quadratic * size) <= 0.1001 * abs(start)


def test_a_step_upwards_is_not_taken():
    case = Case(0)
    state = case.state()
    state.move[:] = -case.r
    loss, size = smooth_line_search(case.sample, state, case.loss(case.z), 0.0, 0.0)
    assert size == 0
    assert loss == pytest.approx(case.loss(case.z))
    assert_array_equal(state.z, case.z)


@settings(deadline=None)
@given(seed=seeds, size=st.integers(1, 6))
def test_small_systems(seed, size):
    random = np.random.default_rng(seed)
    root = random.normal(size=(size, size))
    matrix, right = root @ root.T + 0.1 * np.eye(size), random.normal(size=size)
    expected, x = np.linalg.solve(matrix, right), right.copy()
    assert_allclose(solve_small(matrix, right), expected)
    solve_positive(matrix, x)
    assert_allclose(x, expected, rtol=1e-6)
    assert np.isnan(solve_small(np.zeros((size, size)), right)).all()


def penalties(case: Case) -> tuple[np.ndarray, ...]:
    """Laplace rates with a Gaussian, a one-sided, a fixed and a free coefficient among them."""
    l1, l2 = case.random.uniform(0.5, 3, (D + 1, K)), np.zeros((D + 1, K))
    low, high = np.full((D + 1, K), -np.inf), np.full((D + 1, K), np.inf)
    l1[1, 2], l2[1, 2] = 0, 2
    low[2, 0] = 0
    low[3, 1] = high[3, 1] = 0
    l1[D] = 0
    return l1, l2, low, high


@settings(deadline=None)
@given(seed=seeds, share=st.sampled_from([0.9, 1.0, 2.0]))
def test_pairs_are_chosen_by_slope_or_because_they_are_not_at_their_mode(seed, share):
    case = Case(seed)
    prior = l1, _, low, high = penalties(case)
    b = case.random.normal(size=(D + 1, K)) * (case.random.random((D + 1, K)) < 0.2)
    b = np.clip(b, low, high)
    c = case.A.T @ case.r
    feature, begin = choose_pairs(c, b, prior, share)
    for k in range(K):
        mine = feature[begin[k] : begin[k + 1]].tolist()
        up, down = np.where(high[:, k] > 0, c[:, k], 0), np.where(low[:, k] < 0, -c[:, k], 0)
        wanted = (b[:, k] != 0) | (np.maximum(up, down) > share * l1[:, k])
        wanted &= low[:, k] < high[:, k]
        assert mine == [D, *np.flatnonzero(wanted[:D]).tolist()]
    pairs = feature, begin
    taken = take_pairs(c, pairs)
    klass = np.repeat(np.arange(K), np.diff(begin))
    assert_array_equal(taken, c[feature, klass])
    move, step = np.empty((N, K)), case.random.normal(size=feature.size)
    add_pairs(case.columns, pairs, step, move)
    full = np.zeros((D + 1, K))
    full[feature, klass] = step
    assert_allclose(move, case.A @ full, atol=1e-12)


@settings(deadline=None)
@given(seed=seeds, factor=st.sampled_from([1.0, 2.5]))
def test_the_survey_gives_the_worst_error_in_units_of_the_rates(seed, factor):
    case = Case(seed)
    prior = l1, l2, low, high = penalties(case)
    c, b = case.A.T @ case.r, np.zeros((D + 1, K))
    worst, ratio = check_pair_slopes(c, b, prior, factor, 4.0, 0.5)
    push = np.maximum(np.where(high > 0, c, 0), np.where(low < 0, -c, 0))
    unit = np.where(l1 > 0, factor * l1, np.where(l2 > 0, np.sqrt(4.0 * l2), 0.5))
    assert worst == pytest.approx(np.max(np.maximum(push - factor * l1, 0) / unit))
    assert ratio == pytest.approx(np.max(np.divide(push, l1, out=np.zeros_like(push), where=l1 > 0)))


@settings(deadline=None)
@given(seed=seeds)
def test_columns_that_can_never_leave_their_modes_are_left_out(seed):
    case = Case(seed)
    l1 = case.random.uniform(1, 20, (D + 1, K))
    prior = (l1, 0 * l1, np.full_like(l1, -np.inf), np.full_like(l1, np.inf))
    useful = useful_columns(case.columns, case.s, prior)
    assert_array_equal(useful, (case.s @ np.abs(case.X))[:, None].max(axis=1) > l1[:D].min(axis=1))
    # No residuals can move a column that is left out.
    worst = np.abs(case.X.T @ (case.s[:, None] * np.sign(case.r)))
    assert not np.any(worst[~useful] > l1[:D][~useful])
    chosen = np.flatnonzero(useful)
    start, rows, values = pick_columns(case.columns, chosen)
    dense = np.zeros((N, chosen.size))
    for a in range(chosen.size):
        dense[rows[start[a] : start[a + 1]], a] = values[start[a] : start[a + 1]]
    assert_array_equal(dense, case.X[:, chosen])


@few
@given(seed=seeds)
def test_the_quadratic_model_is_minimised(seed):
    case = Case(seed)
    l1, l2, low, high = penalties(case)
    b = np.clip(case.random.normal(size=(D + 1, K)) * (case.random.random((D + 1, K)) < 0.3), low, high)
    low, high = np.maximum(low, b - 5), np.minimum(high, b + 5)
    c = case.A.T @ case.r
    pairs = feature, begin = choose_pairs(c, b, (l1, l2, low, high), 0.0)
    own = [take_pairs(table, pairs) for table in (l1, l2, low, high)]
    coupling = couple(case.s, case.p)
    entries = take_entries(case.columns, pairs, coupling, 0.0)
    x = take_pairs(b, pairs)
    base = x.copy()
    descend_model(pairs, entries, coupling, take_pairs(c, pairs), x, tuple(own), np.ones(x.size), 1e-10, 0.0, 5000)
    klass = np.repeat(np.arange(K), np.diff(begin))

    def value(v):
        table = np.zeros((D + 1, K))
        table[feature, klass] = v - base
        t = case.A @ table
        return 0.5 * np.sum(t * case.bent(t)) - np.sum(c * table) + np.sum(own[0] * np.abs(v) + 0.5 * own[1] * v**2)

    found = minimize(
        lambda v: value(v[: x.size] - v[x.size :]) + 1e-12 * np.sum(v),
        np.concatenate([np.maximum(x, 0), np.maximum(-x, 0)]),
        method="L-BFGS-B",
        bounds=[(0, max(top, 0)) for top in own[3]] + [(0, max(-bottom, 0)) for bottom in own[2]],
    )
    assert value(x) <= found.fun + 1e-6
    # The numbers per document follow the step.
    table = np.zeros((D + 1, K))
    table[feature, klass] = x - base
    assert_allclose(coupling[2].T, case.A @ table, atol=1e-9)
    assert_allclose(coupling[3], np.sum(case.p * (case.A @ table), axis=1), atol=1e-9)


@settings(deadline=None)
@given(seed=seeds, cut=st.sampled_from([0.0, 0.5, 1.0, 1e9]))
def test_documents_that_hardly_matter_enter_the_diagonal_only(seed, cut):
    case = Case(seed)
    pairs = feature, begin = choose_pairs(case.A.T @ case.r, np.ones((D + 1, K)), penalties(case), 1.0)
    start, rows, values, curvature, rest = take_entries(case.columns, pairs, couple(case.s, case.p), cut)
    klass = np.repeat(np.arange(K), np.diff(begin))
    bend = case.s[:, None] * case.p * (1 - case.p)
    for a in range(feature.size):
        own = bend[:, klass[a]]
        kept = own > cut * own.mean()
        column = case.A[:, feature[a]]
        assert curvature[a] == pytest.approx(np.sum(own * column**2), abs=1e-8)
        assert rest[a] == pytest.approx(np.sum((own * column**2)[~kept]), abs=1e-8)
        assert_array_equal(rows[start[a] : start[a + 1]], np.flatnonzero(kept & (column != 0)))
        assert_array_equal(values[start[a] : start[a + 1]], column[kept & (column != 0)])
