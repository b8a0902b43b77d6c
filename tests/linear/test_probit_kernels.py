"""The probit loss, its dual and the steps of EM against scipy, numeric integration and dense formulas."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.special import log_ndtr
from scipy.stats import truncnorm

import linear_cases as cases
from bayesift.linear._fit.problem import design_of
from bayesift.linear._losses import (
    LOGISTIC,
    PROBIT,
    guarded_curvature,
    log_probability,
    loss_terms,
    margins_of_slopes,
    probit_dual,
    probit_terms,
    score_of_probability,
)
from bayesift.linear._solvers.em import Regression, Scale, latent_of, ridge_start
from bayesift.priors import Jeffreys, Laplace

WHOLE_RANGE = np.concatenate([np.linspace(-60, 60, 4001), -np.logspace(1, 150, 300), np.logspace(1, 150, 300)])


def terms(r, s=None):
    s = np.ones_like(r) if s is None else s
    u, w = np.empty_like(r), np.empty_like(r)
    return probit_terms(r, s, u, w), u, w


def test_loss_slope_and_curvature_over_the_whole_range():
    r = WHOLE_RANGE
    loss = np.array([terms(r[[i]])[0] for i in range(r.size)])
    _, h, w = terms(r)
    assert_allclose(loss, -log_ndtr(r), rtol=1e-12, atol=1e-300)
    # φ/Φ by logarithms, which lose digits far out: there h = −r (1 + 1/r² − …) on the left.
    near = np.abs(r) < 35
    assert_allclose(h[near], np.exp(-(r[near] ** 2) / 2 - np.log(2 * np.pi) / 2 - log_ndtr(r[near])), rtol=1e-12)
    left = r < -35
    assert_allclose(h[left], -r[left] + -1 / r[left], rtol=1e-5)
    assert np.all(np.isfinite(h))
    assert np.all((w >= 0) & (w <= 1))
    assert_allclose(w[left], 1 - 1 / r[left] ** 2, atol=1e-5)
    # The curvature falls from 1 to 0: the loss is convex, and bends most on the wrong side.
    order = np.argsort(r)
    assert np.all(np.diff(w[order]) <= 1e-11)


@pytest.mark.parametrize("r", [-30.0, -5.0, -1.0, -0.1, 0.0, 0.2, 1.5, 6.0])
def test_slope_and_curvature_are_derivatives(r):
    step = 1e-5 * max(1, abs(r))
    around = np.array([r - step, r, r + step])
    loss = -log_ndtr(around)
    _, h, w = terms(around)
    assert_allclose(-h[1], (loss[2] - loss[0]) / (2 * step), rtol=1e-6, atol=1e-9)
    assert_allclose(w[1], -(h[2] - h[0]) / (2 * step), rtol=1e-6, atol=1e-9)


def test_weights_multiply_everything():
    r, s = np.linspace(-3, 3, 7), np.arange(7.0)
    loss, h, w = terms(r)
    weighted, u, v = terms(r, s)
    assert weighted == pytest.approx(-s @ log_ndtr(r), rel=1e-14)
    assert_allclose(u, s * h)
    assert_allclose(v, s * w)
    assert loss == pytest.approx(-log_ndtr(r).sum(), rel=1e-14)


@settings(max_examples=300, deadline=None)
@given(r=st.floats(-1e6, 37.0), guess=st.floats(-1e3, 1e3))
def test_the_margin_of_a_slope(r, guess):
    _, h, _ = terms(np.array([r]))
    found = np.array([guess])
    margins_of_slopes(h, found, np.empty(1), np.empty(1))
    assert_allclose(terms(found)[1], h, rtol=1e-6)
    assert found[0] == pytest.approx(r, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("factor", [1.0, 0.999, 0.5, 1e-3, 1e-8])
def test_the_dual_is_the_least_of_loss_plus_linear(factor):
    r = np.array([-30.0, -2.0, -0.5, 0.0, 0.5, 2.0, 6.0])
    for place, margin in enumerate(r):
        y, s, offset = np.array([1.0 if place % 2 else -1.0]), np.array([1.5]), np.array([0.3])
        u = terms(np.array([margin]), s)[1]
        found = probit_dual(y, s, offset, u, np.array([margin]), factor, factor)
        t = factor * u[0] / s[0]
        # −f*(−t) = min_ρ f(ρ) + tρ
        least = minimize_scalar(
            lambda x, t=t: -log_ndtr(x) + t * x, bounds=(-40, 40), method="bounded", options={"xatol": 1e-10}
        ).fun
        assert found == pytest.approx(s[0] * (least - t * y[0] * offset[0]), rel=1e-8, abs=1e-12)


def test_documents_without_weight_or_slope_add_nothing_to_the_dual():
    y, offset = np.array([1.0, -1.0, 1.0]), np.ones(3)
    s, r = np.array([0.0, 1.0, 1.0]), np.array([0.5, 60.0, 500.0])
    u = terms(r, s)[1]
    assert probit_dual(y, s, offset, u, r, 1.0, 0.5) == pytest.approx(0.0, abs=1e-290)


def test_the_loss_is_chosen_by_its_code():
    r, s = np.linspace(-3, 3, 7), np.ones(7)
    u, w = np.empty(7), np.empty(7)
    for link, loss in ((LOGISTIC, cases.logistic), (PROBIT, cases.probit)):
        value, slope = loss(r)
        assert loss_terms(link, r, s, u, w) == pytest.approx(value.sum())
        assert_allclose(u, -slope, rtol=1e-12)
        assert_allclose(log_probability(link, r), -value, rtol=1e-12)
        assert log_probability(link, np.array([score_of_probability(link, 0.2)]))[0] == pytest.approx(np.log(0.2))
    assert_allclose(guarded_curvature(PROBIT, r, s, u, w, 1.0), w)
    loss_terms(LOGISTIC, r, s, u, w)
    assert np.all(guarded_curvature(LOGISTIC, r, s, u, w, 1.0)[:3] > w[:3])


@pytest.mark.parametrize("eta", [-40.0, -6.0, -1.0, 0.0, 0.7, 5.0, 40.0])
@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_the_expected_latent_score_is_the_mean_of_a_truncated_normal(eta, label):
    prior = Laplace(1.0).resolve(1).extended(Laplace(1.0).resolve_intercept(0.0))
    columns = tuple(np.array(part, dtype) for part, dtype in (([0, 1], "u4"), ([0], "u4"), ([1.0], "f8")))
    latent = latent_of(columns, np.array([label]), np.ones(1), np.zeros(1), prior)
    v = eta + latent.slopes(np.array([eta]))[0]
    bounds = (-eta, np.inf) if label > 0 else (-np.inf, -eta)
    assert np.sign(v) == label
    assert v == pytest.approx(truncnorm.mean(*bounds, loc=eta), rel=1e-6)
    if abs(eta) < 20:
        # Densities relative to their greatest value, so that nothing underflows.
        peak = max(eta * label, 0.0) * label
        side = (0.0, 60.0) if label > 0 else (-60.0, 0.0)

        def density(z):
            return np.exp(-((z - eta) ** 2 - (peak - eta) ** 2) / 2)

        total = quad(density, *side, points=[peak], limit=200)[0]
        assert v == pytest.approx(quad(lambda z: z * density(z), *side, points=[peak], limit=200)[0] / total, rel=1e-7)


@pytest.mark.parametrize("gamma", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("beta", [-2.0, 0.05, 0.7])
def test_exponential_variances_give_the_laplace_density_and_the_weight_of_the_m_step(gamma, beta):
    def joint(tau):
        normal = np.exp(-(beta**2) / (2 * tau)) / np.sqrt(2 * np.pi * tau)
        return normal * gamma / 2 * np.exp(-gamma * tau / 2)

    density = quad(joint, 0, np.inf, limit=500, epsabs=1e-13)[0]
    root = np.sqrt(gamma)
    assert density == pytest.approx(root / 2 * np.exp(-root * abs(beta)), rel=1e-6)
    assert density == pytest.approx(np.exp(Laplace(2 / gamma).log_density([beta])), rel=1e-6)
    inverse = quad(lambda tau: joint(tau) / tau, 0, np.inf, limit=500, epsabs=1e-13)[0] / density
    # The paper prints γ/|β|; the mean of 1/τ is √γ/|β|.
    assert inverse == pytest.approx(root / abs(beta), rel=1e-6)
    prior = Laplace(2 / gamma).resolve(1).extended(Laplace(2 / gamma).resolve_intercept(0.0))
    columns = tuple(np.array(part, dtype) for part, dtype in (([0, 1], "u4"), ([0], "u4"), ([1.0], "f8")))
    latent = latent_of(columns, np.ones(1), np.ones(1), np.zeros(1), prior)
    assert Scale(latent.prior, np.array([0])).at(np.array([beta]))[0] ** -2 == pytest.approx(inverse, rel=1e-6)


def test_jeffreys_variances_give_the_density_one_over_beta():
    prior = Jeffreys().resolve(1).extended(Jeffreys().resolve_intercept(0.0))
    columns = tuple(np.array(part, dtype) for part, dtype in (([0, 1], "u4"), ([0], "u4"), ([1.0], "f8")))
    latent = latent_of(columns, np.ones(1), np.ones(1), np.zeros(1), prior)
    for beta in (0.3, -2.0):

        def joint(tau, beta=beta):
            return np.exp(-(beta**2) / (2 * tau)) / np.sqrt(2 * np.pi * tau) / tau

        density = quad(joint, 0, np.inf, limit=500)[0]
        assert density == pytest.approx(1 / abs(beta), rel=1e-6)
        inverse = quad(lambda tau: joint(tau) / tau, 0, np.inf, limit=500)[0] / density
        assert Scale(latent.prior, np.array([0])).at(np.array([beta]))[0] ** -2 == pytest.approx(inverse, rel=1e-6)


@settings(max_examples=50, deadline=None)
@given(sample=cases.any_documents(), seed=st.integers(0, 10**6), size=st.sampled_from([0.1, 1.0, 10.0]))
def test_the_log_posterior_is_concave_and_its_hessian_the_formula(sample, seed, size):
    A, y = cases.with_constant(sample.X), sample.y
    random = np.random.default_rng(seed)
    beta, variance = size * random.normal(size=A.shape[1]), random.uniform(0.1, 5)
    _, _, w = terms(y * (A @ beta))
    hessian = -(A.T * w) @ A - np.eye(A.shape[1]) / variance
    assert np.linalg.eigvalsh(hessian).max() < 0

    def gradient(point):
        return A.T @ (y * terms(y * (A @ point))[1]) - point / variance

    direction = random.normal(size=A.shape[1])
    step = 1e-5 / np.linalg.norm(direction)
    change = (gradient(beta + step * direction) - gradient(beta - step * direction)) / (2 * step)
    assert_allclose(hessian @ direction, change, rtol=1e-4, atol=1e-5 * np.abs(change).max())


@pytest.mark.parametrize(("n", "d"), [(30, 6), (6, 30), (8, 8)])
@pytest.mark.parametrize("flat", [(), (0,), (1, 3)])
def test_both_systems_of_the_m_step_are_the_dense_formula(n, d, flat):
    random = np.random.default_rng(n)
    X, s, v = random.normal(size=(n, d)), random.uniform(0.5, 2, n), random.normal(size=n)
    U = random.uniform(0.1, 2, d)
    penalised = np.ones(d, dtype=bool)
    penalised[list(flat)] = False
    omega = np.where(penalised, U**-2, 0.0)
    U[~penalised] = 1.0
    expected = np.linalg.solve(np.diag(omega) + (X.T * s) @ X, X.T @ (s * v))
    regression = Regression(sp.csc_matrix(X), s, penalised)
    assert_allclose(regression.solve(U, s * v), expected, rtol=1e-8, atol=1e-10)
    # Again with the factors at hand, and for another target.
    assert_allclose(regression.solve(U, 2 * s * v), 2 * expected, rtol=1e-8, atol=1e-10)
    assert_allclose(regression.scores(expected), X @ expected)


def test_columns_leave_the_m_step_one_by_one():
    random = np.random.default_rng(3)
    X, s, v, U = random.normal(size=(40, 9)), np.ones(40), random.normal(size=40), random.uniform(0.1, 2, 9)
    regression = Regression(sp.csc_matrix(X), s, np.ones(9, dtype=bool))
    regression.solve(U, s * v)
    left = np.arange(9)
    for gone in ([2], [0, 7], [1], [0, 1, 2]):
        mask = np.isin(np.arange(left.size), gone)
        regression.drop(mask)
        left = left[~mask]
        A = X[:, left]
        expected = np.linalg.solve(np.diag(U[left] ** -2) + A.T @ A, A.T @ v)
        assert_allclose(regression.solve(U[left], v), expected, rtol=1e-9)
        assert_allclose(regression.scores(expected), A @ expected)


def test_the_m_step_with_a_coefficient_at_zero_keeps_it_there():
    random = np.random.default_rng(4)
    X, v = random.normal(size=(20, 3)), random.normal(size=20)
    found = Regression(sp.csc_matrix(X), np.ones(20), np.ones(3, dtype=bool)).solve(np.array([1.0, 0.0, 1.0]), v)
    assert found[1] == 0.0
    A = X[:, [0, 2]]
    assert_allclose(found[[0, 2]], np.linalg.solve(np.eye(2) + A.T @ A, A.T @ v), rtol=1e-10)


@pytest.mark.parametrize("by_blocks", [False, True])
@pytest.mark.parametrize("ridge", [1.0, 100.0])
def test_the_ridge_start(by_blocks, ridge):
    X, y = cases.documents(seed=2, n=30)
    s = np.tile([0.0, 1.0, 2.0], 10)
    design = design_of(X)
    prior = Jeffreys().resolve(5).extended(Jeffreys().resolve_intercept("same"))
    latent = latent_of(design.columns, y, s, np.zeros(30), prior)
    A = cases.with_constant(X)
    expected = np.linalg.solve((A.T * s) @ A + ridge * np.eye(6), A.T @ (s * y))
    assert_allclose(ridge_start(latent, ridge, by_blocks), expected, rtol=1e-4, atol=1e-6)
