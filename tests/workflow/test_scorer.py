"""The fast way from texts to scores: against the matrix and the model's own predictions."""

from __future__ import annotations

import numpy as np
import pytest

from bayesift.datasets import load
from bayesift.select import TermSelector
from bayesift.text import TextScorer, TextVectorizer
from bayesift.workflow import TextClassifier

NEWS = load("newsroom")
TEXTS = NEWS.train.texts
ONE = [labels[0] for labels in NEWS.train.labels]
TWO = ["money" if label in ("economy", "energy", "agriculture") else "life" for label in ONE]
KINDS = {"binary": TWO, "multiclass": ONE, "multilabel-indicator": NEWS.train.labels}


def slow_scores(classifier, texts):
    scores = classifier.model_.decision_function(classifier.matrix(texts))
    return scores[:, None] if scores.ndim == 1 else scores


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("model", ["lasso", "ridge", "polytomous", "probit"])
def test_scores_are_those_of_the_model(model, kind):
    if (model, kind) == ("polytomous", "multilabel-indicator"):
        pytest.skip("gives one label a text")
    classifier = TextClassifier(model, variance=5.0).fit(TEXTS, KINDS[kind])
    assert classifier._linear_scorer() is not None
    fast = classifier._scores(NEWS.test.texts)
    np.testing.assert_allclose(fast, slow_scores(classifier, NEWS.test.texts), atol=1e-10)
    X = classifier.matrix(NEWS.test.texts)
    np.testing.assert_allclose(
        classifier.predict_proba(NEWS.test.texts), classifier.model_.predict_proba(X), atol=1e-10
    )
    decided = classifier.predictions(NEWS.test.texts).decisions
    own = classifier.model_.predict(X)
    expected = own > 0 if kind == "multilabel-indicator" else own[:, None] == classifier.classes_
    np.testing.assert_array_equal(decided, expected)


@pytest.mark.parametrize("weighting", ["nnn", "bnn", "lnn", "ltc", "btc", "nsn", "lpc"])
def test_all_weightings(weighting):
    classifier = TextClassifier("ridge", variance=1.0, vectorizer=TextVectorizer(weighting)).fit(TEXTS[:80], TWO[:80])
    texts = [*TEXTS[100:120], "", "unknownword", "the " * 1000]
    np.testing.assert_allclose(classifier._scores(texts), slow_scores(classifier, texts), atol=1e-9)


@pytest.mark.parametrize(
    "options", [{"ngram_range": (1, 2)}, {"ngram_range": (2, 3)}, {"stop_words": "english"}, {"drop_numbers": True}]
)
def test_pairs_and_rules_for_tokens_have_the_fast_way(options):
    classifier = TextClassifier("ridge", variance=1.0, vectorizer=TextVectorizer(**options)).fit(TEXTS[:80], TWO[:80])
    assert classifier._linear_scorer() is not None
    np.testing.assert_allclose(classifier._scores(TEXTS[80:]), slow_scores(classifier, TEXTS[80:]), atol=1e-10)


def test_words_that_are_not_selected_count_for_the_norm_only():
    selector = TermSelector(k=40)
    classifier = TextClassifier("ridge", variance=1.0, selector=selector).fit(TEXTS, ONE)
    np.testing.assert_allclose(
        classifier._scores(NEWS.test.texts), slow_scores(classifier, NEWS.test.texts), atol=1e-10
    )


@pytest.mark.parametrize(
    "vectorizer",
    [
        TextVectorizer(stemmer="porter"),
        TextVectorizer(drop_numbers=True, ngram_range=(1, 2)),
        TextVectorizer("ann"),
        TextVectorizer(n_features=256),
        TextVectorizer(dtype=np.float32),
    ],
    ids=["stemmer", "pairs without numbers", "augmented", "hashed", "float32"],
)
def test_what_has_no_fast_way_goes_by_the_matrix(vectorizer):
    classifier = TextClassifier("ridge", variance=1.0, vectorizer=vectorizer).fit(TEXTS[:80], TWO[:80])
    assert not TextScorer.supports(classifier.vectorizer_)
    assert classifier._linear_scorer() is None
    expected = classifier.model_.predict(classifier.vectorizer_.transform(TEXTS[80:]))
    np.testing.assert_array_equal(classifier.predict(TEXTS[80:]), expected)


def test_other_models_go_by_the_matrix():
    classifier = TextClassifier("nb").fit(TEXTS, ONE)
    assert classifier._linear_scorer() is None


def test_a_changed_model_gets_a_new_scorer():
    classifier = TextClassifier("ridge", variance=1.0).fit(TEXTS[:80], TWO[:80])
    classifier.predict(TEXTS[:3])
    before = classifier._scorer
    classifier.predict(TEXTS[:3])
    assert classifier._scorer is before
    classifier.fit(TEXTS[80:160], TWO[80:160])
    np.testing.assert_allclose(classifier._scores(TEXTS[:9]), slow_scores(classifier, TEXTS[:9]), atol=1e-10)
    assert "_scorer" not in classifier.__getstate__()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_many_batches_come_in_order(n_jobs):
    vectorizer = TextVectorizer(n_jobs=n_jobs)
    classifier = TextClassifier("ridge", variance=1.0, vectorizer=vectorizer).fit(TEXTS, ONE)
    many = [text * 5 for text in TEXTS * 3]
    np.testing.assert_allclose(classifier._scores(many), slow_scores(classifier, many), atol=1e-9)


def test_no_texts_at_all():
    for model in ("ridge", "nb"):
        classifier = TextClassifier(model, variance=1.0).fit(TEXTS[:40], TWO[:40])
        assert classifier.predict([]).shape == (0,)
        assert classifier.predict_proba([]).shape == (0, 2)
