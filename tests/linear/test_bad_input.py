"""Bad and awkward input: a clear error before any work, or the right answer; never a crash, never a silent NaN."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import linear_cases as cases
from bayesift import progress
from bayesift.linear import BayesianLogisticRegression
from bayesift.priors import Gaussian, Laplace

X, Y = cases.documents(n=30)


def fit(matrix=X, labels=Y, weights=None, prior="laplace", feature_names=None, **options):
    return cases.tight(prior, **{"solver": "clg", **options}).fit(matrix, labels, weights, feature_names)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variance": -1.0}, r"'variance' parameter .* in the range \[0.0, inf\]"),
        ({"variance": np.nan}, "'variance' parameter"),
        ({"variance": "best"}, "'variance' parameter"),
        ({"intercept_variance": -0.1}, "'intercept_variance' parameter"),
        ({"intercept_variance": "other"}, "'intercept_variance' parameter"),
        ({"prior": "lasso"}, "'prior' parameter|prior must be"),
        ({"prior": ["laplace", "gaussian"]}, "prior lists 2 priors, expected 1"),
        ({"prior": ["lasso"]}, "prior must be 'laplace', 'gaussian' or a prior object, got 'lasso'"),
        ({"prior": {2.0: "laplace"}}, "prior names the category 2.0"),
        ({"prior": Laplace(mode={"wheat": 1.0})}, "names the term 'wheat', but the features have no names"),
        ({"prior": Laplace(mode={5: 1.0})}, "mode names 5, which is none of the 5 features"),
        ({"prior": Laplace([1.0, 2.0])}, "variance has 2 values; expected 5"),
        ({"prior": Laplace(np.ones(5)), "intercept_variance": "same"}, "'same' needs a common variance"),
        (
            {"prior": Laplace(mode={"wheat": 1.0}), "feature_names": list("abcde")},
            "names 'wheat', which is none of the 5",
        ),
        ({"feature_names": ["a", "b"]}, "feature_names has 2 names; expected 5"),
        ({"feature_names": list("abcda")}, "has a name twice"),
        ({"solver": "lbfgs"}, "'solver' parameter"),
        ({"tol": 0.0}, "'tol' parameter"),
        ({"tol": 2.0}, "'tol' parameter"),
        ({"max_iter": 0}, "'max_iter' parameter"),
        ({"grid": []}, "grid must be a list of variances greater than 0"),
        ({"grid": [1.0, -1.0]}, "grid must be"),
        ({"grid": [1.0, np.nan]}, "grid must be"),
        ({"grid": [[1.0]]}, "grid must be"),
        ({"folds": 1}, "'folds' parameter"),
        ({"folds": 3, "runs": 4}, "runs=4 must not exceed folds=3"),
        ({"threshold": "best"}, "threshold is 'best'; expected one of 'half'"),
        ({"threshold": {"tq": 1}}, "tq"),
        ({"threshold": 0.5}, "threshold is 0.5"),
        ({"class_weight": "even"}, "'class_weight' parameter"),
        ({"n_jobs": 0}, "n_jobs == 0"),
    ],
)
def test_bad_settings_are_named_before_any_work(options, message):
    told = []
    with progress.callback(lambda *n: told.append(n)), pytest.raises(ValueError, match=message):
        fit(**options)
    assert not told


def test_a_bad_prior_of_the_last_category_is_named_before_the_first_is_fitted():
    told = []
    priors = ["laplace", Laplace(mode={9: 1.0})]
    with progress.callback(lambda *n: told.append(n)), pytest.raises(ValueError, match="mode names 9"):
        fit(labels=np.column_stack([Y > 0, Y < 0]), prior=priors)
    assert not told


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csc_matrix])
def test_numbers_that_are_none_are_refused(form, bad):
    spoilt = X.copy()
    spoilt[3, 2] = bad
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
        fit(form(spoilt))
    model = fit()
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
        model.predict(form(spoilt))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.ones(30), "one class only: np.float64\\(1.0\\)|one class only: 1"),
        (["sea"] * 30, "one class only"),
        ([1, "sea"] * 15, "y mixes labels of the types int, str"),
        (np.array([1.5, "sea"] * 15, dtype=object), "y mixes labels of the types float, str"),
        ([None, "sea"] * 15, "y mixes labels of the types NoneType, str"),
        (np.linspace(0, 1, 30), "Unknown label type: continuous"),
        (np.where(np.arange(30) == 4, np.nan, Y), "Input y contains NaN"),
        (np.column_stack([Y, 2 * Y, Y]), "expected an indicator matrix"),
        (Y[:20], "inconsistent numbers of samples"),
        (None, "requires y to be passed"),
    ],
)
def test_bad_labels_are_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        fit(labels=labels)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros(30), "at least one non-zero"),
        (-np.ones(30), "Negative values"),
        (np.full(30, np.nan), "NaN"),
        (np.full(30, np.inf), "infinity"),
        (np.ones(29), r"shape|inconsistent"),
    ],
)
def test_bad_weights_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        fit(weights=weights)


def test_matrices_without_columns_or_rows_and_of_another_width_are_refused():
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        fit(X[:, :0])
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        fit(X[:0], Y[:0])
    model = fit()
    for method in (model.predict, model.predict_proba, model.decision_function):
        with pytest.raises(ValueError, match=r"X has 4 features, but .* is expecting 5"):
            method(sp.csr_matrix(X[:, :4]))
    with pytest.raises(NotFittedError):
        BayesianLogisticRegression().predict(X)
    with pytest.raises(NotFittedError):
        BayesianLogisticRegression().sparsify()


@cases.each_solver
def test_separable_documents_with_a_free_intercept(solver):
    # One word parts the classes; the penalty alone keeps its coefficient finite, the intercept follows.
    x = np.array([[0.0], [0.0], [0.0], [1.0], [1.0]])
    y = np.array([-1.0, -1, -1, 1, 1])
    for family, variance in (("laplace", 1.0), ("gaussian", 1.0), ("laplace", 1e6), ("gaussian", 1e6)):
        model = cases.tight(family, variance, solver=solver).fit(x, y)
        p = cases.penalties(family, variance, 0, 0, 1)
        _, least = cases.reference(x, y, p)
        assert cases.objective(x, y, cases.coefficients(model), p) == pytest.approx(least, rel=1e-7)
        assert model.certificate_.gap[0] < 1e-6
        if variance > 1:
            assert_array_equal(model.predict(x), y)


@cases.each_solver
def test_separable_documents_without_any_penalty_warn_and_stay_finite(solver):
    x = np.array([[0.0], [0.0], [1.0], [1.0]])
    y = [0, 0, 1, 1]
    model = BayesianLogisticRegression(variance=np.inf, solver=solver, tol=1e-12, max_iter=50)
    with pytest.warns(ConvergenceWarning, match="max_iter=50"):
        model.fit(x, y)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.predict_log_proba(x)).all()
    assert_array_equal(model.predict(x), y)


@cases.each_solver
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_terms_of_one_document_and_of_none(family, solver):
    sparse = np.zeros((30, 7))
    sparse[:, :5] = X
    sparse[4, 5] = 3.0
    model = fit(sparse, prior=family, solver=solver, variance=5.0)
    _, least = cases.reference(sparse, Y, cases.penalties(family, 5.0, 0, 0, 7))
    assert model.certificate_.objective[0] == pytest.approx(least, rel=1e-8)
    assert model.coef_[0, 5] * Y[4] > 0
    assert model.coef_[0, 6] == 0
    moved = fit(sparse, prior=cases.FAMILIES[family](5.0, 0.25), solver=solver)
    assert moved.coef_[0, 6] == 0.25


@cases.each_solver
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_documents_without_any_term_give_the_base_rate(family, solver):
    model = fit(np.zeros((4, 3)), [0, 0, 0, 1], prior=family, solver=solver)
    assert_array_equal(model.coef_, np.zeros((1, 3)))
    assert_allclose(model.predict_proba(np.zeros((1, 3))), [[0.75, 0.25]], atol=1e-9)
    assert fit(np.zeros((4, 3)), [0, 0, 0, 1], variance="norm", solver=solver).variance_[0] == 1.0


@cases.each_solver
def test_every_form_of_a_matrix_gives_the_same_answer(solver):
    plain = fit(solver=solver)
    csr = sp.csr_matrix(X)
    wide = csr.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    zeros = csr.tolil()
    zeros = sp.csr_matrix(
        (np.append(csr.data, 0.0), np.append(csr.indices, 0), np.append(csr.indptr[:-1], csr.nnz + 1))
    )
    doubled = sp.coo_matrix((np.repeat(csr.data / 2, 2), (np.repeat(csr.tocoo().row, 2), np.repeat(csr.indices, 2))))
    twice = sp.csr_matrix((np.repeat(csr.data / 2, 2), np.repeat(csr.indices, 2), 2 * csr.indptr), shape=csr.shape)
    twice_csc = sp.csc_matrix(csr)
    twice_csc = sp.csc_matrix(
        (np.repeat(twice_csc.data / 2, 2), np.repeat(twice_csc.indices, 2), 2 * twice_csc.indptr), shape=csr.shape
    )
    backwards = sp.csr_matrix((csr.data.copy(), csr.indices.copy(), csr.indptr.copy()), shape=csr.shape)
    for begin, end in zip(csr.indptr[:-1], csr.indptr[1:], strict=True):
        backwards.data[begin:end] = backwards.data[begin:end][::-1].copy()
        backwards.indices[begin:end] = backwards.indices[begin:end][::-1].copy()
    forms = [csr, csr.tocsc(), sp.csr_array(X), sp.csc_array(X), csr.tocoo(), csr.tolil(), wide, zeros, doubled, twice]
    forms += [twice_csc, backwards, np.asfortranarray(X), X.tolist()]
    for form in forms:
        entries = form.nnz if sp.issparse(form) else None
        model = fit(form, solver=solver)
        assert_allclose(model.coef_, plain.coef_, atol=1e-9)
        assert_allclose(model.decision_function(form), plain.decision_function(X), atol=1e-9)
        # The caller's matrix is not tidied up.
        assert entries is None or form.nnz == entries
    integers = np.rint(3 * X).astype(np.int32)
    assert_allclose(fit(integers, solver=solver).coef_, fit(integers.astype(float), solver=solver).coef_)
    single = fit(X.astype(np.float32), solver=solver)
    assert_allclose(single.coef_, plain.coef_, atol=1e-4)


@cases.each_solver
def test_a_category_nobody_is_in_warns_and_is_never_predicted(solver):
    indicator = np.column_stack([Y > 0, np.zeros(30), np.ones(30)]).astype(int)
    for variance in (1.0, "norm"):
        with pytest.warns(UserWarning, match="category 1, 2: one class only"):
            model = fit(labels=indicator, variance=variance, solver=solver)
        assert_array_equal(model.predict(X)[:, 1:], indicator[:, 1:])
        assert_array_equal(model.coef_[1:], np.zeros((2, 5)))
        assert_allclose(model.predict_proba(X)[0, 1:], [0.5 / 31, 30.5 / 31])
        assert_array_equal(model.coef_[0], fit(labels=Y, variance=variance, solver=solver).coef_[0])
    with pytest.warns(UserWarning, match="category 1, 2") as caught:
        model = fit(labels=indicator, variance="cv", grid=[0.1, 1.0], threshold="max_f1", solver=solver)
    assert ["too few" in str(one.message) for one in caught] == [True, False]
    assert not model.predict(X)[:, 1].any()


@cases.each_solver
def test_one_class_with_a_penalised_intercept_needs_no_special_case(solver):
    indicator = np.column_stack([Y > 0, np.zeros(30)]).astype(int)
    model = fit(labels=indicator, intercept_variance=1.0, solver=solver)
    p = cases.penalties("laplace", 1.0, 0, 0, 5, 1.0)
    _, least = cases.reference(X, -np.ones(30), p)
    assert model.certificate_.objective[1] == pytest.approx(least, rel=1e-8)
    assert not model.predict(X)[:, 1].any()


@cases.each_solver
def test_weights_that_leave_one_class_warn(solver):
    with pytest.warns(UserWarning, match="category 1.0: one class only"):
        model = fit(weights=(Y > 0).astype(float), solver=solver)
    assert np.isfinite(model.intercept_).all()
    assert_array_equal(model.predict(X), np.ones(30))


@cases.each_solver
def test_two_documents_are_enough(solver):
    model = fit([[1.0, 0.0], [0.0, 1.0]], ["a", "b"], solver=solver, variance=10.0)
    assert_array_equal(model.predict([[1.0, 0.0], [0.0, 1.0]]), ["a", "b"])
    assert_allclose(model.coef_[0, 0], -model.coef_[0, 1], atol=1e-6)


@cases.each_solver
@pytest.mark.parametrize("scale", [1e-4, 1e4, 1e30, 1e100])
def test_weights_of_terms_of_any_size(scale, solver):
    plain = fit(X, prior=Gaussian(2.0), solver=solver)
    scaled = fit(scale * X, prior=Gaussian(2.0 / scale / scale), solver=solver)
    assert_allclose(scaled.decision_function(scale * X), plain.decision_function(X), atol=1e-5)


def test_the_reference_solver_stops_too_early_on_tiny_weights_and_the_certificate_tells():
    # Its trust region starts at 1, so that the scores hardly change in the first pass, which is its rule for stopping.
    plain = fit(X, prior=Gaussian(2.0))
    tiny = fit(1e-30 * X, prior=Gaussian(2e60))
    assert tiny.certificate_.converged[0]
    assert tiny.certificate_.relative_gap[0] > 0.1
    assert tiny.certificate_.dual[0] <= plain.certificate_.objective[0]


@cases.each_solver
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("variance", [1e-300, 1e-12, 1e12, 1e300])
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_extreme_variances_give_finite_answers(family, variance, solver):
    model = BayesianLogisticRegression(family, variance, solver=solver).fit(X, Y)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.certificate_.objective).all()
    assert np.isfinite(model.predict_proba(X)).all()
    if variance < 1e-6:
        assert_allclose(model.coef_, 0, atol=1e-6)
