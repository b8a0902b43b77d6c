"""Yesterday's posterior as today's prior, against the posterior of all documents."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from bayesift.posterior import (
    MixedPosterior,
    expectation_propagation,
    gibbs_sampling,
    integrate_variance,
    laplace_approximation,
    update_posterior,
)
from bayesift.priors import Gaussian
from posterior_cases import few_texts

X, Y, _ = few_texts(n=80, d=120, coefficient=3.0)
NEW = few_texts(n=20, d=120, seed=7)[0]
PRIOR = Gaussian(9.0, mode=0.1)


@pytest.fixture(params=["documents", "words"])
def halves(request):
    """Documents fewer than words, or more: the two bases."""
    if request.param == "documents":
        return X[:40], Y[:40], X[40:], Y[40:], NEW
    return X[:40, :30], Y[:40], X[40:, :30], Y[40:], NEW[:, :30]


@pytest.mark.parametrize("method", [expectation_propagation, laplace_approximation])
def test_it_is_the_posterior_under_a_prior_with_that_covariance(halves, method):
    """With all coefficients decorrelated by hand, the prior is one that the methods take as it is."""
    X1, y1, X2, y2, new = halves
    first = method(X1, y1, PRIOR)
    d = X1.shape[1]
    # Means and covariances of all coefficients, from the moments of scores of unit vectors and of their sums.
    A2, A = (np.column_stack([part.toarray(), np.ones(part.shape[0])]) for part in (X2, new))
    mean = np.append(first.coef, first.intercept)
    covariance = _covariance(first, d)
    root = np.linalg.cholesky(covariance + 1e-12 * np.identity(d + 1))
    known = Gaussian(1.0).resolve(d + 1).extended(Gaussian(0.0, mode=1.0).resolve(1))
    known = known.extended(Gaussian(1.0).resolve_intercept(0.0))
    expected = method(np.column_stack([A2 @ root, A2 @ mean]), y2, known)
    means, variances = expected.score_moments(np.column_stack([A @ root, A @ mean]))
    second = update_posterior(first, X2, y2, method="ep" if method is expectation_propagation else "laplace")
    np.testing.assert_allclose(second.score_moments(new)[0], means, atol=1e-5)
    np.testing.assert_allclose(second.score_moments(new)[1], variances, rtol=1e-5)
    assert second.log_evidence == pytest.approx(expected.log_evidence, abs=1e-5)


def _covariance(posterior, d):
    """Covariances of coefficients by polarisation: V(a + b) − V(a − b) = 4 cov(a, b)."""
    basis = posterior.basis
    units = sp.identity(d + 1, format="csr")
    pairs = [(i, j) for i in range(d + 1) for j in range(i + 1)]
    i, j = np.array(pairs).T
    plus, minus = (posterior._moments(basis.project(sp.csr_matrix(units[i] + s * units[j])))[1] for s in (1, -1))
    covariance = np.zeros((d + 1, d + 1))
    covariance[i, j] = covariance[j, i] = (plus - minus) / 4
    return covariance


@pytest.mark.parametrize("link", ["logistic", "probit"])
def test_two_halves_are_nearly_the_whole(halves, link):
    X1, y1, X2, y2, new = halves
    both = np.vstack([X1.toarray(), X2.toarray()]), np.append(y1, y2)
    first = expectation_propagation(X1, y1, PRIOR, link=link)
    second = update_posterior(first, X2, y2, method="ep")
    whole = expectation_propagation(*both, PRIOR, link=link)
    means, variances = second.score_moments(new)
    expected, expected_variances = whole.score_moments(new)
    # Labels of the first half are not looked at again: not the same, but near.
    away = np.abs(means - expected) / np.sqrt(expected_variances)
    assert np.median(away) < 0.15
    assert away.max() < 0.4
    ratios = variances / expected_variances
    assert abs(np.log(np.median(ratios))) < 0.1
    assert np.abs(np.log(ratios)).max() < 0.25
    # The first half alone is far from it: what is tested is not that nothing happened.
    assert np.abs(first.score_moments(new)[0] - expected).max() > 2 * np.abs(means - expected).max()
    # p(all labels) = p(first) p(second | first).
    assert first.log_evidence + second.log_evidence == pytest.approx(whole.log_evidence, rel=0.02)


def test_draws_after_a_first_half(halves):
    X1, y1, X2, y2, new = halves
    first = expectation_propagation(X1, y1, PRIOR)
    drawn = update_posterior(first, X2, y2, method="gibbs")
    gaussian = update_posterior(first, X2, y2, method="ep")
    exact = gibbs_sampling(np.vstack([X1.toarray(), X2.toarray()]), np.append(y1, y2), PRIOR)
    np.testing.assert_allclose(drawn.predict_proba(new), gaussian.predict_proba(new), atol=0.03)
    np.testing.assert_allclose(drawn.predict_proba(new), exact.predict_proba(new), atol=0.04)
    np.testing.assert_allclose(drawn.predict_interval(new), exact.predict_interval(new), atol=0.08)


def test_a_gaussian_posterior_that_nothing_contradicts_is_kept(halves):
    """Documents without weight leave what was believed, and a text without any word tells of the intercept only."""
    X1, y1, X2, y2, new = halves
    first = laplace_approximation(X1, y1, PRIOR)
    light = update_posterior(first, X2, y2, method="laplace", sample_weight=np.full(len(y2), 1e-9))
    np.testing.assert_allclose(light.score_moments(new), first.score_moments(new), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(light.coef, first.coef, atol=1e-6)
    empty = update_posterior(first, np.zeros((1, X1.shape[1])), [1], method="ep")
    assert empty.intercept > first.intercept


def test_day_after_day():
    found = expectation_propagation(X[:20], Y[:20], PRIOR)
    for begin in range(20, 80, 20):
        found = update_posterior(found, X[begin : begin + 20], Y[begin : begin + 20])
    whole = expectation_propagation(X, Y, PRIOR)
    np.testing.assert_allclose(found.predict_proba(NEW), whole.predict_proba(NEW), atol=0.03)
    np.testing.assert_array_equal(found.seen, whole.seen)


def test_a_variance_that_is_not_known_is_learnt_further(halves):
    """Each variance goes on by itself, and its weight grows by how well it foretold the new labels."""
    X1, y1, X2, y2, new = halves
    first = integrate_variance(X1, y1, Gaussian(), variances=(9.0,), method="ep")
    second = update_posterior(first, X2, y2, method="ep")
    alone = [update_posterior(one, X2, y2, method="ep") for one in first.components]
    odds = first.weights * np.exp([one.log_evidence - alone[0].log_evidence for one in alone])
    np.testing.assert_allclose(second.weights, odds / odds.sum())
    np.testing.assert_allclose(
        second.predict_proba(new), second.weights @ [one.predict_proba(new) for one in alone], atol=1e-12
    )
    assert np.abs(second.weights - first.weights).max() > 0.01


def test_draws_of_a_variance_that_is_not_known_have_the_weights_of_the_moments():
    first = integrate_variance(X[:20], Y[:20], Gaussian(), variances=(9.0,), method="ep")
    few = MixedPosterior(first.link, first.components[:2], np.array([0.3, 0.7]), first.variances[:2])
    drawn, moments = (update_posterior(few, X[20:25], Y[20:25], method=method) for method in ("gibbs", "ep"))
    assert {type(one).__name__ for one in drawn.components} == {"SampledPosterior"}
    np.testing.assert_allclose(drawn.weights, moments.weights, atol=1e-9)


def test_what_cannot_be():
    first = expectation_propagation(X[:20], Y[:20], PRIOR)
    with pytest.raises(TypeError, match="previous is SampledPosterior; expected a GaussianPosterior"):
        update_posterior(gibbs_sampling(X[:20], Y[:20], PRIOR), X, Y)
    with pytest.raises(ValueError, match="X has 3 columns; expected 120"):
        update_posterior(first, np.ones((1, 3)), [1])
    with pytest.raises(ValueError, match="X has no documents"):
        update_posterior(first, X[:0], [])
    with pytest.raises(ValueError, match="y holds 2"):
        update_posterior(first, X[:1], [2])
