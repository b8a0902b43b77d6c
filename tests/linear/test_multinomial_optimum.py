"""The posterior mode of the softmax model against scipy, whose optimiser knows the objective only as a function."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import linear_cases
import multinomial_cases as cases
from bayesift.linear import BayesianMultinomialRegression
from bayesift.priors import Gaussian, Laplace

INF = np.inf
FAMILIES = linear_cases.FAMILIES
# Variance, mode and sign of four features, the same in every class.
PRIORS = {
    "plain": (0.5, 0.0, 0),
    "weak": (100.0, 0.0, 0),
    "strong": (0.01, 0.0, 0),
    "modes": (0.3, [1.0, -2.0, 0.0, 0.5], 0),
    "positive": (1.0, 0.0, 1),
    "negative": (1.0, 0.0, -1),
    "one-sided from modes": (0.8, [0.5, -0.5, 1.0, -1.0], [1, -1, 1, -1]),
    "some free": ([INF, 0.5, INF, 0.5], 0.0, 0),
    "some free and one-sided": ([INF, 0.5, INF, 0.5], [0.2, 0.0, -0.3, 0.0], [1, 1, -1, 0]),
    "some fixed": ([0.0, 0.5, 0.0, 2.0], [0.7, 0.0, -0.4, 0.0], 0),
    "all free": (INF, 0.0, 0),
    "everything": ([INF, 0.0, 0.05, 2.0], [0.1, 0.2, -0.3, 0.4], [0, 1, -1, 0]),
}
INTERCEPTS = {"free": (INF, 0.0), "penalised": (0.2, 0.0), "with mode": (0.2, -1.5), "fixed": (0.0, 0.4)}
WEIGHTS = {"ones": np.ones(50), "some zero": np.tile([0.0, 1, 2.5, 0, 1], 10), "spread": np.geomspace(0.01, 10, 50)}


def check(X, y, model, ps, weights=1.0):
    beta = cases.coefficients(model)
    expected, least = cases.reference(X, y, ps, weights)
    found = cases.objective(X, y, beta, ps, weights)
    assert all(p.allows(row) for p, row in zip(ps, beta, strict=True))
    assert found == pytest.approx(least, rel=1e-8)
    assert model.certificate_.objective[0] == pytest.approx(found, rel=1e-12)
    assert_allclose(cases.same_shift(cases.scores(X, beta).T), cases.same_shift(cases.scores(X, expected).T), atol=1e-3)


@cases.each_solver
@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_every_prior(family, name, solver):
    X, y = cases.documents(seed=3)
    variance, mode, sign = PRIORS[name]
    model = cases.tight(FAMILIES[family](variance, mode, sign=sign), solver=solver).fit(X, y)
    check(X, y, model, [linear_cases.penalties(family, variance, mode, sign, 4)] * 3)


@cases.each_solver
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_every_intercept_with_weights(family, intercept, weights, solver):
    X, y = cases.documents(seed=4, k=4)
    variance, mode = INTERCEPTS[intercept]
    prior = FAMILIES[family](0.7, intercept_mode=mode)
    model = cases.tight(prior, intercept_variance=variance, solver=solver).fit(X, y, WEIGHTS[weights])
    check(X, y, model, [linear_cases.penalties(family, 0.7, 0, 0, 4, variance, mode)] * 4, WEIGHTS[weights])


@cases.each_solver
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_priors_by_class_and_feature(family, solver):
    X, y = cases.documents(seed=5)
    modes = [[0.5, 0, 0, -1], [0, 0, 0, 0], [0, 2, 0, 0.3]]
    variances = [[0.1, 1, 2, 3], [5, 1, 0, 1], [INF, 1, 0.5, 0.2]]
    signs = [[0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]]
    priors = [FAMILIES[family](v, m, sign=s) for v, m, s in zip(variances, modes, signs, strict=True)]
    ps = [linear_cases.penalties(family, v, m, s, 4) for v, m, s in zip(variances, modes, signs, strict=True)]
    listed = cases.tight(priors, solver=solver).fit(X, y)
    check(X, y, listed, ps)
    mapped = cases.tight({1: priors[1], 2: priors[2], 0: priors[0]}, solver=solver).fit(X, y)
    assert_array_equal(mapped.coef_, listed.coef_)
    assert np.isnan(listed.variance_).all()


@cases.each_solver
def test_families_may_differ_by_class_and_open_ones_share_the_variance(solver):
    X, y = cases.documents(seed=6)
    model = cases.tight({0: "gaussian", 2: Laplace(0.2)}, 0.7, solver=solver).fit(X, y)
    ps = [linear_cases.penalties(*of, 0, 0, 4) for of in (("gaussian", 0.7), ("laplace", 0.7), ("laplace", 0.2))]
    check(X, y, model, ps)
    assert model.variance_ == [0.7]


@cases.each_solver
@pytest.mark.parametrize("intercept", [INF, 0.5])
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_a_reference_class_is_all_zero(family, intercept, solver):
    X, y = cases.documents(seed=7)
    labels = np.array(["sea", "wheat", "gold"])[y]
    options = {"intercept_variance": intercept, "solver": solver}
    model = cases.tight(family, 0.5, reference_class="sea", **options).fit(X, labels)
    assert model.classes_.tolist() == ["gold", "sea", "wheat"]
    fixed = linear_cases.penalties(family, 0, 0, 0, 4, 0)
    own = linear_cases.penalties(family, 0.5, 0, 0, 4, intercept)
    codes = np.searchsorted(model.classes_, labels)
    check(X, codes, model, [own, fixed, own])
    assert_array_equal(cases.coefficients(model)[1], np.zeros(5))


@cases.each_solver
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_terms_absent_from_a_class_are_excluded_from_it(family, solver):
    X, y = cases.documents(seed=8, density=0.15)
    weights = np.where(np.arange(50) % 7 == 0, 0.0, 1.0)
    absent = np.array([[not X[(y == k) & (weights > 0), j].any() for j in range(4)] for k in range(3)])
    assert 0 < absent.sum() < 6
    model = cases.tight(FAMILIES[family](2.0, 0.3), exclude_absent=True, solver=solver).fit(X, y, weights)
    assert_array_equal(model.coef_[absent], 0)
    ps = [linear_cases.penalties(family, np.where(row, 0, 2.0), np.where(row, 0, 0.3), 0, 4) for row in absent]
    check(X, y, model, ps, weights)


@cases.each_solver
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_an_intercept_like_any_other_coefficient_equals_a_column_of_ones(family, solver):
    X, y = cases.documents(seed=9)
    same = cases.tight(family, 0.3, intercept_variance="same", solver=solver).fit(X, y)
    check(X, y, same, [linear_cases.penalties(family, 0.3, 0, 0, 4, 0.3)] * 3)
    column = cases.tight(family, 0.3, intercept_variance=0.0, solver=solver).fit(linear_cases.with_constant(X), y)
    assert_allclose(cases.coefficients(same), column.coef_, atol=1e-6)
    assert_array_equal(column.intercept_, np.zeros(3))


@cases.each_solver
@settings(max_examples=40, deadline=None)
@given(sample=cases.any_documents(), family=st.sampled_from(["laplace", "gaussian"]), data=st.data())
def test_random_problems(solver, sample, family, data):
    X, y = sample
    d, k = X.shape[1], int(y.max()) + 1

    def table(values):
        size = d * k
        return np.array(data.draw(st.lists(st.sampled_from(values), min_size=size, max_size=size))).reshape(k, d)

    variance = table([0.0, 0.01, 0.1, 1.0, 10.0])
    mode, sign = table([-1.0, 0.0, 0.0, 0.5]), table([-1, 0, 0, 1])
    weights = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=len(y), max_size=len(y))))
    weights[: 2 * k] = 1.0
    intercept = data.draw(st.sampled_from([0.0, 0.5, INF]))
    priors = [FAMILIES[family](v, m, sign=s) for v, m, s in zip(variance, mode, sign, strict=True)]
    reference = data.draw(st.sampled_from([None, 0]))
    model = cases.tight(priors, intercept_variance=intercept, solver=solver, reference_class=reference)
    model.fit(X, y, weights)
    ps = [linear_cases.penalties(family, v, m, s, d, intercept) for v, m, s in zip(variance, mode, sign, strict=True)]
    if reference is not None:
        ps[0] = linear_cases.penalties(family, 0, 0, 0, d, 0)
    beta = cases.coefficients(model)
    _, least = cases.reference(X, y, ps, weights)
    assert all(p.allows(row) for p, row in zip(ps, beta, strict=True))
    assert cases.objective(X, y, beta, ps, weights) <= least + 1e-8 * (1 + least)
    assert model.certificate_.dual[0] <= least + 1e-9 * (1 + least)


def test_both_solvers_reach_the_optimum_on_text():
    # Two estimates of one optimum: the gap proves each of them, so they prove each other.
    X, Y, *_ = linear_cases.news()
    y = np.argmax(Y, axis=1)
    for family, variance in (("laplace", 0.5), ("gaussian", 1.0)):
        slow = cases.tight(family, variance, solver="clg", tol=1e-9).fit(X, y)
        fast = cases.tight(family, variance, solver="newton").fit(X, y)
        assert_allclose(fast.certificate_.objective, slow.certificate_.objective, rtol=1e-9)
        assert_allclose(fast.predict_proba(X), slow.predict_proba(X), atol=1e-5)
        assert_allclose(cases.coefficients(fast), cases.coefficients(slow), atol=1e-4)


@pytest.mark.parametrize(("family", "variance"), [("laplace", 1.0), ("gaussian", 1.0)])
def test_the_peers_of_scikit_learn_agree(family, variance):
    from sklearn.linear_model import LogisticRegression

    X, Y, *_ = linear_cases.news()
    y = np.argmax(Y, axis=1)
    rate = np.sqrt(2 / variance) if family == "laplace" else 1 / variance
    kind = {**linear_cases.L1_PENALTY, "solver": "saga"} if family == "laplace" else {"solver": "lbfgs"}
    peer = LogisticRegression(C=1 / rate, tol=1e-7, max_iter=20_000, random_state=0, **kind).fit(X, y)
    model = BayesianMultinomialRegression(family, variance).fit(X, y)
    assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-3)
    if family == "gaussian":
        assert_allclose(model.coef_, peer.coef_, atol=1e-3)


@cases.each_solver
def test_gaussian_signs_and_infinite_variances_in_single_classes(solver):
    X, y = cases.documents(seed=10)
    model = cases.tight([Gaussian(1.0, sign=1), Gaussian([INF, 1, 1, 1]), Gaussian(0.5)], solver=solver).fit(X, y)
    ps = [
        linear_cases.penalties("gaussian", 1.0, 0, 1, 4),
        linear_cases.penalties("gaussian", [INF, 1, 1, 1], 0, 0, 4),
        linear_cases.penalties("gaussian", 0.5, 0, 0, 4),
    ]
    check(X, y, model, ps)
