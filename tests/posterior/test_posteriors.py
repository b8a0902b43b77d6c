"""What all posteriors can be asked, and what they say of bad input."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.sparse as sp

from bayesift.posterior import (
    expectation_propagation,
    find_posterior,
    gibbs_sampling,
    laplace_approximation,
    update_posterior,
)
from bayesift.posterior._links import probability
from bayesift.priors import Gaussian, Jeffreys, Laplace
from posterior_cases import few_texts, small_problem

METHODS = [laplace_approximation, expectation_propagation, gibbs_sampling]


@pytest.fixture(params=[(8, 60), (80, 20)], ids=["documents", "coefficients"])
def texts(request):
    n, d = request.param
    X, y, _ = few_texts(n=n, d=d)
    return X, y, few_texts(n=30, d=d, seed=6)[0]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("intercept_variance", [2.0, np.inf])
def test_draws_of_coefficients_have_the_moments_of_scores(method, intercept_variance, texts):
    X, y, new = texts
    d = X.shape[1]
    found = method(X, y, Gaussian(np.linspace(1, 3, d)), intercept_variance=intercept_variance)
    draws = found.sample(4000, np.arange(d), random_state=1)
    scores = draws[:, :-1] @ new.T.toarray() + draws[:, -1:]
    means, variances = found.score_moments(new)
    # Draws by Gibbs sampling that are taken again are not independent.
    tolerance = 4.5 / np.sqrt(4000 if method is not gibbs_sampling else 500)
    assert np.all(np.abs(scores.mean(axis=0) - means) < tolerance * np.sqrt(variances))
    np.testing.assert_allclose(scores.var(axis=0), variances, rtol=2 * tolerance)
    np.testing.assert_allclose(new @ found.coef + found.intercept, means, atol=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_intervals_hold_their_mass_of_draws_and_nest(method, texts):
    X, y, new = texts
    d = X.shape[1]
    found = method(X, y, Gaussian(2.0))
    draws = found.sample(4000, np.arange(d), random_state=1)
    scores = draws[:, :-1] @ new.T.toarray() + draws[:, -1:]
    last = None
    for mass in (0.5, 0.9, 0.95):
        ends = found.score_interval(new, mass)
        inside = ((scores >= ends[:, 0]) & (scores <= ends[:, 1])).mean()
        assert inside == pytest.approx(mass, abs=0.02)
        by_word = found.coef_interval(mass)
        assert by_word.shape == (d + 1, 2)
        inside = ((draws >= by_word[:, 0]) & (draws <= by_word[:, 1])).mean()
        assert inside == pytest.approx(mass, abs=0.02)
        if last is not None:
            assert np.all((ends[:, 0] <= last[:, 0]) & (ends[:, 1] >= last[:, 1]))
        last = ends
        p = found.predict_interval(new, mass)
        assert np.all((p >= 0) & (p <= 1) & (p[:, :1] <= p[:, 1:]))
    np.testing.assert_array_equal(found.coef_interval(0.9, [3, 1])[:2], found.coef_interval(0.9)[[3, 1]])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("link", ["logistic", "probit"])
def test_averaged_probabilities_are_means_over_draws(method, link, texts):
    X, y, new = texts
    found = method(X, y, Gaussian(2.0), link=link)
    draws = found.sample(4000, np.arange(X.shape[1]), random_state=1)
    scores = draws[:, :-1] @ new.T.toarray() + draws[:, -1:]
    np.testing.assert_allclose(found.predict_proba(new), probability(link, scores).mean(axis=0), atol=0.05)


def test_averaging_moves_probabilities_towards_one_half():
    X, y, _ = few_texts(n=20, d=100)
    found = expectation_propagation(X, y, Gaussian(10.0))
    means, _ = found.score_moments(X)
    plain, averaged = 1 / (1 + np.exp(-means)), found.predict_proba(X)
    assert np.all(np.abs(averaged - 0.5) < np.abs(plain - 0.5))


@pytest.mark.parametrize("method", METHODS)
def test_no_texts_and_other_containers(method):
    X, y, _ = few_texts()
    found = method(X, y, Gaussian(2.0))
    empty = sp.csr_matrix((0, 200))
    assert found.predict_proba(empty).shape == (0,)
    assert found.predict_interval(empty).shape == (0, 2)
    np.testing.assert_allclose(found.predict_proba(X.toarray()), found.predict_proba(X.tocsc()))
    assert found.sample(0).shape == (0, found.seen.size + 1)


def test_many_texts_are_scored_in_parts():
    X, y, _ = few_texts()
    found = gibbs_sampling(X, y, Gaussian(2.0), n_draws=100)
    many = sp.vstack([X] * 40)
    np.testing.assert_allclose(found.predict_proba(many), np.tile(found.predict_proba(X), 40))
    assert found.score_draws(many).shape == (400, 1200)


X, Y = small_problem(n=6)
SEPARABLE = np.array([[1.0, 0.0], [2.0, 0.5], [-1.0, 0.2], [-2.0, 1.0]])
BAD = [
    ((np.zeros((0, 2)), []), {}, ValueError, "X has no documents; expected at least one with a label"),
    ((X, [1, 0]), {}, ValueError, r"y has shape \(2,\); expected \(6,\)"),
    ((X, list("abcabc")), {}, ValueError, "y is an array of <U1; expected 0 and 1"),
    ((X, [0, 1, 2, 0, 1, 2]), {}, ValueError, "y holds 2.0; expected 0 and 1"),
    ((X, [0, 1, -1, 0, 1, 1]), {}, ValueError, "y holds both −1 and 0; expected 0 and 1"),
    ((X, np.ones(6)), {}, ValueError, "no posterior: all documents are of one class"),
    ((X, Y), {"prior": Gaussian([1.0, 1.0, 1.0])}, ValueError, "variance"),
    ((X, Y), {"prior": "gaussian"}, TypeError, "prior is 'gaussian'; expected a Gaussian or Laplace prior"),
    ((X, Y), {"prior": Gaussian()}, ValueError, "variance of the prior is open"),
    ((X, Y), {"prior": Gaussian(1.0).resolve(2)}, ValueError, "prior has 2 entries; expected 3"),
    ((X, Y), {"prior": Jeffreys()}, ValueError, "prior is Jeffreys, under which the posterior does not exist"),
    ((X, Y), {"prior": Gaussian(1.0, sign=1)}, ValueError, "prior is one-sided"),
    ((X, Y), {"link": "cauchit"}, ValueError, "link is 'cauchit'; expected one of 'logistic', 'probit'"),
    ((SEPARABLE, [1, 1, 0, 0]), {"prior": Gaussian(np.inf)}, ValueError, "no posterior: 3 coefficients .*separable"),
    ((X * [0, 1], Y), {"prior": Gaussian(np.inf)}, ValueError, "no posterior: the prior variance of column 0"),
    ((X[:2], [0, 1]), {"prior": Gaussian(np.inf)}, ValueError, "no posterior: 3 coefficients"),
    ((X * [np.nan, 1], Y), {}, ValueError, "NaN"),
    ((X, Y), {"sample_weight": -np.ones(6)}, ValueError, "[Nn]egative"),
]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("data", "options", "kind", "message"), BAD)
def test_bad_input_is_refused(method, data, options, kind, message):
    options = {"prior": Gaussian(1.0), **options}
    with pytest.raises(kind, match=message):
        method(*data, **options)


@pytest.mark.parametrize("method", METHODS[:2])
def test_gaussian_approximations_refuse_laplace_priors_and_too_much(method, monkeypatch):
    with pytest.raises(ValueError, match=r"prior is Laplace, for which .*use Gibbs"):
        method(X, Y, Laplace(1.0))
    monkeypatch.setattr("bayesift.posterior.laplace.MOST_COORDINATES", 2)
    with pytest.raises(ValueError, match=r"there are 6 documents with 3 words; .*at most 2 of one of the two"):
        method(X, Y, Gaussian(1.0))


@pytest.mark.parametrize("max_iter", [0, -1, 2.5, "many", None, True])
def test_settings_of_gaussian_approximations_are_checked(max_iter):
    for method in METHODS[:2]:
        with pytest.raises(ValueError, match=f"max_iter is {max_iter!r}; expected a whole number of at least 1"):
            method(X, Y, Gaussian(1.0), max_iter=max_iter)


@pytest.mark.parametrize("tol", [0.0, -1.0, np.nan, "small", [1e-3]])
def test_a_tolerance_is_one_number_above_0(tol):
    with pytest.raises((ValueError, TypeError), match=r"tol is .*; expected a finite number above 0"):
        expectation_propagation(X, Y, Gaussian(1.0), tol=tol)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_draws": 3}, "n_draws is 3; expected a whole number of at least 4"),
        ({"warmup": -1}, "warmup is -1"),
        ({"n_chains": 0}, "n_chains is 0"),
        ({"random_state": "seven"}, "random_state is 'seven'"),
        (
            {"random_state": np.random.RandomState(0)},
            r"random_state is RandomState.*; expected a seed, a numpy Generator",
        ),
        ({"sample_weight": np.full(6, 0.5)}, "sample_weight holds 0.5; expected whole numbers"),
    ],
)
def test_settings_of_gibbs_sampling_are_checked(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        gibbs_sampling(X, Y, Gaussian(1.0), **options)


def test_questions_to_a_posterior_are_checked():
    found = laplace_approximation(X, Y, Gaussian(1.0))
    for mass in (0, 1, -1, "most", [0.5, 0.9]):
        with pytest.raises((ValueError, TypeError), match=re.escape(f"mass is {mass!r}; expected a number between")):
            found.predict_interval(X, mass)
    with pytest.raises(ValueError, match="X has 3 columns; expected 2"):
        found.predict_proba(np.ones((1, 3)))
    with pytest.raises(ValueError, match="columns goes from 0 to 2; expected 0 to 1"):
        found.coef_interval(columns=[0, 2])
    with pytest.raises(ValueError, match=r"columns is \['a'\]; expected a sequence of column numbers"):
        found.sample(3, ["a"])
    with pytest.raises(ValueError, match="n is -1; expected a whole number"):
        found.sample(-1)


def test_classes_that_overlap_have_a_posterior_without_priors():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = rng.random(60) < 1 / (1 + np.exp(-X[:, 0]))
    for method in METHODS:
        assert np.isfinite(method(X, y, Gaussian(np.inf)).coef).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("link", ["logistic", "probit"])
def test_a_document_whose_score_is_fixed(method, link):
    texts = np.vstack([X, np.zeros(2)])
    found = method(texts, np.append(Y, 1), Gaussian(1.0), link=link, intercept_variance=0.0)
    without = method(X, Y, Gaussian(1.0), link=link, intercept_variance=0.0)
    np.testing.assert_allclose(found.predict_proba(X), without.predict_proba(X), atol=0.05)
    assert found.predict_proba(np.zeros((1, 2)))[0] == pytest.approx(0.5)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("link", ["logistic", "probit"])
@pytest.mark.parametrize("size", [1e-9, 1e9])
def test_hard_sizes_end_with_numbers_or_words(method, link, size):
    said = ""
    try:
        found = method(size * X, Y, Gaussian([1e-6, 1e6], mode=-50.0), link=link, intercept_variance=1.0)
        assert np.isfinite(found.predict_interval(size * X)).all()
    except ValueError as error:
        said = str(error)
    assert not said or "lost to rounding" in said or "overflow" in said


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("link", ["logistic", "probit"])
def test_documents_without_a_coefficient_that_moves(method, link):
    found = method(np.zeros((3, 2)), [0, 1, 1], Gaussian(4.0), link=link, intercept_variance=0.0)
    np.testing.assert_allclose(found.predict_proba(np.zeros((1, 2))), 0.5)
    assert found.score_moments([[1.0, 0.0]])[1] == pytest.approx(4.0)
    assert found.coef_interval(0.5).shape == (3, 2)


@pytest.mark.parametrize("name", ["laplace", "ep"])
def test_documents_of_very_different_length_all_count(name):
    """One document fills its own words with numbers ten million times as large: the others are as without it."""
    X, y = np.zeros((6, 10)), np.array([1, 1, 1, 0, 0, 0])
    X[0, :3] = 1e7
    X[[1, 2, 2, 3, 4, 5], [3, 3, 4, 5, 6, 7]] = [1.0, 1.0, 0.5, 1.0, 1.0, 2.0]
    settings = {"prior": Gaussian(1.0), "intercept_variance": 1e-12, "method": name}
    whole, part = find_posterior(X, y, **settings), find_posterior(X[1:], y[1:], **settings)
    np.testing.assert_allclose(whole.coef[3:], part.coef[3:], atol=1e-5)
    first, rest = find_posterior(X[1:3], y[1:3], **settings), [0, 3, 4, 5]
    np.testing.assert_allclose(
        update_posterior(first, X[rest], y[rest], method=name).coef[3:], part.coef[3:], atol=1e-5
    )


def test_words_that_a_greater_column_drowns_are_not_lost_without_a_word():
    random = np.random.default_rng(0)
    X = random.standard_normal((20, 40))
    y = X[:, 1] > 0
    X[:, 0] = 1e6 * random.uniform(1.0, 1.1, 20)
    small = expectation_propagation(X, y, Gaussian(1.0), intercept_variance=1.0)
    assert small.coef[1] > 1.0
    X[:, 0] *= 1e3
    with pytest.raises(ValueError, match=r"lost to rounding: .* expected documents of similar size"):
        expectation_propagation(X, y, Gaussian(1.0), intercept_variance=1.0)
    few = expectation_propagation(X, y, Gaussian({0: 0.0}), intercept_variance=1.0)
    assert few.coef[0] == 0.0
    assert few.coef[1] > 1.0
    first = expectation_propagation(X[:1], y[:1], Gaussian(1.0), intercept_variance=1.0)
    with pytest.raises(ValueError, match="lost to rounding"):
        update_posterior(first, X[1:], y[1:])
