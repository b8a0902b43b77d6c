"""What must hold for any data: copies and weights, orders, scales, labels, seeds, threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import linear_cases as cases
from bayesift.priors import Gaussian, Laplace

families = st.sampled_from(["laplace", "gaussian"])
few = settings(max_examples=60, deadline=None)


def fitted(X, y, prior="laplace", variance=1.0, weights=None, **options):
    return cases.tight(prior, variance, **options).fit(X, y, weights)


@cases.each_solver
@few
@given(sample=cases.any_documents(), family=families, variance=st.sampled_from([0.1, 3.0, "norm"]), data=st.data())
def test_a_copy_of_a_document_is_a_weight_of_2(solver, sample, family, variance, data):
    X, y = sample
    copies = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(y), max_size=len(y))))
    copies[:2] = 1, 2
    class_weight = data.draw(st.sampled_from([None, "balanced", {-1.0: 2.0, 1.0: 0.5}]))
    options = {"solver": solver, "class_weight": class_weight}
    weighted = fitted(X, y, family, variance, copies.astype(float), **options)
    copied = fitted(np.repeat(X, copies, axis=0), np.repeat(y, copies), family, variance, **options)
    assert_allclose(weighted.variance_, copied.variance_, rtol=1e-12)
    assert_allclose(weighted.certificate_.objective, copied.certificate_.objective, rtol=1e-9)
    assert_allclose(weighted.coef_, copied.coef_, atol=1e-5)


@cases.each_solver
@few
@given(sample=cases.any_documents(), family=families, seed=st.integers(0, 10**6))
def test_permuted_documents_and_columns_permute_the_answer(solver, sample, family, seed):
    X, y = sample
    random = np.random.default_rng(seed)
    rows, columns = random.permutation(len(y)), random.permutation(X.shape[1])
    mode, sign = random.normal(size=X.shape[1]), random.integers(-1, 2, X.shape[1])
    prior = cases.FAMILIES[family](1.0, mode, sign=sign)
    moved = cases.FAMILIES[family](1.0, mode[columns], sign=sign[columns])
    weights = random.uniform(0, 2, len(y))
    plain = fitted(X, y, prior, weights=weights, solver=solver)
    permuted = fitted(X[rows][:, columns], y[rows], moved, weights=weights[rows], solver=solver)
    assert_allclose(permuted.certificate_.objective, plain.certificate_.objective, rtol=1e-9)
    assert_allclose(permuted.coef_[0], plain.coef_[0, columns], atol=1e-5)
    assert_allclose(permuted.intercept_, plain.intercept_, atol=1e-5)


@cases.each_solver
@few
@given(
    sample=cases.any_documents(),
    family=families,
    scale=st.floats(0.05, 20),
    column=st.integers(0, 5),
    mode=st.sampled_from([0.0, -0.7]),
    sign=st.sampled_from([0, 1, -1]),
)
def test_a_scaled_column_with_its_prior_scaled_the_other_way(solver, sample, family, scale, column, mode, sign):
    X, y = sample
    factor = np.ones(X.shape[1])
    factor[column % X.shape[1]] = scale
    one = cases.FAMILIES[family]
    plain = fitted(X, y, one(0.8, mode, sign=sign), solver=solver)
    scaled = fitted(X * factor, y, one(0.8 / factor**2, mode / factor, sign=sign), solver=solver)
    assert_allclose(scaled.certificate_.objective, plain.certificate_.objective, rtol=1e-9)
    assert_allclose(scaled.coef_ * factor, plain.coef_, atol=1e-5)
    assert_allclose(scaled.decision_function(X * factor), plain.decision_function(X), atol=1e-4)


@cases.each_solver
@few
@given(sample=cases.any_documents(), family=families, threshold=st.sampled_from(["half", "min_error"]))
def test_swapped_labels_negate_the_model(solver, sample, family, threshold):
    X, y = sample
    plain = fitted(X, y, family, solver=solver, threshold=threshold)
    swapped = fitted(X, -y, family, solver=solver, threshold=threshold)
    assert_allclose(swapped.coef_, -plain.coef_, atol=1e-5)
    assert_allclose(swapped.intercept_, -plain.intercept_, atol=1e-5)
    assert_allclose(swapped.predict_proba(X), plain.predict_proba(X)[:, ::-1], atol=1e-5)


@cases.each_solver
@few
@given(sample=cases.any_documents(), family=families)
def test_signs_of_columns_and_coefficients_go_together(solver, sample, family):
    # Mirroring a column mirrors its one-sided prior.
    X, y = sample
    one = cases.FAMILIES[family]
    plain = fitted(X, y, one(1.0, 0.2, sign=1), solver=solver)
    mirrored = fitted(-X, y, one(1.0, -0.2, sign=-1), solver=solver)
    assert np.all(plain.coef_ >= 0.2)
    assert_allclose(mirrored.coef_, -plain.coef_, atol=1e-5)


@cases.each_solver
@few
@given(sample=cases.any_documents(), family=families)
def test_modes_are_offsets(solver, sample, family):
    # A strong prior at modes m is the model that starts from the scores x·m.
    X, y = sample
    mode = np.linspace(-1, 1, X.shape[1])
    prior = cases.FAMILIES[family](1e-12, mode, intercept_variance=0.0)
    assert_allclose(fitted(X, y, prior, solver=solver).decision_function(X), X @ mode, atol=1e-6)


@settings(max_examples=60, deadline=None)
@given(
    sample=cases.any_documents(4, 30),
    family=st.sampled_from([Laplace, Gaussian]),
    seed=st.integers(0, 10**6),
    intercept=st.sampled_from([0.0, 0.5, np.inf]),
)
def test_both_solvers_reach_the_same_optimum(sample, family, seed, intercept):
    X, y = sample
    random = np.random.default_rng(seed)
    d = X.shape[1]
    variance = random.choice([0.0, 0.01, 0.3, 5.0, 100.0], d)
    prior = family(variance, random.normal(size=d), sign=random.integers(-1, 2, d))
    weights = random.choice([0.0, 1.0, 2.0], len(y))
    weights[:2] = 1.0
    options = {"weights": weights, "intercept_variance": intercept}
    clg, newton = (fitted(X, y, prior, solver=solver, **options) for solver in ("clg", "newton"))
    assert_allclose(newton.certificate_.objective, clg.certificate_.objective, rtol=1e-9, atol=1e-12)
    assert_allclose(newton.decision_function(X), clg.decision_function(X), atol=1e-4)


@cases.each_solver
@pytest.mark.parametrize("variance", ["cv", "auto", "norm", 0.5])
def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads(variance, solver):
    X, Y, *_ = cases.news()
    options = {
        "solver": solver,
        "folds": 4,
        "grid": [0.1, 1.0, 10.0],
        **cases.stopping(solver, 1e-6, 1e-4),
        "random_state": 5,
    }
    first, again, threads = (fitted(X, Y[:, :4], variance=variance, **options, n_jobs=n_jobs) for n_jobs in (1, 1, 2))
    for other in (again, threads):
        assert_array_equal(other.coef_, first.coef_)
        assert_array_equal(other.intercept_, first.intercept_)
        assert_array_equal(other.variance_, first.variance_)
        assert_array_equal(other.certificate_.dual, first.certificate_.dual)


@cases.each_solver
def test_another_seed_deals_other_folds(solver):
    X, Y, *_ = cases.news()
    options = {"variance": "cv", "solver": solver, "grid": [0.1, 1.0], **cases.stopping(solver, 1e-4, 1e-3)}
    one, two = (fitted(X, Y[:, 0], **options, random_state=seed).cv_results_[0] for seed in (0, 1))
    assert not np.allclose(one["fold_scores"], two["fold_scores"])
