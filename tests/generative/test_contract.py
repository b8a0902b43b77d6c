"""The contract of an estimator: scikit-learn's checks, none skipped."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesift.generative import (
    BernoulliNB,
    CategoricalNB,
    DirichletCompoundMultinomial,
    GaussianNB,
    MixedNB,
    MultinomialNB,
)
from bayesift.text import TextVectorizer

ESTIMATORS = [
    BernoulliNB(),
    BernoulliNB(1.5, estimate="map"),
    MultinomialNB(),
    MultinomialNB(1.5, estimate="map"),
    GaussianNB(),
    GaussianNB(estimate="map"),
    CategoricalNB(),
    MixedNB(),
    DirichletCompoundMultinomial(),
    DirichletCompoundMultinomial(estimate="mle", solver="edcm"),
]


def refused(estimator):
    """Checks whose data the models of counts and values refuse rather than change.

    That scores and probabilities rank documents alike is tested with counts and values in ``test_protocol.py``.
    """
    found = {}
    if estimator.__sklearn_tags__().input_tags.positive_only:
        found["check_decision_proba_consistency"] = "X must not hold negative numbers"
    if isinstance(estimator, CategoricalNB):
        for check in ("sample_weight_equivalence_on_dense_data", "classifiers_one_label_sample_weights"):
            found[f"check_{check}"] = "X must hold the numbers of values"
    return found


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=refused)
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)


TEXTS = ["the sea and a ship", "a ship at sea", "wheat on land", "land and wheat", "wheat wheat", "sea sea"] * 3
LABELS = ["sea", "sea", "land", "land", "land", "sea"] * 3


@pytest.mark.parametrize("model", [BernoulliNB(), MultinomialNB()])
def test_they_work_in_pipelines_and_searches(model):
    pipeline = make_pipeline(TextVectorizer("nnn"), model)
    name = type(model).__name__.lower()
    search = GridSearchCV(pipeline, {f"{name}__alpha": [0.1, 1.0]}, cv=3).fit(TEXTS, LABELS)
    assert search.best_score_ == 1.0
    assert cross_val_predict(pipeline, TEXTS, LABELS, cv=3).tolist() == LABELS


def test_the_parts_of_a_mixture_of_likelihoods_can_be_searched_and_cloned():
    X = np.array([[1, 0, 1.0], [1, 1, 1.2], [0, 0, 3.0], [0, 1, 3.1]] * 3)
    model = MixedNB([("words", BernoulliNB(), [0, 1]), ("length", GaussianNB(), [2])])
    assert model.get_params()["words__alpha"] == 1.0
    copy = clone(model).set_params(words__alpha=0.25)
    assert model.get_params()["words__alpha"] == 1.0
    assert copy.parts[0][1].alpha == 0.25
    search = GridSearchCV(model, {"words__alpha": [0.5, 2.0]}, cv=2).fit(X, [0, 0, 1, 1] * 3)
    assert search.best_score_ == 1.0


@pytest.mark.parametrize("model", ESTIMATORS, ids=repr)
def test_the_input_is_not_altered(model):
    rng = np.random.default_rng(0)
    X = rng.poisson(1.0, (20, 4)).astype(float)
    if model._takes_sparse:
        # Unsorted, with a place stored twice.
        X = sp.csr_matrix((X.ravel(), np.tile([2, 0, 2, 1], 20), np.arange(0, 81, 4)), shape=(20, 4))
        before = X.indices.copy(), X.data.copy()
    y = rng.integers(0, 2, 20)
    model = clone(model).fit(X, y)
    model.predict_proba(X)
    if sp.issparse(X):
        assert np.array_equal(X.indices, before[0])
        assert np.array_equal(X.data, before[1])
        clean = X.copy()
        clean.sum_duplicates()
        np.testing.assert_array_equal(model.predict_proba(X), clone(model).fit(clean, y).predict_proba(clean))
