"""The proof of optimality of probit fits: it must hold for any coefficients and be tight at the optimum."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linear_cases as cases
import probit_cases as probit
from bayesift.linear._fit.problem import design_of
from bayesift.linear._losses import PROBIT
from bayesift.linear._solvers.duality import certificate, penalty_arrays
from bayesift.priors import Gaussian, Laplace


@settings(max_examples=100, deadline=None)
@given(
    sample=cases.any_documents(4, 20),
    family=st.sampled_from([Laplace, Gaussian]),
    seed=st.integers(0, 10**6),
    size=st.sampled_from([0.0, 0.1, 1.0, 30.0]),
    intercept=st.sampled_from([0.0, 0.5, np.inf]),
)
def test_the_dual_of_any_coefficients_is_below_the_least_objective(sample, family, seed, size, intercept):
    X, y = sample
    d = X.shape[1]
    random = np.random.default_rng(seed)
    prior = family(random.uniform(0.01, 5, d), random.normal(size=d), sign=random.integers(-1, 2, d))
    arrays = prior.resolve(d).extended(prior.resolve_intercept(intercept))
    bounds = penalty_arrays(arrays.kind, arrays.weight, arrays.sign)
    weights = random.choice([0.0, 0.5, 1.0, 2.0], len(y))
    weights[:2] = 1.0
    delta = np.clip(size * random.normal(size=d + 1), bounds[2], bounds[3])
    offset = cases.with_constant(X) @ arrays.mode
    primal, dual, residual = certificate(PROBIT, design_of(X).columns, (y, weights, offset), delta, bounds)
    p = cases.Penalties(
        family.__name__.lower(), np.append(prior.variance, intercept), arrays.mode, arrays.sign.astype(float)
    )
    assert primal == pytest.approx(probit.objective(X, y, arrays.mode + delta, p, weights), rel=1e-10)
    _, least = probit.reference(X, y, p, weights)
    assert dual <= least + 1e-8 * (1 + abs(least))
    assert primal >= least - 1e-8 * (1 + abs(least))
    assert residual >= 0


@probit.each_solver
@pytest.mark.parametrize("prior", [Laplace(0.5), Gaussian(2.0), Laplace(1.0, 0.3), Gaussian(0.5, -0.5)])
@pytest.mark.parametrize("intercept", [0.0, 0.5, np.inf])
def test_gap_and_residual_vanish_at_the_optimum(prior, intercept, solver):
    X, y = cases.documents(seed=9, n=60)
    found = probit.tight(prior, intercept_variance=intercept, solver=solver).fit(X, y).certificate_
    assert found.converged[0]
    assert found.relative_gap[0] < 1e-9
    assert found.kkt_residual[0] < 1e-4
    # The raw difference, not cut off at 0: a negative gap would disprove the proof.
    assert found.objective[0] - found.dual[0] > -1e-11 * found.objective[0]


@probit.each_solver
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
@pytest.mark.parametrize("rounds", [1, 2, 5])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_gap_bounds_what_is_missing_however_early_the_solver_stops(rounds, family, solver):
    X, y = cases.documents(seed=8, n=60)
    found = probit.tight(family, variance=3.0, solver=solver, max_iter=rounds).fit(X, y).certificate_
    _, least = probit.reference(X, y, cases.penalties(family, 3.0, 0, 0, 5))
    assert found.dual[0] <= least + 1e-9
    assert found.objective[0] - least <= found.gap[0] + 1e-9


def test_default_settings_prove_their_answer_on_text():
    X, Y, *_ = cases.news()
    for prior in ("laplace", "gaussian"):
        found = probit.BayesianProbitRegression(prior, variance=1.0).fit(X, Y).certificate_
        assert found.converged.all()
        assert np.all(found.relative_gap < 1e-6)
