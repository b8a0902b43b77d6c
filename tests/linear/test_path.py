"""The regularisation path: where it starts, that it is continuous, what it holds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

import linear_cases as cases
from bayesift.linear import regularization_path
from bayesift.linear._fit.variance import GAUSSIAN_GRID
from bayesift.priors import Gaussian, Laplace

TIGHT = {"tol": 1e-12, "max_iter": 200_000}
few = settings(max_examples=60, deadline=None)
laplace_priors = st.sampled_from(
    ["laplace", Laplace(mode=0.4), Laplace(sign=1), Laplace(mode=-0.2, sign=-1), Laplace(relative={0: 5.0})]
)


def departures(path, prior):
    """Coefficients less their modes."""
    mode = prior.mode if isinstance(prior, Laplace) else 0.0
    return path.coef.toarray() - mode


@cases.each_solver
@few
@given(
    sample=cases.any_documents(),
    prior=laplace_priors,
    intercept=st.sampled_from([np.inf, 0.5, 0.0, "same"]),
)
def test_at_the_greatest_rate_all_coefficients_are_at_their_modes(solver, sample, prior, intercept):
    X, y = sample
    weights = np.linspace(0.5, 2, len(y))
    options = {"prior": prior, "intercept_variance": intercept, "sample_weight": weights, "solver": solver, **TIGHT}
    path = regularization_path(X, y, **options, n_steps=1)
    assert_allclose(departures(path, prior), 0, atol=1e-9)


@cases.each_solver
@pytest.mark.parametrize("intercept", [np.inf, "same"])
@pytest.mark.parametrize("prior", ["laplace", Laplace(mode=0.4), Laplace(sign=1)])
def test_just_below_the_greatest_rate_one_coefficient_leaves(prior, intercept, solver):
    X, y = cases.documents(seed=1, n=60)
    options = {"prior": prior, "intercept_variance": intercept, "solver": solver, **TIGHT}
    path = regularization_path(X, y, **options, n_steps=2, smallest=0.999)
    first, second = departures(path, prior)
    assert_allclose(first, 0, atol=1e-9)
    assert np.count_nonzero(np.abs(second) > 1e-7) == 1


@cases.each_solver
def test_the_greatest_rate_is_the_formula(solver):
    X, y = cases.documents(seed=1, n=60)
    weights = np.linspace(0.5, 2, 60)
    path = regularization_path(X, y, sample_weight=weights, solver=solver, n_steps=3, smallest=0.1)
    positive = weights[y > 0].sum() / weights.sum()
    expected = np.abs(X.T @ (weights * ((y > 0) - positive))).max()
    assert_allclose(path.rates, expected * np.array([1, np.sqrt(0.1), 0.1]), rtol=1e-9)
    assert_allclose(path.variances, 2 / path.rates**2)
    assert path.intercept[0] == pytest.approx(np.log(positive / (1 - positive)), abs=1e-4)


@cases.each_solver
@few
@given(sample=cases.any_documents(), prior=laplace_priors)
def test_the_path_is_continuous_and_its_objective_falls(solver, sample, prior):
    X, y = sample
    path = regularization_path(X, y, prior=prior, solver=solver, n_steps=12, smallest=0.05, **TIGHT)
    slack = 1e-9 * path.objective[0]
    assert np.all(np.diff(path.objective) <= slack)
    assert np.all(np.diff(path.log_likelihood) >= -slack)
    assert np.all(path.gap <= 1e-6 * path.objective)
    middle = np.sqrt(path.variances[5] * path.variances[6])
    jumps = []
    for width in (0.1, 0.01, 0.001):
        near = regularization_path(
            X, y, prior=prior, solver=solver, variances=middle * np.array([1 - width, 1 + width]), **TIGHT
        )
        jumps.append(np.abs(np.diff(near.coef.toarray(), axis=0)).max())
    # A jump would not shrink with the distance of the rates.
    assert jumps[2] <= 0.05 * max(jumps[0], 1e-4)


@cases.each_solver
@pytest.mark.parametrize("prior", ["laplace", "gaussian", Laplace(relative={1: 3.0}), Gaussian(mode=0.2)])
def test_every_step_equals_a_fit_of_its_own(prior, solver):
    X, y = cases.documents(seed=2, n=60)
    path = regularization_path(X, y, prior=prior, variances=[4.0, 0.05, 0.5], solver=solver, **TIGHT)
    assert_array_equal(path.variances, [0.05, 0.5, 4.0])
    assert isinstance(path.coef, sp.csr_matrix)
    for step, variance in enumerate(path.variances):
        model = cases.tight(prior, float(variance), solver=solver).fit(X, y)
        assert_allclose(path.coef[step].toarray(), model.coef_, atol=1e-5)
        assert path.intercept[step] == pytest.approx(model.intercept_[0], abs=1e-5)
        assert path.objective[step] == pytest.approx(model.certificate_.objective[0], rel=1e-9)
        scores = model.decision_function(X)
        assert path.log_likelihood[step] == pytest.approx(-np.logaddexp(0, -y * scores).sum(), rel=1e-6)


@cases.each_solver
def test_a_gaussian_path_takes_the_grid_of_the_paper(solver):
    X, y = cases.documents(seed=2, n=60)
    path = regularization_path(X, y, prior="gaussian", solver=solver)
    assert_allclose(path.variances, GAUSSIAN_GRID)
    assert np.all(np.diff(np.abs(path.coef.toarray()).sum(axis=1)) > 0)


@cases.each_solver
def test_names_come_from_the_frame(solver):
    X, y = cases.documents(seed=2, n=60)
    frame = pd.DataFrame(X, columns=list("abcde"))
    path = regularization_path(frame, y, prior=Laplace(mode={"c": 1.0}), n_steps=2, solver=solver)
    assert path.feature_names.tolist() == list("abcde")
    assert_allclose(path.coef.toarray()[0], [0, 0, 1, 0, 0])


@cases.each_solver
def test_text_becomes_denser_along_the_path(solver):
    X, Y, *_ = cases.news()
    path = regularization_path(X, Y[:, 2], n_steps=8, smallest=0.05, solver=solver)
    used = path.coef.getnnz(axis=1)
    assert used[0] == 0
    assert used[-1] > used[3] > 0
    assert np.all(path.gap < 1e-3 * path.objective)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"solver": "nonsense"}, "solver is 'nonsense'"),
        ({"n_steps": 0}, "n_steps=0"),
        ({"smallest": 0.0}, "smallest=0.0"),
        ({"smallest": 2.0}, "smallest=2.0"),
        ({"variances": [1.0, -1.0]}, "variances must be"),
        ({"variances": []}, "variances must be"),
        ({"variances": [np.nan]}, "variances must be"),
        ({"prior": Laplace(1.0)}, "prior has a fixed variance"),
        ({"prior": "lasso"}, "prior must be"),
        ({"prior": Laplace(mode={"wheat": 1.0})}, "names the term 'wheat'"),
    ],
)
def test_bad_options_are_named(options, message):
    X, y = cases.documents()
    with pytest.raises(ValueError, match=message):
        regularization_path(X, y, **{"solver": "clg", **options})


def test_bad_labels_are_named():
    X, _ = cases.documents()
    with pytest.raises(ValueError, match="y must have two classes, found 4"):
        regularization_path(X, np.arange(40) % 4, solver="clg")
    with pytest.raises(ValueError, match="one class only"):
        regularization_path(X, np.ones(40), solver="clg")


@cases.each_solver
def test_too_few_rounds_warn(solver):
    X, y = cases.documents(seed=2, n=60)
    with pytest.warns(ConvergenceWarning, match="of 3 fits reached max_iter=1 rounds"):
        regularization_path(X, y, n_steps=3, max_iter=1, tol=1e-12, solver=solver)


@cases.each_solver
def test_documents_without_terms_have_a_flat_path(solver):
    path = regularization_path(np.zeros((4, 2)), [0, 0, 0, 1], n_steps=3, solver=solver, **TIGHT)
    assert path.coef.nnz == 0
    assert_allclose(path.intercept, np.log(1 / 3), atol=1e-6)
