"""Weights of labels, tables of one column, and searches in processes of their own: what scikit-learn's users expect."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.utils.class_weight import compute_sample_weight

from bayesift.ard import RelevanceTaggingMachine
from bayesift.datasets import load
from bayesift.linear import BayesianLogisticRegression
from bayesift.text import TextVectorizer
from bayesift.workflow import TextClassifier

NEWS = load("newsroom")
TEXTS, TEST = NEWS.train.texts[:150], NEWS.test.texts
ONE = [labels[0] for labels in NEWS.train.labels][:150]
RARE = ["sport" if label == "sport" else "other" for label in ONE]
SETS = NEWS.train.labels[:150]
FIXED = {"variance": 50.0, "threshold": "half"}


@pytest.mark.parametrize("model", ["ridge", "polytomous", "probit-ridge", "nb", "perceptron", "auto"])
@pytest.mark.parametrize("weight", ["balanced", {"sport": 5.0, "other": 0.5}])
def test_weights_of_labels_are_weights_of_texts(model, weight):
    weighted = TextClassifier(model, class_weight=weight, **FIXED).fit(TEXTS, RARE)
    factors = compute_sample_weight(weight, RARE)
    chosen = weighted.model_name_
    expected = TextClassifier(chosen, vectorizer=weighted.vectorizer_, **FIXED).fit(TEXTS, RARE, sample_weight=factors)
    np.testing.assert_allclose(weighted.predict_proba(TEST), expected.predict_proba(TEST), atol=1e-6)
    plain = TextClassifier(chosen, vectorizer=weighted.vectorizer_, **FIXED).fit(TEXTS, RARE)
    assert not np.allclose(weighted.predict_proba(TEST), plain.predict_proba(TEST), atol=1e-3)


def test_several_labels_are_balanced_each_on_its_own():
    found = TextClassifier("ridge", class_weight="balanced", calibration="sigmoid", **FIXED).fit(TEXTS, SETS)
    X = found.matrix(TEXTS)
    y = np.array([[label in own for label in found.classes_] for own in SETS]).astype(int)
    for column in range(3):
        alone = BayesianLogisticRegression(prior="gaussian", variance=50.0, calibration="sigmoid")
        alone.fit(X, y[:, column], sample_weight=compute_sample_weight("balanced", y[:, column]))
        expected = alone.predict_proba(found.matrix(TEST))[:, 1]
        np.testing.assert_allclose(found.predict_proba(TEST)[:, column], expected, atol=1e-6)
    same = TextClassifier("ridge", class_weight={0: 1.0, 1: 1.0}, **FIXED).fit(TEXTS, SETS)
    plain = TextClassifier("ridge", **FIXED).fit(TEXTS, SETS)
    np.testing.assert_allclose(same.predict_proba(TEST), plain.predict_proba(TEST))


def test_an_estimator_gets_the_weights_of_labels_too():
    vectorizer = TextVectorizer("bnn")
    for model in (BayesianLogisticRegression(variance=1.0), RelevanceTaggingMachine(max_iter=5)):
        options = {"vectorizer": vectorizer, "threshold": "half"}
        weighted = TextClassifier(model, class_weight="balanced", **options).fit(TEXTS, RARE)
        factors = compute_sample_weight("balanced", RARE)
        expected = TextClassifier(model, **options).fit(TEXTS, RARE, sample_weight=factors)
        np.testing.assert_allclose(weighted.predict_proba(TEST), expected.predict_proba(TEST), atol=1e-6)


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        (RARE, {"class_weight": "even"}, "class_weight is 'even'; expected 'balanced'"),
        (RARE, {"class_weight": 2.0}, r"class_weight is 2.0; expected 'balanced'"),
        (
            RARE,
            {"class_weight": {"sports": 2.0}},
            "class_weight has a weight for 'sports'; expected the labels 'other'",
        ),
        (RARE, {"class_weight": {"sport": -2.0}}, "class_weight is -2 at 0; expected a finite number of at least 0"),
        (SETS, {"class_weight": {"sport": 2.0}}, r"expected 0 \(without the label\) and 1 \(with it\)"),
        (SETS, {"class_weight": "balanced", "model": "nb"}, "MultinomialNB takes one weight for each text"),
    ],
)
def test_bad_weights_of_labels(labels, options, message):
    with pytest.raises(ValueError, match=message):
        TextClassifier(**options).fit(TEXTS, labels)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_table_of_one_column_is_that_column(frame):
    plain = TextClassifier("nb").fit(TEXTS, ONE)
    table = TextClassifier("nb").fit(frame({"text": TEXTS}), frame({"label": ONE}))
    assert table.training_ == plain.training_
    expected = plain.predict_proba(TEST)
    np.testing.assert_array_equal(table.predict_proba(frame({"text": TEST})), expected)
    np.testing.assert_array_equal(table.predict_proba(np.array(TEST, dtype=object)[:, None]), expected)
    np.testing.assert_array_equal(table.predict_proba(pd.Series(TEST)), expected)
    assert table.score(frame({"text": TEXTS}), frame({"label": ONE})) == plain.score(TEXTS, ONE)
    two = frame({"title": TEXTS, "text": TEXTS})
    with pytest.raises(ValueError, match=r"texts is a table with 2 columns \(title, text\); expected one column"):
        TextClassifier("nb").fit(two, ONE)
    with pytest.raises(ValueError, match=r"texts is a table with 2 columns"):
        table.predict(two)
    with pytest.raises(ValueError, match=r"y is a table with 2 columns"):
        TextClassifier("nb").fit(TEXTS, two)


def test_what_is_no_column_of_texts():
    with pytest.raises(TypeError, match="texts is a str; expected a list with an entry for each text"):
        TextClassifier("nb").fit("wheat", ["farm"])
    with pytest.raises(TypeError, match="texts is a dict; expected a list"):
        TextClassifier("nb").fit({"text": TEXTS}, ONE)
    with pytest.raises(ValueError, match=r"y has shape \(150, 2\); expected an entry for each text"):
        TextClassifier("nb").fit(TEXTS, np.zeros((150, 2)))


def test_the_weights_of_a_score():
    classifier = TextClassifier("nb").fit(TEXTS, ONE)
    labels = [own[0] for own in NEWS.test.labels]
    weights = np.where(np.arange(len(TEST)) < 20, 2.0, 1.0)
    twice = classifier.score([*TEST, *TEST[:20]], [*labels, *labels[:20]])
    assert classifier.score(TEST, labels, sample_weight=weights) == pytest.approx(twice)
    several = TextClassifier("nb").fit(TEXTS, SETS)
    twice = several.score([*TEST, *TEST[:20]], [*NEWS.test.labels, *NEWS.test.labels[:20]])
    assert several.score(TEST, NEWS.test.labels, sample_weight=weights) == pytest.approx(twice)


def test_a_search_over_everything_in_other_processes():
    grid = [
        {"model": ["auto"], "measure": ["accuracy", "log_likelihood"]},
        {
            "model": ["lasso"],
            "variance": [50.0],
            "class_weight": [None, "balanced"],
            "threshold": ["half", "min_error"],
        },
        {"model": ["nb"], "vectorizer": [None, {"stop_words": "english"}, TextVectorizer("bnn")]},
        {"model": [BayesianLogisticRegression()], "model__variance": [50.0]},
    ]
    search = GridSearchCV(TextClassifier(n_jobs=1), grid, cv=2, n_jobs=2, error_score="raise")
    search.fit(pd.Series(TEXTS), np.array(RARE))
    assert len(search.cv_results_["params"]) == 10
    assert search.best_estimator_.score(TEXTS, RARE) > 0.8
