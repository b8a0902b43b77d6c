"""Scores, decisions and weights of words, as every classifier has them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bayesift.generative import BernoulliNB, CategoricalNB, DirichletCompoundMultinomial, GaussianNB, MultinomialNB
from generative_cases import MODELS, documents

WORDS = {**MODELS, "compound": ("counts", DirichletCompoundMultinomial)}


@pytest.mark.parametrize(("kind", "make"), WORDS.values(), ids=WORDS)
def test_scores_stand_for_the_probabilities(kind, make):
    for n_classes, target_type, shape in ((2, "binary", (40,)), (3, "multiclass", (40, 3))):
        X, y = documents(kind, n_classes=n_classes)
        model = make().fit(X, y)
        assert model.target_type_ == target_type
        scores = model.decision_function(X)
        assert scores.shape == shape
        joint = model.predict_joint_log_proba(X)
        expected = joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)
        assert_allclose(model.scores_to_log_proba(scores), expected, atol=1e-12)
        assert_allclose(model.predict_log_proba(X), expected, atol=1e-12)
        assert_array_equal(model.predict(X), np.argmax(expected, axis=1))
    X, y = documents(kind, n_classes=2)
    model = make().fit(X, np.column_stack([y, 1 - y, y]))
    assert model.target_type_ == "multilabel-indicator"
    scores = model.decision_function(X)
    assert scores.shape == (40, 3)
    assert_allclose(np.exp(model.scores_to_log_proba(scores)), 1 / (1 + np.exp(-scores)), atol=1e-12)
    assert_array_equal(model.predict(X), scores >= 0)


@pytest.mark.parametrize("make", [BernoulliNB, MultinomialNB, GaussianNB, CategoricalNB, DirichletCompoundMultinomial])
def test_a_probability_of_one_half_is_a_yes_and_of_several_classes_the_first_wins(make):
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    nothing = [[np.nan, np.nan]]
    two = make(class_prior="uniform").fit(X, ["a", "a", "b", "b"])
    assert_array_equal(two.decision_function(nothing), [0.0])
    assert two.predict(nothing).tolist() == ["b"]
    categories = make(class_prior="uniform").fit(X, [[1, 0], [1, 0], [0, 1], [0, 1]])
    assert categories.predict(nothing).tolist() == [[1, 1]]
    three = make(class_prior="uniform").fit(np.vstack([X, X[:2]]), ["a", "a", "b", "b", "c", "c"])
    assert three.predict(nothing).tolist() == ["a"]


def test_classes_that_come_later_change_the_type_of_the_targets():
    X, y = documents("counts")
    order = np.argsort(y, kind="stable")
    model = MultinomialNB().partial_fit(X[order[:1]], y[order[:1]])
    assert model.target_type_ == "multiclass"
    assert_array_equal(model.predict_proba(X), np.ones((40, 1)))
    rest = order[y[order] == 1]
    assert model.partial_fit(X[rest], y[rest]).target_type_ == "binary"
    assert model.partial_fit(X, y).target_type_ == "multiclass"


def test_weights_of_words_compare_a_class_with_the_mean_of_the_others():
    X, y = documents("counts")
    model = MultinomialNB().fit(X, y)
    p = np.exp(model.feature_log_prob_)
    expected = [np.log(p[c]) - np.log(np.delete(p, c, axis=0).mean(axis=0)) for c in range(3)]
    assert_allclose(model.word_weights(), expected)
    two = MultinomialNB(1.5, estimate="map").fit(X, y > 0)
    assert_allclose(two.word_weights(), np.diff(two.feature_log_prob_, axis=0))
    X, y = documents("binary")
    model = BernoulliNB().fit(X, np.column_stack([y == 0, y == 2]).astype(int))
    odds = np.exp(model.feature_log_prob_) / -np.expm1(model.feature_log_prob_)
    assert_allclose(model.word_weights(), np.log(odds[:, 1] / odds[:, 0]))
    # One more word that is there changes the score by its weight.
    document = np.zeros((1, 5))
    for j in range(5):
        more = document.copy()
        more[0, j] = 1
        step = model.decision_function(more) - model.decision_function(document)
        assert_allclose(step[0], model.word_weights()[:, j], atol=1e-12)
    X, y = documents("counts")
    compound = DirichletCompoundMultinomial().fit(X, y > 1)
    first = np.eye(5)
    scores = compound.decision_function(first) - compound.decision_function(np.zeros((1, 5)))
    assert_allclose(compound.word_weights()[0], scores)
    assert GaussianNB().fit(*documents("numbers")).word_weights() is None
    assert CategoricalNB().fit(*documents("values")).word_weights() is None
