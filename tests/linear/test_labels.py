"""Labels of every kind, probabilities, decisions, state and priors by category."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import f1_score
from sklearn.utils import compute_sample_weight

import linear_cases as cases
from bayesift import progress
from bayesift.decide import Utility, best_threshold
from bayesift.linear import BayesianLogisticRegression
from bayesift.linear._fit.problem import design_of
from bayesift.linear._fit.variance import assign_folds
from bayesift.priors import Gaussian, Laplace, from_model

KINDS = {
    "str": ("sea", "wheat"),
    "bool": (False, True),
    "int": (3, 7),
    "float": (-1.0, 1.0),
    "numpy str": tuple(np.array(["a", "b"])),
}


def spread(seed=30, n=60, k=3):
    """Documents with an indicator of k categories, of which some documents have none or several."""
    X, _ = cases.documents(seed=seed, n=n)
    random = np.random.default_rng(seed)
    return X, (X @ random.normal(size=(5, k)) + random.normal(size=(n, k)) > 0.5).astype(int)


@cases.each_solver
@pytest.mark.parametrize("kind", KINDS)
def test_binary_labels_of_any_type(kind, solver):
    X, y = cases.documents(n=60)
    low, high = KINDS[kind]
    labels = [high if positive else low for positive in y > 0]
    model = cases.tight(variance=2.0, solver=solver).fit(X, labels)
    plain = cases.tight(variance=2.0, solver=solver).fit(X, y)
    assert model.classes_.tolist() == [low, high]
    assert_array_equal(model.coef_, plain.coef_)
    assert model.coef_.shape == (1, 5)
    assert model.decision_function(X).shape == (60,)
    assert_array_equal(model.predict(X), np.where(plain.decision_function(X) >= 0, high, low))
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert model.score(X, labels) > 0.6


@cases.each_solver
def test_more_classes_are_trained_one_against_the_rest(solver):
    X, _ = cases.documents(n=90)
    y = np.array(["c", "a", "b"])[np.argmax(X[:, :3] + 0.5 * X[:, 2:5], axis=1)]
    model = cases.tight(variance=2.0, solver=solver).fit(X, y)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.coef_.shape == (3, 5)
    for k, label in enumerate("abc"):
        one = cases.tight(variance=2.0, solver=solver).fit(X, y == label)
        assert_array_equal(model.coef_[k], one.coef_[0])
        assert_allclose(model.decision_function(X)[:, k], one.decision_function(X), atol=1e-12)
    odds = 1 / (1 + np.exp(-model.decision_function(X)))
    assert_allclose(model.predict_proba(X), odds / odds.sum(axis=1, keepdims=True), rtol=1e-12)
    assert_array_equal(model.predict(X), model.classes_[np.argmax(model.decision_function(X), axis=1)])


@cases.each_solver
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csc_array, lambda Y: Y.astype(bool), pd.DataFrame])
def test_an_indicator_equals_separate_fits(form, solver):
    X, Y = spread()
    options = {"variance": "cv", "folds": 3, "grid": [0.1, 1.0, 10.0], "threshold": "min_error", "solver": solver}
    X = sp.csr_matrix(X)
    model = cases.tight(**options).fit(X, form(Y))
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.coef_.shape == (3, 5)
    decisions = model.predict(X)
    for k in range(3):
        one = cases.tight(**options).fit(X, Y[:, k])
        assert_array_equal(model.coef_[k], one.coef_[0])
        assert model.variance_[k] == one.variance_[0]
        assert model.threshold_.thresholds_[k] == one.threshold_.thresholds_[0]
        assert_array_equal(decisions[:, k], one.predict(X))
        assert_allclose(model.predict_proba(X)[:, k], one.predict_proba(X)[:, 1], rtol=1e-12)
        assert_allclose(model.predict_log_proba(X)[:, k], one.predict_log_proba(X)[:, 1], rtol=1e-12)


@cases.each_solver
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_an_indicator_of_one_column_is_binary(form, solver):
    X, Y = spread()
    column = form(Y[:, :1])
    if sp.issparse(column):
        model = cases.tight(solver=solver).fit(X, column)
    else:
        with pytest.warns(UserWarning, match="column-vector y"):
            model = cases.tight(solver=solver).fit(X, column)
    assert_array_equal(model.coef_, cases.tight(solver=solver).fit(X, Y[:, 0]).coef_)
    assert model.predict(X).shape == (60,)


@cases.each_solver
def test_probabilities_are_exact_in_the_tails(solver):
    model = cases.tight(Laplace(0.0, 1.0), intercept_variance=0.0, solver=solver)
    binary = model.fit([[1.0], [-1.0], [2.0]], ["no", "yes", "yes"])
    scores = np.array([[800.0], [-800.0], [40.0], [0.0]])
    assert_array_equal(binary.decision_function(scores), scores[:, 0])
    logs = binary.predict_log_proba(scores)
    assert_array_equal(logs[:2], [[-800.0, 0.0], [0.0, -800.0]])
    assert_allclose(logs[2], [-40.0, -np.exp(-40.0)], rtol=1e-12)
    assert_array_equal(binary.predict_proba(scores)[[0, 1, 3]], [[0, 1], [1, 0], [0.5, 0.5]])
    assert np.all(np.isfinite(logs))
    many = model.fit([[1.0], [-1.0], [2.0]], [0, 1, 2])
    logs = many.predict_log_proba(scores)
    assert np.all(np.isfinite(logs))
    assert_allclose(np.exp(logs).sum(axis=1), 1)
    assert_allclose(logs[1], -np.log(3))
    several = model.fit([[1.0], [-1.0], [2.0]], [[0, 1], [1, 0], [1, 1]])
    assert_array_equal(several.predict_log_proba(scores[:2]), [[0, 0], [-800, -800]])


@cases.each_solver
@pytest.mark.parametrize("policy", ["min_error", "max_f1", "t11u", Utility(fp=-1, fn=-5), {"tp": 2, "fp": -1}])
def test_every_category_gets_a_threshold_of_its_own(policy, solver):
    X, Y = spread(n=80)
    weights = np.random.default_rng(0).uniform(0.5, 2, 80)
    model = cases.tight(variance=0.05, threshold=policy, threshold_on="train", solver=solver).fit(X, Y, weights)
    scores = model.decision_function(X)
    expected = [best_threshold(scores[:, k], Y[:, k], policy=policy, sample_weight=weights) for k in range(3)]
    assert_allclose(model.threshold_.thresholds_, expected, atol=1e-12)
    assert len(set(expected)) == 3
    assert_array_equal(model.predict(X), scores >= model.threshold_.thresholds_)


@cases.each_solver
def test_tuned_thresholds_do_what_they_promise_on_text(solver):
    X, Y, *_ = cases.news()
    options = {"variance": 0.3, "threshold_on": "train", "solver": solver, **cases.stopping(solver, None, 1e-6)}
    half, errors, f1 = (
        BayesianLogisticRegression(**options, threshold=policy).fit(X, Y) for policy in ("half", "min_error", "max_f1")
    )
    assert_array_equal(half.threshold_.thresholds_, np.zeros(9))
    wrong = [np.sum(model.predict(X) != Y, axis=0) for model in (half, errors, f1)]
    assert np.all(wrong[1] <= wrong[0])
    assert np.all(wrong[1] <= wrong[2])
    score = [f1_score(Y, model.predict(X), average=None) for model in (half, errors, f1)]
    assert np.all(score[2] >= np.maximum(score[0], score[1]) - 1e-12)


@cases.each_solver
def test_multi_class_decisions_weigh_scores_against_thresholds(solver):
    X, _ = cases.documents(n=90)
    y = np.argmax(X[:, :3], axis=1)
    model = cases.tight(variance=0.3, threshold="max_f1", solver=solver).fit(X, y)
    margins = model.decision_function(X) - model.threshold_.thresholds_
    assert np.any(model.threshold_.thresholds_ != 0)
    assert_array_equal(model.predict(X), np.argmax(margins, axis=1))


@cases.each_solver
def test_a_warm_start_reaches_the_same_optimum_in_fewer_rounds(solver):
    X, Y, *_ = cases.news()
    options = {"solver": solver, **cases.stopping(solver, 1e-12, 1e-9), "n_jobs": 1, "max_iter": 10_000}
    cold = BayesianLogisticRegression(variance=1.0, **options).fit(X, Y[:, :3])
    warm = BayesianLogisticRegression(variance=0.95, warm_start=True, **options).fit(X, Y[:, :3])
    warm.set_params(variance=1.0).fit(X, Y[:, :3])
    assert_allclose(warm.certificate_.objective, cold.certificate_.objective, rtol=1e-8)
    assert_allclose(warm.coef_, cold.coef_, atol=1e-4)
    assert warm.n_iter_.sum() < cold.n_iter_.sum()
    again = warm.sparsify().fit(X, Y[:, :3])
    assert again.n_iter_.sum() < cold.n_iter_.sum()
    assert isinstance(again.coef_, np.ndarray)


@cases.each_solver
def test_a_warm_start_respects_the_sides_of_a_new_prior(solver):
    X, y = cases.documents(n=60)
    model = cases.tight(variance=10.0, warm_start=True, solver=solver).fit(X, y)
    assert np.any(model.coef_ < 0)
    model.set_params(prior=Gaussian(1.0, sign=1)).fit(X, y)
    cold = cases.tight(Gaussian(1.0, sign=1), solver=solver).fit(X, y)
    assert_allclose(model.coef_, cold.coef_, atol=1e-6)


@cases.each_solver
def test_a_warm_start_forgets_terms_that_no_longer_occur(solver):
    X, y = cases.documents(n=60)
    model = cases.tight("laplace", 10.0, warm_start=True, solver=solver).fit(5 * X, y)
    column = np.argmax(np.abs(model.coef_[0]))
    model.set_params(variance=0.1).fit(X * (np.arange(5) != column), y)
    assert model.coef_[0, column] == pytest.approx(0, abs=1e-6)


@cases.each_solver
def test_a_warm_start_with_other_categories_or_features_is_refused(solver):
    X, Y = spread()
    model = cases.tight(warm_start=True, solver=solver).fit(X, Y)
    with pytest.raises(ValueError, match=r"coef_ has shape \(3, 5\), now there are 2 categories"):
        model.fit(X, Y[:, :2])
    with pytest.raises(ValueError, match="3 categories and 4 features"):
        model.fit(X[:, :4], Y)


@cases.each_solver
def test_sparse_coefficients_predict_the_same(solver):
    X, Y, *_ = cases.news()
    model = BayesianLogisticRegression(variance=0.5, solver=solver).fit(X, Y)
    dense = model.coef_.copy()
    before = [method(X) for method in (model.decision_function, model.predict, model.predict_proba)]
    rows = model.decision_function(X[:5].toarray())
    assert model.sparsify() is model
    assert sp.issparse(model.coef_)
    assert model.coef_.nnz == model.n_nonzero_.sum() == np.count_nonzero(dense)
    after = [method(X) for method in (model.decision_function, model.predict, model.predict_proba)]
    for one, other in zip(before, after, strict=True):
        assert_allclose(one, other, atol=1e-12)
    assert_allclose(model.decision_function(X[:5].toarray()), rows, atol=1e-12)


@cases.each_solver
def test_names_of_a_frame_reach_the_prior(solver):
    X, y = cases.documents(n=60)
    frame = pd.DataFrame(X, columns=["oil", "wheat", "sea", "gold", "corn"])
    prior = Laplace(mode={"wheat": 2.0}, sign={"sea": -1}, relative={"gold": 0.0})
    model = cases.tight(prior, 0.05, solver=solver).fit(frame, y)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    by_number = cases.tight(Laplace(mode={1: 2.0}, sign={2: -1}, relative={3: 0.0}), 0.05, solver=solver).fit(X, y)
    assert_array_equal(model.coef_, by_number.coef_)
    assert model.coef_[0, 2] <= 0
    assert model.coef_[0, 3] == 0
    names = frame.columns.to_numpy()
    named = cases.tight(prior, 0.05, solver=solver).fit(sp.csr_matrix(X), y, feature_names=names)
    assert_array_equal(model.coef_, named.coef_)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[["wheat", "oil", "sea", "gold", "corn"]])


@cases.each_solver
@pytest.mark.parametrize("class_weight", ["balanced", {0: 0.5, 1: 3.0}])
def test_class_weights_are_weights_of_documents(class_weight, solver):
    X, Y = spread(n=80)
    y = Y[:, 0]
    binary = cases.tight(class_weight=class_weight, solver=solver).fit(X, y)
    explicit = cases.tight(solver=solver).fit(X, y, compute_sample_weight(class_weight, y))
    assert_allclose(binary.coef_, explicit.coef_, atol=1e-9)
    several = cases.tight(class_weight=class_weight, solver=solver).fit(X, Y)
    for k in range(3):
        one = cases.tight(solver=solver).fit(X, Y[:, k], compute_sample_weight(class_weight, Y[:, k]))
        assert_allclose(several.coef_[k], one.coef_[0], atol=1e-9)
    plain = cases.tight(solver=solver).fit(X, y)
    assert not np.allclose(binary.coef_, plain.coef_, atol=1e-3)


@cases.each_solver
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_the_precision_is_the_second_derivative(family, solver):
    X, y = cases.documents(n=60)
    weights = np.linspace(0.2, 2, 60)
    options = {"variance": 0.7, "intercept_variance": 3.0, "compute_precision": True, "solver": solver}
    model = cases.tight(family, **options).fit(X, y, weights)
    p = cases.penalties(family, 0.7, 0, 0, 5, 3.0)
    if family == "laplace":
        # The kink has no second derivative; beside it the penalty is straight.
        p = p._replace(variance=np.full(6, np.inf))
    beta = cases.coefficients(model)
    step = 1e-4
    for j in range(6):
        value = [cases.objective(X, y, beta + shift * np.eye(6)[j], p, weights) for shift in (-step, 0.0, step)]
        expected = (value[0] - 2 * value[1] + value[2]) / step**2
        assert model.precision_[0, j] == pytest.approx(expected, rel=1e-4)
    assert not hasattr(cases.tight(solver=solver).fit(X, y), "precision_")


@cases.each_solver
def test_yesterdays_posterior_is_todays_prior(solver):
    X, y = cases.documents(n=200)
    old = cases.tight("gaussian", 1.0, compute_precision=True, solver=solver).fit(X[:150], y[:150])
    new = cases.tight(from_model(old), solver=solver).fit(X[150:], y[150:])
    both = cases.tight("gaussian", 1.0, solver=solver).fit(X, y)
    alone = cases.tight("gaussian", 1.0, solver=solver).fit(X[150:], y[150:])
    distance = [np.linalg.norm(model.coef_ - both.coef_) for model in (new, alone)]
    assert distance[0] < 0.5 * distance[1]


@cases.each_solver
def test_priors_by_category(solver):
    X, Y = spread()
    priors = [Laplace(0.2), "gaussian", Laplace(mode=0.5)]
    listed = cases.tight(priors, 0.7, solver=solver).fit(X, Y)
    mapped = cases.tight({0: priors[0], 1: "gaussian", 2: priors[2]}, 0.7, solver=solver).fit(X, Y)
    for k in range(3):
        one = cases.tight(priors[k], 0.7, solver=solver).fit(X, Y[:, k])
        assert_array_equal(listed.coef_[k], one.coef_[0])
        assert_array_equal(mapped.coef_[k], one.coef_[0])
    assert_array_equal(np.isnan(listed.variance_), [True, False, False])
    partly = cases.tight({1: "gaussian"}, 0.7, solver=solver).fit(X, Y)
    plain = cases.tight("laplace", 0.7, solver=solver).fit(X, Y)
    assert_array_equal(partly.coef_[[0, 2]], plain.coef_[[0, 2]])
    assert_array_equal(partly.coef_[1], listed.coef_[1])


@cases.each_solver
def test_a_mapping_names_classes(solver):
    X, Y = spread()
    labels = np.where(Y[:, 0] == 1, "wheat", "sea")
    model = cases.tight({"wheat": Laplace(0.2)}, solver=solver).fit(X, labels)
    assert_array_equal(model.coef_, cases.tight("laplace", 0.2, solver=solver).fit(X, labels).coef_)
    # Of two classes only the greater is trained.
    with pytest.raises(ValueError, match="names the category 'sea'"):
        cases.tight({"sea": Laplace(0.2)}, solver=solver).fit(X, labels)


@cases.each_solver
def test_progress_is_told_category_by_category(solver):
    X, Y = spread()
    for n_jobs in (1, 2):
        told = []
        with progress.callback(lambda *n, told=told: told.append(n)):
            cases.tight(solver=solver, n_jobs=n_jobs).fit(X, Y)
        assert told == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_progress_of_a_search_is_told_fit_by_fit(n_jobs):
    X, Y = spread()
    told = []
    with progress.callback(lambda *n: told.append(n)):
        BayesianLogisticRegression(grid=[0.1, 1.0], folds=4, runs=2, threshold="max_f1", n_jobs=n_jobs).fit(X, Y)
    done, totals = zip(*told, strict=True)
    assert set(totals) == {3 * (2 * 2 + 1 + 4)}
    assert done == tuple(range(1, totals[0] + 1))
    # Nothing is searched for a category whose prior brings its variance.
    told.clear()
    priors = [Laplace(1.0), Laplace(), Laplace(2.0)]
    with progress.callback(lambda *n: told.append(n)):
        BayesianLogisticRegression(priors, grid=[0.1, 1.0], folds=4, runs=2, n_jobs=n_jobs).fit(X, Y)
    assert told == [(done, 2 + 2 * 2 + 1) for done in range(1, 8)]


@cases.each_solver
def test_input_is_left_alone_and_a_fit_can_be_repeated(solver):
    X, Y = spread()
    matrix = sp.csr_matrix(X)
    weights = np.ones(60)
    copies = matrix.copy(), Y.copy(), weights.copy()
    model = cases.tight(solver=solver, class_weight="balanced").fit(matrix, Y, weights)
    assert_array_equal(matrix.toarray(), copies[0].toarray())
    assert_array_equal(Y, copies[1])
    assert_array_equal(weights, copies[2])
    first = model.coef_.copy()
    assert_array_equal(model.fit(matrix, Y, weights).coef_, first)
    assert_array_equal(clone(model).fit(matrix, Y, weights).coef_, first)


def test_thresholds_are_tuned_on_held_out_scores():
    X, y = cases.documents(n=80)
    options = {"variance": 5.0, "folds": 4, "threshold": "max_f1", "tol": 1e-10}
    model = BayesianLogisticRegression(**options).fit(X, y)
    # The same by hand: folds as they were dealt, a model for each, and the threshold of its scores.
    seed = np.random.RandomState(0).randint(2**31 - 1)
    fold = assign_folds(y, design_of(X).row_hashes, 4, np.random.default_rng(seed))
    scores = np.empty(len(y))
    for k in range(4):
        part = BayesianLogisticRegression(**options).fit(X[fold != k], y[fold != k])
        scores[fold == k] = part.decision_function(X[fold == k])
    expected = best_threshold(scores, y == np.unique(y)[1], policy="max_f1")
    assert model.threshold_.thresholds_[0] == pytest.approx(expected, abs=0.02)
    on_training = BayesianLogisticRegression(threshold_on="train", **options).fit(X, y)
    assert_allclose(model.coef_, on_training.coef_)
    assert model.threshold_.thresholds_[0] != on_training.threshold_.thresholds_[0]


def test_a_category_too_small_for_folds_tunes_its_threshold_on_training_scores():
    X, y = cases.documents(n=40)
    lonely = np.zeros((40, 2), dtype=int)
    lonely[:, 0] = y == np.unique(y)[1]
    lonely[3, 1] = 1
    options = {"variance": 5.0, "threshold": "min_error"}
    thresholds = [
        BayesianLogisticRegression(threshold_on=on, **options).fit(X, lonely).threshold_.thresholds_[1]
        for on in ("train", "cv")
    ]
    assert thresholds[0] == thresholds[1]
