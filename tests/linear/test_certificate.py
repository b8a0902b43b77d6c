"""The proof of optimality: it must hold, be tight at the optimum, and say so when it cannot be given."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

import linear_cases as cases
from bayesift.linear import BayesianLogisticRegression
from bayesift.linear._fit.problem import design_of
from bayesift.linear._losses import LOGISTIC
from bayesift.linear._solvers.duality import (
    balance,
    certificate,
    conjugates,
    feasible_scale,
    kkt_residual,
    penalty_arrays,
)
from bayesift.priors import Gaussian, Laplace


def numbers_at(X, y, weights, prior, intercept_variance, beta):
    """Primal, dual and KKT residual of any coefficients, optimal or not."""
    arrays = prior.resolve(X.shape[1]).extended(prior.resolve_intercept(intercept_variance))
    bounds = penalty_arrays(arrays.kind, arrays.weight, arrays.sign)
    delta = np.clip(beta - arrays.mode, bounds[2], bounds[3])
    offset = cases.with_constant(X) @ arrays.mode
    found = certificate(LOGISTIC, design_of(X).columns, (y, weights, offset), delta, bounds)
    return found, arrays, arrays.mode + delta


def slow_dual(X, y, weights, arrays, beta):
    """D(u) of ``docs/symbols.md`` from u = s σ(−r): classes balanced, then everything scaled to feasibility."""
    A = cases.with_constant(X)
    u = weights * expit(-y * (A @ beta))
    free_intercept = arrays.kind[-1] == 0 and arrays.sign[-1] == 0
    if free_intercept:
        sums = {label: u[y == label].sum() for label in (-1.0, 1.0)}
        least = min(sums.values())
        u = u * np.where(y > 0, least / sums[1.0], least / sums[-1.0])
    c = A.T @ (y * u)
    if free_intercept:
        c[-1] = 0.0
    push = np.where(arrays.sign == 0, np.abs(c), np.maximum(arrays.sign * c, 0.0))
    kinked = (arrays.kind == 1) & (push > arrays.weight)
    scale = np.min(arrays.weight[kinked] / push[kinked], initial=1.0)
    u, c = u * scale, c * scale
    shares = np.divide(u, weights, out=np.full_like(u, 0.5), where=weights > 0)
    logs = [np.log(np.maximum(t, 1e-300)) for t in (shares, 1 - shares)]
    entropy = np.sum(weights * (shares * logs[0] + (1 - shares) * logs[1]))
    # The factor puts c at the bound up to rounding; the numpy twin of the dual would call that infinite.
    conjugate = arrays.conjugate(np.where(arrays.kind == 1, 0.0, c))
    return -np.sum(y * u * (A @ arrays.mode)) - entropy - conjugate


@settings(max_examples=150, deadline=None)
@given(
    sample=cases.any_documents(4, 20),
    family=st.sampled_from([Laplace, Gaussian]),
    seed=st.integers(0, 10**6),
    size=st.sampled_from([0.0, 0.1, 1.0, 30.0]),
    intercept=st.sampled_from([0.0, 0.5, np.inf]),
)
def test_the_dual_of_any_coefficients_is_the_formula_and_below_the_least_objective(
    sample, family, seed, size, intercept
):
    X, y = sample
    d = X.shape[1]
    random = np.random.default_rng(seed)
    prior = family(random.uniform(0.01, 5, d), random.normal(size=d), sign=random.integers(-1, 2, d))
    weights = random.choice([0.0, 0.5, 1.0, 2.0], len(y))
    weights[:2] = 1.0
    beta = size * random.normal(size=d + 1)
    (primal, dual, residual), arrays, beta = numbers_at(X, y, weights, prior, intercept, beta)
    p = cases.Penalties(
        family.__name__.lower(),
        np.append(prior.variance, intercept),
        arrays.mode,
        arrays.sign.astype(float),
    )
    assert primal == pytest.approx(cases.objective(X, y, beta, p, weights), rel=1e-12)
    assert dual == pytest.approx(slow_dual(X, y, weights, arrays, beta), rel=1e-9, abs=1e-9)
    _, least = cases.reference(X, y, p, weights)
    assert dual <= least + 1e-9 * (1 + abs(least))
    assert primal >= least - 1e-9 * (1 + abs(least))
    assert residual >= 0


LIMITS = [(-np.inf, np.inf), (0.0, np.inf), (-np.inf, 0.0), (0.0, 0.0)]


def penalty_at(x, l1, l2, low, high):
    return np.where((x >= low) & (x <= high), l1 * np.abs(x) + 0.5 * l2 * x**2, np.inf)


def one(*numbers):
    return tuple(np.array([number]) for number in numbers)


@pytest.mark.parametrize(("low", "high"), LIMITS)
@pytest.mark.parametrize(("l1", "l2"), [(0.7, 0.0), (0.0, 1.5), (0.0, 0.0)])
@pytest.mark.parametrize("c", [-2.0, -0.3, 0.0, 0.4, 1.1])
@pytest.mark.parametrize("b", [-1.2, 0.0, 0.6])
def test_the_residual_is_the_distance_to_the_slopes_on_both_sides(low, high, l1, l2, c, b):
    b, h = min(max(b, low), high), 1e-7
    at = (l1, l2, low, high)
    left, right = ((penalty_at(b + step, *at) - penalty_at(b, *at)) / step for step in (-h, h))
    expected = max(left - c, c - right, 0.0)
    found = kkt_residual(*one(c, b), one(*at))
    assert found == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(("low", "high"), LIMITS)
@pytest.mark.parametrize("l1", [0.0, 0.7])
@pytest.mark.parametrize("c", [-2.0, -0.3, 0.0, 0.4, 1.1])
def test_the_conjugate_is_the_greatest_excess_of_a_line_over_the_penalty(low, high, l1, c):
    at, scale = (l1, 1.5, low, high), 0.8
    x = np.linspace(-3, 3, 60_001)
    expected = (scale * c * x - penalty_at(x, *at)).max()
    assert conjugates(*one(c), scale, one(*at)) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(("low", "high"), LIMITS)
@pytest.mark.parametrize("l1", [0.0, 0.7])
@pytest.mark.parametrize("c", [-2.0, -0.3, 0.0, 0.4, 1.1])
def test_the_greatest_scale_is_the_last_line_that_the_penalty_stays_above(low, high, l1, c):
    at = (l1, 0.0, low, high)
    x, scales = np.array([-1e6, 0.0, 1e6]), np.linspace(0, 1, 10_001)
    # A line through 0 that is anywhere above a cone grows beyond all bounds.
    below = [(scale * c * x <= penalty_at(x, *at) + 1e-6).all() for scale in scales]
    found = feasible_scale(*one(c), one(*at))
    assert found == pytest.approx(scales[below].max(), abs=1.1e-4)
    # A second coefficient that bears more changes nothing, one that bears less does.
    two = [np.append(*pair) for pair in zip(one(c, *at), one(0.1, 0.2, 0.0, -np.inf, np.inf), strict=True)]
    assert feasible_scale(two[0], tuple(two[1:])) == found
    two[0][1] = 0.8
    assert feasible_scale(two[0], tuple(two[1:])) == pytest.approx(min(found, 0.25))


def test_classes_of_equal_weight_are_in_balance_already():
    y = np.array([1.0, -1.0, -1.0])
    assert balance(y, np.array([0.5, 0.25, 0.25])) == (1.0, 1.0)
    assert balance(y, np.array([0.5, 0.25, 0.5])) == (1.0, pytest.approx(2 / 3))
    assert balance(y, np.array([0.5, 0.25, 0.0])) == (0.5, 1.0)


@cases.each_solver
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
@pytest.mark.parametrize("rounds", [1, 2, 3, 5, 10])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_gap_bounds_what_is_missing_however_early_the_solver_stops(rounds, family, solver):
    X, y = cases.documents(seed=8, n=60)
    model = cases.tight(family, 3.0, solver=solver, max_iter=rounds).fit(X, y)
    _, least = cases.reference(X, y, cases.penalties(family, 3.0, 0, 0, 5))
    found = model.certificate_
    assert found.objective[0] - least <= found.gap[0] + 1e-9
    assert found.dual[0] <= least + 1e-9
    assert found.gap[0] == pytest.approx(found.objective[0] - found.dual[0], abs=1e-12)
    assert found.relative_gap[0] == pytest.approx(found.gap[0] / found.objective[0])


@cases.each_solver
@pytest.mark.parametrize("prior", ["laplace", "gaussian", Laplace(0.5, 0.3, sign=1), Gaussian(2.0, -0.5, sign=-1)])
@pytest.mark.parametrize("intercept", [0.0, 0.5, np.inf])
def test_gap_and_residual_vanish_at_the_optimum(prior, intercept, solver):
    X, y = cases.documents(seed=9, n=60)
    found = cases.tight(prior, 1.0, intercept_variance=intercept, solver=solver).fit(X, y).certificate_
    assert found.converged[0]
    assert found.relative_gap[0] < 1e-9
    assert found.kkt_residual[0] < 1e-4
    # The raw difference, not cut off at 0: a negative gap would disprove the proof.
    assert found.objective[0] - found.dual[0] > -1e-11 * found.objective[0]


@cases.each_solver
def test_the_residual_is_the_distance_to_the_subdifferential(solver):
    X, y = cases.documents(seed=10, n=60)
    found = cases.tight("laplace", 0.5, solver=solver, max_iter=200_000, tol=0.01).fit(X, y)
    slopes = cases.with_constant(X).T @ (y * expit(-y * (X @ found.coef_[0] + found.intercept_[0])))
    rate, beta = 2.0, found.coef_[0]
    distance = np.where(
        beta != 0, np.abs(slopes[:-1] - rate * np.sign(beta)), np.maximum(np.abs(slopes[:-1]) - rate, 0)
    )
    assert found.certificate_.kkt_residual[0] == pytest.approx(max(distance.max(), abs(slopes[-1])), rel=1e-6)


@cases.each_solver
@settings(max_examples=20, deadline=None)
@given(sample=cases.any_documents(), scale=st.sampled_from([1e-6, 1e-3, 1e3, 1e6]))
def test_the_scale_of_the_documents_does_not_matter_to_the_proof(solver, sample, scale):
    X, y = sample
    plain = cases.tight("laplace", 1.0, solver=solver).fit(X, y).certificate_
    scaled = cases.tight("laplace", 1.0 / scale**2, solver=solver).fit(scale * X, y).certificate_
    assert_allclose(scaled.objective, plain.objective, rtol=1e-7)
    assert_allclose(scaled.dual, plain.dual, rtol=1e-7)


@cases.each_solver
def test_without_a_penalty_there_is_no_bound_but_a_residual(solver):
    X, y = cases.documents(seed=11, n=60)
    found = cases.tight(Laplace([np.inf, 1, 1, 1, 1]), solver=solver).fit(X, y).certificate_
    assert found.gap[0] == found.relative_gap[0] == np.inf
    assert found.dual[0] == -np.inf
    assert found.kkt_residual[0] < 1e-4


@cases.each_solver
def test_a_limit_of_rounds_warns_with_the_numbers(solver):
    X, y = cases.documents(seed=12, n=60)
    Y = np.column_stack([y > 0, X[:, 0] > 0, X[:, 1] > 0.5]).astype(int)
    model = cases.tight("laplace", 5.0, solver=solver, max_iter=1)
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(X, Y)
    found = model.certificate_
    assert not found.converged.any()
    assert found.passes.tolist() == [1, 1, 1]
    worst = np.argmax(found.relative_gap)
    message = str(caught[0].message)
    assert "3 of 3 fits reached max_iter=1 rounds" in message
    assert f"gap of {found.relative_gap[worst]:.1e}" in message
    assert f"KKT residual of {found.kkt_residual[worst]:.1e}" in message
    assert "Raise max_iter" in message


@cases.each_solver
def test_default_settings_prove_their_answer_on_text(solver):
    X, Y, *_ = cases.news()
    model = BayesianLogisticRegression(variance=1.0, solver=solver).fit(X, Y)
    found = model.certificate_
    assert found.converged.all()
    # clg stops by the change of scores, so that its gap is only small; newton promises it.
    assert np.all(found.relative_gap < (1e-6 if solver == "newton" else 1e-2))
    assert np.all(found.seconds > 0)
    assert found.passes.shape == found.objective.shape == (Y.shape[1],)
