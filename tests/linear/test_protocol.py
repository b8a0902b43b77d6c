"""What all three linear models offer alike: models from coefficients, shapes for two classes, scores, ties, names."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import linear_cases as cases
from bayesift.linear import BayesianLogisticRegression, BayesianMultinomialRegression, BayesianProbitRegression
from bayesift.priors import Laplace

MODELS = [BayesianLogisticRegression, BayesianMultinomialRegression, BayesianProbitRegression]
BINARY = [BayesianLogisticRegression, BayesianProbitRegression]
each_model = pytest.mark.parametrize("model", MODELS)

X, y = cases.documents(seed=4, n=60)
THREE = np.array(["a", "b", "c"])[np.arange(60) % 3]


@each_model
def test_two_classes_have_one_row_of_everything(model):
    found = model(variance="cv", grid=[0.1, 1.0], folds=3, n_jobs=1).fit(X, y)
    assert found.target_type_ == "binary"
    assert found.coef_.shape == (1, 5)
    assert found.intercept_.shape == found.variance_.shape == (1,)
    assert len(found.cv_results_) == 1
    assert_allclose(found.decision_function(X), X @ found.coef_[0] + found.intercept_[0])
    assert_array_equal(found.word_weights(), found.coef_)


@each_model
@pytest.mark.parametrize("labels", [y, THREE])
def test_scores_tell_the_probabilities(model, labels):
    found = model(variance=1.0, n_jobs=1).fit(X, labels)
    scores = found.decision_function(X)
    assert_array_equal(found.scores_to_log_proba(scores), found.predict_log_proba(X))
    assert_allclose(np.exp(found.scores_to_log_proba(scores)).sum(axis=1), 1.0)


@each_model
@pytest.mark.parametrize("labels", [y, THREE])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_a_model_from_coefficients_decides_like_the_one_they_come_from(model, labels, form):
    found = model(variance=1.0, n_jobs=1).fit(X, labels)
    again = model.from_coefficients(form(found.coef_), found.intercept_, classes=found.classes_, variance=2.0)
    assert again.variance == 2.0
    assert again.target_type_ == found.target_type_
    for method in ("decision_function", "predict_proba", "predict_log_proba"):
        assert_allclose(getattr(again, method)(X), getattr(found, method)(X), rtol=1e-12)
    assert_array_equal(again.predict(X), found.predict(X))
    assert again.n_nonzero_.sum() == np.count_nonzero(found.coef_)
    assert not hasattr(again, "certificate_")
    assert_allclose(clone(again).fit(X, labels).intercept_.size, found.intercept_.size)


@pytest.mark.parametrize("model", BINARY)
def test_a_model_from_coefficients_of_several_categories_has_thresholds(model):
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0.5]).astype(int)
    found = model(variance=1.0, threshold="max_f1", n_jobs=1).fit(X, Y)
    again = model.from_coefficients(
        found.coef_,
        found.intercept_,
        classes=[0, 1],
        target_type="multilabel-indicator",
        thresholds=found.threshold_.thresholds_,
    )
    assert_array_equal(again.predict(X), found.predict(X))
    assert_array_equal(again.predict_proba(X), found.predict_proba(X))


def test_both_classes_of_a_softmax_model_can_be_given():
    found = BayesianMultinomialRegression(variance=1.0).fit(X, y)
    assert found.class_coef_.shape == (2, 5)
    assert_allclose(found.coef_, found.class_coef_[1:] - found.class_coef_[:1])
    again = BayesianMultinomialRegression.from_coefficients(
        found.class_coef_, found.class_intercept_, classes=found.classes_
    )
    assert_array_equal(again.class_coef_, found.class_coef_)
    assert_array_equal(again.predict_proba(X), found.predict_proba(X))


@each_model
@pytest.mark.parametrize(
    ("coef", "intercept", "options", "message"),
    [
        ([[1.0, 2.0]], [0.0, 0.0], {"classes": [0, 1]}, r"intercept has shape \(2,\)"),
        ([[1.0], [2.0], [3.0]], [0.0, 0.0, 0.0], {"classes": [0, 1]}, "coef has 3 rows"),
        ([[1.0]], [0.0], {"classes": [0, 1, 2]}, "coef has 1 rows"),
        ([[1.0]], [0.0], {"classes": [1, 0]}, "expected different labels in ascending order"),
    ],
)
def test_coefficients_that_do_not_fit_are_refused(model, coef, intercept, options, message):
    with pytest.raises(ValueError, match=message):
        model.from_coefficients(coef, intercept, **options)


def test_a_softmax_model_has_no_thresholds():
    with pytest.raises(ValueError, match="BayesianMultinomialRegression has none"):
        BayesianMultinomialRegression.from_coefficients([[1.0]], [0.0], classes=[0, 1], thresholds=1.0)


@each_model
def test_a_probability_of_one_half_is_a_yes_and_of_equal_classes_the_first_wins(model):
    two = model.from_coefficients([[1.0]], [0.0], classes=["no", "yes"])
    assert two.predict([[0.0], [-1.0], [1.0]]).tolist() == ["yes", "no", "yes"]
    three = model.from_coefficients(np.ones((3, 1)), np.zeros(3), classes=["a", "b", "c"])
    assert three.predict([[1.0]]).tolist() == ["a"]


@each_model
def test_names_of_columns_come_with_the_documents(model):
    names = ["oil", "wheat", "sea", "gold", "corn"]
    prior = Laplace(1.0, mode={"wheat": 0.5})
    with pytest.raises(ValueError, match="but the features have no names; pass feature_names"):
        model(prior).fit(X, y)
    found = model(prior, n_jobs=1).fit(X, y, feature_names=names)
    by_number = model(Laplace(1.0, mode={1: 0.5}), n_jobs=1).fit(X, y)
    assert_array_equal(found.coef_, by_number.coef_)
    assert not hasattr(found, "feature_names_in_")
    named = model.from_coefficients([[1.0, 0.0]], [0.0], classes=[0, 1], feature_names=["oil", "sea"])
    assert named.feature_names_in_.tolist() == ["oil", "sea"]
