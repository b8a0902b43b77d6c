"""The probit estimator: strengths of the prior, labels, probabilities, restarts, choice of γ, decisions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import log_ndtr, ndtr
from sklearn.base import clone

import linear_cases as cases
import probit_cases as probit
from bayesift.linear import BayesianLogisticRegression, BayesianProbitRegression
from bayesift.priors import Gaussian, Jeffreys, Laplace


def test_gamma_rate_and_variance_say_the_same():
    X, y = cases.documents(n=60)
    by_variance = probit.tight(variance=0.5).fit(X, y)
    for prior in (Laplace.of_rate(2.0), Laplace.of_gamma(4.0)):
        assert_array_equal(probit.tight(prior).fit(X, y).coef_, by_variance.coef_)
        assert prior.variance == 0.5
    assert by_variance.variance_.tolist() == [0.5]
    assert_array_equal(probit.tight(Laplace(), variance=0.5).fit(X, y).coef_, by_variance.coef_)


@probit.each_solver
def test_gamma_of_each_feature(solver):
    X, y = cases.documents(n=60)
    gamma = np.array([1.0, 4.0, 9.0, 0.25, 1.0])
    expected = probit.tight(Laplace(2 / gamma), solver=solver).fit(X, y)
    found = probit.tight(Laplace.of_gamma(gamma), solver=solver).fit(X, y)
    assert_array_equal(found.coef_, expected.coef_)
    by_rate = probit.tight(Laplace.of_rate(np.sqrt(gamma).tolist()), solver=solver).fit(X, y)
    assert_array_equal(by_rate.coef_, expected.coef_)
    names = list("abcde")
    mapped = Laplace.of_gamma(dict(zip(names, gamma, strict=True)))
    assert_allclose(probit.tight(mapped, solver=solver).fit(X, y, feature_names=names).coef_, expected.coef_)
    moved = probit.tight(Laplace.of_gamma(gamma, mode=0.2), solver=solver).fit(X, y)
    assert_array_equal(moved.coef_, probit.tight(Laplace(2 / gamma, 0.2), solver=solver).fit(X, y).coef_)
    # Without a penalty, and fixed.
    free = probit.tight(Laplace.of_gamma([0.0, np.inf, 1.0, 1.0, 1.0]), solver=solver).fit(X, y)
    assert free.coef_[0, 1] == 0.0
    assert free.certificate_.gap[0] == np.inf


def test_cross_validation_takes_a_variance_of_the_grid():
    X, y = cases.documents(n=80)
    gammas = np.array([0.1, 1.0, 10.0])
    chosen = probit.tight(variance="cv", grid=2.0 / gammas, folds=4, runs=3).fit(X, y)
    assert chosen.variance_[0] in 2.0 / gammas
    again = probit.tight(variance=chosen.variance_[0]).fit(X, y)
    assert_allclose(again.coef_, chosen.coef_, atol=1e-8)
    default = BayesianProbitRegression(folds=4).fit(X, y)
    assert default.cv_results_[0]["variances"].size == 10


def test_the_search_takes_the_likelihood_of_this_model():
    X, y = cases.documents(n=80)
    grid = [0.01, 1.0, 100.0]
    model = probit.tight(variance="cv", grid=grid, folds=4, runs=4).fit(X, y)
    logistic = BayesianLogisticRegression(variance="cv", grid=grid, folds=4, runs=4, tol=1e-12).fit(X, y)
    scores = model.cv_results_[0]["scores"]
    assert np.all(scores < 0)
    assert not np.allclose(scores, logistic.cv_results_[0]["scores"], rtol=1e-3)
    # The weakest of priors, near the maximum of the likelihood: both models fit about as well.
    assert scores[1] == pytest.approx(logistic.cv_results_[0]["scores"][1], rel=0.1)


def test_probabilities_are_the_normal_distribution_function_exact_in_the_tails():
    model = probit.tight(Laplace(0.0, 1.0), intercept_variance=0.0)
    model.fit([[1.0], [-1.0], [2.0]], ["no", "yes", "yes"])
    z = np.array([-1e4, -40.0, -8.0, -0.5, 0.0, 3.0, 40.0, 1e4])
    assert_array_equal(model.decision_function(z[:, None]), z)
    assert_allclose(model.predict_proba(z[:, None]), np.column_stack([ndtr(-z), ndtr(z)]), rtol=1e-12, atol=1e-300)
    logs = model.predict_log_proba(z[:, None])
    assert_allclose(logs, np.column_stack([log_ndtr(-z), log_ndtr(z)]), rtol=1e-12)
    # ln Φ(−40) = −40²/2 − ln(40 √(2π)) − 1/40² + …
    assert logs[1, 1] == pytest.approx(-800 - np.log(40 * np.sqrt(2 * np.pi)) - 1 / 1600, abs=1e-5)
    assert logs[0, 1] == pytest.approx(-5e7, rel=1e-6)


@pytest.mark.parametrize("prior", ["laplace", "gaussian", "jeffreys"])
def test_more_classes_are_trained_one_against_the_rest(prior):
    X, _ = cases.documents(n=90)
    y = np.array(["c", "a", "b"])[np.argmax(X[:, :3] + 0.5 * X[:, 2:5], axis=1)]
    model = probit.tight(prior).fit(X, y)
    for k, label in enumerate("abc"):
        assert_array_equal(model.coef_[k], probit.tight(prior).fit(X, y == label).coef_[0])
    chances = ndtr(model.decision_function(X))
    assert_allclose(model.predict_proba(X), chances / chances.sum(axis=1, keepdims=True), rtol=1e-10)
    assert_array_equal(model.predict(X), model.classes_[np.argmax(model.decision_function(X), axis=1)])


@probit.each_solver
def test_an_indicator_equals_separate_fits_whatever_the_threads(solver):
    X, y = cases.documents(n=60)
    Y = np.column_stack([y > 0, X[:, 0] > 0.2, X[:, 1] > 0]).astype(int)
    # The same steps lead to the same numbers, wherever they end.
    options = {"variance": 1.0, "solver": solver, "threshold": "min_error", **cases.stopping(solver, 1e-12, 1e-3)}
    separate = [probit.tight(**options).fit(X, labels) for labels in Y.T]
    for form in (np.asarray, sp.csr_matrix):
        model = probit.tight(**options, n_jobs=2).fit(X, form(Y))
        for k, one in enumerate(separate):
            assert_array_equal(model.coef_[k], one.coef_[0])
            assert_array_equal(model.predict(X)[:, k], one.predict(X))


def test_a_prior_for_each_category_chooses_its_solver():
    X, y = cases.documents(n=60)
    Y = np.column_stack([y > 0, X[:, 0] > 0, X[:, 1] > 0.5]).astype(int)
    model = probit.tight([Jeffreys(), "laplace", Gaussian(0.5)], variance=1.0).fit(X, Y)
    assert model.restarts_[0] is not None
    assert model.restarts_[1] is model.restarts_[2] is None
    assert model.certificate_.gap[0] == np.inf
    assert np.all(model.certificate_.relative_gap[1:] < 1e-9)
    assert_array_equal(model.coef_[0], probit.tight("jeffreys").fit(X, Y[:, 0]).coef_[0])
    assert_array_equal(model.coef_[2], probit.tight(Gaussian(0.5)).fit(X, Y[:, 2]).coef_[0])
    assert np.isnan(model.variance_).tolist() == [True, False, True]


def many_optima():
    """Features that say the same, so that which of them is kept depends on the start."""
    random = np.random.default_rng(40)
    common = random.normal(size=40)
    X = common[:, None] + 0.9 * random.normal(size=(40, 8))
    return X, np.where(common + 0.5 * random.normal(size=40) > 0, "yes", "no")


def test_restarts_keep_the_best_and_say_that_they_differ():
    X, y = many_optima()
    with pytest.warns(UserWarning, match="category yes: 8 starts led to different optima") as caught:
        model = probit.tight("jeffreys", restarts=8).fit(X, y)
    assert len(caught) == 1
    values = model.restarts_[0]
    assert values.shape == (8,)
    assert np.ptp(values) > 0.01
    assert model.certificate_.objective[0] == -values.max()
    single = probit.tight("jeffreys").fit(X, y)
    assert single.restarts_[0].tolist() == [values[0]]
    with pytest.warns(UserWarning, match="8 starts"):
        again = probit.tight("jeffreys", restarts=8).fit(X, y)
    assert_array_equal(again.coef_, model.coef_)
    with pytest.warns(UserWarning, match="8 starts"):
        other = probit.tight("jeffreys", restarts=8, random_state=1).fit(X, y)
    assert not np.array_equal(other.restarts_[0], values)


def test_restarts_that_agree_are_silent_and_convex_priors_need_none():
    X, y = cases.documents(seed=41, n=200, d=2)
    model = probit.tight("jeffreys", restarts=4).fit(X, y)
    assert np.ptp(model.restarts_[0]) < 1e-6 * np.abs(model.restarts_[0]).max()
    assert probit.tight("laplace", restarts=4, solver="em").fit(X, y).restarts_ == [None]


def test_the_ridge_start_decides_what_jeffreys_finds():
    X, y = many_optima()
    found = {ridge: probit.tight("jeffreys", ridge=ridge).fit(X, y) for ridge in (1.0, 1000.0)}
    assert not np.allclose(found[1.0].coef_, found[1000.0].coef_, atol=1e-3)


@probit.each_solver
def test_a_warm_start_ends_at_the_same_optimum(solver):
    X, y = cases.documents(n=60)
    model = probit.tight(variance=0.5, solver=solver, warm_start=True).fit(X, y)
    cold = model.coef_.copy()
    rounds = model.n_iter_[0]
    model.fit(X, y)
    assert_allclose(model.coef_, cold, atol=1e-6)
    if solver != "newton":
        assert model.n_iter_[0] < rounds
    model.set_params(variance=5.0).fit(X, y)
    assert_allclose(model.coef_, probit.tight(variance=5.0, solver=solver).fit(X, y).coef_, atol=1e-5)


def test_thresholds_weights_and_names():
    X, y = cases.documents(n=60)
    frame = pd.DataFrame(X, columns=list("abcde"))
    prior = Laplace(1.0, {"a": 0.5})
    model = probit.tight(prior, threshold="max_f1", threshold_on="cv", folds=3).fit(frame, y)
    assert model.feature_names_in_.tolist() == list("abcde")
    assert np.isfinite(model.threshold_.thresholds_).all()
    weights = np.append(np.full(20, 2.0), np.ones(40))
    weighted = probit.tight(prior).fit(X, y, sample_weight=weights, feature_names=list("abcde"))
    plain = Laplace(1.0, [0.5, 0, 0, 0, 0])
    expected = probit.tight(plain).fit(np.vstack([X, X[:20]]), np.append(y, y[:20]))
    assert_allclose(weighted.coef_, expected.coef_, atol=1e-7)


def test_balanced_classes_are_weights():
    X, y = cases.documents(n=60)
    share = np.where(y > 0, 30 / np.sum(y > 0), 30 / np.sum(y < 0))
    balanced = probit.tight(class_weight="balanced").fit(X, y)
    assert_allclose(balanced.coef_, probit.tight().fit(X, y, sample_weight=share).coef_, atol=1e-8)


def test_one_class_has_the_probability_of_a_smoothed_base_rate():
    X, y = cases.documents(n=60)
    Y = np.column_stack([y > 0, np.zeros(60)]).astype(int)
    with pytest.warns(UserWarning, match="category 1: one class only"):
        model = probit.tight().fit(X, Y)
    assert_allclose(model.predict_proba(X)[:, 1], 0.5 / 61)


def test_settings_survive_cloning_and_sparse_coefficients_predict_the_same():
    X, y = cases.documents(n=60)
    model = probit.tight("jeffreys", restarts=2, ridge=3.0)
    assert clone(model).get_params() == model.get_params()
    fitted = probit.tight(Laplace.of_rate(2.0)).fit(X, y)
    before = fitted.predict_proba(X)
    assert_allclose(fitted.sparsify().predict_proba(X), before)


@probit.each_em
def test_a_limit_of_rounds_warns(solver):
    X, y = cases.documents(n=60)
    with pytest.warns(UserWarning, match="1 of 1 fits reached max_iter=2 rounds"):
        model = probit.tight(variance=1.0, solver=solver, max_iter=2).fit(X, y)
    assert not model.certificate_.converged[0]
    assert model.certificate_.gap[0] > 0
