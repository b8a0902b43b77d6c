"""Compiled parts of the solvers against slow twins in numpy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numba import njit
from numpy.testing import assert_allclose, assert_array_equal

import linear_cases as cases
from bayesift._special_kernels import exp_negative, log1p_unit, log_positive
from bayesift.linear._fit.problem import design_of
from bayesift.linear._losses import LOGISTIC, logistic_terms, loss_terms
from bayesift.linear._solvers import hessian as hessians
from bayesift.linear._solvers.compact import TakenColumns, merge_documents, take_columns
from bayesift.linear._solvers.gram import solve, update_gram
from bayesift.linear._solvers.hessian import Hessian, block_hessian, hessian_diagonal, sorted_copy
from bayesift.linear._solvers.line_search import line_search
from bayesift.linear._solvers.newton import fill_move
from bayesift.linear._solvers.residual import descend_residual, weight_columns
from bayesift.linear._solvers.ridge import shuffle
from bayesift.linear._solvers.working_set import RADIUS, all_slopes, set_slopes


@njit
def apply(function, x):
    return np.array([function(v) for v in x])


@pytest.mark.parametrize(
    ("ours", "theirs", "x"),
    [
        (exp_negative, np.exp, -np.append(0, np.logspace(-300, 2.85, 5000))),
        (log1p_unit, np.log1p, np.append(0, np.logspace(-300, 0, 5000))),
        (log_positive, np.log, np.append(np.logspace(-300, 300, 5001), 1 + np.linspace(-1e-3, 1e-3, 1001))),
    ],
)
def test_polynomials_are_right_to_the_last_digits_over_the_whole_range(ours, theirs, x):
    assert_allclose(apply(ours, x), theirs(x), rtol=1e-15, atol=1e-305)


def test_loss_slope_and_curvature_in_the_tails():
    r = np.array([-800.0, -40, -1, 0, 1, 40, 800])
    s = np.arange(1.0, 8)
    u, w = np.empty_like(r), np.empty_like(r)
    assert logistic_terms(r, s, u, w) == pytest.approx(s @ np.logaddexp(0, -r), rel=1e-14)
    assert_allclose(u, s * np.exp(-np.logaddexp(0, r)), rtol=1e-13, atol=1e-300)
    assert_allclose(w, s * np.exp(-np.logaddexp(0, r) - np.logaddexp(0, -r)), rtol=1e-13, atol=1e-300)


def test_a_step_along_which_the_objective_rises_is_not_taken():
    x = np.array([1.0, 2.0])
    s = np.ones(2)
    b, step, l1, l2 = np.zeros(1), np.array([1e6]), np.zeros(1), np.ones(1)
    r, u, w, trial = np.zeros((4, 2))
    loss = loss_terms(LOGISTIC, r, s, u, w)
    state = r, u, w, step * x, trial
    assert line_search(LOGISTIC, s, state, loss, b, step, np.array([x @ u]), l1, l2) == (loss, False)
    assert_array_equal(b, 0.0)
    assert_array_equal(r, 0.0)
    assert_array_equal(u, 0.5)


@pytest.mark.parametrize("size", [4, 16, 20, 100])
def test_symmetric_systems(size):
    A = np.random.default_rng(size).normal(size=(2 * size, size)).astype(np.float32)
    matrix, x = A.T @ A, np.ones(size, np.float32)
    expected = np.linalg.solve(matrix.astype(float), np.ones(size))
    solve(matrix, x)
    assert_allclose(x, expected, rtol=1e-2, atol=1e-4 * np.abs(expected).max())


def test_a_singular_system_gives_a_finite_step_downhill():
    A = np.random.default_rng(0).normal(size=(30, 6)).astype(np.float32)
    A = np.hstack([A, A])
    matrix, slope = A.T @ A, A.T @ np.ones(30, np.float32)
    step = slope.copy()
    solve(matrix.copy(), step)
    assert np.isfinite(step).all()
    assert slope @ step - 0.5 * step @ matrix @ step > 0


@pytest.fixture(autouse=True)
def few_documents_are_enough_for_a_block(monkeypatch):
    monkeypatch.setattr("bayesift.linear._fit.problem._LONG_BLOCK", 1)


def with_block(X, n_dense):
    """Return the design of documents whose last columns are dense features, of which a document has none but zeros."""
    X = np.array(X)
    X[:, X.shape[1] - n_dense :] += np.arange(1.0, n_dense + 1)
    X[3, X.shape[1] - n_dense :] = 0.0
    design = design_of(sp.csr_matrix(X), n_dense)
    assert_array_equal(design.block.T, X[:, X.shape[1] - n_dense :])
    return X, design


@pytest.mark.parametrize("n_dense", [0, 4])
@pytest.mark.parametrize("common", [0, 25, 40])
def test_slopes_are_the_same_by_both_ways(common, n_dense):
    X, y = cases.documents(seed=1, n=40, d=7)
    random = np.random.default_rng(common)
    s = random.choice([0.0, 1.0, 2.0], 40)
    share = random.random(40)
    # Documents without any term of the model share y_i u_i / s_i.
    y[:common], share[:common] = 1.0, 0.3
    X, design = with_block(X, n_dense)
    c = np.empty(8)
    matrix = design.columns, design.documents, design.block
    all_slopes(*matrix, design.sums(s), (y, s, np.zeros_like(s)), share * s, c)
    expected = cases.with_constant(X).T @ (y * share * s)
    assert_allclose(c, expected, atol=1e-13)
    some = np.full(c.size, np.nan)
    order = np.array([c.size - 1, 5, 2, 0, 3][: 5 if n_dense else 4], dtype=np.uint32)
    set_slopes(design.columns, design.block, y, share * s, order, some)
    assert_allclose(some[order], expected[order], atol=1e-13)
    assert np.isnan(some).sum() == (1 if n_dense else c.size - 4)
    step, move = np.arange(1.0, order.size + 1), np.empty(40)
    fill_move(design.columns, design.block, y, order, step, move)
    assert_allclose(move, y * (cases.with_constant(X)[:, order] @ step), atol=1e-13)


@pytest.mark.parametrize("n_dense", [0, 2])
def test_the_curvature_matrix_follows_the_curvature(n_dense):
    X, y = cases.documents(seed=2, n=40, d=7)
    s = np.tile([1.0, 0.0, 2.0, 1.0], 10)
    X, design = with_block(np.roll(X, 1, axis=1) if n_dense else X, n_dense)
    chosen = np.array([5, 2, 3], dtype=np.uint32)
    place, label, weight, _ = merge_documents(design.columns, chosen, y, s, np.where(y > 0, 0.2, -0.1))
    assert weight.sum() == s.sum()
    taken = TakenColumns(take_columns(design.columns, chosen, place, label), label.size, n_dense > 0)
    assert taken.short.shape[1] == (2 if n_dense else 0)
    A = cases.with_constant(X)[:, [7, 5, 2, 3]]
    gram, used = np.zeros((4, 4), np.float32), np.zeros(label.size)
    # In the last of them the curvature of few documents changes.
    few = np.where(np.arange(label.size) < 3, 2.0, 0.5)
    for scale in (1.0, 3.0, 0.5, few):
        update_gram(taken.by_rows, taken.short, scale * weight, used, 0.3, gram)
        if n_dense or np.isscalar(scale):
            own = np.zeros(40)
            own[s > 0] = scale * weight if n_dense else scale * s[s > 0]
            assert_allclose(gram, A.T @ (own[:, None] * A), rtol=1e-4, atol=1e-4)
    u, step = np.linspace(-1, 1, label.size), np.array([1.0, -2.0, 0.5, 3.0])
    c, z = np.empty(4), np.empty(label.size)
    taken.slopes(u, c)
    taken.fill_scores(step, z)
    assert z @ u == pytest.approx(c @ step)
    if n_dense:
        assert_allclose(z, label * (A[s > 0] @ step))


@pytest.mark.parametrize("scale", [1.0, 1e30, 1e-3])
def test_descent_on_many_columns_minimises_the_quadratic_model_whatever_the_units(scale):
    X, y = cases.documents(seed=2, n=40, d=7)
    w = np.random.default_rng(0).uniform(0.05, 0.25, 40)
    design = design_of(X * scale)
    order = np.array([7, 5, 2, 3], dtype=np.uint32)
    far = design.max_step[order]
    weighted = weight_columns(design.columns, y, order, w, RADIUS / far, 0.0)
    units = np.append(1.0, np.full(3, scale))
    A = cases.with_constant(X)[:, order]
    hessian, slope = A.T @ (w[:, None] * A), np.array([1.0, -2.0, 0.5, 1.5])
    zeros, ends = np.zeros(4), np.full(4, np.inf)
    x = zeros.copy()
    for _ in range(20):
        # A pass ends at a share of the first error, and the slopes are exact again.
        c = slope - hessian @ (x * units)
        descend_residual(weighted, c * units, x, (zeros, units**2, -ends, ends), units, 50)
    expected = np.linalg.solve(hessian + np.eye(4), slope)
    assert_allclose(x * units, expected, rtol=1e-5)


def test_the_design_holds_the_matrix_both_ways_and_copies_only_what_it_must():
    X = sp.random(30, 12, density=0.3, format="csr", random_state=0)
    design = design_of(X)
    indptr, indices, data = design.columns
    assert_array_equal(sp.csc_matrix((data, indices, indptr), X.shape).toarray(), X.toarray())
    assert np.shares_memory(design.documents[2], X.data)
    assert np.shares_memory(design.documents[1], X.indices)
    w, own = np.linspace(0, 1, 30), np.arange(13.0)
    expected = own + (w[:, None] * cases.with_constant(X) ** 2).sum(axis=0)
    assert_allclose(hessian_diagonal(design.documents, w, own), expected)


@pytest.mark.parametrize("goal", [np.inf, 1e-8, 0.0])
def test_newtons_equations_are_solved_as_far_as_is_asked(goal):
    random = np.random.default_rng(0)
    X = sp.random(60, 12, density=0.3, format="csr", random_state=0)
    w, l2, g = random.uniform(0, 0.25, 60), np.full(13, 0.1), random.normal(size=13)
    free = np.arange(13) != 4
    g[4] = 0.0
    design = design_of(X)
    step, reached = Hessian(design.documents, design.block, w, l2).solve(free, g, goal)
    A = cases.with_constant(X)
    hessian = A.T @ (w[:, None] * A) + np.diag(l2)
    left = (g - hessian @ step)[free]
    first = np.sum(g[free] ** 2 / np.diag(hessian)[free])
    assert reached == pytest.approx(min(goal, 0.01 * first))
    assert np.sum(left**2 / np.diag(hessian)[free]) <= reached + 1e-20
    assert step[4] == 0.0


@pytest.mark.parametrize("n_dense", [0, 4])
@pytest.mark.parametrize("short", [0, 100])
@pytest.mark.parametrize("chosen", [None, [0, 2, 3, 7, 8, 9, 10, 11, 12], [8, 9, 10, 11, 12]])
@pytest.mark.parametrize("cut", [0.0, 0.5])
def test_products_with_the_hessian(n_dense, short, chosen, cut, monkeypatch):
    monkeypatch.setattr(hessians, "_SHORT", short)
    random = np.random.default_rng(0)
    X = sp.random(60, 12, density=0.3, format="csr", random_state=0).toarray()
    X[[3, 17]] = 0.0
    X, design = with_block(X, n_dense)
    w, l2, p = random.uniform(0, 0.25, 60), random.uniform(0, 1, 13), random.normal(size=13)
    w[[3, 5]] = 0.0
    at = np.arange(13) if chosen is None else np.array(chosen)
    matrix = Hessian(design.documents, design.block, w, l2, cut, None if chosen is None else at)
    A = cases.with_constant(X)[:, at]
    kept = np.where(w > cut * w.mean(), w, 0.0)
    out = np.empty(at.size)
    matrix.times(p[at], out)
    assert_allclose(out, A.T @ (kept * (A @ p[at])) + l2[at] * p[at], rtol=1e-12, atol=1e-14)
    divided = matrix.divider(np.ones(at.size, dtype=bool)).divide(p[at])
    expected = A.T @ (w[:, None] * A) + np.diag(l2[at])
    n_block = n_dense + 1 if n_dense else 0
    assert_allclose(divided[: at.size - n_block], (p[at] / np.diag(expected))[: at.size - n_block], rtol=1e-9)
    if n_block:
        assert_allclose(divided[-n_block:], np.linalg.solve(expected[-n_block:, -n_block:], p[-n_block:]), rtol=1e-7)


def test_copies_of_documents_are_sorted_by_their_length():
    X = sp.random(40, 9, density=0.4, format="csr", random_state=1)
    w = np.arange(40.0) % 5
    features = np.array([1, 4, 8])
    (start, columns, values), weights = sorted_copy(design_of(X).documents, w, 9, features)
    copied = sp.csr_matrix((values[: start[-1]], columns[: start[-1]], start), (weights.size, 3)).toarray()
    lengths = np.diff(start.astype(np.int64))
    assert np.all(np.diff(lengths) >= 0)
    rows = np.flatnonzero(w)
    rows = rows[np.argsort(np.diff(X[rows][:, features].tocsr().indptr), kind="stable")]
    assert_array_equal(copied, X[rows][:, features].toarray())
    assert_array_equal(weights, w[rows])


def test_dense_features_are_divided_by_exactly():
    X, design = with_block(sp.random(60, 12, density=0.3, random_state=0).toarray(), 5)
    w, l2 = np.random.default_rng(0).uniform(0, 0.25, 60), np.linspace(0.1, 1, 13)
    A = cases.with_constant(X)
    hessian = A.T @ (w[:, None] * A) + np.diag(l2)
    assert_allclose(block_hessian(design.block, w, l2[-6:]), hessian[-6:, -6:])
    free = np.arange(13) != 9
    v = np.arange(1.0, 14)
    whole = Hessian(design.documents, design.block, w, l2)
    found = whole.divider(free).divide(v)
    assert_allclose(found[:7], v[:7] / np.diag(hessian)[:7], rtol=1e-9)
    moves = np.array([7, 8, 10, 11, 12])
    assert_allclose(found[moves], np.linalg.solve(hessian[np.ix_(moves, moves)], v[moves]), rtol=1e-7)
    assert found[9] == 0.0
    g = np.where(free, v, 0.0)
    step, _ = whole.solve(free, g, 1e-20)
    kept = np.flatnonzero(free)
    assert_allclose(step[kept], np.linalg.solve(hessian[np.ix_(kept, kept)], g[kept]), rtol=1e-6)


def test_equal_dense_features_without_a_penalty_are_no_obstacle():
    _, design = with_block(np.ones((60, 3)), 0)
    block, w = np.ones((3, 60)), np.full(60, 0.25)
    found = Hessian(design.documents, block, w, np.zeros(4)).divider(np.ones(4, dtype=bool)).divide(np.ones(4))
    assert np.isfinite(found).all()


@pytest.mark.parametrize("rows", [[], [3], [0, 4, 29], list(range(30))])
def test_a_part_of_a_design_is_the_design_of_the_part(rows):
    X = sp.random(30, 12, density=0.2, format="csr", random_state=0)
    part, expected = design_of(X).subset(np.array(rows, dtype=np.int64)), design_of(X[rows])
    for found, wanted in zip((*part.columns, *part.documents), (*expected.columns, *expected.documents), strict=True):
        assert_array_equal(found, wanted)
        assert found.dtype == wanted.dtype
    assert_array_equal(part.max_step, expected.max_step)


def test_a_shuffle_is_a_permutation_and_the_next_another():
    order = np.arange(1000, dtype=np.uint32)
    seed = shuffle(order, np.uint64(1))
    first = order.copy()
    shuffle(order, seed)
    assert_array_equal(np.sort(first), np.arange(1000))
    assert_array_equal(np.sort(order), np.arange(1000))
    assert np.mean(first == order) < 0.05
    assert abs(np.corrcoef(first, np.arange(1000))[0, 1]) < 0.1


@pytest.mark.parametrize("family", ["laplace", "gaussian"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_free_features_that_part_the_classes_end_in_time_without_a_claim(family):
    X, y = np.array([[2.0, 0], [3, 1], [0, 2], [0, 3]]), np.array([1, 1, 0, 0])
    prior = cases.FAMILIES[family]([np.inf, 1.0])
    model = cases.tight(prior, max_iter=1000, tol=1e-6).fit(X, y)
    assert np.isfinite(cases.coefficients(model)).all()
    assert np.isfinite(model.certificate_.objective[0])
    assert model.certificate_.dual[0] == -np.inf
    assert model.predict(X).tolist() == y.tolist()
