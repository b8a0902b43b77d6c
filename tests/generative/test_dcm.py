"""The Dirichlet compound multinomial model against its definition, a general optimiser and its own limits."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import gammaln, polygamma, psi
from sklearn.exceptions import ConvergenceWarning

from bayesift._special_kernels import digamma, trigamma
from bayesift.conjugate import DirichletMultinomial
from bayesift.generative import DirichletCompoundMultinomial, MultinomialNB
from bayesift.generative._dcm_kernels import digamma_sum, histogram


def bursty(seed=0, n=30, d=6, concentration=2.0, n_classes=2):
    """Documents with word probabilities of their own, and their classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    alpha = rng.dirichlet(np.ones(d), n_classes) * concentration
    rows = [rng.multinomial(rng.integers(1, 30), rng.dirichlet(alpha[c] + 1e-3)) for c in y]
    return np.array(rows, dtype=float), y


def slow_objective(alpha, X, pseudo, rate, weights=None):
    """F(α) from the definition, document by document."""
    weights = np.ones(len(X)) if weights is None else weights
    total, lengths = alpha.sum(), X.sum(axis=1)
    each = gammaln(total + lengths) - gammaln(total) - (gammaln(alpha + X) - gammaln(alpha)).sum(axis=1)
    return weights @ each + rate * total - (pseudo * np.log(alpha)).sum()


@settings(max_examples=200, deadline=None)
@given(x=st.floats(1e-12, 1e9))
def test_digamma_and_trigamma(x):
    assert_allclose(digamma(x), psi(x), rtol=2e-14, atol=1e-14)
    assert_allclose(trigamma(x), polygamma(1, x), rtol=1e-13)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), alpha=st.floats(1e-6, 50), largest=st.sampled_from([3, 70, 5000]))
def test_histograms_hold_all_that_is_needed(seed, alpha, largest):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, largest, (12, 4)) * (rng.random((12, 4)) < 0.6)
    X = X + 0.5 * (rng.random((12, 4)) < 0.1)
    weights = rng.integers(0, 3, 12).astype(float)
    rows = np.flatnonzero(rng.random(12) < 0.8)
    found = histogram(sp.csr_matrix(X), X.sum(axis=1), rows, weights)
    for place, word in enumerate(found.words):
        steps = slice(found.start[place], found.start[place + 1])
        fast = found.above[steps] @ (psi(alpha + found.high[steps]) - psi(alpha + found.low[steps]))
        slow = weights[rows] @ (psi(alpha + X[rows, word]) - psi(alpha))
        assert_allclose(fast, slow, rtol=1e-10)
        assert found.documents[place] == weights[rows] @ (X[rows, word] > 0)
    missing = np.setdiff1d(np.arange(4), found.words)
    assert not (weights[rows] @ X[np.ix_(rows, missing)]).any()
    slow = weights[rows] @ (psi(alpha + X[rows].sum(axis=1)) - psi(alpha))
    assert_allclose(digamma_sum(alpha, found.lengths, found.weights), slow, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("solver", ["newton", "fixed_point"])
@pytest.mark.parametrize(
    ("prior", "shape", "rate"), [("gamma", 1.3, 0.7), ("gamma", 1.001, 0.001), ("laplace", 1.0, 2.0)]
)
def test_the_optimum_is_that_of_a_general_optimiser(solver, prior, shape, rate):
    X, _ = bursty()
    model = DirichletCompoundMultinomial(
        prior, concentration_shape=shape, concentration_rate=rate, solver=solver, tol=1e-9, max_iter=20000
    )
    model.fit(X, np.zeros(len(X)))
    pseudo = np.full(6, shape - 1)
    found = minimize(
        lambda logs: slow_objective(np.exp(logs), X, pseudo, rate), np.zeros(6), method="BFGS", options={"gtol": 1e-6}
    )
    assert_allclose(model.alpha_[0], np.exp(found.x), rtol=1e-4)
    assert_allclose(model.certificate_.objective[0], found.fun, rtol=1e-10)
    assert_allclose(slow_objective(model.alpha_[0], X, pseudo, rate), found.fun, rtol=1e-10)
    assert model.certificate_.converged.all()
    assert model.certificate_.kkt_residual[0] <= 1e-9 * len(X)
    assert model.certificate_.gap[0] == np.inf


def test_fractions_are_counts_like_others():
    X, _ = bursty(8)
    X = np.log1p(X)
    model = DirichletCompoundMultinomial("gamma", concentration_shape=1.3, concentration_rate=0.7).fit(
        X, np.zeros(len(X))
    )
    found = minimize(lambda logs: slow_objective(np.exp(logs), X, np.full(6, 0.3), 0.7), np.zeros(6))
    assert_allclose(model.alpha_[0], np.exp(found.x), rtol=1e-3)
    assert_allclose(model.certificate_.objective[0], found.fun, rtol=1e-9)
    joint = slow_objective(model.alpha_[0], X[:1], np.zeros(6), 0.0)
    assert_allclose(model.predict_joint_log_proba(X[:1])[0, 0], -joint, rtol=1e-10)


def test_the_certificate_is_the_largest_slope():
    X, _ = bursty(3)
    model = DirichletCompoundMultinomial(
        "gamma", concentration_shape=1.2, concentration_rate=0.3, max_iter=2, solver="fixed_point"
    )
    with pytest.warns(ConvergenceWarning, match=r"1 of 1 fits reached max_iter=2 rounds; the largest slope is"):
        model.fit(X, np.zeros(len(X)))
    alpha, step = model.alpha_[0], 1e-6
    slopes = [
        (
            slow_objective(alpha * np.exp(step * np.eye(6)[j]), X, np.full(6, 0.2), 0.3)
            - slow_objective(alpha * np.exp(-step * np.eye(6)[j]), X, np.full(6, 0.2), 0.3)
        )
        / (2 * step)
        for j in range(6)
    ]
    assert_allclose(model.certificate_.kkt_residual[0], np.abs(slopes).max(), rtol=1e-4)
    assert model.n_iter_.tolist() == [2]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), concentration=st.sampled_from([0.01, 0.5, 5.0, 100.0]))
def test_newton_and_fixed_point_meet_whatever_the_data(seed, concentration):
    X, y = bursty(seed, concentration=concentration)
    fits = [
        DirichletCompoundMultinomial(solver=solver, tol=1e-8, max_iter=20000).fit(X, y)
        for solver in ("newton", "fixed_point")
    ]
    assert all(fit.certificate_.converged.all() for fit in fits)
    assert_allclose(fits[0].certificate_.objective, fits[1].certificate_.objective, rtol=1e-9, atol=1e-7)
    assert_allclose(fits[0].predict_proba(X), fits[1].predict_proba(X), atol=1e-4)
    assert fits[0].n_iter_.max() <= 40


def test_newton_takes_few_rounds():
    X, y = bursty(1, n=300, d=40, concentration=30.0)
    newton, plain = (
        DirichletCompoundMultinomial(solver=solver, max_iter=5000).fit(X, y).n_iter_.max()
        for solver in ("newton", "fixed_point")
    )
    assert newton <= 12 < plain


def test_prediction_is_equation_3_79():
    X, y = bursty()
    model = DirichletCompoundMultinomial(class_prior="uniform").fit(X, y)
    new = np.array([[0, 0, 0, 0, 0, 0], [1, 0, 2, 0, 0, 30], [500, 1, 0, 0, 0, 0]], dtype=float)
    for c in range(2):
        expected = DirichletMultinomial(model.alpha_[c]).log_evidence(new) - math.log(2)
        assert_allclose(model.predict_joint_log_proba(new)[:, c], expected, rtol=1e-11)
    hidden = new.copy()
    hidden[:, [2, 5]] = np.nan
    rest = [0, 1, 3, 4]
    for c in range(2):
        expected = DirichletMultinomial(model.alpha_[c][rest]).log_evidence(new[:, rest]) - math.log(2)
        assert_allclose(model.predict_joint_log_proba(hidden)[:, c], expected, rtol=1e-10, atol=1e-12)


def test_elkans_approximation():
    X, y = bursty(2, n=80, concentration=1.0)
    model = DirichletCompoundMultinomial(estimate="mle", solver="edcm", class_prior="uniform").fit(X, y)
    for c in range(2):
        own = X[y == c]
        have, lengths = (own > 0).sum(axis=0), own.sum(axis=1)
        s = model.concentration_[c]
        slope = (psi(s + lengths) - psi(s)).sum()
        assert_allclose(model.alpha_[c][have > 0], have[have > 0] / slope, rtol=1e-9)
        beta = model.alpha_[c]
        bursts = np.where(X > 0, np.log(beta) + gammaln(np.maximum(X, 1)), 0).sum(axis=1)
        expected = bursts - (gammaln(s + X.sum(axis=1)) - gammaln(s)) - math.log(2)
        assert_allclose(model.predict_joint_log_proba(X)[:, c], expected, rtol=1e-10)
    assert model.certificate_.passes.tolist() == [0, 0]
    # For small α it is near the real thing.
    rare, classes = bursty(2, n=2000, d=20, concentration=0.05)
    exact, near = (
        DirichletCompoundMultinomial(estimate="mle", solver=solver).fit(rare, classes) for solver in ("newton", "edcm")
    )
    assert_allclose(near.alpha_, exact.alpha_, rtol=0.1)


@pytest.mark.parametrize(
    "settings_", [{}, {"prior": "gamma"}, {"prior": "laplace"}, {"estimate": "mle"}, {"solver": "edcm"}]
)
def test_a_word_that_a_class_or_nobody_has_seen_is_never_impossible(settings_):
    X = np.array([[3, 0, 1, 0], [1, 0, 2, 0], [0, 4, 1, 0], [0, 1, 3, 0]], dtype=float)
    model = DirichletCompoundMultinomial(**settings_).fit(X, [0, 0, 1, 1])
    assert np.all(model.alpha_ > 0)
    every = np.vstack([np.eye(4), 50 * np.eye(4)])
    assert np.all(np.isfinite(model.predict_joint_log_proba(every)))
    assert model.predict([[5, 0, 0, 0], [0, 5, 0, 0]]).tolist() == [0, 1]
    if settings_ in ({"prior": "laplace"}, {"estimate": "mle"}):
        assert_allclose(model.alpha_[0, [1, 3]], 0.1 * model.alpha_[0, [0, 2]].min())


def test_the_background_is_where_a_class_without_documents_stands():
    X, y = bursty(4, n=60)
    everyone = DirichletCompoundMultinomial(estimate="mle", solver="edcm").fit(X, np.zeros(60))
    heavy = DirichletCompoundMultinomial(pseudo_documents=1e9).fit(X, y)
    assert_allclose(heavy.alpha_, np.vstack([everyone.alpha_] * 2), rtol=0.12)
    indicator = np.column_stack([y, np.zeros(60, dtype=int)])
    model = DirichletCompoundMultinomial().fit(X, indicator)
    assert_allclose(model.alpha_[1, 0], model.alpha_[1, 1], rtol=1e-6)
    assert np.all(model.predict_proba(X)[:, 1] < 0.05)


def test_weights_are_copies_and_categories_are_models_of_their_own():
    X, y = bursty(5)
    weights = np.random.default_rng(0).integers(0, 3, 30)
    one = DirichletCompoundMultinomial().fit(X, y, weights)
    other = DirichletCompoundMultinomial().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert_allclose(one.alpha_, other.alpha_, rtol=1e-5)
    indicator = np.column_stack([y, X[:, 0] > 2]).astype(int)
    together = DirichletCompoundMultinomial().fit(sp.csr_array(X), sp.csr_matrix(indicator))
    assert together.alpha_.shape == (2, 2, 6)
    assert together.concentration_.shape == (2, 2)
    for k in range(2):
        alone = DirichletCompoundMultinomial().fit(X, indicator[:, k])
        assert_allclose(together.decision_function(X)[:, k], alone.decision_function(X), atol=1e-5)
    order = np.random.default_rng(1).permutation(30)
    shuffled = DirichletCompoundMultinomial().fit(X[order], y[order])
    assert_allclose(DirichletCompoundMultinomial().fit(X, y).alpha_, shuffled.alpha_, rtol=1e-9)


def test_documents_with_a_missing_count_count_for_their_class_only():
    X, y = bursty(6)
    gaps = X.copy()
    gaps[:5, 2] = np.nan
    learned = DirichletCompoundMultinomial().fit(gaps, y)
    complete = DirichletCompoundMultinomial().fit(X[5:], y[5:])
    assert_allclose(learned.alpha_, complete.alpha_, rtol=1e-9)
    assert_array_equal(learned.class_count_, np.bincount(y))


LIMITS = {
    "no word twice: the multinomial": ([[1, 1, 0], [1, 0, 1], [0, 1, 1]], 1e6, np.inf),
    "one word a document: the urn's own": ([[5, 0, 0], [0, 7, 0], [3, 0, 0]], 0, 1e-6),
    "single words: nothing to know": ([[1, 0, 0], [0, 1, 0], [1, 0, 0]], 0, np.inf),
    "one document": ([[3, 1, 0]], 1e3, np.inf),
    "enormous counts": ([[1000000, 3, 0], [20, 500000, 0], [1, 0, 1]], 0.1, 0.5),
}


@pytest.mark.parametrize(("X", "low", "high"), LIMITS.values(), ids=LIMITS)
def test_maximum_likelihood_at_the_ends_of_the_range(X, low, high):
    X = np.array(X, dtype=float)
    model = DirichletCompoundMultinomial(estimate="mle").fit(X, np.zeros(len(X)))
    assert low <= model.concentration_[0] <= high
    assert model.certificate_.converged.all()
    assert np.all(np.isfinite(model.predict_joint_log_proba(X)))
    shares = model.alpha_[0] / model.concentration_[0]
    if low == 1e6:
        assert_allclose(shares, X.sum(axis=0) / X.sum(), rtol=1e-4)


def test_data_of_a_multinomial_give_a_multinomial():
    rng = np.random.default_rng(0)
    X = rng.multinomial(200, [0.2, 0.3, 0.5], size=50).astype(float)
    model = DirichletCompoundMultinomial(estimate="mle").fit(X, np.zeros(50))
    assert model.concentration_[0] > 500
    assert_allclose(model.alpha_[0] / model.concentration_[0], X.sum(axis=0) / X.sum(), rtol=1e-3)


def test_bursts_are_learned_drawn_and_seen_through():
    alpha = np.array([[0.6, 0.05, 0.3, 0.05], [0.05, 0.6, 0.3, 0.05]])
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 400)
    X = np.array([rng.multinomial(20, rng.dirichlet(alpha[c])) for c in y], dtype=float)
    model = DirichletCompoundMultinomial(estimate="mle").fit(X, y)
    assert_allclose(model.alpha_, alpha, rtol=0.25)
    again, classes = model.sample(800, length=20, random_state=1)
    copy = DirichletCompoundMultinomial(estimate="mle").fit(again, classes)
    assert_allclose(copy.alpha_, model.alpha_, rtol=0.3)
    words = MultinomialNB().fit(X, y)
    # Both find the classes, but the multinomial is far too sure of itself.
    loss = [-model_.predict_log_proba(X)[np.arange(800), y].mean() for model_ in (model, words)]
    assert loss[0] < 0.8 * loss[1]


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        (
            {"concentration_shape": 0.9},
            "'concentration_shape' parameter of DirichletCompoundMultinomial must be a float in the range",
        ),
        ({"concentration_rate": -1.0}, "'concentration_rate' parameter"),
        ({"pseudo_documents": 0.0}, "'pseudo_documents' parameter"),
        ({"floor": 0.0}, "'floor' parameter"),
        ({"prior": "gaussian"}, "'prior' parameter"),
        ({"estimate": "posterior"}, "'estimate' parameter"),
        ({"solver": "lbfgs"}, "'solver' parameter"),
        ({"class_prior": [1.0]}, r"class_prior has shape \(1,\); expected a number or 2"),
    ],
)
def test_bad_settings(settings_, message):
    X, y = bursty()
    with pytest.raises(ValueError, match=message):
        DirichletCompoundMultinomial(**settings_).fit(X, y)


@pytest.mark.parametrize(
    ("value", "message"), [(np.inf, "infinity"), (-2.0, "X holds -2; expected numbers of at least 0")]
)
def test_bad_values(value, message):
    X, y = bursty()
    model = DirichletCompoundMultinomial().fit(X, y)
    wrong = X.copy()
    wrong[0, 0] = value
    with pytest.raises(ValueError, match=message):
        model.predict(wrong)
    with pytest.raises(ValueError, match=message):
        model.fit(wrong, y)
    with pytest.raises(ValueError, match="X has no word in a complete document; expected counts above 0"):
        model.fit(np.zeros((4, 2)), [0, 0, 1, 1])
