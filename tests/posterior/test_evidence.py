"""The variance with the greatest evidence, and the door to all methods."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import bayesift.posterior.choice as module
from bayesift.posterior import (
    GaussianPosterior,
    SampledPosterior,
    expectation_propagation,
    find_posterior,
    gibbs_sampling,
    greatest_evidence,
    laplace_approximation,
)
from bayesift.priors import Gaussian, Laplace
from posterior_cases import few_texts, small_problem


@pytest.mark.parametrize("link", ["logistic", "probit"])
@pytest.mark.parametrize("intercept_variance", [1.0, np.inf])
def test_no_variance_of_a_fine_grid_is_better(link, intercept_variance):
    X, y, _ = few_texts(n=80, d=60, coefficient=4.0)
    found = greatest_evidence(X, y, Gaussian(), link=link, intercept_variance=intercept_variance)
    grid = np.exp(np.arange(-5, 6, 0.5))
    given = {"link": link, "intercept_variance": intercept_variance}
    evidences = np.array([expectation_propagation(X, y, Gaussian(v), **given).log_evidence for v in grid])
    # All rows have norm 1.
    flat = (
        0.0 if np.isfinite(intercept_variance) else 0.5 * np.log(grid + {"logistic": np.pi**2 / 3, "probit": 1}[link])
    )
    expected = evidences - flat - 0.5 * (np.log(grid / 10) / np.log(10)) ** 2
    assert found.log_posteriors.max() >= max(expected) - 0.002
    assert found.log_posteriors.max() <= max(expected) + 0.05
    exact = expectation_propagation(X, y, Gaussian(found.variance), **given).log_evidence
    assert found.log_evidence == pytest.approx(exact, abs=1e-3)
    assert np.all(np.diff(found.variances) > 0)
    assert found.variance == found.variances[np.argmax(found.log_posteriors)]


def test_the_variance_is_in_units_of_the_documents():
    X, y = small_problem(n=30)
    one, other = greatest_evidence(X, y, Gaussian()), greatest_evidence(10 * X, y, Gaussian())
    assert other.variance == pytest.approx(one.variance / 100, rel=1e-6)


def test_relative_variances_and_functions_are_kept():
    X, y = small_problem(n=30)
    relative = greatest_evidence(X, y, Gaussian(relative=[4.0, 1.0]))

    def prior(variance):
        return Gaussian([4 * variance, variance]).resolve(2).extended(Gaussian(1.0).resolve_intercept(np.inf))

    assert greatest_evidence(X, y, prior).variance == pytest.approx(relative.variance)


def test_documents_without_words():
    assert greatest_evidence(np.zeros((4, 2)), [0, 1, 0, 1], Gaussian()).variance > 0


@pytest.mark.parametrize(
    ("prior", "message"),
    [("gaussian", "prior is 'gaussian'; expected a Gaussian prior"), (Laplace(), "prior is Laplace")],
)
def test_other_priors_are_refused(prior, message):
    X, y = small_problem()
    with pytest.raises((TypeError, ValueError), match=message):
        greatest_evidence(X, y, prior)


def test_the_method_suits_priors_and_sizes(monkeypatch):
    X, y, _ = few_texts(n=10, d=30)
    short = {"n_draws": 20, "warmup": 5}
    monkeypatch.setattr(module, "by_draws", partial(module.by_draws, **short))
    assert isinstance(find_posterior(X, y, Laplace(1.0)), SampledPosterior)
    by_default = find_posterior(X, y, Gaussian(1.0))
    exact = expectation_propagation(X, y, Gaussian(1.0))
    np.testing.assert_array_equal(by_default.coef, exact.coef)
    monkeypatch.setattr(module, "_MOST_BY_PROPAGATION", 5)
    np.testing.assert_array_equal(
        find_posterior(X, y, Gaussian(1.0)).coef, laplace_approximation(X, y, Gaussian(1.0)).coef
    )
    monkeypatch.setattr(module, "MOST_COORDINATES", 5)
    found = find_posterior(X, y, Gaussian(1.0), random_state=3)
    with pytest.warns(ConvergenceWarning, match="too short"):
        expected = gibbs_sampling(X, y, Gaussian(1.0), random_state=3, **short)
    np.testing.assert_array_equal(found.draws, expected.draws)


def test_methods_can_be_asked_for():
    X, y, _ = few_texts(n=10, d=30)
    for method, kind in (("laplace", GaussianPosterior), ("ep", GaussianPosterior), ("gibbs", SampledPosterior)):
        assert type(find_posterior(X, y, Gaussian(1.0), method=method)) is kind
    with pytest.raises(ValueError, match="method is 'vb'; expected one of 'auto', 'laplace', 'ep', 'gibbs'"):
        find_posterior(X, y, Gaussian(1.0), method="vb")


def test_no_warning_but_a_shortcoming(monkeypatch):
    X, y, _ = few_texts(n=10, d=30)
    assert find_posterior(X, y, Gaussian(1.0)).shortcoming is None
    monkeypatch.setattr("bayesift.posterior.posteriors._LEAST_EFFECTIVE", 1e9)
    assert "Raise n_draws" in find_posterior(X, y, Gaussian(1.0), method="gibbs").shortcoming
