"""What must hold for any data: the binary model, the freedoms of the softmax, copies and weights, orders."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import linear_cases
import multinomial_cases as cases
from bayesift.linear._fit.softmax_problem import choose_shifts, weighted_medians
from bayesift.priors import Gaussian, Laplace

families = st.sampled_from(["laplace", "gaussian"])
few = settings(max_examples=40, deadline=None)


@cases.each_solver
@few
@given(sample=linear_cases.any_documents(), variance=st.sampled_from([0.1, 1.0, 20.0]), data=st.data())
def test_two_classes_with_gaussian_priors_are_the_binary_model_with_twice_the_variance(solver, sample, variance, data):
    X, y = sample
    intercept = data.draw(st.sampled_from([0.3, np.inf]))
    weights = np.array(data.draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=len(y), max_size=len(y))))
    model = cases.tight("gaussian", variance, intercept_variance=intercept, solver=solver).fit(X, y, weights)
    binary = linear_cases.tight("gaussian", 2 * variance, intercept_variance=2 * intercept).fit(X, y, weights)
    assert_allclose(model.certificate_.objective, binary.certificate_.objective, rtol=1e-9)
    assert_allclose(model.coef_[0], binary.coef_[0], atol=1e-5)
    assert_allclose(model.class_coef_.sum(axis=0), 0, atol=1e-7)
    assert_allclose(model.decision_function(X), binary.decision_function(X), atol=1e-4)
    assert_allclose(model.predict_proba(X), binary.predict_proba(X), atol=1e-5)


@cases.each_solver
@few
@given(sample=linear_cases.any_documents(), variance=st.sampled_from([0.1, 1.0, 20.0]))
def test_two_classes_with_laplace_priors_are_the_binary_model(solver, sample, variance):
    # λ(|a| + |b|) with a − b given is least, λ|a − b|, when one of them is zero.
    X, y = sample
    model = cases.tight("laplace", variance, solver=solver).fit(X, y)
    binary = linear_cases.tight("laplace", variance).fit(X, y)
    assert_allclose(model.certificate_.objective, binary.certificate_.objective, rtol=1e-9)
    assert_allclose(model.coef_[0], binary.coef_[0], atol=1e-4)
    assert_array_equal(model.class_coef_.min(axis=0), 0)
    assert_allclose(model.predict_proba(X), binary.predict_proba(X), atol=1e-5)


@cases.each_solver
@few
@given(sample=linear_cases.any_documents(), family=families, intercept=st.sampled_from([0.0, 0.5, np.inf]))
def test_a_reference_class_of_two_is_the_binary_model(solver, sample, family, intercept):
    X, y = sample
    options = {"intercept_variance": intercept}
    model = cases.tight(family, 0.7, reference_class=-1.0, solver=solver, **options).fit(X, y)
    binary = linear_cases.tight(family, 0.7, **options).fit(X, y)
    assert_allclose(model.certificate_.objective, binary.certificate_.objective, rtol=1e-9)
    assert_allclose(model.class_coef_, [np.zeros(X.shape[1]), binary.coef_[0]], atol=1e-5)
    assert_allclose(model.class_intercept_, [0, binary.intercept_[0]], atol=1e-4)


@cases.each_solver
@few
@given(sample=cases.any_documents(), family=families, seed=st.integers(0, 10**6))
def test_permuted_documents_columns_and_classes_permute_the_answer(solver, sample, family, seed):
    X, y = sample
    d, k = X.shape[1], int(y.max()) + 1
    random = np.random.default_rng(seed)
    rows, columns, classes = random.permutation(len(y)), random.permutation(d), random.permutation(k)
    mode, sign = random.normal(size=(k, d)), random.integers(-1, 2, (k, d))
    weights = random.uniform(0.1, 2, len(y))
    one = linear_cases.FAMILIES[family]
    plain = cases.tight([one(1.0, mode[c], sign=sign[c]) for c in range(k)], solver=solver).fit(X, y, weights)
    # Class classes[c] becomes class c.
    moved = [one(1.0, mode[c][columns], sign=sign[c][columns]) for c in classes]
    permuted = cases.tight(moved, solver=solver).fit(X[rows][:, columns], np.argsort(classes)[y][rows], weights[rows])
    assert_allclose(permuted.certificate_.objective, plain.certificate_.objective, rtol=1e-9)
    assert_allclose(permuted.predict_proba(X[:, columns]), plain.predict_proba(X)[:, classes], atol=1e-4)


@cases.each_solver
@few
@given(sample=cases.any_documents(), family=families, variance=st.sampled_from([0.1, 3.0, "norm"]), data=st.data())
def test_a_copy_of_a_document_is_a_weight_of_2(solver, sample, family, variance, data):
    X, y = sample
    copies = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(y), max_size=len(y))))
    copies[: int(y.max()) + 1] = 1
    class_weight = data.draw(st.sampled_from([None, "balanced", {0: 2.0, 1: 0.5}]))
    model = cases.tight(family, variance, solver=solver, class_weight=class_weight)
    weighted = model.fit(X, y, copies.astype(float))
    objective, variance_, probability = weighted.certificate_.objective, weighted.variance_, weighted.predict_proba(X)
    copied = model.fit(np.repeat(X, copies, axis=0), np.repeat(y, copies))
    assert copied.variance_ == pytest.approx(variance_, rel=1e-12)
    assert_allclose(copied.certificate_.objective, objective, rtol=1e-9)
    assert_allclose(copied.predict_proba(X), probability, atol=1e-4)


@cases.each_solver
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_unpenalised_coefficients_sum_to_zero_and_may_be_shifted(family, solver):
    X, y = cases.documents(seed=20, k=4)
    variance = np.array([np.inf, 1.0, 1.0, 1.0])
    model = cases.tight(linear_cases.FAMILIES[family](variance, 0.5), solver=solver).fit(X, y)
    assert model.class_intercept_.sum() == pytest.approx(0, abs=1e-12)
    assert model.class_coef_[:, 0].sum() == pytest.approx(0, abs=1e-12)
    ps = [linear_cases.penalties(family, variance, 0.5, 0, 4)] * 4
    beta = cases.coefficients(model)
    shifted = beta + np.array([3.0, 0, 0, 0, -7.0])
    assert cases.objective(X, y, shifted, ps) == pytest.approx(cases.objective(X, y, beta, ps), rel=1e-12)


@cases.each_solver
def test_an_even_number_of_classes_with_laplace_priors_has_a_sparse_representative(solver):
    X, y = cases.documents(seed=21, k=4, n=80)
    model = cases.tight("laplace", 50.0, solver=solver).fit(X, y)
    # The penalty is the same between the two middle coefficients; one of them is put at zero.
    assert np.all((model.class_coef_ == 0).any(axis=0))


@settings(deadline=None)
@given(
    rows=st.lists(st.lists(st.sampled_from([-2.0, -1.0, 0.0, 0.5, 3.0]), min_size=4, max_size=4), min_size=1),
    weights=st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=4, max_size=4).filter(any),
)
def test_a_weighted_median_is_the_least_sum_of_distances(rows, weights):
    values, weight = np.array(rows), np.tile(weights, (len(rows), 1))
    found = weighted_medians(values, weight)

    def distances(t):
        return np.sum(weight * np.abs(values - t[:, None]), axis=1)

    least = np.min([distances(column) for column in values.T], axis=0)
    assert_allclose(distances(found), least)
    # Of several it is the one that most values equal, and of those the lowest.
    for row, chosen in enumerate(found):
        tied = [v for v in values[row] if np.isclose(distances(np.full(len(rows), v))[row], least[row])]
        ends = [t for t in (min(tied), max(tied)) if weight[row][values[row] == t].any()]
        most = max(np.sum(values[row] == t) for t in ends)
        assert np.sum(values[row] == chosen) == most


def test_shifts_leave_signs_fixed_and_gaussian_rows_alone():
    b = np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 0.0], [1.0, 2.0], [0.0, 0.0], [3.0, 5.0]])
    ones, inf = np.ones((6, 2)), np.full((6, 2), np.inf)
    l1, l2, low, high = ones.copy(), 0 * ones, -inf, inf.copy()
    l1[1], l2[1] = 0, 1
    low[2, 1] = high[2, 1] = 0
    low[3] = 0
    l1[5] = 0
    expected = b.copy()
    expected[0] = [0, 1]
    expected[5] = [-1.5, 0.5]
    mode = np.zeros_like(b)
    mode[5] = 0.5, -0.5
    assert choose_shifts(b, mode, (l1, l2, low, high))
    assert_array_equal(b[:5], expected[:5])
    assert_allclose((b + mode)[5].sum(), 0)
    assert not choose_shifts(b, mode, (l1, l2, low, high))


@cases.each_solver
@few
@given(sample=cases.any_documents(), family=families, scale=st.floats(0.05, 20), mode=st.sampled_from([0.0, -0.7]))
def test_a_scaled_column_with_its_prior_scaled_the_other_way(solver, sample, family, scale, mode):
    X, y = sample
    factor = np.ones(X.shape[1])
    factor[0] = scale
    one = linear_cases.FAMILIES[family]
    plain = cases.tight(one(0.8, mode), solver=solver).fit(X, y)
    scaled = cases.tight(one(0.8 / factor**2, mode / factor), solver=solver).fit(X * factor, y)
    assert_allclose(scaled.certificate_.objective, plain.certificate_.objective, rtol=1e-9)
    assert_allclose(scaled.predict_proba(X * factor), plain.predict_proba(X), atol=1e-4)


@cases.each_solver
def test_seeds_and_threads_do_not_change_the_answer(solver):
    X, y = cases.documents(n=80)
    options = {"variance": "cv", "grid": [0.1, 1.0, 10.0], "folds": 4, "runs": 4, "solver": solver}
    first = cases.tight(**options).fit(X, y)
    again = cases.tight(
        **options,
    ).fit(X, y)
    threads = cases.tight(**options | {"n_jobs": 2}).fit(X, y)
    for other in (again, threads):
        assert_array_equal(other.coef_, first.coef_)
        assert_array_equal(other.cv_results_[0]["fold_scores"], first.cv_results_[0]["fold_scores"])
    seeded = cases.tight(**options, random_state=5).fit(X, y)
    assert np.any(seeded.cv_results_[0]["fold_scores"] != first.cv_results_[0]["fold_scores"])


@cases.each_solver
@pytest.mark.parametrize("prior", [Laplace(1.0), Gaussian(1.0)])
def test_a_warm_start_reaches_the_same_optimum_in_fewer_rounds(prior, solver):
    X, Y, *_ = linear_cases.news()
    y = np.argmax(Y, axis=1)
    options = {"solver": solver, **linear_cases.stopping(solver, 1e-10, 1e-9)}
    cold = cases.tight(prior, **options).fit(X, y)
    warm = cases.tight(type(prior)(0.9), warm_start=True, **options).fit(X, y)
    warm.set_params(prior=prior).fit(X, y)
    assert_allclose(warm.certificate_.objective, cold.certificate_.objective, rtol=1e-8)
    assert_allclose(warm.predict_proba(X), cold.predict_proba(X), atol=1e-4)
    # The reference's trust regions start anew.
    assert solver == "clg" or warm.n_iter_[0] < cold.n_iter_[0]
    again = warm.sparsify().fit(X, y)
    assert again.n_iter_[0] < (cold.n_iter_[0] if solver == "clg" else 3)
    assert isinstance(again.coef_, np.ndarray)
