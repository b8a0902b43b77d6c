"""Compiled streams beside slow numpy twins, and what many updates do to a covariance."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import norm

from bayesift._sparse import compressed, selected
from bayesift.online import prior_belief
from bayesift.online.belief import fields, learn


def documents(n=60, d=8, seed=0):
    random = np.random.default_rng(seed)
    X = sp.random(n, d, 0.5, format="csr", random_state=random, data_rvs=random.standard_normal)
    return X, random.choice([-1.0, 1.0], n)


def twin(X, y, mean, C, sigma, kappa, diagonal=False, keep=1.0):
    """The formulas as they stand in the paper."""
    mean, C, log_evidence = mean.copy(), C.copy(), 0.0
    prior_mean, prior = mean.copy(), C.copy()
    for x, label in zip(X.toarray(), y, strict=True):
        direction = C @ x
        spread = np.sqrt(sigma**2 + x @ direction)
        if spread > 0:
            u = label * (mean @ x) / spread
            z = kappa + (1 - 2 * kappa) * norm.cdf(u)
            rho = (1 - 2 * kappa) * norm.pdf(u) / z
            log_evidence += np.log(z)
            mean = mean + label * rho / spread * direction
            C = C - rho * (u + rho) / spread**2 * np.outer(direction, direction)
        else:
            log_evidence += np.log(0.5)
        if diagonal:
            C = np.diag(np.diag(C))
        mean, C = prior_mean + keep * (mean - prior_mean), keep**2 * C + (1 - keep**2) * prior
    return mean, C, log_evidence


@pytest.mark.parametrize("likelihood", ["probit", "flip"])
@pytest.mark.parametrize("covariance", ["full", "diagonal"])
@pytest.mark.parametrize("keep", [1.0, 0.95])
def test_streams_equal_their_twin(likelihood, covariance, keep):
    X, y = documents()
    belief = prior_belief(8, likelihood=likelihood, covariance=covariance, forgetting=keep, kappa=0.1, prior_mean=0.1)
    mean, C, evidence = twin(X, y, belief.mean, np.eye(8), *belief.likelihood, covariance == "diagonal", keep)
    after = learn(belief, compressed(X), y, np.arange(y.size))
    found = after.covariance if covariance == "full" else np.diag(after.covariance)
    np.testing.assert_allclose(after.mean, mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found, C, rtol=1e-9, atol=1e-12)
    assert after.log_evidence == pytest.approx(evidence, rel=1e-10)


def test_low_rank_is_exact_where_the_rank_is_enough():
    X, y = documents()
    rows, order = compressed(X), np.arange(y.size)
    full, low = (learn(prior_belief(8, covariance=kind, rank=8), rows, y, order) for kind in ("full", "low-rank"))
    np.testing.assert_allclose(low.mean, full.mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(low.covariance.matrix(), full.covariance, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(fields(low, rows), fields(full, rows), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("likelihood", ["probit", "flip"])
def test_low_rank_keeps_the_diagonal_of_the_precision(likelihood):
    X, y = documents(n=200, d=12)
    belief = learn(
        prior_belief(12, covariance="low-rank", rank=2, likelihood=likelihood), compressed(X), y, np.arange(200)
    )
    matrix = belief.covariance.matrix()
    assert np.linalg.eigvalsh(matrix)[0] > 0
    assert np.all(np.diag(matrix) <= 1.0 + 1e-12)
    _, variances = fields(belief, compressed(X))
    np.testing.assert_allclose(variances, np.einsum("ij,jk,ik->i", X.toarray(), matrix, X.toarray()), rtol=1e-9)


def test_a_higher_rank_comes_closer_to_the_full_covariance():
    X, y = documents(n=300, d=30, seed=3)
    rows, order = compressed(X), np.arange(300)
    exact = fields(learn(prior_belief(30), rows, y, order), rows)[1]
    errors = []
    for rank in (1, 10, 29):
        belief = learn(prior_belief(30, covariance="low-rank", rank=rank), rows, y, order)
        errors.append(np.abs(np.log(fields(belief, rows)[1] / exact)).mean())
    assert errors[0] > errors[1] > errors[2]


@pytest.mark.parametrize("likelihood", ["probit", "flip"])
def test_covariance_stays_symmetric_and_positive_for_a_hundred_thousand_updates(likelihood):
    random = np.random.default_rng(0)
    X = random.normal(size=(1000, 8))
    # Nearly the same direction again and again is the hard case for a covariance that only shrinks.
    X[:, 4:] = X[:, :4] + 1e-3 * random.normal(size=(1000, 4))
    y = np.where(X @ random.normal(size=8) + random.normal(size=1000) > 0, 1.0, -1.0)
    belief = learn(prior_belief(8, likelihood=likelihood), compressed(X), y, np.arange(100_000) % 1000)
    np.testing.assert_array_equal(belief.covariance, belief.covariance.T)
    assert np.linalg.eigvalsh(belief.covariance)[0] > 0
    assert np.isfinite(belief.mean).all()


def test_selected_columns_and_the_constant():
    X, _ = documents(n=10, d=6)
    starts, columns, values = selected(compressed(X), 6, np.array([4, 1]), True)
    found = sp.csr_matrix((values, columns, starts), shape=(10, 3)).toarray()
    np.testing.assert_array_equal(found, np.column_stack([X.toarray()[:, [4, 1]], np.ones(10)]))


def test_repeated_entries_of_a_row_are_summed():
    X = sp.csr_matrix((np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2])), shape=(1, 3))
    starts, columns, values = compressed(X)
    assert (starts.tolist(), columns.tolist(), values.tolist()) == ([0, 1], [1], [3.0])
    assert X.nnz == 2
