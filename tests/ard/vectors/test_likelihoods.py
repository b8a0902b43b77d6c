"""Mode, covariance and evidence of the weights against brute force on small problems."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime, minimize
from scipy.special import log_expit
from scipy.stats import multivariate_normal, norm

from ard_cases import golden, random_tags
from bayesift.ard.vectors._basis import Basis, Curvature
from bayesift.ard.vectors._likelihoods import Gaussian, Logistic


def logistic(t, weights=None):
    return Logistic(2.0 * t - 1, np.ones(len(t)) if weights is None else weights)


def log_joint(X, t, alpha, w, weights=1.0):
    return np.sum(weights * log_expit((2 * t - 1) * (X @ w))) - 0.5 * alpha @ w**2


def test_golden_mode_and_evidence():
    X, t = golden()
    found = logistic(t).posterior(Basis(sp.csc_matrix(X)), np.full(8, 0.5), np.zeros(8))
    expected = [2.140321, 2.072015, -0.899810, -3.402503, -0.553664, -0.496269, -0.329096, -0.080662]
    assert_allclose(found.mean, expected, atol=1e-6)
    assert found.log_evidence == pytest.approx(-26.559728, abs=1e-6)


@pytest.mark.parametrize("form", [np.asarray, sp.csc_matrix, sp.csr_matrix])
@pytest.mark.parametrize("shape", [(20, 4), (5, 9)])
def test_the_mode_is_scipys_and_the_curvature_its_hessian(shape, form):
    """Both with fewer functions than objects and with more."""
    n, d = shape
    X, t = random_tags(2, n=n, d=d)
    random = np.random.default_rng(0)
    alpha, weights = random.uniform(0.1, 3, d), random.uniform(0.5, 2, n)
    found = logistic(t, weights).posterior(Basis(form(X)), alpha, np.zeros(d))
    other = minimize(lambda w: -log_joint(X, t, alpha, w, weights), np.zeros(d), method="BFGS", options={"gtol": 1e-9})
    assert_allclose(found.mean, other.x, atol=1e-5)
    p = 1 / (1 + np.exp(-X @ found.mean))
    hessian = X.T @ ((weights * p * (1 - p))[:, None] * X) + np.diag(alpha)
    inverse = np.linalg.inv(hessian)
    assert_allclose(found.curvature.inverse(), inverse, atol=1e-10)
    assert_allclose(found.curvature.inverse_diagonal(), np.diag(inverse), atol=1e-10)
    columns = random.normal(size=(d, 3))
    assert_allclose(found.curvature.quadratic(columns), np.einsum("ij,ij->j", columns, inverse @ columns), atol=1e-10)
    evidence = (
        log_joint(X, t, alpha, found.mean, weights) + 0.5 * np.log(alpha).sum() - 0.5 * np.linalg.slogdet(hessian)[1]
    )
    assert found.log_evidence == pytest.approx(evidence, abs=1e-9)
    assert_allclose(found.residual, weights * (t - p), atol=1e-9)


def test_laplaces_evidence_is_near_the_integral():
    X, t = random_tags(7, n=60, d=2)
    alpha = np.array([0.7, 1.5])
    found = logistic(t).posterior(Basis(X), alpha, np.zeros(2))
    grid = np.linspace(-8, 8, 401)
    points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    heights = log_expit((points @ X.T) * (2 * t - 1)).sum(axis=1) - 0.5 * points**2 @ alpha
    integral = np.log(np.exp(heights).sum() * (grid[1] - grid[0]) ** 2) + 0.5 * np.log(alpha).sum() - np.log(2 * np.pi)
    assert found.log_evidence == pytest.approx(integral, abs=0.02)


@pytest.mark.parametrize("shape", [(15, 4), (6, 9)])
def test_the_evidence_of_regression_is_that_of_a_normal_distribution(shape):
    random = np.random.default_rng(1)
    X, targets = random.normal(size=shape), random.normal(size=shape[0])
    alpha = random.uniform(0.1, 5, shape[1])
    likelihood = Gaussian(targets, np.ones(shape[0]), 0.3, None)
    found = likelihood.posterior(Basis(X), alpha, np.zeros(shape[1]))
    covariance = 0.3 * np.eye(shape[0]) + X / alpha @ X.T
    assert found.log_evidence == pytest.approx(multivariate_normal(np.zeros(shape[0]), covariance).logpdf(targets))
    gradient = approx_fprime(found.mean, lambda w: -0.5 * np.sum((targets - X @ w) ** 2) / 0.3 - 0.5 * alpha @ w**2)
    assert_allclose(gradient, 0, atol=1e-5)
    assert likelihood.with_new_noise(Basis(X), alpha, found) is likelihood


def test_no_functions_at_all():
    t = np.array([0, 1, 1])
    found = logistic(t).posterior(Basis(np.empty((3, 0))), np.empty(0), np.empty(0))
    assert found.log_evidence == pytest.approx(3 * np.log(0.5))
    targets = np.array([0.1, -0.4])
    found = Gaussian(targets, np.ones(2), 2.0, None).posterior(Basis(np.empty((2, 0))), np.empty(0), np.empty(0))
    assert found.log_evidence == pytest.approx(norm(0, np.sqrt(2)).logpdf(targets).sum())


def test_precisions_far_apart_are_no_trouble():
    X, t = random_tags(4, n=30, d=3)
    alpha = np.array([1e-8, 1.0, 1e9])
    found = logistic(t).posterior(Basis(X), alpha, np.zeros(3))
    assert abs(found.mean[2]) < 1e-6
    assert np.isfinite(found.log_evidence)
    assert_allclose(Curvature(Basis(X), found.b, alpha).inverse()[2, 2], 1e-9, rtol=1e-6)
