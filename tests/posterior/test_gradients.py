"""Conjugate gradients against solutions by numpy, and what they stand on: four columns at once, own words, units."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from bayesift.posterior._gradient_draws import GradientSampler, OwnWords
from bayesift.posterior._gradients import System, advance, columns_times, rows_times, turn

KINDS = [np.float32, np.float64]


def system(n=60, d=40, density=0.2, seed=0):
    rng = np.random.default_rng(seed)
    H = sp.random(n, d, density, format="csr", random_state=seed + 1)
    precision = np.append(np.ones(d - 1), 0.0)
    H = sp.csr_matrix(sp.hstack([H[:, :-1], np.ones((n, 1))]))
    return H, rng.random((n, 4)) + 0.01, precision, rng.normal(size=(n, 4)), rng.normal(size=(d, 4))


def solutions(H, w, precision, e, b):
    matrices = [np.diag(precision) + (H.T @ sp.diags(one) @ H).toarray() for one in w.T]
    return np.column_stack([np.linalg.solve(Q, one) for Q, one in zip(matrices, (H.T @ e + b).T, strict=True)])


@pytest.mark.parametrize("kind", KINDS)
def test_products_are_those_of_matrices(kind):
    H, w, precision, e, b = system()
    columns = H.tocsc()
    out, forms = np.empty((60, 4), kind), np.empty(4)
    rows_times(H.indptr, H.indices, H.data.astype(kind), b.astype(kind), w.astype(kind), out)
    rtol = 1e-5 if kind is np.float32 else 1e-12
    np.testing.assert_allclose(out, w * (H @ b), rtol=rtol, atol=rtol)
    back = np.empty((40, 4), kind)
    arrays = [a.astype(kind) for a in (columns.data, e, precision, b)]
    columns_times(columns.indptr, columns.indices, *arrays, back, forms)
    expected = H.T @ e + precision[:, None] * b
    np.testing.assert_allclose(back, expected, rtol=rtol, atol=10 * rtol)
    np.testing.assert_allclose(forms, (b * expected).sum(axis=0), rtol=10 * rtol, atol=10 * rtol)


@pytest.mark.parametrize("n_block", [0, 3, 10])
def test_a_step_and_a_turn_are_those_of_the_preconditioned_method(n_block):
    rng = np.random.default_rng(0)
    direction, product, x, residual = rng.normal(size=(4, 10, 4))
    alpha, old = rng.random((2, 4))
    total = rng.normal(size=10 - n_block)
    total /= max(np.linalg.norm(total), 1e-300)
    P = np.zeros((10, n_block + 1))
    P[:n_block, :n_block], P[n_block:, n_block] = np.identity(n_block), total
    root = rng.normal(size=(n_block + 1, n_block + 1))
    inverse = root @ root.T
    M = np.identity(10) + P @ (inverse - np.identity(n_block + 1)) @ P.T
    moved, left = x + alpha * direction, residual - alpha * product
    towards = M @ left
    expected = towards + (left * towards).sum(axis=0) / old * direction
    part, squares, new = np.empty((n_block + 1, 4)), np.empty(4), np.empty(4)
    advance(alpha, direction, product, total, x, residual, part, squares)
    turn(part, inverse @ part, total, residual, squares, old, new, direction)
    np.testing.assert_allclose(x, moved)
    np.testing.assert_allclose(residual, left)
    np.testing.assert_allclose(part, P.T @ left, atol=1e-12)
    np.testing.assert_allclose(new, (left * towards).sum(axis=0))
    np.testing.assert_allclose(direction, expected)


@pytest.mark.parametrize("n_block", [0, 5, 100])
@pytest.mark.parametrize("tol", [3e-4, 1e-10])
def test_four_systems_are_solved_at_once(n_block, tol):
    H, w, precision, e, b = system()
    e[:, 3], b[:, 3] = 0.0, 0.0
    x, scores, steps = System(H, w.mean(axis=1), precision, n_block).solve(w, e, b, tol)
    expected = solutions(H, w, precision, e, b)
    np.testing.assert_allclose(x, expected, atol=100 * tol)
    np.testing.assert_allclose(scores, H @ x, atol=1e-10)
    assert not x[:, 3].any()
    assert 0 < steps < 120
    if n_block == 100:
        # All columns are in the block: with the known weights for all, a step or two in each precision are enough.
        same = np.repeat(w[:, :1], 4, axis=1)
        assert System(H, w[:, 0], precision, 100).solve(same, e, b, tol)[2] <= 4


@pytest.mark.parametrize("size", [1e-30, 1e25])
def test_sizes_that_single_precision_does_not_hold(size):
    H, w, precision, e, b = system()
    for documents, right, weights in ((H * size, 1.0, size**-2), (H, size, 1.0)):
        x, _, steps = System(documents, w.mean(axis=1) * weights, precision, 5).solve(
            w * weights, right * e / documents.max(), right * b, 1e-9
        )
        expected = solutions(documents, w * weights, precision, right * e / documents.max(), right * b)
        np.testing.assert_allclose(x, expected, atol=1e-6 * np.abs(expected).max())
        assert steps < 120


def test_double_precision_goes_on_where_single_precision_is_lost():
    # Nearly the same columns with a wide prior: the condition number is beyond single precision.
    H, w, precision, e, b = system(d=20)
    H = sp.csr_matrix(1e4 * sp.hstack([H[:, :10], H[:, :10] + 1e-4 * H[:, 5:15]]))
    precision = np.ones(20)
    x, scores, _ = System(H, w.mean(axis=1), precision, 0).solve(w, e, b, 1e-6)
    right = H.T @ e + b
    residual = right - precision[:, None] * x - H.T @ (w * (H @ x))
    assert np.abs(residual).max() < 1e-4 * np.abs(right).max()
    np.testing.assert_allclose(scores, H @ x, rtol=1e-8, atol=1e-6)


def test_the_total_of_rare_words_saves_steps():
    rng = np.random.default_rng(0)
    texts = rng.poisson(np.minimum(1.0, 5.0 / np.arange(1, 401)), (300, 400)).astype(float)
    H = sp.csr_matrix(3.0 * texts / np.maximum(np.linalg.norm(texts, axis=1, keepdims=True), 1.0))
    w, e, b = rng.random((300, 4)), rng.normal(size=(300, 4)), rng.normal(size=(400, 4))
    found = System(H, w.mean(axis=1), np.ones(400), 20)
    steps = found.solve(w, e, b, 1e-6)[2]
    for name in ("_single", "_double"):
        arrays = getattr(found, name)
        inverse = arrays.inverse.copy()
        inverse[-1, :], inverse[:, -1], inverse[-1, -1] = 0.0, 0.0, 1.0
        setattr(found, name, arrays._replace(total=0.0 * arrays.total, inverse=inverse))
    assert steps < found.solve(w, e, b, 1e-6)[2]


@pytest.mark.parametrize("single", [0, 1, 12])
def test_words_of_a_single_document_are_solved_for_by_themselves(single):
    H, w, precision, e, b = system(n=30, d=20)
    rng = np.random.default_rng(2)
    # Some documents have several words of their own; a column without a proper prior is none.
    own = sp.csr_matrix((rng.normal(size=single), (rng.integers(0, 6, single), np.arange(single))), shape=(30, single))
    alone = sp.csr_matrix(([2.0], ([4], [0])), shape=(30, 1))
    H = sp.csr_matrix(sp.hstack([own, H, alone]))
    precision = np.concatenate([rng.random(single) + 0.5, precision, [0.0]])
    b = rng.normal(size=(precision.size, 4))
    assert set(range(single)) <= set(OwnWords(H, precision).columns) <= set(range(precision.size - 1))
    sampler = GradientSampler(H, np.zeros(30), precision, n_block=4)
    sampler.learn(w)
    x, scores = sampler._solve(w, e, b)
    expected = solutions(H, w, precision, e, b)
    np.testing.assert_allclose(x, expected, atol=2e-3 * np.abs(expected).max())
    np.testing.assert_allclose(scores, H @ x, atol=1e-10)
