"""Bad and awkward input: a clear error before any work, or the right answer; never a crash, never a silent NaN."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import log_softmax
from sklearn.exceptions import NotFittedError

import linear_cases
import multinomial_cases as cases
from bayesift import progress
from bayesift.linear import BayesianMultinomialRegression
from bayesift.priors import Gaussian, Laplace, from_model

X, Y = cases.documents(n=30)


def fit(matrix=X, labels=Y, weights=None, prior="laplace", feature_names=None, **options):
    return cases.tight(prior, **options).fit(matrix, labels, weights, feature_names)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variance": -1.0}, r"'variance' parameter .* in the range \[0.0, inf\]"),
        ({"variance": np.nan}, "'variance' parameter"),
        ({"variance": "best"}, "'variance' parameter"),
        ({"intercept_variance": -0.1}, "'intercept_variance' parameter"),
        ({"prior": "lasso"}, "'prior' parameter|prior must be"),
        ({"prior": ["laplace", "gaussian"]}, "prior lists 2 priors, expected 3"),
        ({"prior": ["laplace", "lasso", "laplace"]}, "prior must be 'laplace', 'gaussian' or a prior object"),
        ({"prior": {7: "laplace"}}, "prior names the category 7"),
        ({"prior": Laplace(mode={"wheat": 1.0})}, "names the term 'wheat', but the features have no names"),
        ({"prior": ["laplace", "laplace", Laplace(mode={5: 1.0})]}, "mode names 5, which is none of the 4 features"),
        ({"prior": Laplace([1.0, 2.0])}, "variance has 2 values; expected 4"),
        ({"prior": Laplace(np.ones(4)), "intercept_variance": "same"}, "'same' needs a common variance"),
        ({"reference_class": 3}, r"reference_class is 3, which y does not have; y has \[0, 1, 2\]"),
        ({"reference_class": "sea"}, "reference_class is 'sea'"),
        ({"exclude_absent": "yes"}, "'exclude_absent' parameter"),
        ({"feature_names": ["a", "b"]}, "feature_names has 2 names; expected 4"),
        ({"solver": "descent"}, "'solver' parameter"),
        ({"tol": 0.0}, "'tol' parameter"),
        ({"tol": 2.0}, "'tol' parameter"),
        ({"max_iter": 0}, "'max_iter' parameter"),
        ({"grid": []}, "grid must be a list of variances greater than 0"),
        ({"grid": [1.0, np.nan]}, "grid must be"),
        ({"folds": 1}, "'folds' parameter"),
        ({"folds": 3, "runs": 4}, "runs=4 must not exceed folds=3"),
        ({"class_weight": "even"}, "'class_weight' parameter"),
        ({"n_jobs": 0}, "n_jobs == 0"),
    ],
)
def test_bad_settings_are_named_before_any_work(options, message):
    told = []
    with progress.callback(lambda *n: told.append(n)), pytest.raises(ValueError, match=message):
        fit(**options)
    assert not told


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_numbers_that_are_none_are_refused(form, bad):
    spoilt = X.copy()
    spoilt[3, 2] = bad
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
        fit(form(spoilt))
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
        fit().predict(form(spoilt))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.ones(30), "one class only"),
        (["sea"] * 30, "one class only"),
        ([1, "sea"] * 15, "y mixes labels of the types int, str"),
        (np.linspace(0, 1, 30), "Unknown label type: continuous"),
        (np.where(np.arange(30) == 4, np.nan, Y), "Input y contains NaN"),
        (np.eye(3)[Y], "y should be a 1d array"),
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
        (np.ones(29), r"shape|inconsistent"),
    ],
)
def test_bad_weights_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        fit(weights=weights)


def test_models_that_are_not_fitted_and_matrices_of_another_width_are_refused():
    for method in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(BayesianMultinomialRegression(), method)(X)
        with pytest.raises(ValueError, match=r"X has 3 features, but .* is expecting 4"):
            getattr(fit(), method)(sp.csr_matrix(X[:, :3]))
    with pytest.raises(NotFittedError):
        BayesianMultinomialRegression().sparsify()
    model = fit(warm_start=True)
    with pytest.raises(ValueError, match=r"coef_ has shape \(3, 4\), now there are 2 classes"):
        model.fit(X, Y > 0)


@cases.each_solver
def test_labels_of_any_type_and_probabilities(solver):
    names = np.array(["wheat", "sea", "gold"])
    model = fit(labels=names[Y], solver=solver)
    plain = fit(solver=solver)
    assert model.classes_.tolist() == ["gold", "sea", "wheat"]
    assert_allclose(model.decision_function(X), plain.decision_function(X)[:, ::-1], atol=1e-6)
    assert_allclose(model.predict_log_proba(X), log_softmax(model.decision_function(X), axis=1), atol=1e-12)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert_array_equal(model.predict(X), model.classes_[np.argmax(model.predict_proba(X), axis=1)])


@cases.each_solver
def test_probabilities_are_exact_in_the_tails(solver):
    priors = [Laplace(0.0, mode) for mode in (0.0, 1.0, -1.0)]
    model = fit([[1.0], [-1.0], [2.0]], [0, 1, 2], prior=priors, intercept_variance=0.0, solver=solver)
    logs = model.predict_log_proba(np.array([[800.0], [-800.0], [40.0]]))
    assert_array_equal(logs[:2], [[-800, 0, -1600], [-800, -1600, 0]])
    assert_allclose(logs[2], [-40, -np.exp(-40.0), -80], rtol=1e-12)
    two = fit([[1.0], [-1.0], [2.0]], [0, 1, 1], prior=priors[:2], intercept_variance=0.0, solver=solver)
    assert_array_equal(two.decision_function([[800.0], [-40.0]]), [800, -40])
    assert_allclose(two.predict_log_proba([[-40.0]])[0], [-np.exp(-40.0), -40], rtol=1e-12)


@cases.each_solver
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_a_class_without_weight_warns_and_is_hardly_ever_predicted(family, solver):
    weights = (Y != 1).astype(float)
    with pytest.warns(UserWarning, match="class 1: no document with a weight"):
        model = fit(prior=family, weights=weights, solver=solver)
    other = fit(X[Y != 1], Y[Y != 1], prior=family, solver=solver)
    assert_array_equal(model.coef_[1], np.zeros(4))
    assert_allclose(model.coef_[[0, 2]], other.class_coef_, atol=1e-7)
    odds = model.predict_proba(X)[:, [0, 2]]
    assert_allclose(odds / odds.sum(axis=1, keepdims=True), other.predict_proba(X), atol=1e-7)
    assert not np.any(model.predict(X) == 1)


@cases.each_solver
def test_one_class_left_by_the_weights_gives_the_smoothed_base_rate(solver):
    with pytest.warns(UserWarning, match="class 0, 2: no document"):
        model = fit(weights=2.0 * (Y == 1), solver=solver)
    total = 2.0 * np.sum(Y == 1)
    expected = np.array([0.5, total + 0.5, 0.5]) / (total + 1.5)
    assert_allclose(model.predict_proba(X), np.tile(expected, (30, 1)))


@cases.each_solver
def test_a_reference_class_without_weight_keeps_its_zero(solver):
    with pytest.warns(UserWarning, match="class 1: no document"):
        model = fit(weights=(Y != 1).astype(float), reference_class=1, solver=solver)
    assert_array_equal(cases.coefficients(model)[1], np.zeros(5))
    free = fit(X[Y != 1], Y[Y != 1], solver=solver)
    assert_allclose(model.coef_[2] - model.coef_[0], free.coef_[0], atol=1e-5)
    assert not np.any(model.predict(X) == 1)


@cases.each_solver
def test_a_class_without_weight_and_a_penalised_intercept_needs_no_special_case(solver):
    weights = (Y != 1).astype(float)
    model = fit(weights=weights, intercept_variance=1.0, solver=solver)
    ps = [linear_cases.penalties("laplace", 1.0, 0, 0, 4, 1.0)] * 3
    _, least = cases.reference(X, Y, ps, weights)
    assert model.certificate_.objective[0] == pytest.approx(least, rel=1e-8)


@cases.each_solver
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_documents_without_any_term_give_the_base_rates(family, solver):
    model = fit(np.zeros((6, 3)), [0, 0, 0, 1, 1, 2], prior=family, solver=solver)
    assert_array_equal(model.coef_, np.zeros((3, 3)))
    assert_allclose(model.predict_proba(np.zeros((1, 3))), [[1 / 2, 1 / 3, 1 / 6]], atol=1e-8)


@cases.each_solver
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_terms_of_one_document_and_of_none(family, solver):
    sparse = np.zeros((30, 6))
    sparse[:, :4] = X
    sparse[4, 4] = 3.0
    model = fit(sparse, prior=family, solver=solver, variance=5.0)
    _, least = cases.reference(sparse, Y, [linear_cases.penalties(family, 5.0, 0, 0, 6)] * 3)
    assert model.certificate_.objective[0] == pytest.approx(least, rel=1e-8)
    assert_array_equal(model.coef_[:, 5], np.zeros(3))
    moved = fit(sparse, prior=linear_cases.FAMILIES[family](5.0, 0.25), solver=solver)
    assert_array_equal(moved.coef_[:, 5], np.full(3, 0.25))


@cases.each_solver
def test_separable_documents_stay_finite(solver):
    x = np.array([[0.0, 0], [0, 0], [1, 0], [1, 0], [0, 1], [0, 1]])
    y = [0, 0, 1, 1, 2, 2]
    for family, variance in (("laplace", 1.0), ("gaussian", 1.0), ("laplace", 1e6), ("gaussian", 1e6)):
        model = fit(x, y, prior=family, variance=variance, solver=solver)
        ps = [linear_cases.penalties(family, variance, 0, 0, 2)] * 3
        _, least = cases.reference(x, np.array(y), ps)
        assert model.certificate_.objective[0] <= least * (1 + 1e-7)
        assert model.certificate_.gap[0] < 1e-6
        if variance > 1:
            assert_array_equal(model.predict(x), y)


@cases.each_solver
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_separable_documents_without_any_penalty_stay_finite(solver):
    x = np.array([[0.0, 0], [0, 0], [1, 0], [1, 0], [0, 1], [0, 1]])
    y = [0, 0, 1, 1, 2, 2]
    model = fit(x, y, variance=np.inf, solver=solver, max_iter=50)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.predict_log_proba(x)).all()
    assert_array_equal(model.predict(x), y)


@cases.each_solver
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("variance", [1e-300, 1e-12, 1e12, 1e300])
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_extreme_variances_give_finite_answers(family, variance, solver):
    model = BayesianMultinomialRegression(family, variance, solver=solver).fit(X, Y)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.certificate_.objective).all()
    assert np.isfinite(model.predict_proba(X)).all()
    if variance < 1e-6:
        assert_allclose(model.coef_, 0, atol=1e-6)


@cases.each_solver
@pytest.mark.parametrize("scale", [1e-4, 1e4, 1e30, 1e100])
def test_weights_of_terms_of_any_size(scale, solver):
    plain = fit(X, prior=Gaussian(2.0), solver=solver)
    scaled = fit(scale * X, prior=Gaussian(2.0 / scale / scale), solver=solver)
    assert_allclose(scaled.decision_function(scale * X), plain.decision_function(X), atol=1e-4)


@cases.each_solver
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_every_form_of_a_matrix_gives_the_same_answer(family, solver):
    plain = fit(prior=family, solver=solver)
    csr = sp.csr_matrix(X)
    wide = csr.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    twice = sp.csr_matrix((np.repeat(csr.data / 2, 2), np.repeat(csr.indices, 2), 2 * csr.indptr), shape=csr.shape)
    for form in (csr, csr.tocsc(), sp.csr_array(X), csr.tocoo(), wide, twice, np.asfortranarray(X), X.tolist()):
        model = fit(form, prior=family, solver=solver)
        assert_allclose(model.coef_, plain.coef_, atol=1e-9)
        assert_allclose(model.decision_function(form), plain.decision_function(X), atol=1e-9)


@cases.each_solver
def test_names_of_a_frame_reach_the_priors_of_the_classes(solver):
    frame = pd.DataFrame(X, columns=["oil", "wheat", "sea", "gold"])
    priors = {1: Laplace(mode={"wheat": 2.0}), 2: Laplace(sign={"sea": -1}, relative={"gold": 0.0})}
    model = fit(frame, prior=priors, variance=0.05, solver=solver)
    by_number = {1: Laplace(mode={1: 2.0}), 2: Laplace(sign={2: -1}, relative={3: 0.0})}
    assert_array_equal(model.coef_, fit(prior=by_number, variance=0.05, solver=solver).coef_)
    named = fit(prior=priors, variance=0.05, solver=solver, feature_names=frame.columns.to_numpy())
    assert_array_equal(model.coef_, named.coef_)
    assert model.coef_[2, 3] == 0
    assert model.coef_[2, 2] <= 0


def test_sparse_coefficients_predict_the_same():
    news, indicator, *_ = linear_cases.news()
    model = BayesianMultinomialRegression(variance=0.5).fit(news, np.argmax(indicator, axis=1))
    before = [method(news) for method in (model.decision_function, model.predict, model.predict_proba)]
    dense = model.coef_.copy()
    assert model.sparsify() is model
    assert model.coef_.nnz == model.n_nonzero_.sum() == np.count_nonzero(dense)
    after = [method(news) for method in (model.decision_function, model.predict, model.predict_proba)]
    for one, other in zip(before, after, strict=True):
        assert_allclose(one, other, atol=1e-12)


@cases.each_solver
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_the_precision_is_the_second_derivative(family, solver):
    weights = np.linspace(0.2, 2, 30)
    options = {"variance": 0.7, "intercept_variance": 3.0, "compute_precision": True, "solver": solver}
    model = fit(prior=family, weights=weights, reference_class=2, **options)
    p = linear_cases.penalties(family, 0.7, 0, 0, 4, 3.0)
    if family == "laplace":
        # The kink has no second derivative; beside it the penalty is straight.
        p = p._replace(variance=np.full(5, np.inf))
    beta, step = cases.coefficients(model), 1e-4
    for k, j in np.ndindex(2, 5):
        shift = np.zeros_like(beta)
        shift[k, j] = step
        value = [cases.objective(X, Y, beta + t * shift, [p] * 3, weights) for t in (-1, 0, 1)]
        assert model.precision_[k, j] == pytest.approx((value[0] - 2 * value[1] + value[2]) / step**2, rel=1e-4)
    assert np.isinf(model.precision_[2]).all()
    assert not hasattr(fit(solver=solver), "precision_")


def test_yesterdays_posterior_is_todays_prior():
    big, labels = cases.documents(n=200)
    old = cases.tight("gaussian", 1.0, compute_precision=True).fit(big[:150], labels[:150])
    priors = [from_model(old, category=k) for k in range(3)]
    new = cases.tight(priors).fit(big[150:], labels[150:])
    both = cases.tight("gaussian", 1.0).fit(big, labels)
    alone = cases.tight("gaussian", 1.0).fit(big[150:], labels[150:])
    distance = [np.linalg.norm(model.coef_ - both.coef_) for model in (new, alone)]
    assert distance[0] < 0.7 * distance[1]
