"""The relevance vector machines as their users meet them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import multivariate_normal
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.multiclass import OneVsRestClassifier

from ard_cases import golden, random_tags, telling_tags
from bayesift.ard import RelevanceVectorMachine, RelevanceVectorRegressor
from bayesift.ard.vectors._basis import Basis
from bayesift.ard.vectors._fast import largest_slope
from bayesift.ard.vectors._likelihoods import Logistic
from bayesift.ard.vectors._reestimation import Relevance


def test_golden_fixed_point():
    machine = RelevanceVectorMachine("mackay", fit_intercept=False, max_iter=5000, tol=1e-9).fit(*golden())
    expected = [6.54277, 5.117218, -3.047668, -10.129596, -0.761826, -0.099492, -1.098455, 0]
    assert_allclose(machine.coef_[0], expected, atol=5e-4)
    assert machine.log_evidence_ == pytest.approx(-15.466677, abs=1e-4)
    assert machine.relevant_.tolist() == [True] * 7 + [False]
    alpha, weights = machine.alpha_[:7], machine.coef_[0, :7]
    assert_allclose(alpha, (1 - alpha * np.diag(machine.sigma_)) / weights**2, rtol=1e-5)


def laplace(X, t, alpha):
    kept = np.isfinite(alpha)
    basis = Basis(X[:, kept])
    return Logistic(2.0 * t - 1, np.ones(len(t))).posterior(basis, alpha[kept], np.zeros(kept.sum())).log_evidence


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_fast_is_as_good_as_a_search_by_brute_force(seed):
    """The best Laplace evidence over a grid of α for every set of two functions."""
    X, t = random_tags(seed, n=40, d=2)
    t[:25] = X[:25, 0]
    machine = RelevanceVectorMachine(fit_intercept=False, tol=1e-9).fit(X, t)
    grid = [*np.geomspace(1e-3, 1e3, 40), np.inf]
    best = max(laplace(X, t, np.array([a, b])) for a in grid for b in grid)
    # B is held fixed when a change is promised, so that a little may be left on the table
    assert machine.log_evidence_ > best - 0.02
    assert machine.log_evidence_ == pytest.approx(laplace(X, t, machine.alpha_), abs=1e-6)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_the_evidence_of_fast_only_rises(seed):
    X, t = telling_tags(seed, n=60, d=6)
    t[:2] = 0, 1
    machine = RelevanceVectorMachine().fit(X, t)
    assert machine.log_evidence_path_[0] == pytest.approx(60 * np.log(0.5))
    assert np.diff(machine.log_evidence_path_).min(initial=1.0) > 0
    assert machine.log_evidence_path_[-1] == machine.log_evidence_


@pytest.mark.parametrize("solver", ["fast", "mackay"])
def test_regression_reaches_the_greatest_evidence(solver):
    random = np.random.default_rng(3)
    X = random.normal(size=(30, 3))
    y = 2 * X[:, 0] - 0.6 * X[:, 1] + random.normal(0, 0.5, 30)
    model = RelevanceVectorRegressor(solver, fit_intercept=False, noise_variance=0.25, tol=1e-9, max_iter=20_000).fit(
        X, y
    )

    def negative(log_alpha):
        covariance = 0.25 * np.eye(30) + X / np.exp(log_alpha) @ X.T
        return -multivariate_normal(np.zeros(30), covariance).logpdf(y)

    best = minimize(negative, np.zeros(3), method="L-BFGS-B", bounds=[(-10, 20)] * 3)
    assert model.log_evidence_ == pytest.approx(-best.fun, abs=1e-3)
    assert model.noise_variance_ == 0.25


@pytest.mark.parametrize("solver", ["fast", "mackay"])
def test_regression_finds_noise_and_functions(solver):
    random = np.random.default_rng(5)
    X = random.normal(size=(400, 8))
    y = 3 + 2 * X[:, 2] - X[:, 5] + random.normal(0, 0.4, 400)
    model = RelevanceVectorRegressor(solver, tol=1e-4).fit(X, y)
    assert model.relevant_[[2, 5]].all()
    assert_allclose(model.coef_[[2, 5]], [2, -1], atol=0.1)
    assert model.intercept_ == pytest.approx(3, abs=0.1)
    assert model.noise_variance_ == pytest.approx(0.16, rel=0.2)
    mean, deviation = model.predict(X, return_std=True)
    assert np.mean(np.abs(y - mean) < 2 * deviation) > 0.9
    assert_allclose(mean, X @ model.coef_ + model.intercept_)


def test_the_certificate_is_the_slope_of_the_evidence():
    """For regression with given noise the promise is exact, so that differences of the evidence show it."""
    random = np.random.default_rng(3)
    X = random.normal(size=(30, 5))
    y = 2 * X[:, 0] - 0.6 * X[:, 1] + random.normal(0, 0.5, 30)

    def evidence(alpha):
        kept = np.isfinite(alpha)
        return multivariate_normal(np.zeros(30), 0.25 * np.eye(30) + X[:, kept] / alpha[kept] @ X[:, kept].T).logpdf(y)

    options = {"fit_intercept": False, "noise_variance": 0.25}
    with pytest.warns(ConvergenceWarning):
        early = RelevanceVectorRegressor("mackay", max_iter=3, **options).fit(X, y)
    alpha, step = early.alpha_, 1e-4
    slopes = [
        (evidence(alpha * np.exp(step * unit)) - evidence(alpha * np.exp(-step * unit))) / (2 * step)
        for unit in np.eye(5)
    ]
    assert np.isfinite(alpha).all()
    assert early.certificate_.kkt_residual[0] == pytest.approx(np.max(np.abs(slopes)), rel=1e-5)
    assert not early.certificate_.converged[0]
    # Without any function the gain of one is that of its quality over its sparsity.
    with pytest.warns(ConvergenceWarning):
        one = RelevanceVectorRegressor(max_iter=1, **options).fit(X, y)
    assert one.certificate_.kkt_residual[0] > 1
    done = RelevanceVectorRegressor(tol=1e-12, **options).fit(X, y)
    assert done.certificate_.kkt_residual[0] < 1e-4
    assert done.certificate_.objective.tolist() == [-done.log_evidence_]
    assert np.isinf(done.certificate_.gap[0])


@pytest.mark.parametrize("outside", [False, True])
def test_the_certificate_of_a_classifier_counts_that_its_curvature_changes(outside):
    X, t = random_tags(3, n=40, d=3)
    if outside:
        t[:25] = X[:25, 2]
    alpha = np.array([0.3, 2.0, np.inf if outside else 5.0])
    kept = np.flatnonzero(np.isfinite(alpha))
    likelihood = Logistic(2.0 * t - 1, np.ones(40))
    posterior = likelihood.posterior(Basis(X[:, kept]), alpha[kept], np.zeros(kept.size))
    found = Relevance(kept, alpha[kept], posterior, likelihood, np.zeros(1), True)

    def evidence(unit, step):
        return laplace(X, t, np.where(np.isfinite(alpha), alpha, 1e300) * np.exp(step * unit))

    slopes = [(evidence(unit, 1e-3) - evidence(unit, -1e-3)) / 2e-3 for unit in np.eye(3)[kept]]
    if outside:
        z = X[:, 2] - X[:, :2] @ posterior.curvature.solve(X[:, :2].T @ (posterior.b * X[:, 2]))
        s = posterior.b @ (X[:, 2] * z)
        gain = laplace(X, t, np.append(alpha[:2], 1e6)) - posterior.log_evidence
        slopes.append(1e6 * gain / s)
        assert slopes[-1] > 2 * np.max(np.abs(slopes[:-1]))
    assert largest_slope(Basis(X), found) == pytest.approx(np.max(np.abs(slopes)), rel=1e-3)


def test_weights_of_words_unless_there_is_a_kernel():
    X, t = telling_tags(0)
    machine = RelevanceVectorMachine().fit(X, t)
    assert machine.target_type_ == "binary"
    assert_array_equal(machine.word_weights(), machine.coef_)
    assert RelevanceVectorMachine(kernel="rbf").fit(X, t).word_weights() is None
    assert_array_equal(machine.scores_to_log_proba(machine.decision_function(X)), machine.predict_log_proba(X))


def test_targets_without_noise_or_without_change():
    X = np.random.default_rng(0).normal(size=(20, 2))
    exact = RelevanceVectorRegressor().fit(X, X @ [1.0, -2.0])
    assert_allclose(exact.coef_, [1, -2], atol=1e-3)
    constant = RelevanceVectorRegressor().fit(X, np.full(20, 7.0))
    assert_allclose(constant.predict(X), 7.0, atol=1e-3)


# The classes can be told apart, so that some α fall for a long time.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", ["fast", "mackay"])
def test_a_kernel_makes_functions_of_objects(solver):
    random = np.random.default_rng(1)
    X = random.normal(size=(80, 2))
    y = np.where(np.sum(X**2, axis=1) < 1.2, "in", "out")
    machine = RelevanceVectorMachine(solver, kernel="rbf", gamma=0.5, tol=1e-3).fit(X, y)
    assert machine.score(X, y) > 0.9
    kept = np.flatnonzero(machine.relevant_)
    assert 0 < kept.size < 40
    assert_array_equal(machine.relevance_vectors_, X[kept])
    mean = rbf_kernel(X, X[kept], gamma=0.5) @ machine.coef_[0, kept] + machine.intercept_
    assert_allclose(machine.log_odds(X)[0], mean, atol=1e-10)
    with pytest.raises(ValueError, match="no features are selected"):
        machine.transform(X)
    own = RelevanceVectorMachine(kernel=lambda a, b: float(np.exp(-0.5 * np.sum((a - b) ** 2)))).fit(X, y)
    assert_allclose(own.coef_, RelevanceVectorMachine(kernel="rbf", gamma=0.5).fit(X, y).coef_, atol=1e-6)


def test_moderation_draws_towards_one_half_and_no_further():
    X, t = telling_tags(0)
    machine = RelevanceVectorMachine().fit(X, t)
    plain = RelevanceVectorMachine(moderated=False).fit(X, t)
    mean, deviation = machine.log_odds(X)
    assert_allclose(plain.decision_function(X), mean)
    assert_allclose(machine.predict_proba(X)[:, 1], expit(mean / np.sqrt(1 + np.pi * deviation**2 / 8)))
    assert np.all(np.abs(machine.predict_proba(X) - 0.5) <= np.abs(plain.predict_proba(X) - 0.5) + 1e-12)
    assert_array_equal(machine.predict(X), plain.predict(X))
    kept = np.append(X[:, machine.relevant_], np.ones((len(X), 1)), axis=1)[:, : len(machine.sigma_)]
    assert_allclose(deviation**2, np.einsum("ij,jk,ik->i", kept, machine.sigma_, kept), atol=1e-10)


@pytest.mark.parametrize("solver", ["fast", "mackay"])
@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csc_array, pd.DataFrame])
def test_any_form_of_the_matrix(form, solver):
    X, t = telling_tags(2, n=80)
    expected = RelevanceVectorMachine(solver, tol=1e-3).fit(X, t)
    machine = RelevanceVectorMachine(solver, tol=1e-3).fit(form(X), t)
    assert_allclose(machine.coef_, expected.coef_, atol=1e-5)
    assert_allclose(machine.predict_proba(form(X)), expected.predict_proba(X), atol=1e-6)


def test_a_weight_of_two_is_two_objects():
    X, t = telling_tags(5, n=60)
    weights = np.random.default_rng(0).integers(0, 3, 60)
    rows = np.repeat(np.arange(60), weights)
    weighted, copied = RelevanceVectorMachine().fit(X, t, weights), RelevanceVectorMachine().fit(X[rows], t[rows])
    assert weighted.log_evidence_ == pytest.approx(copied.log_evidence_, rel=1e-6)
    assert_allclose(weighted.coef_, copied.coef_, atol=1e-4)
    y = X[:, 0] + np.random.default_rng(1).normal(size=60)
    one, two = RelevanceVectorRegressor().fit(X, y, weights), RelevanceVectorRegressor().fit(X[rows], y[rows])
    assert one.log_evidence_ == pytest.approx(two.log_evidence_, rel=1e-6)


def test_names_and_sparse_coefficients():
    X, t = telling_tags(3)
    frame = pd.DataFrame(X, columns=[f"tag{j}" for j in range(10)])
    machine = RelevanceVectorMachine().fit(frame, t)
    assert {"tag0", "tag1"} <= set(machine.get_feature_names_out())
    before = machine.predict_proba(frame)
    assert sp.issparse(machine.sparsify().coef_)
    assert_array_equal(machine.predict_proba(frame), before)


def test_swapping_the_classes_turns_the_weights_over():
    X, t = telling_tags(4)
    here, there = RelevanceVectorMachine().fit(X, t), RelevanceVectorMachine().fit(X, 1 - t)
    assert_allclose(here.coef_, -there.coef_, atol=1e-6)
    assert here.log_evidence_ == pytest.approx(there.log_evidence_)


def test_one_against_the_rest():
    X, t = telling_tags(8)
    assert OneVsRestClassifier(RelevanceVectorMachine()).fit(X, t + X[:, 2]).predict_proba(X).shape == (120, 3)


def test_reaching_the_limit_warns_with_numbers():
    X, t = telling_tags(1)
    with pytest.warns(ConvergenceWarning, match=r"reached max_iter=2 with \d+ functions left and a log evidence of -"):
        RelevanceVectorMachine("mackay", max_iter=2).fit(X, t)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        RelevanceVectorMachine(max_iter=1).fit(X, t)


X3 = [[0.0, 1.0], [1.0, 0.5], [0.3, 1.0]]


@pytest.mark.parametrize(
    ("options", "y", "message"),
    [
        ({}, [1, 1, 1], "RelevanceVectorMachine needs samples of two classes, but y has one class only: 1"),
        ({}, [1, 2, 3], "y has 3 labels; wrap it"),
        ({}, [[0, 1], [1, 0], [1, 1]], "several columns"),
        ({}, ["a", 1, "b"], "y mixes labels"),
        ({"solver": "slow"}, [0, 1, 1], "solver"),
        ({"tol": 0.0}, [0, 1, 1], "tol"),
        ({"kernel": "unheard of"}, [0, 1, 1], "unheard of"),
    ],
)
def test_bad_input(options, y, message):
    with pytest.raises(ValueError, match=message):
        RelevanceVectorMachine(**options).fit(X3, y)
