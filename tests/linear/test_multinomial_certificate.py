"""The proof of optimality of the softmax model: it must hold, be tight at the optimum, and say so when it fails."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning

import linear_cases
import multinomial_cases as cases
from bayesift.linear import BayesianMultinomialRegression
from bayesift.linear._fit.problem import design_of
from bayesift.linear._fit.softmax_problem import PriorSetting
from bayesift.linear._solvers.duality import balance_classes, softmax_certificate
from bayesift.priors import Gaussian, Laplace


def numbers_at(X, y, weights, priors, intercept, fixed, beta):
    """Primal, dual and KKT residual of any coefficients (features by classes, intercepts last), optimal or not."""
    mode, penalties = PriorSetting(priors, intercept, None, fixed).at(1.0, X.shape[1])
    delta = np.clip(beta - mode, penalties[2], penalties[3])
    offset = linear_cases.with_constant(X) @ mode
    found = softmax_certificate(design_of(X).columns, y, weights, np.ascontiguousarray(offset), delta, penalties)
    return found, mode, penalties, mode + delta


def slow_dual(X, y, weights, mode, penalties, beta):
    """D(Q) of ``docs/symbols.md`` from Q = P: classes balanced by a null vector, then everything scaled."""
    A = linear_cases.with_constant(X)
    n_classes = beta.shape[1]
    Y = np.eye(n_classes)[y]
    R = weights[:, None] * (Y - softmax(A @ beta, axis=1))
    l1, l2, low, high = penalties
    free = (l1[-1] == 0) & (l2[-1] == 0) & (low[-1] < 0) & (high[-1] > 0)
    factors = np.ones(n_classes)
    if free.any():
        # Row k: what the documents of each class add to the sum of class k.
        sums = np.array([R[y == c].sum(axis=0) for c in range(n_classes)]).T
        held = np.flatnonzero(~free)
        system = np.vstack([sums[free], np.eye(n_classes)[held]])
        right = np.append(np.zeros(free.sum()), np.ones(held.size))
        if not held.size:
            system, right = np.vstack([system, np.ones(n_classes)]), np.append(right, 1.0)
        factors = np.linalg.lstsq(system, right, rcond=1e-14)[0]
        factors /= factors.max()
    R = R * factors[y][:, None]
    C = A.T @ R
    C[-1, free] = 0.0
    push = np.maximum(np.where(high > 0, C, 0), np.where(low < 0, -C, 0))
    beyond = (l2 == 0) & (push > l1)
    t = np.min(l1[beyond] / push[beyond], initial=1.0)
    Q = np.where(weights[:, None] > 0, Y - t * R / np.where(weights > 0, weights, 1)[:, None], Y)
    entropy = -np.sum(weights[:, None] * Q * np.log(np.maximum(Q, 1e-300)))
    conjugate = np.where(l2 > 0, (t * push) ** 2 / np.where(l2 > 0, 2 * l2, 1), 0.0)
    return entropy - np.sum(t * R * (A @ mode)) - conjugate.sum()


@settings(max_examples=150, deadline=None)
@given(
    sample=cases.any_documents(),
    family=st.sampled_from([Laplace, Gaussian]),
    seed=st.integers(0, 10**6),
    size=st.sampled_from([0.0, 0.1, 1.0, 30.0]),
    intercept=st.sampled_from([0.0, 0.5, np.inf]),
    reference=st.booleans(),
)
def test_the_dual_of_any_coefficients_is_the_formula_and_below_the_least_objective(
    sample, family, seed, size, intercept, reference
):
    X, y = sample
    d, k = X.shape[1], int(y.max()) + 1
    random = np.random.default_rng(seed)
    variance, mode = random.uniform(0.01, 5, (k, d)), random.normal(size=(k, d))
    sign = random.integers(-1, 2, (k, d))
    priors = [family(v, m, sign=s) for v, m, s in zip(variance, mode, sign, strict=True)]
    fixed = np.zeros((d + 1, k), dtype=bool)
    fixed[:, 0] = reference
    weights = random.choice([0.0, 0.5, 1.0, 2.0], len(y))
    weights[: 2 * k] = 1.0
    beta = size * random.normal(size=(d + 1, k))
    (primal, dual, residual), modes, penalties, beta = numbers_at(X, y, weights, priors, intercept, fixed, beta)
    name = family.__name__.lower()
    ps = [linear_cases.penalties(name, *of, d, intercept) for of in zip(variance, mode, sign, strict=True)]
    if reference:
        ps[0] = linear_cases.penalties(name, 0, 0, 0, d, 0)
    assert primal == pytest.approx(cases.objective(X, y, beta.T, ps, weights), rel=1e-12)
    # With scores in the hundreds hardly anything flows between classes, which the slow twin cannot balance.
    if size <= 1.0:
        expected = slow_dual(X, y, weights, modes, penalties, beta)
        assert dual == pytest.approx(expected, rel=1e-7, abs=1e-7)
    _, least = cases.reference(X, y, ps, weights)
    assert dual <= least + 1e-9 * (1 + abs(least))
    assert primal >= least - 1e-9 * (1 + abs(least))
    assert residual >= 0


@settings(deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_classes=st.integers(2, 6),
    free=st.lists(st.booleans(), min_size=6, max_size=6),
    size=st.sampled_from([0.1, 1.0, 5.0]),
)
def test_balanced_classes_have_no_net_flow(seed, n_classes, free, size):
    random = np.random.default_rng(seed)
    codes = np.arange(40) % n_classes
    Y = np.eye(n_classes)[codes]
    R = random.uniform(0, 2, (40, 1)) * (Y - softmax(size * random.normal(size=(40, n_classes)), axis=1))
    free = np.array(free[:n_classes])
    t = balance_classes(codes, R, free)
    assert t.max() == 1
    assert t.min() >= 0
    sums = (t[codes][:, None] * R).sum(axis=0)
    assert_allclose(sums[free], 0, atol=1e-12 * np.abs(R).sum())
    if not free.any():
        assert_allclose(t, 1)


def test_no_flow_is_told_by_zeros():
    codes, R = np.array([0, 1, 0]), np.zeros((3, 2))
    assert not balance_classes(codes, R, np.array([True, True])).any()


def test_a_class_that_nothing_flows_into_is_left_out_of_the_proof():
    """Documents of class 1 are surely none of class 0, those of class 0 may be of class 1: only the latter move."""
    X, y = np.array([[0.5], [1.0], [-900.0]]), np.array([0, 0, 1])
    beta = np.array([[0.0, -1.0], [0.0, 0.0]])
    priors, fixed = [Gaussian(1.0)] * 2, np.zeros((2, 2), dtype=bool)
    (primal, dual, _), *_ = numbers_at(X, y, np.ones(3), priors, np.inf, fixed, beta)
    t = balance_classes(y, np.array([[0.4, -0.4], [0.3, -0.3], [0.0, 0.0]]), np.array([True, True]))
    assert t.tolist() == [0.0, 1.0]
    assert np.isfinite(dual)
    assert 0.0 <= dual <= primal


@cases.each_solver
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
@pytest.mark.parametrize("rounds", [1, 2, 3, 5, 10])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_gap_bounds_what_is_missing_however_early_the_solver_stops(rounds, family, solver):
    X, y = cases.documents(seed=8)
    model = cases.tight(family, 3.0, solver=solver, max_iter=rounds).fit(X, y)
    _, least = cases.reference(X, y, [linear_cases.penalties(family, 3.0, 0, 0, 4)] * 3)
    found = model.certificate_
    assert found.objective[0] - least <= found.gap[0] + 1e-9
    assert found.dual[0] <= least + 1e-9
    assert found.passes[0] <= rounds


@cases.each_solver
@pytest.mark.parametrize("prior", ["laplace", "gaussian", Laplace(0.5, 0.3, sign=1), Gaussian(2.0, -0.5, sign=-1)])
@pytest.mark.parametrize("intercept", [0.0, 0.5, np.inf])
def test_gap_and_residual_vanish_at_the_optimum(prior, intercept, solver):
    X, y = cases.documents(seed=9)
    found = cases.tight(prior, 1.0, intercept_variance=intercept, solver=solver).fit(X, y).certificate_
    assert found.converged[0]
    assert found.relative_gap[0] < 1e-9
    assert found.kkt_residual[0] < 1e-4
    # The raw difference, not cut off at 0: a negative gap would disprove the proof.
    assert found.objective[0] - found.dual[0] > -1e-11 * found.objective[0]


@cases.each_solver
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_the_residual_is_the_distance_to_the_subdifferential(family, solver):
    X, y = cases.documents(seed=10)
    loose = {"tol": 0.01}
    model = cases.tight(family, 0.5, solver=solver, intercept_variance=0.5, **loose).fit(X, y)
    beta = cases.coefficients(model)
    slopes = (np.eye(3)[y] - model.predict_proba(X)).T @ linear_cases.with_constant(X)
    if family == "laplace":
        kink = np.maximum(np.abs(slopes) - 2.0, 0)
        distance = np.where(beta != 0, np.abs(slopes - 2.0 * np.sign(beta)), kink)
    else:
        distance = np.abs(slopes - 2.0 * beta)
    assert model.certificate_.kkt_residual[0] == pytest.approx(distance.max(), rel=1e-6)


@cases.each_solver
def test_without_a_penalty_there_is_no_bound_but_a_residual(solver):
    X, y = cases.documents(seed=11)
    found = cases.tight(Laplace([np.inf, 1, 1, 1]), solver=solver).fit(X, y).certificate_
    assert found.gap[0] == found.relative_gap[0] == np.inf
    assert found.dual[0] == -np.inf
    assert found.kkt_residual[0] < 1e-4


@cases.each_solver
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_a_limit_of_rounds_warns_with_the_numbers(family, solver):
    X, y = cases.documents(seed=12)
    model = cases.tight(family, 5.0, solver=solver, max_iter=1)
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(X, y)
    found = model.certificate_
    assert not found.converged.any()
    assert found.passes.tolist() == [1]
    message = str(caught[0].message)
    assert "reached max_iter=1 rounds" in message
    assert f"gap of {found.relative_gap[0]:.1e}" in message
    assert f"KKT residual of {found.kkt_residual[0]:.1e}" in message


@cases.each_solver
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_default_settings_prove_their_answer_on_text(family, solver):
    X, Y, *_ = linear_cases.news()
    model = BayesianMultinomialRegression(family, 1.0, solver=solver).fit(X, np.argmax(Y, axis=1))
    found = model.certificate_
    assert found.converged.all()
    # The reference stops by the change of scores, so that its gap is only small; newton promises it.
    assert np.all(found.relative_gap < (1e-6 if solver == "newton" else 1e-2))
    assert np.all(found.seconds > 0)
