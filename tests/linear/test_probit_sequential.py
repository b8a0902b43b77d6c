"""Documents in batches: the posterior of one is the prior of the next."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import linear_cases as cases
import probit_cases as probit
from bayesift.linear import BayesianProbitRegression
from bayesift.priors import Gaussian, Jeffreys, Laplace


def batches(n=400, parts=4, seed=20, d=5):
    X, y = cases.documents(seed=seed, n=n, d=d)
    return X, y, np.array_split(np.arange(n), parts)


def in_batches(X, y, parts, weights=None, **options):
    model = probit.tight(options.pop("prior", Gaussian(2.0)), intercept_variance=2.0, **options)
    for rows in parts:
        own = None if weights is None else weights[rows]
        model.partial_fit(X[rows], y[rows], classes=[-1.0, 1.0], sample_weight=own)
    return model


def hessian(X, y, beta, prior_precision, weights=1.0):
    A = cases.with_constant(X)
    r = y * (A @ beta)
    h = -cases.probit(r)[1]
    return (A.T * (weights * h * (h + r))) @ A + np.diag(prior_precision)


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_the_first_batch_is_a_fit_and_keeps_the_curvature_at_its_mode(covariance):
    X, y, _ = batches()
    weights = np.linspace(0.5, 2, 400)
    model = in_batches(X, y, [np.arange(400)], weights, covariance=covariance)
    whole = probit.tight(Gaussian(2.0), intercept_variance=2.0).fit(X, y, weights)
    assert_array_equal(model.coef_, whole.coef_)
    expected = hessian(X, y, cases.coefficients(whole), np.full(6, 0.5), weights)
    assert_allclose(model.precision_[0], np.diag(expected), rtol=1e-9)
    if covariance == "full":
        assert_allclose(model.precision_matrix_[0], expected, rtol=1e-8, atol=1e-8)
    else:
        assert not hasattr(model, "precision_matrix_")


def test_full_covariances_agree_with_all_documents_at_once():
    X, y, parts = batches()
    sequential = in_batches(X, y, parts, covariance="full")
    whole = in_batches(X, y, [np.arange(400)], covariance="full")
    deviation = np.sqrt(np.diag(np.linalg.inv(whole.precision_matrix_[0])))
    distance = np.abs(cases.coefficients(sequential) - cases.coefficients(whole)) / deviation
    # Four batches of a hundred documents: modes within a quarter of a standard deviation, variances within 15 %.
    assert distance.max() < 0.25
    ratio = np.diag(np.linalg.inv(sequential.precision_matrix_[0])) / deviation**2
    assert_allclose(ratio, 1.0, atol=0.15)
    # The diagonal alone forgets how coefficients depend on each other, and is farther off, but not far.
    diagonal = in_batches(X, y, parts, covariance="diagonal")
    assert np.abs(cases.coefficients(diagonal) - cases.coefficients(whole)).max() < 3 * deviation.max()
    early = in_batches(X, y, parts[:1], covariance="full")
    far = np.abs(cases.coefficients(early) - cases.coefficients(whole)) / deviation
    assert far.max() > 2 * distance.max()


def test_more_documents_in_each_batch_agree_better():
    errors = {}
    for n in (100, 8000):
        distances = []
        for seed in range(5):
            X, y, parts = batches(n, 4, seed=seed)
            whole = in_batches(X, y, [np.arange(n)], covariance="full")
            sequential = in_batches(X, y, parts, covariance="full")
            deviation = np.sqrt(np.diag(np.linalg.inv(whole.precision_matrix_[0])))
            distances.append(np.abs((cases.coefficients(sequential) - cases.coefficients(whole)) / deviation).max())
        errors[n] = np.mean(distances)
    assert errors[8000] < 0.5 * errors[100]
    assert errors[8000] < 0.06


@pytest.mark.parametrize("solver", ["newton", "em"])
@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_the_second_batch_has_the_mode_of_its_posterior(covariance, solver):
    X, y, (first, second) = batches(80, 2)
    model = in_batches(X, y, [first], covariance=covariance, solver=solver)
    mean = cases.coefficients(model)
    precision = model.precision_matrix_[0] if covariance == "full" else np.diag(model.precision_[0])
    model.partial_fit(X[second], y[second])
    beta, A = cases.coefficients(model), cases.with_constant(X[second])
    slope = A.T @ (y[second] * -cases.probit(y[second] * (A @ beta))[1])
    assert_allclose(slope, precision @ (beta - mean), atol=1e-5)
    expected = hessian(X[second], y[second], beta, np.zeros(6)) + precision
    assert_allclose(model.precision_[0], np.diag(expected), rtol=1e-6)


def test_copies_of_a_batch_are_weights():
    X, y, parts = batches(80, 2)
    doubled = in_batches(np.repeat(X, 2, axis=0), np.repeat(y, 2), [np.repeat(rows * 2, 2) for rows in parts])
    weighted = in_batches(X, y, parts, np.full(80, 2.0))
    assert_allclose(doubled.coef_, weighted.coef_, atol=1e-6)


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_a_laplace_prior_enters_by_its_variance_and_fixed_terms_stay(covariance):
    X, y, parts = batches(120, 3)
    prior = Laplace([2.0, 0.0, 2.0, 2.0, 2.0], [0.0, 0.3, 0.0, 0.0, 0.0])
    model = in_batches(X, y, parts[:1], prior=prior, covariance=covariance)
    expected = np.diag(hessian(X[parts[0]], y[parts[0]], cases.coefficients(model), np.full(6, 0.5))).copy()
    expected[1] = np.inf
    assert_allclose(model.precision_[0], expected, rtol=1e-9)
    for rows in parts[1:]:
        model.partial_fit(X[rows], y[rows])
    assert model.coef_[0, 1] == 0.3
    assert np.all(model.coef_ != 0)
    assert np.isfinite(model.coef_).all()


def test_labels_of_several_kinds_and_batches_without_some_of_them():
    X, y, parts = batches(120, 3)
    three = np.array(["a", "b", "c"])[np.argmax(X[:, :3], axis=1)]
    model = BayesianProbitRegression("gaussian", variance=1.0, intercept_variance=1.0)
    for rows in parts:
        model.partial_fit(X[rows], three[rows], classes=["a", "b", "c"])
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.score(X, three) > 0.7
    only = np.flatnonzero(three == "a")[:5]
    model.partial_fit(X[only], three[only])
    assert model.coef_.shape == (3, 5)
    indicator = np.column_stack([three == "a", y > 0]).astype(int)
    several = BayesianProbitRegression("gaussian", variance=1.0, intercept_variance=1.0, covariance="full")
    for form in (np.asarray, sp.csr_matrix, np.asarray):
        several.partial_fit(X, form(indicator))
    assert several.predict(X).shape == (120, 2)
    assert several.precision_matrix_.shape == (2, 6, 6)


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_a_fit_can_go_on(covariance):
    X, y, (first, second) = batches(80, 2)
    model = probit.tight(Gaussian(2.0), intercept_variance=2.0, covariance=covariance).fit(X[first], y[first])
    model.partial_fit(X[second], y[second])
    assert_allclose(model.coef_, in_batches(X, y, [first, second], covariance=covariance).coef_, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "labels", "arguments", "message"),
    [
        ({}, "y", {}, "classes must be given at the first call"),
        ({}, "y", {"classes": [1.0]}, r"classes has one only: 1\.0$"),
        ({}, "y", {"classes": [1.0, 2.0]}, r"y holds -1\.0, which is none of the classes \[1.0, 2.0\]"),
        ({"prior": [Jeffreys()], "variance": "cv"}, "y", {"classes": [-1, 1]}, "prior is Jeffreys or one-sided"),
        ({"prior": Laplace(sign=1)}, "y", {"classes": [-1, 1]}, "prior is Jeffreys or one-sided"),
        ({"threshold": "max_f1"}, "y", {"classes": [-1, 1]}, "threshold is 'max_f1'; expected 'half'"),
        ({}, "ones", {"classes": [-1, 1]}, "are of one class, so an unpenalised intercept would be infinite"),
    ],
)
def test_bad_first_batches(options, labels, arguments, message):
    X, y, _ = batches(40, 1)
    options = {"prior": "gaussian", "variance": 1.0, **options}
    with pytest.raises(ValueError, match=message):
        BayesianProbitRegression(**options).partial_fit(X, y if labels == "y" else np.ones(40), **arguments)


def test_bad_later_batches():
    X, y, _ = batches(40, 1)
    model = BayesianProbitRegression("gaussian", variance=1.0).partial_fit(X, y, classes=[-1, 1])
    with pytest.raises(ValueError, match=r"classes is .*; expected .* as in the first call"):
        model.partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="y has 2 dimensions, unlike that of earlier calls"):
        model.partial_fit(X, np.column_stack([y, y]) > 0)
    with pytest.raises(ValueError, match=r"X has 4 features, but .* is expecting 5"):
        model.partial_fit(X[:, :4], y)
    several = BayesianProbitRegression("gaussian", variance=1.0).partial_fit(X, np.column_stack([y, -y]) > 0)
    with pytest.raises(ValueError, match="y has 3 columns; expected 2"):
        several.partial_fit(X, np.column_stack([y, -y, y]) > 0)
    with pytest.raises(ValueError, match="covariance is 'full', but the model was fitted with 'diagonal'"):
        model.set_params(covariance="full").partial_fit(X, y)
    for prior in ("jeffreys", Jeffreys()):
        with pytest.raises(AttributeError, match="no attribute 'partial_fit'"):
            BayesianProbitRegression(prior).partial_fit(X, y, classes=[-1, 1])
    flat = BayesianProbitRegression(Gaussian([np.inf, 1, 1, 1, 1]), covariance="full")
    empty = X.copy()
    empty[:, 0] = 0.0
    flat.partial_fit(empty, y, classes=[-1, 1])
    with pytest.raises(ValueError, match="covariance='full' needs a proper prior for every feature"):
        flat.partial_fit(X, y)
