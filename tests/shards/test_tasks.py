"""The tasks on a shard, each against a slow twin in numpy, and the certificate that is made of their sums."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit
from scipy.stats import norm

from bayesift import shards
from bayesift.linear._fit.problem import Problem, SolverOptions, design_of
from bayesift.linear._losses import LOGISTIC, PROBIT
from bayesift.linear._sharded import tasks
from bayesift.linear._sharded.design import ShardedDesign
from bayesift.linear._sharded.solving import judge
from bayesift.linear._sharded.tasks import table_of
from bayesift.linear._solvers.duality import certificate, penalty_arrays
from bayesift.priors import Gaussian, Laplace

N, D = 40, 9
RANDOM = np.random.default_rng(5)
X = sp.random(N, D, 0.3, format="csr", random_state=1)
Y = RANDOM.choice([-1, 1], size=(3, N)).astype(np.int8)
WEIGHTS = RANDOM.integers(0, 3, size=(3, N)).astype(np.float64)
BETAS = [np.where(RANDOM.random(D + 1) < 0.5, RANDOM.normal(size=D + 1), 0.0) for _ in range(3)]


def loss(link: int, r):
    return np.logaddexp(0.0, -r) if link == LOGISTIC else -norm.logcdf(r)


def slope(link: int, r):
    return expit(-r) if link == LOGISTIC else np.exp(norm.logpdf(r) - norm.logcdf(r))


def curvature(link: int, r):
    h = slope(link, r)
    return h * (1.0 - h) if link == LOGISTIC else h * (h + r)


@pytest.fixture(params=["float64", "float32"])
def shard(request: pytest.FixtureRequest, tmp_path: Path) -> shards.ShardFile:
    shards.write_matrix(X, tmp_path / "a", dtype=request.param)
    return shards.open(tmp_path / "a").files[0]


def dense(shard: shards.ShardFile):
    return X.toarray().astype(shard.dtype).astype(np.float64)


@pytest.mark.parametrize("link", [LOGISTIC, PROBIT])
def test_slopes_are_those_of_the_formulas(shard: shards.ShardFile, link: int) -> None:
    totals, duals, c, h = tasks.slopes(shard, link, Y, WEIGHTS, table_of(BETAS), True)
    matrix = dense(shard)
    for p in range(3):
        r = Y[p] * (matrix @ BETAS[p][:-1] + BETAS[p][-1])
        u, w = WEIGHTS[p] * slope(link, r), WEIGHTS[p] * curvature(link, r)
        sides = [Y[p] > 0, Y[p] < 0]
        expected = [np.sum(WEIGHTS[p] * loss(link, r)), *(u[side].sum() for side in sides), w.sum()]
        np.testing.assert_allclose(totals[p], expected, rtol=1e-12)
        for k, side in enumerate(sides):
            np.testing.assert_allclose(c[:, p, k], matrix[side].T @ u[side], rtol=1e-12, atol=1e-14)
            # The conjugate at a t is −t r − f(r) where h(r) = t, for the factor 1.
            own = WEIGHTS[p][side] * (loss(link, r[side]) + slope(link, r[side]) * r[side])
            np.testing.assert_allclose(duals[p, k, -1], own.sum(), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(h[:, p], (matrix**2).T @ w, rtol=1e-11, atol=1e-14)
    assert np.all(duals[:, :, 0] == 0.0)
    # Concave in the factor: a straight line between two of them is a lower bound.
    steps = np.diff(duals, axis=2) / np.diff(tasks.SCALES)
    assert np.all(np.diff(steps, axis=2) <= 1e-6 * (1.0 + np.abs(steps[:, :, 1:])))


def test_bits_do_not_depend_on_the_problems_beside(shard: shards.ShardFile) -> None:
    together = tasks.slopes(shard, LOGISTIC, Y, WEIGHTS, table_of(BETAS), True)
    for p in range(3):
        alone = tasks.slopes(shard, LOGISTIC, Y[p : p + 1], WEIGHTS[p : p + 1], table_of(BETAS[p : p + 1]), True)
        for whole, part, axis in zip(together, alone, (0, 0, 1, 1), strict=True):
            np.testing.assert_array_equal(np.take(whole, [p], axis=axis), part)


def test_columns_and_rows_are_gathered(shard: shards.ShardFile) -> None:
    chosen = np.array([0, 3, 8])
    starts, columns, values = tasks.columns(shard, chosen)
    found = sp.csr_matrix((values, columns.astype(int), starts.astype(int)), shape=(N, 3))
    np.testing.assert_array_equal(found.toarray(), dense(shard)[:, chosen])
    rows = np.array([2, 5, 39])
    starts, columns, values = tasks.some_rows(shard, rows)
    found = sp.csr_matrix((values, columns.astype(int), starts.astype(int)), shape=(3, D))
    np.testing.assert_array_equal(found.toarray(), dense(shard)[rows])


@pytest.mark.parametrize("link", [LOGISTIC, PROBIT])
def test_the_curvature_matrix_is_that_of_the_formula(shard: shards.ShardFile, link: int) -> None:
    chosen = np.array([1, 4, 6])
    (found,) = tasks.gram(shard, link, Y[:1], WEIGHTS[:1], table_of(BETAS[:1]), chosen, 0.0)
    matrix = dense(shard)
    r = Y[0] * (matrix @ BETAS[0][:-1] + BETAS[0][-1])
    part = np.column_stack([matrix[:, chosen], np.ones(N)])
    expected = part.T @ ((WEIGHTS[0] * curvature(link, r))[:, None] * part)
    np.testing.assert_allclose(found, np.tril(expected), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("link", [LOGISTIC, PROBIT])
def test_losses_at_several_steps(shard: shards.ShardFile, link: int) -> None:
    sizes = np.array([0.0, 0.5, 2.0])
    (found,) = tasks.losses(shard, link, Y[:1], WEIGHTS[:1], table_of(BETAS[:2]), sizes)
    for size, value in zip(sizes, found, strict=True):
        beta = BETAS[0] + size * BETAS[1]
        r = Y[0] * (dense(shard) @ beta[:-1] + beta[-1])
        np.testing.assert_allclose(value, np.sum(WEIGHTS[0] * loss(link, r)), rtol=1e-12)


def test_scores_norms_and_hashes(shard: shards.ShardFile) -> None:
    (z,) = tasks.scores(shard, table_of(BETAS))
    expected = dense(shard) @ np.column_stack([beta[:-1] for beta in BETAS]) + [beta[-1] for beta in BETAS]
    np.testing.assert_allclose(z.T, expected, rtol=1e-12, atol=1e-14)
    (found,) = tasks.norms(shard, 6)
    squares = dense(shard) ** 2
    np.testing.assert_allclose(found, [squares[:, :6].sum(axis=1), squares[:, 6:].sum(axis=1)], rtol=1e-12)
    if shard.dtype == "float64":
        np.testing.assert_array_equal(tasks.row_products(shard, 0)[0], design_of(X).row_hashes)


@pytest.mark.parametrize("prior", [Laplace(1.0), Gaussian(1.0), Laplace(1.0, mode=0.3), Laplace(2.0, sign=1)])
@pytest.mark.parametrize("intercept_variance", [np.inf, 1.0])
@pytest.mark.parametrize("link", [LOGISTIC, PROBIT])
def test_the_certificate_from_sums_is_that_of_the_whole_matrix(
    tmp_path: Path, prior, intercept_variance: float, link: int
) -> None:
    shards.write_matrix(X, tmp_path / "a", rows=11)
    design = ShardedDesign(shards.open(tmp_path / "a"), 1)
    arrays = prior.resolve(D).extended(prior.resolve_intercept(intercept_variance))
    y, weights = Y[0].astype(np.float64), WEIGHTS[0]
    problem = Problem(design, y, weights, arrays, link=link)
    penalties = penalty_arrays(arrays.kind, arrays.weight, arrays.sign)
    delta = np.clip(BETAS[0] * 0.1, penalties[2], penalties[3])
    found = judge(design.slopes(problem, arrays.mode + delta), delta, arrays.mode, penalties)
    offsets = problem._replace(design=design_of(X)).offsets()
    primal, dual, residual = certificate(link, design_of(X).columns, (y, weights, offsets), delta, penalties)
    np.testing.assert_allclose([found.primal, found.residual], [primal, residual], rtol=1e-10)
    # Between two of the scales it is a lower bound of a lower bound; at one of them the same.
    assert found.dual <= dual + 1e-9 * abs(dual)
    assert found.dual >= dual - 0.1 * primal


def test_the_certificate_is_as_good_as_in_memory_at_the_optimum(tmp_path: Path) -> None:
    shards.write_matrix(X, tmp_path / "a", rows=11)
    design = ShardedDesign(shards.open(tmp_path / "a"), 1)
    arrays = Laplace(1.0).resolve(D).extended(Laplace(1.0).resolve_intercept(np.inf))
    problem = Problem(design_of(X), Y[0].astype(np.float64), WEIGHTS[0], arrays)
    solution = problem.solve(SolverOptions("newton", 1e-10, 1000))
    penalties = penalty_arrays(arrays.kind, arrays.weight, arrays.sign)
    sums = design.slopes(problem._replace(design=design), solution.beta)
    found = judge(sums, solution.beta, arrays.mode, penalties)
    assert found.primal - found.dual <= 1e-9 * found.primal
