"""Bad input to the probit model is named before any work; odd input is taken."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

import linear_cases as cases
import probit_cases as probit
from bayesift import progress
from bayesift.linear import BayesianProbitRegression
from bayesift.priors import Gaussian, Jeffreys, Laplace

X, Y = cases.documents(seed=30, n=30)


def fit(data=X, labels=Y, weights=None, **options):
    names = options.pop("feature_names", None)
    return probit.tight(options.pop("prior", "laplace"), **options).fit(data, labels, weights, names)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variance": -1.0}, "'variance' parameter"),
        ({"variance": "best"}, "'variance' parameter"),
        ({"prior": Laplace.of_gamma([1.0, 2.0])}, "variance has 2 values; expected 5"),
        ({"prior": Laplace.of_gamma({"wheat": 1.0})}, "names the term 'wheat', but the features have no names"),
        ({"prior": "jeffreys", "variance": 1.0}, "variance is 1.0, but a Jeffreys prior has no parameter"),
        ({"prior": "jeffreys", "solver": "newton"}, "solver is 'newton', which needs convex priors"),
        ({"prior": Laplace(sign=1), "solver": "em"}, "solver is 'em', which does not take one-sided priors"),
        ({"prior": Gaussian(1.0, sign={0: 1}), "solver": "block-em"}, "solver is 'block-em'"),
        ({"prior": "lasso"}, "'prior' parameter|prior must be"),
        ({"prior": ["lasso"]}, "prior must be 'laplace', 'gaussian', 'jeffreys' or a prior object, got 'lasso'"),
        ({"prior": ["laplace", "gaussian"]}, "prior lists 2 priors, expected 1"),
        ({"prior": {2.0: "laplace"}}, "prior names the category 2.0"),
        ({"prior": Jeffreys({9: 1.0})}, "mode names 9, which is none of the 5 features"),
        ({"solver": "clg"}, "'solver' parameter"),
        ({"intercept_variance": -0.1}, "'intercept_variance' parameter"),
        ({"tol": 0.0}, "'tol' parameter"),
        ({"tol": 2.0}, "'tol' parameter"),
        ({"max_iter": 0}, "'max_iter' parameter"),
        ({"restarts": 0}, "'restarts' parameter"),
        ({"ridge": 0.0}, "'ridge' parameter"),
        ({"block_size": 0}, "'block_size' parameter"),
        ({"covariance": "none"}, "'covariance' parameter"),
        ({"grid": [1.0, -1.0]}, "grid must be"),
        ({"folds": 3, "runs": 4}, "runs=4 must not exceed folds=3"),
        ({"threshold": "best"}, "threshold is 'best'"),
        ({"feature_names": ["a", "b"]}, "feature_names has 2 names; expected 5"),
    ],
)
def test_bad_settings_are_named_before_any_work(options, message):
    told = []
    with progress.callback(lambda *n: told.append(n)), pytest.raises(ValueError, match=message):
        fit(**options)
    assert not told


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_numbers_that_are_none_are_refused(form, bad):
    spoilt = X.copy()
    spoilt[3, 2] = bad
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
        fit(form(spoilt))
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
        fit().predict(form(spoilt))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.ones(30), "one class only"),
        ([1, "sea"] * 15, "y mixes labels of the types int, str"),
        (np.linspace(0, 1, 30), "Unknown label type: continuous"),
        (np.column_stack([Y, 2 * Y, Y]), "expected an indicator matrix"),
        (Y[:20], "inconsistent numbers of samples"),
        (None, "requires y to be passed"),
    ],
)
def test_bad_labels_are_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        fit(labels=labels)


@pytest.mark.parametrize(
    ("weights", "message"),
    [(np.zeros(30), "at least one non-zero"), (-np.ones(30), "Negative values"), (np.ones(29), r"shape|inconsistent")],
)
def test_bad_weights_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        fit(weights=weights)


def test_other_widths_and_models_without_a_fit_are_refused():
    model = fit()
    for method in (model.predict, model.predict_proba, model.decision_function):
        with pytest.raises(ValueError, match=r"X has 4 features, but .* is expecting 5"):
            method(X[:, :4])
    with pytest.raises(NotFittedError):
        BayesianProbitRegression().predict(X)


@probit.each_solver
@pytest.mark.parametrize("family", ["laplace", "gaussian", "jeffreys"])
def test_documents_without_any_term_give_the_base_rate(family, solver):
    if family == "jeffreys" and solver == "newton":
        return
    model = fit(np.zeros((4, 3)), [0, 0, 0, 1], prior=family, solver=solver)
    assert_array_equal(model.coef_, np.zeros((1, 3)))
    assert_allclose(model.predict_proba(np.zeros((1, 3))), [[0.75, 0.25]], atol=1e-8)


@probit.each_solver
def test_columns_that_repeat_each_other_without_a_penalty(solver):
    doubled = np.column_stack([X, X[:, 0]])
    prior = Gaussian([np.inf, 1, 1, 1, 1, np.inf])
    model = fit(doubled, prior=prior, solver=solver)
    single = fit(X, prior=Gaussian([np.inf, 1, 1, 1, 1]), solver=solver)
    assert model.certificate_.objective[0] == pytest.approx(single.certificate_.objective[0], rel=1e-7)


@probit.each_solver
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("variance", [1e-300, 1e-12, 1e6])
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_extreme_variances_give_finite_answers(family, variance, solver):
    model = fit(prior=family, variance=variance, solver=solver, tol=1e-5 if solver != "newton" else None, max_iter=500)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.certificate_.objective).all()
    assert np.isfinite(model.predict_log_proba(X)).all()
    if variance < 1e-6:
        assert_allclose(model.coef_, 0, atol=1e-6)


@probit.each_solver
@pytest.mark.parametrize("scale", [1e-4, 1e4, 1e30])
def test_weights_of_terms_of_any_size(scale, solver):
    plain = fit(X, prior=Gaussian(2.0), solver=solver)
    scaled = fit(scale * X, prior=Gaussian(2.0 / scale / scale), solver=solver)
    # EM compares the change of all coefficients, the constant's among them, of whatever size each is.
    tolerance = 1e-5 if solver == "newton" else 0.02
    assert_allclose(scaled.decision_function(scale * X), plain.decision_function(X), atol=tolerance)
