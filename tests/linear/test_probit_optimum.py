"""The posterior mode of the probit model against scipy, for all priors and solvers; EM's ascent; odd matrices."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import log_ndtr

import linear_cases as cases
import probit_cases as probit
from bayesift.linear import BayesianProbitRegression
from bayesift.linear._fit.problem import design_of
from bayesift.linear._solvers.em import NEGLIGIBLE, expectation_maximisation, latent_of, ridge_start
from bayesift.priors import Gaussian, Jeffreys, Laplace

INF = np.inf
# Variance, mode and sign of five features.
PRIORS = {
    "plain": (0.5, 0.0, 0),
    "weak": (30.0, 0.0, 0),
    "strong": (0.01, 0.0, 0),
    "modes": (0.3, [1.0, -2.0, 0.0, 0.5, 3.0], 0),
    "some free": ([INF, 0.5, INF, 0.5, 0.5], 0.0, 0),
    "some fixed": ([0.0, 0.5, 0.0, 0.5, 2.0], [0.7, 0.0, -0.4, 0.0, 0.0], 0),
    "all free": (INF, 0.0, 0),
    "one-sided": (0.8, [0.5, -0.5, 1.0, -1.0, 0.0], [1, -1, 1, -1, 1]),
}
INTERCEPTS = {"free": (INF, 0.0), "penalised": (0.2, 0.0), "with mode": (0.2, -1.5), "fixed": (0.0, 0.4)}
WEIGHTS = {"ones": np.ones(60), "some zero": np.tile([0.0, 1.0, 2.5], 20), "spread": np.geomspace(0.01, 10, 60)}


def check(X, y, model, p, weights=1.0):
    beta = cases.coefficients(model)
    expected, least = probit.reference(X, y, p, weights)
    found = probit.objective(X, y, beta, p, weights)
    assert p.allows(beta)
    assert found == pytest.approx(least, rel=1e-8)
    assert model.certificate_.objective[0] == pytest.approx(found, rel=1e-11)
    assert_allclose(beta, expected, atol=1e-4)


@probit.each_solver
@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_every_prior(family, name, solver):
    X, y = cases.documents(seed=3, n=60)
    variance, mode, sign = PRIORS[name]
    prior = cases.FAMILIES[family](variance, mode, sign=sign)
    model = probit.tight(prior, solver=solver)
    if np.any(sign) and solver != "newton":
        with pytest.raises(ValueError, match=f"solver is '{solver}', which does not take one-sided priors"):
            model.fit(X, y)
    else:
        check(X, y, model.fit(X, y), cases.penalties(family, variance, mode, sign, 5))


@probit.each_solver
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_every_intercept_with_weights(family, intercept, weights, solver):
    X, y = cases.documents(seed=4, n=60)
    variance, mode = INTERCEPTS[intercept]
    prior = cases.FAMILIES[family](0.7, intercept_mode=mode)
    model = probit.tight(prior, intercept_variance=variance, solver=solver).fit(X, y, WEIGHTS[weights])
    check(X, y, model, cases.penalties(family, 0.7, 0, 0, 5, variance, mode), WEIGHTS[weights])


@probit.each_solver
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_an_intercept_like_any_other_coefficient(family, solver):
    X, y = cases.documents(seed=5, n=60)
    model = probit.tight(family, variance=0.3, intercept_variance="same", solver=solver).fit(X, y)
    check(X, y, model, cases.penalties(family, 0.3, 0, 0, 5, 0.3))


@settings(max_examples=40, deadline=None)
@given(sample=cases.any_documents(), family=st.sampled_from(["laplace", "gaussian"]), data=st.data())
def test_random_problems(sample, family, data):
    X, y = sample
    d = X.shape[1]

    def per_feature(values):
        return np.array(data.draw(st.lists(st.sampled_from(values), min_size=d, max_size=d)))

    variance, mode = per_feature([0.0, 0.01, 0.1, 1.0, 10.0]), per_feature([-1.0, 0.0, 0.0, 0.5])
    weights = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=len(y), max_size=len(y))))
    weights[:2] = 1.0
    intercept = data.draw(st.sampled_from([0.0, 0.5]))
    prior = cases.FAMILIES[family](variance, mode)
    p = cases.penalties(family, variance, mode, 0, d, intercept)
    _, least = probit.reference(X, y, p, weights)
    for solver in probit.SOLVERS:
        model = probit.tight(
            prior, intercept_variance=intercept, solver=solver, **cases.stopping(solver, 1e-12, 1e-9)
        ).fit(X, y, weights)
        assert p.allows(cases.coefficients(model))
        assert probit.objective(X, y, cases.coefficients(model), p, weights) <= least + 1e-7 * (1 + least)
        assert model.certificate_.dual[0] <= least + 1e-9 * (1 + least)


@probit.each_solver
def test_all_solvers_reach_the_optimum_on_text(solver):
    X, Y, *_ = cases.news()
    for family, variance in (("laplace", 0.5), ("gaussian", 1.0)):
        options = {"variance": variance, "intercept_variance": 1.0, "block_size": 200}
        model = probit.tight(family, solver=solver, **options, **cases.stopping(solver, 1e-12, 1e-7)).fit(X, Y[:, 0])
        fast = probit.tight(family, solver="newton", **options).fit(X, Y[:, 0])
        assert model.certificate_.relative_gap[0] < 1e-5
        assert_allclose(model.certificate_.objective, fast.certificate_.objective, rtol=1e-6)
        assert_allclose(model.coef_, fast.coef_, atol=5e-3)


def log_posterior(X, y, beta, weights=1.0):
    """Under a Jeffreys prior on the coefficients that are not zero, a free intercept."""
    margins = y * (cases.with_constant(X) @ beta)
    used = beta[:-1][beta[:-1] != 0]
    return float(np.sum(weights * log_ndtr(margins)) - np.sum(np.log(np.abs(used))))


@probit.each_em
@pytest.mark.parametrize("weights", ["ones", "spread"])
def test_jeffreys_ends_at_a_local_optimum_of_the_posterior(weights, solver):
    X, y = cases.documents(seed=7, n=60)
    s = WEIGHTS[weights]
    model = probit.tight("jeffreys", solver=solver).fit(X, y, s)
    beta = cases.coefficients(model)
    used = np.append(beta[:-1] != 0, True)
    assert 0 < used.sum() < 6

    def value(part):
        full = np.zeros(6)
        full[used] = part
        return -log_posterior(X, y, full, s)

    # Among the coefficients it kept, scipy finds nothing better nearby.
    found = minimize(value, beta[used], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000})
    assert_allclose(found.x, beta[used], atol=1e-5)
    assert model.certificate_.kkt_residual[0] < 1e-6
    assert model.certificate_.gap[0] == INF
    dropped = -np.sum(np.log(NEGLIGIBLE / np.abs(X).max(axis=0)[~used[:-1]]))
    assert model.restarts_[0] == pytest.approx([log_posterior(X, y, beta, s) + dropped], rel=1e-9)
    assert model.certificate_.objective[0] == -model.restarts_[0][0]


@probit.each_em
def test_jeffreys_with_modes_and_an_intercept_like_the_others(solver):
    X, y = cases.documents(seed=8, n=80)
    model = probit.tight(Jeffreys([1.0, 0, 0, 0, -1.0]), intercept_variance="same", solver=solver).fit(X, y)
    beta = cases.coefficients(model) - np.array([1.0, 0, 0, 0, -1.0, 0])
    A = cases.with_constant(X)
    slope = A.T @ (y * -cases.probit(y * (A @ cases.coefficients(model)))[1])
    used = beta != 0
    assert used.any()
    assert_allclose(slope[used], 1 / beta[used], rtol=1e-4)


@probit.each_em
@pytest.mark.parametrize("prior", ["laplace", "gaussian", "jeffreys"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_log_posterior_never_falls(prior, solver):
    X, y = cases.documents(seed=9, n=50)
    weights = np.tile([1.0, 0.5, 2.0, 1.0, 3.0], 10)
    options = {} if prior == "jeffreys" else {"variance": 0.3}
    objectives = [
        probit.tight(prior, solver=solver, max_iter=rounds, **options).fit(X, y, weights).certificate_.objective[0]
        for rounds in [*range(1, 30), 40, 60, 100]
    ]
    assert objectives[0] > objectives[-1] + 1e-3
    assert np.all(np.diff(objectives) <= 1e-9 * np.abs(objectives[0]))


@pytest.mark.parametrize("block_size", [None, 2])
@pytest.mark.parametrize("gone", [[0], [0, 1, 4], [0, 1, 2, 3, 4]])
def test_coefficients_that_were_set_to_zero_too_early_come_back(gone, block_size):
    X, y = cases.documents(seed=10, n=60)
    prior = Laplace(2.0).resolve(5).extended(Laplace(2.0).resolve_intercept(np.inf))
    latent = latent_of(design_of(X).columns, y, np.ones(60), np.zeros(60), prior)
    delta = ridge_start(latent, 1.0, by_blocks=False)
    delta[gone] = 0.0
    _, converged = expectation_maximisation(latent, delta, block_size, 1e-12, 10_000)
    expected, _ = probit.reference(X, y, cases.penalties("laplace", 2.0, 0, 0, 5))
    assert converged
    assert_allclose(delta, expected, atol=1e-4)
    # Stopped early on purpose, nothing comes back: then the coefficients tell too little.
    delta = ridge_start(latent, 1.0, by_blocks=False)
    delta[gone] = 0.0
    expectation_maximisation(latent, delta, block_size, 0.02, 10_000)
    assert_array_equal(delta[gone], 0.0)


@probit.each_solver
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_more_features_than_documents(family, solver):
    random = np.random.default_rng(11)
    X = random.normal(size=(15, 40)) * (random.random((15, 40)) < 0.5)
    y = np.where(X[:, 0] + random.normal(size=15) > 0, 1.0, -1.0)
    model = probit.tight(family, variance=0.5, intercept_variance=1.0, solver=solver, block_size=7).fit(X, y)
    check(X, y, model, cases.penalties(family, 0.5, 0, 0, 40, 1.0))


@probit.each_em
def test_jeffreys_with_more_features_than_documents_is_very_sparse(solver):
    random = np.random.default_rng(12)
    X = random.normal(size=(15, 40))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    model = probit.tight("jeffreys", solver=solver, intercept_variance="same").fit(X, y)
    assert 0 < model.n_nonzero_[0] < 10
    assert np.isfinite(model.coef_).all()


@probit.each_solver
@pytest.mark.parametrize("family", ["laplace", "gaussian", "jeffreys"])
def test_a_term_of_no_document_stays_at_its_mode(family, solver):
    if family == "jeffreys" and solver == "newton":
        return
    X, y = cases.documents(seed=13, n=60)
    wide = np.column_stack([X, np.zeros(60)])
    plain, more = probit.tight(family, solver=solver).fit(X, y), probit.tight(family, solver=solver).fit(wide, y)
    assert more.coef_[0, 5] == 0.0
    assert_allclose(more.coef_[0, :5], plain.coef_[0], atol=1e-7)
    if family != "jeffreys":
        moved = probit.tight(cases.FAMILIES[family](1.0, 0.25), solver=solver).fit(wide, y)
        assert moved.coef_[0, 5] == 0.25


@probit.each_em
def test_separated_classes_with_jeffreys(solver):
    # The likelihood has no maximum, the posterior has: n h(β) = 1/β.
    x = np.array([[-1.0], [-1.0], [-1.0], [1.0], [1.0], [1.0]])
    y = np.array([0, 0, 0, 1, 1, 1])
    model = probit.tight("jeffreys", solver=solver, intercept_variance=0.0).fit(x, y)
    beta = model.coef_[0, 0]
    assert beta > 1
    slope = 6 * -cases.probit(np.array([beta]))[1][0]
    assert slope == pytest.approx(1 / beta, rel=1e-6)
    assert_array_equal(model.predict(x), y)
    both = probit.tight("jeffreys", solver=solver).fit(x, y)
    assert np.isfinite(both.coef_).all()
    assert_array_equal(both.predict(x), y)


@probit.each_solver
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_separated_classes_with_weak_priors(family, solver):
    x = np.array([[0.0], [0.0], [0.0], [1.0], [1.0]])
    y = np.array([-1.0, -1, -1, 1, 1])
    for variance in (1.0, 100.0):
        p = cases.penalties(family, variance, 0, 0, 1)
        _, least = probit.reference(x, y, p)
        model = probit.tight(family, variance=variance, solver=solver, **cases.stopping(solver, 1e-12, 1e-9)).fit(x, y)
        assert model.certificate_.objective[0] == pytest.approx(least, rel=1e-5)
        assert_array_equal(model.predict(x), y)


@probit.each_solver
def test_scores_of_forty_and_beyond(solver):
    # The start of EM and the modes of the priors put documents at scores of ±40 and ±400, on both sides.
    X = np.array([[40.0], [-40.0], [40.0], [-40.0], [400.0], [-1.0], [1.0], [0.5]])
    y = np.array([1.0, -1.0, -1.0, 1.0, -1.0, -1.0, 1.0, -1.0])
    for prior in (Gaussian(1.0, 1.0), Laplace(2.0, 1.0), Gaussian(0.0, 1.0)):
        with np.errstate(all="raise", under="ignore"):
            model = probit.tight(prior, solver=solver, **cases.stopping(solver, 1e-12, 1e-9)).fit(X, y)
        assert np.isfinite(model.coef_).all()
        assert np.isfinite(model.certificate_.objective).all()
        assert model.certificate_.relative_gap[0] < 1e-5
        logs = model.predict_log_proba(1e2 * X)
        assert np.isfinite(logs).all()


@probit.each_solver
def test_sparse_and_dense_give_the_same(solver):
    X, y = cases.documents(seed=14, n=60)
    dense = probit.tight(solver=solver).fit(X, y)
    for form in (sp.csr_matrix, sp.csc_matrix, sp.csr_array):
        assert_allclose(probit.tight(solver=solver).fit(form(X), y).coef_, dense.coef_, atol=1e-10)


@pytest.mark.slow
def test_a_hundred_thousand_features_by_blocks():
    random = np.random.default_rng(15)
    n, d = 300, 100_000
    X = sp.random(n, d, density=2e-3, format="csr", random_state=random)
    y = np.where(np.asarray(X[:, :50].sum(axis=1)).ravel() + 0.1 * random.normal(size=n) > 0.02, 1, 0)
    model = BayesianProbitRegression(Laplace.of_rate(0.5), solver="block-em", block_size=1000, tol=3e-3).fit(X, y)
    assert model.certificate_.converged[0]
    fast = BayesianProbitRegression(Laplace.of_rate(0.5)).fit(X, y)
    assert model.certificate_.objective[0] == pytest.approx(fast.certificate_.objective[0], rel=0.01)


def test_a_matrix_too_large_for_em_is_refused():
    X = sp.vstack([sp.identity(20_001, format="csr")] * 2, format="csr")
    y = np.arange(X.shape[0]) % 2
    with pytest.raises(ValueError, match="would build a matrix of 20002 rows and columns; use 'newton' or 'block-em'"):
        BayesianProbitRegression(Laplace.of_rate(1.0), solver="em").fit(X, y)
