"""Laplace's method and expectation propagation against integration, importance sampling and plain formulas."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit, logsumexp
from sklearn.exceptions import ConvergenceWarning

from bayesift.posterior import expectation_propagation, gibbs_sampling, laplace_approximation
from bayesift.posterior._bases import CoefficientBasis
from bayesift.posterior._links import averaged_log_probability
from bayesift.posterior._problem import Problem
from bayesift.posterior.laplace import Coordinates, cavities
from bayesift.posterior.propagation import propagate
from bayesift.priors import Gaussian
from posterior_cases import LOG_P, by_integration, few_texts, small_problem

LINKS = ["logistic", "probit"]


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("intercept_variance", [1.0, np.inf])
@pytest.mark.parametrize("mode", [0.0, 1.0])
def test_expectation_propagation_is_close_to_the_integral(link, intercept_variance, mode):
    X, y = small_problem()
    variance = [4.0, 4.0, intercept_variance]
    evidence, mean, covariance, _, _ = by_integration(X, y, variance, [mode, mode, 0.0], link)
    found = expectation_propagation(X, y, Gaussian(4.0, mode=mode), link=link, intercept_variance=intercept_variance)
    deviations = np.sqrt(np.diag(covariance))
    assert found.converged
    assert found.log_evidence == pytest.approx(evidence, abs=0.03)
    assert np.all(np.abs(np.append(found.coef, found.intercept) - mean) < 0.03 * deviations)
    ends = found.coef_interval(mass=0.6826894921370859)
    np.testing.assert_allclose((ends[:, 1] - ends[:, 0]) / 2, deviations, rtol=0.04)


@pytest.mark.parametrize("link", LINKS)
def test_averaged_probabilities_are_close_to_the_integral(link):
    X, y = small_problem()
    *_, grid, mass = by_integration(X, y, [4.0, 4.0, 1.0], link=link)
    new = np.array([[0.0, 0.0], [2.0, -1.0], [-1.0, 0.5]])
    scores = grid @ np.column_stack([new, np.ones(3)]).T
    expected = mass @ np.exp(LOG_P[link](scores))
    found = expectation_propagation(X, y, Gaussian(4.0), link=link, intercept_variance=1.0)
    np.testing.assert_allclose(found.predict_proba(new), expected, atol=0.005)
    order = np.argsort(scores[:, 1])
    ends = scores[order, 1][np.searchsorted(np.cumsum(mass[order]), [0.05, 0.95])]
    np.testing.assert_allclose(found.predict_interval(new, 0.9)[1], np.exp(LOG_P[link](ends)), atol=0.03)


@pytest.mark.parametrize("link", LINKS)
def test_laplace_is_the_gaussian_at_the_mode_of_all_coefficients(link):
    X, y, _ = few_texts(n=15, d=60)
    found = laplace_approximation(X, y, Gaussian(2.0), link=link)
    A = np.column_stack([X.toarray(), np.ones(15)])
    signs, beta = np.where(y > 0, 1.0, -1.0), np.append(found.coef, found.intercept)
    precision = np.append(np.full(60, 0.5), 0.0)

    def gradient(beta):
        h = 1e-6
        log_p = LOG_P[link]
        r = signs * (A @ beta)
        return A.T @ (signs * (log_p(r + h) - log_p(r - h)) / (2 * h)) - precision * beta

    assert np.abs(gradient(beta)).max() < 1e-6
    hessian = -np.column_stack([(gradient(beta + e) - gradient(beta - e)) / 2e-4 for e in 1e-4 * np.eye(61)])
    new = np.column_stack([few_texts(n=5, d=60, seed=3)[0].toarray(), np.ones(5)])
    means, variances = found.score_moments(new[:, :-1])
    np.testing.assert_allclose(means, new @ beta, atol=1e-8)
    np.testing.assert_allclose(variances, np.diag(new @ np.linalg.inv(hessian) @ new.T), rtol=1e-4)
    at_mode = LOG_P[link](signs * (A @ beta)).sum() - 0.5 * precision @ beta**2 + 30 * np.log(0.5 / (2 * np.pi))
    evidence = at_mode + 30.5 * np.log(2 * np.pi) - 0.5 * np.linalg.slogdet(hessian)[1]
    assert found.log_evidence == pytest.approx(evidence, abs=1e-4)


def test_after_one_step_of_newton_the_curvature_is_that_of_the_new_place():
    X, y = small_problem(n=14)
    A, weights = np.column_stack([X, np.ones(14)]), np.tile([1.0, 2.0], 7)
    precision = np.diag([0.5, 0.5, 1.0])
    # At 0 every document has the probability 1/2 and the curvature 1/4.
    beta = np.linalg.solve(A.T @ (0.25 * weights[:, None] * A) + precision, A.T @ (weights * (y - 0.5)))
    options = {"intercept_variance": 1.0, "sample_weight": weights}
    with pytest.warns(ConvergenceWarning):
        found = laplace_approximation(X, y, Gaussian(2.0), max_iter=1, **options)
    np.testing.assert_allclose(np.append(found.coef, found.intercept), beta, rtol=1e-9)
    p = expit(A @ beta)
    covariance = np.linalg.inv(A.T @ ((weights * p * (1 - p))[:, None] * A) + precision)
    np.testing.assert_allclose(found.score_moments(X)[1], np.diag(A @ covariance @ A.T), rtol=1e-9)
    assert np.abs(laplace_approximation(X, y, Gaussian(2.0), **options).coef - beta[:2]).max() > 1e-3


@pytest.mark.parametrize("variance", [1.0, 1e4])
def test_the_mode_is_found_from_a_place_where_full_steps_go_much_too_far(variance):
    rng = np.random.default_rng(0)
    X = 10.0 * rng.normal(size=(30, 3))
    y = (X[:, 0] + 5.0 * rng.normal(size=30) > 0).astype(int)
    # The prior is sure of the wrong label of most documents, where the curvature is next to nothing.
    mode = np.array([-8.0, 5.0, 3.0])
    found = laplace_approximation(X, y, Gaussian(variance, mode=mode), intercept_variance=1.0)
    A, beta = np.column_stack([X, np.ones(30)]), np.append(found.coef, found.intercept)
    pull = (beta - np.append(mode, 0.0)) / np.array([variance] * 3 + [1.0])
    np.testing.assert_allclose(A.T @ (y - expit(A @ beta)), pull, atol=1e-5)


@pytest.mark.parametrize("seed", [1, 4, 18, 26, 30, 31])
def test_a_mode_that_is_exact_to_rounding_is_reached(seed):
    """Columns far from 0 and of very different scales: an intercept without penalty makes up for what they are from."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((24, 5)) * 10.0 ** np.array([-3, 0, 3, 5, 7]) - 1e5
    y = rng.integers(0, 2, 24)
    y[:2] = 0, 1
    found, centred = (laplace_approximation(Z, y, Gaussian(3e4)) for Z in (X, X - X.mean(axis=0)))
    assert found.converged
    assert found.n_iter < 50
    deviations = np.diff(centred.coef_interval(0.6826894921370859)[:-1], axis=1)[:, 0] / 2
    assert np.all(np.abs(found.coef - centred.coef) < 1e-4 * deviations)


@pytest.mark.parametrize("approximate", [laplace_approximation, expectation_propagation])
def test_a_column_that_rounding_does_not_tell_from_the_intercept_is_refused(approximate):
    with pytest.raises(ValueError, match="the posterior is lost to rounding"):
        approximate(np.full((20, 1), 1e20), np.arange(20) % 3 == 0, Gaussian(1e12))


def test_a_cavity_is_the_belief_that_the_factor_of_a_document_turns_into_its_own():
    rng = np.random.default_rng(1)
    means, variances, t, w = rng.normal(size=9), rng.exponential(2, 9), rng.normal(size=9), rng.exponential(1, 9)
    # N(m, v) exp(t f − ½ w f²) is a Gaussian again.
    with_it = 1 / (1 / variances + w)
    found = cavities(with_it * (means / variances + t), with_it, t, w)
    np.testing.assert_allclose(found, (means, variances), rtol=1e-10)
    # What rounding would make negative is very wide instead.
    assert 0 < cavities(np.zeros(1), np.ones(1), np.zeros(1), np.array([1.0 + 1e-15]))[1][0] <= 1e10


@pytest.mark.parametrize("link", LINKS)
def test_evidence_by_importance_sampling_with_many_words(link):
    X, y, _ = few_texts(n=12, d=100)
    found = expectation_propagation(X, y, Gaussian(3.0), link=link, intercept_variance=2.0)
    A = np.column_stack([X.toarray(), np.ones(12)])
    K = A @ np.diag(np.append(np.full(100, 3.0), 2.0)) @ A.T
    mean, _ = found.score_moments(X)
    spread = np.cov((found.sample(20_000, np.arange(100)) @ A.T).T) * 1.3
    rng = np.random.default_rng(0)
    root = np.linalg.cholesky(spread)
    noise = rng.normal(size=(50_000, 12))
    scores = mean + noise @ root.T
    log_q = -0.5 * (noise**2).sum(axis=1) - np.log(np.diag(root)).sum()
    log_prior = -0.5 * np.einsum("ij,ij->i", scores, np.linalg.solve(K, scores.T).T) - 0.5 * np.linalg.slogdet(K)[1]
    logs = log_prior + LOG_P[link](np.where(y > 0, 1, -1) * scores).sum(axis=1) - log_q
    assert found.log_evidence == pytest.approx(logsumexp(logs) - np.log(logs.size), abs=0.03)


@pytest.mark.parametrize("intercept_variance", [3.0, np.inf])
def test_the_space_of_documents_and_that_of_coefficients_agree(intercept_variance):
    X, y, _ = few_texts(n=20, d=80)
    X = sp.vstack([X, X[:2]], format="csr")
    y = np.append(y, [0, 0])
    prior = Gaussian(np.linspace(0.5, 4, 80), mode=np.linspace(-1, 1, 80))
    by_documents = expectation_propagation(X, y, prior, intercept_variance=intercept_variance, tol=1e-9)
    problem = Problem.of(X, y, prior, "logistic", intercept_variance, None, None)
    basis, H = CoefficientBasis.of(problem)
    by_coefficients = propagate(Coordinates(problem, basis, H.toarray()), 1e-9, 200)
    assert by_documents.mean.size < by_coefficients.mean.size
    assert by_documents.log_evidence == pytest.approx(by_coefficients.log_evidence, abs=1e-7)
    new = few_texts(n=10, d=80, seed=5)[0]
    for one, other in zip(by_documents.score_moments(new), by_coefficients.score_moments(new), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-7)
    np.testing.assert_allclose(by_documents.coef_interval(), by_coefficients.coef_interval(), atol=1e-6)


@pytest.mark.parametrize("method", [laplace_approximation, expectation_propagation])
def test_a_weight_of_two_is_two_documents(method):
    X, y = small_problem(n=8)
    weights = np.array([2, 1, 3, 1, 0, 1, 2, 1])
    weighted = method(X, y, Gaussian(2.0), sample_weight=weights)
    repeated = method(np.repeat(X, weights, axis=0), np.repeat(y, weights), Gaussian(2.0))
    # A site for two copies together is not the product of two sites, but close to it.
    tolerance = 1e-8 if method is laplace_approximation else 0.1
    for one, other in zip(weighted.score_moments(X), repeated.score_moments(X), strict=True):
        np.testing.assert_allclose(one, other, atol=tolerance)
    assert weighted.log_evidence == pytest.approx(repeated.log_evidence, abs=tolerance)


@pytest.mark.parametrize("method", [laplace_approximation, expectation_propagation, gibbs_sampling])
@pytest.mark.parametrize("n", [6, 50])
def test_unseen_words_keep_their_prior(method, n):
    X, y, _ = few_texts(n=n, d=40)
    X = X.tolil()
    X[:, [5, 17]] = 0
    X[:, 30:] = 0
    X = X.tocsr()
    variances = np.linspace(1, 3, 40)
    found = method(X, y, Gaussian(variances, mode=0.25), intercept_variance=1.0)
    assert not np.isin([5, 17, 30, 39], found.seen).any()
    plain, text = np.zeros((2, 40))
    text[[5, 17]] = [2.0, 1.0]
    (mean, extended), (variance, wider) = found.score_moments([plain, text])
    assert extended - mean == pytest.approx(0.75)
    assert wider - variance == pytest.approx(4 * variances[5] + variances[17], rel=1e-9)
    ends = found.predict_interval([plain, text])
    assert ends[1, 1] - ends[1, 0] > ends[0, 1] - ends[0, 0]


def test_evidence_is_greatest_near_the_variance_of_the_truth():
    X, y, _ = few_texts(n=400, d=50, coefficient=2.0)
    variances = [0.01, 4.0, 1000.0]
    found = [expectation_propagation(X, y, Gaussian(v), intercept_variance=1.0).log_evidence for v in variances]
    assert np.argmax(found) == 1


def test_one_class_is_enough_with_a_proper_prior_of_the_intercept():
    X, _ = small_problem()
    found = expectation_propagation(X, np.ones(len(X)), Gaussian(1.0), intercept_variance=4.0)
    assert np.all(found.predict_proba(X) > 0.6)
    assert found.intercept > 0


def test_fixed_coefficients_stay_and_one_that_is_unpenalised_is_found():
    X, y = small_problem(n=40)
    found = expectation_propagation(X, y, Gaussian([np.inf, 0.0], mode=[7.0, 0.3]))
    assert found.coef[1] == 0.3
    mode = laplace_approximation(X, y, Gaussian([np.inf, 0.0], mode=[7.0, 0.3]))
    scores = X @ mode.coef + mode.intercept
    # Without a prior the gradient of the likelihood is 0.
    assert abs(X[:, 0] @ (y - expit(scores))) < 1e-6
    assert abs((y - expit(scores)).sum()) < 1e-6


def test_a_problem_of_hard_scales_converges():
    X, y, _ = few_texts(n=60, d=300)
    for variance in (1e-8, 1e4, 1e8):
        found = expectation_propagation(X, y, Gaussian(variance))
        assert found.converged
        assert np.all(np.isfinite(found.score_moments(X)))
        assert np.isfinite(found.log_evidence)


@pytest.mark.parametrize("method", [expectation_propagation, laplace_approximation])
@pytest.mark.parametrize("simple", [True, False])
def test_the_temperature_gives_labels_left_out_the_best_probabilities(method, simple):
    """Against fits without each document in turn, where the truth is simpler than the prior expects, and where not."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 60)) / 8
    X[:, 0] *= 6
    beta = np.where(np.arange(60) == 0, 30.0, 0.0) if simple else 3.0 * rng.normal(size=60)
    y = (rng.random(30) < 1 / (1 + np.exp(-X @ beta))).astype(int)
    others = [np.delete(np.arange(30), i) for i in range(30)]
    moments = [method(X[rows], y[rows], Gaussian(9.0)).score_moments(X[[i]]) for i, rows in enumerate(others)]
    means, variances = np.array(moments)[:, :, 0].T
    signs = 2.0 * y - 1

    def value(temperature):
        logs = averaged_log_probability("logistic", signs * means, temperature * variances)
        return logs.sum() - 2.0 * (1.0 - temperature)

    found = method(X, y, Gaussian(9.0)).temperature
    assert value(found) > max(value(t) for t in np.linspace(0.05, 1.0, 20)) - 0.1
    assert (found < 0.6) == simple
    if simple:
        assert value(found) > value(1.0) + 0.3
