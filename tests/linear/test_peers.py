"""The same optimum as scikit-learn and LIBLINEAR on text."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression
from sklearn.utils.fixes import parse_version

import linear_cases as cases

TOPICS = ("energy", "sport")


@cache
def peer_fit(topic, dense=False, **options):
    """A model of scikit-learn, fitted once for all of our solvers; newton-cholesky wants dense documents."""
    X = cases.news().X
    return LogisticRegression(**options).fit(X.toarray() if dense else X, target(topic))


def target(topic):
    _, Y, _, topics = cases.news()
    return Y[:, topics.index(topic)]


@cases.each_solver
@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("variance", [0.1, 1.0, 30.0])
def test_ridge_equals_newton_cholesky_and_lbfgs(variance, topic, solver):
    X, y = cases.news().X, target(topic)
    model = cases.tight("gaussian", variance, solver=solver).fit(X, y)
    for peer in ("newton-cholesky", "lbfgs"):
        # C = v; both leave the intercept free.
        other = peer_fit(topic, dense=True, C=variance, solver=peer, tol=1e-8, max_iter=10_000)
        assert_allclose(model.coef_, other.coef_, atol=2e-5 * (1 + np.abs(other.coef_).max()))
        assert_allclose(model.intercept_, other.intercept_, atol=1e-4)


@cases.each_solver
@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("rate", [0.3, 1.0, 3.0])
def test_lasso_equals_liblinear_which_penalises_the_intercept(rate, topic, solver):
    X, y = cases.news().X, target(topic)
    model = cases.tight("laplace", 2 / rate**2, intercept_variance="same", solver=solver).fit(X, y)
    # C = 1/λ.
    options = {**cases.L1_PENALTY, "C": 1 / rate, "solver": "liblinear", "tol": 1e-8, "max_iter": 100_000}
    other = peer_fit(topic, **options, intercept_scaling=1.0, random_state=0)
    assert_allclose(model.coef_, other.coef_, atol=1e-4)
    assert_allclose(model.intercept_, other.intercept_, atol=1e-4)
    assert model.n_nonzero_[0] == np.count_nonzero(np.abs(other.coef_) > 1e-6)


@cases.each_solver
def test_lasso_with_a_free_intercept_equals_saga(solver):
    X, y = cases.news().X, target("health")
    model = cases.tight("laplace", 2.0, solver=solver).fit(X, y)
    other = peer_fit("health", **cases.L1_PENALTY, C=1.0, solver="saga", tol=1e-8, max_iter=100_000, random_state=0)
    assert_allclose(model.coef_, other.coef_, atol=1e-4)
    assert_allclose(model.intercept_, other.intercept_, atol=1e-4)


@pytest.mark.skipif(parse_version("1.7") > cases.SKLEARN, reason="balanced classes knew of no weights before 1.7")
@cases.each_solver
def test_balanced_classes_and_weights_equal_scikit_learn(solver):
    X, y = cases.news().X, target("sport")
    weights = np.random.default_rng(0).uniform(0, 3, len(y))
    model = cases.tight("gaussian", 1.0, class_weight="balanced", solver=solver).fit(X, y, weights)
    options = {"solver": "newton-cholesky", "tol": 1e-10, "class_weight": "balanced"}
    other = LogisticRegression(**options).fit(X.toarray(), y, weights)
    assert_allclose(model.coef_, other.coef_, atol=1e-5)
    assert_allclose(model.predict_proba(X), other.predict_proba(X.toarray()), atol=1e-5)
