"""The posterior mode against scipy, whose optimisers know the objective only as a function."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer

import linear_cases as cases
from bayesift.linear import BayesianLogisticRegression
from bayesift.linear._solvers import newton, ridge
from bayesift.priors import Gaussian, Laplace

INF = np.inf
# Variance, mode and sign of five features.
PRIORS = {
    "plain": (0.5, 0.0, 0),
    "weak": (100.0, 0.0, 0),
    "strong": (0.01, 0.0, 0),
    "modes": (0.3, [1.0, -2.0, 0.0, 0.5, 3.0], 0),
    "positive": (1.0, 0.0, 1),
    "negative": (1.0, 0.0, -1),
    "one-sided from modes": (0.8, [0.5, -0.5, 1.0, -1.0, 0.0], [1, -1, 1, -1, 1]),
    "some free": ([INF, 0.5, INF, 0.5, 0.5], 0.0, 0),
    "some free and one-sided": ([INF, 0.5, INF, 0.5, 0.5], [0.2, 0.0, -0.3, 0.0, 0.0], [1, 1, -1, 0, -1]),
    "some fixed": ([0.0, 0.5, 0.0, 0.5, 2.0], [0.7, 0.0, -0.4, 0.0, 0.0], 0),
    "all free": (INF, 0.0, 0),
    "everything": ([INF, 0.0, 0.05, 2.0, 30.0], [0.1, 0.2, -0.3, 0.4, 0.0], [0, 1, -1, 0, 1]),
}
# Setting of the model, mode of the prior, and what both mean.
INTERCEPTS = {"free": (INF, 0.0), "penalised": (0.2, 0.0), "with mode": (0.2, -1.5), "fixed": (0.0, 0.4)}
WEIGHTS = {
    "ones": np.ones(60),
    "some zero": np.tile([0.0, 1.0, 2.5], 20),
    "spread": np.geomspace(0.01, 10, 60),
}


def check(X, y, model, p, weights=1.0):
    beta = cases.coefficients(model)
    expected, least = cases.reference(X, y, p, weights)
    found = cases.objective(X, y, beta, p, weights)
    assert p.allows(beta)
    assert found == pytest.approx(least, rel=1e-8)
    assert model.certificate_.objective[0] == pytest.approx(found, rel=1e-12)
    assert_allclose(beta, expected, atol=1e-4)


@cases.each_solver
@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_every_prior(family, name, solver):
    X, y = cases.documents(seed=3, n=60)
    variance, mode, sign = PRIORS[name]
    prior = cases.FAMILIES[family](variance, mode, sign=sign)
    model = cases.tight(prior, solver=solver).fit(X, y)
    check(X, y, model, cases.penalties(family, variance, mode, sign, 5))


@pytest.mark.parametrize("name", PRIORS)
def test_every_prior_by_steps_for_large_sets(name, monkeypatch):
    # As if five features were too many for a matrix of their curvature.
    monkeypatch.setattr(newton, "_SMALL", 0)
    monkeypatch.setattr(newton, "_WORTH_A_MATRIX", 0.0)
    X, y = cases.documents(seed=3, n=60)
    variance, mode, sign = PRIORS[name]
    model = cases.tight(Laplace(variance, mode, sign=sign)).fit(X, y)
    check(X, y, model, cases.penalties("laplace", variance, mode, sign, 5))


@pytest.mark.parametrize("entries", [0, 1000])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_ridge_from_dual_ascent_and_from_the_modes(intercept, entries, monkeypatch):
    # As if all documents were long, or all of them short.
    monkeypatch.setattr(ridge, "_SHORT", entries)
    X, y = cases.documents(seed=4, n=60)
    variance, mode = INTERCEPTS[intercept]
    prior = Gaussian(0.7, intercept_mode=mode)
    model = cases.tight(prior, intercept_variance=variance).fit(X, y, WEIGHTS["some zero"])
    check(X, y, model, cases.penalties("gaussian", 0.7, 0, 0, 5, variance, mode), WEIGHTS["some zero"])


def test_a_gap_found_small_at_the_end_is_a_proof():
    random = np.random.default_rng(2677)
    X = sp.random(
        40, 400 // random.choice([1, 3, 10]), 1 / 40, "csc", random_state=2677, data_rvs=random.standard_normal
    )
    X = X[:, random.integers(0, X.shape[1], 400)].tocsr()
    y = random.integers(0, 2, 40)
    found = BayesianLogisticRegression("laplace", variance=1000.0, tol=1e-4).fit(X, y).certificate_
    assert found.relative_gap[0] <= 1e-4
    assert found.converged.all()


@pytest.mark.parametrize("seed", [94, 100, 101])
def test_ridge_with_a_wide_prior_on_long_documents(seed):
    random = np.random.default_rng(seed)
    X = sp.random(150, 1500, 1 / 30, "csr", random_state=random, data_rvs=random.standard_normal)
    y = random.integers(0, 2, 150)
    model = BayesianLogisticRegression("gaussian", variance=1e5, tol=1e-6).fit(X, y)
    assert model.certificate_.converged.all()
    assert model.certificate_.relative_gap[0] <= 1e-6


@pytest.mark.parametrize("variance", [0.5, 20.0, 2000.0])
def test_joint_steps_on_short_documents_reach_the_same_optimum(variance, monkeypatch):
    random = np.random.default_rng(2)
    X = sp.random(800, 150, 0.04, "csr", random_state=random)
    y = np.where(X @ random.normal(size=150) + 0.3 * random.normal(size=800) > 0.0, 1.0, -1.0)
    by_matrix = cases.tight("laplace", variance).fit(X, y)
    taken = []
    joint = newton.joint_step
    monkeypatch.setattr(newton, "joint_step", lambda *arguments: taken.append(1) or joint(*arguments))
    monkeypatch.setattr(newton, "_SMALL", 0)
    monkeypatch.setattr(newton, "_WORTH_A_MATRIX", 0.0)
    together = cases.tight("laplace", variance).fit(X, y)
    assert taken
    assert together.certificate_.converged.all()
    assert together.certificate_.relative_gap[0] < 1e-9
    assert_allclose(together.coef_, by_matrix.coef_, atol=1e-6)


@pytest.mark.parametrize("variance", [1.0, 1e4])
def test_few_columns_of_different_scales_that_depend_on_each_other(variance):
    """Coordinate descent alone takes hundreds of rounds, or ends at a gap near 1."""
    X, y = load_breast_cancer(return_X_y=True)
    certificate = BayesianLogisticRegression("laplace", variance).fit(X, y).certificate_
    assert certificate.relative_gap.max() <= 1e-6
    assert certificate.passes.max() <= 100


@pytest.mark.parametrize("seed", range(5))
def test_few_words_away_from_their_modes_among_many_that_nearly_move(seed):
    random = np.random.default_rng(seed)
    X = sp.random(40, 133, 1 / 40, "csc", random_state=random, data_rvs=random.standard_normal)
    X = X[:, random.integers(0, 133, 400)].tocsr()  # equal columns are all as near
    y = random.integers(0, 2, 40)
    found = BayesianLogisticRegression("laplace", variance=1000.0, tol=1e-6).fit(X, y).certificate_
    assert found.converged.all()
    assert found.relative_gap[0] <= 1e-6


@cases.each_solver
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_every_intercept_with_weights(family, intercept, weights, solver):
    X, y = cases.documents(seed=4, n=60)
    variance, mode = INTERCEPTS[intercept]
    prior = cases.FAMILIES[family](0.7, intercept_mode=mode)
    model = cases.tight(prior, intercept_variance=variance, solver=solver).fit(X, y, WEIGHTS[weights])
    check(X, y, model, cases.penalties(family, 0.7, 0, 0, 5, variance, mode), WEIGHTS[weights])


@cases.each_solver
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_an_intercept_like_any_other_coefficient_equals_a_column_of_ones(family, solver):
    X, y = cases.documents(seed=5, n=60)
    same = cases.tight(family, 0.3, intercept_variance="same", solver=solver).fit(X, y)
    check(X, y, same, cases.penalties(family, 0.3, 0, 0, 5, 0.3))
    column = cases.tight(family, 0.3, intercept_variance=0.0, solver=solver).fit(cases.with_constant(X), y)
    assert_allclose(cases.coefficients(same), column.coef_[0], atol=1e-7)
    assert column.intercept_[0] == 0.0


@cases.each_solver
def test_the_intercepts_own_variance_in_the_prior_wins(solver):
    X, y = cases.documents(seed=5, n=60)
    prior = Laplace(0.3, intercept_variance=0.01)
    model = cases.tight(prior, intercept_variance=INF, solver=solver).fit(X, y)
    check(X, y, model, cases.penalties("laplace", 0.3, 0, 0, 5, 0.01))


@cases.each_solver
def test_slsqp_agrees_on_one_sided_priors(solver):
    # A second optimiser, with the signs as inequality constraints instead of bounds.
    X, y = cases.documents(seed=6, n=60)
    sign = np.array([1, -1, 1, 1, -1])
    model = cases.tight(Gaussian(2.0, sign=sign), solver=solver).fit(X, y)
    p = cases.penalties("gaussian", 2.0, 0, sign, 5)
    constraint = {"type": "ineq", "fun": lambda beta: sign * beta[:5]}
    found = minimize(
        lambda beta: cases.objective(X, y, beta, p),
        np.zeros(6),
        method="SLSQP",
        constraints=constraint,
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert np.any(model.coef_ == 0.0)
    assert_allclose(cases.coefficients(model), found.x, atol=1e-4)


@cases.each_solver
@settings(max_examples=40, deadline=None)
@given(
    sample=cases.any_documents(),
    family=st.sampled_from(["laplace", "gaussian"]),
    data=st.data(),
)
def test_random_problems(solver, sample, family, data):
    X, y = sample
    d = X.shape[1]

    def per_feature(values):
        return np.array(data.draw(st.lists(st.sampled_from(values), min_size=d, max_size=d)))

    variance = per_feature([0.0, 0.01, 0.1, 1.0, 10.0])
    mode, sign = per_feature([-1.0, 0.0, 0.0, 0.5]), per_feature([-1, 0, 0, 1])
    weights = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=len(y), max_size=len(y))))
    weights[:2] = 1.0
    intercept = data.draw(st.sampled_from([0.0, 0.5, INF]))
    prior = cases.FAMILIES[family](variance, mode, sign=sign)
    model = cases.tight(prior, intercept_variance=intercept, solver=solver).fit(X, y, weights)
    p = cases.penalties(family, variance, mode, sign, d, intercept)
    _, least = cases.reference(X, y, p, weights)
    assert p.allows(cases.coefficients(model))
    assert cases.objective(X, y, cases.coefficients(model), p, weights) <= least + 1e-8 * (1 + least)
    assert model.certificate_.dual[0] <= least + 1e-9 * (1 + least)


@cases.each_solver
def test_both_solvers_reach_the_optimum_on_text(solver):
    # Two estimates of one optimum: the gap proves each of them, so they prove each other.
    X, Y, *_ = cases.news()
    for family, variance in (("laplace", 0.5), ("gaussian", 1.0)):
        model = cases.tight(family, variance, solver=solver).fit(X, Y[:, :3])
        other = cases.tight(family, variance, solver="clg", tol=1e-10).fit(X, Y[:, :3])
        assert_allclose(model.certificate_.objective, other.certificate_.objective, rtol=1e-9)
        assert_allclose(model.coef_, other.coef_, atol=1e-5)
        assert_array_equal(np.abs(model.coef_) > 1e-4, np.abs(other.coef_) > 1e-4)
