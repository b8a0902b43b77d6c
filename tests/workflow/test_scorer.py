"""The fast way from texts to scores: against the matrix and the model's own predictions, and against plain numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesift.datasets import load
from bayesift.select import TermSelector
from bayesift.text import TextVectorizer
from bayesift.workflow import TextClassifier, _decisions
from bayesift.workflow._scorer import Scorer, _weights_of_counts, score_texts

NEWS = load("newsroom")
TEXTS = NEWS.train.texts
ONE = [labels[0] for labels in NEWS.train.labels]
TWO = ["money" if label in ("economy", "energy", "agriculture") else "life" for label in ONE]
KINDS = {"binary": TWO, "multiclass": ONE, "multilabel-indicator": NEWS.train.labels}


def slow_scores(classifier, texts):
    return _decisions.scores_of(classifier.model_, classifier.matrix(texts))


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("model", ["lasso", "ridge", "polytomous", "probit"])
def test_scores_are_those_of_the_model(model, kind):
    if (model, kind) == ("polytomous", "multilabel-indicator"):
        pytest.skip("gives one label a text")
    classifier = TextClassifier(model, variance=5.0).fit(TEXTS, KINDS[kind])
    assert Scorer.can_score(classifier.vectorizer_, classifier.model_)
    fast, _ = classifier._scores(NEWS.test.texts)
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
    np.testing.assert_allclose(classifier._scores(texts)[0], slow_scores(classifier, texts), atol=1e-9)


def test_words_that_are_not_selected_count_for_the_norm_only():
    selector = TermSelector(k=40)
    classifier = TextClassifier("ridge", variance=1.0, selector=selector).fit(TEXTS, ONE)
    np.testing.assert_allclose(
        classifier._scores(NEWS.test.texts)[0], slow_scores(classifier, NEWS.test.texts), atol=1e-10
    )


@pytest.mark.parametrize(
    "vectorizer",
    [
        TextVectorizer(stemmer="porter"),
        TextVectorizer(stop_words="english"),
        TextVectorizer(ngram_range=(1, 2)),
        TextVectorizer("ann"),
        TextVectorizer(n_features=256),
        TextVectorizer(dtype=np.float32),
    ],
    ids=["stemmer", "stop words", "pairs", "augmented", "hashed", "float32"],
)
def test_what_has_no_fast_way_goes_by_the_matrix(vectorizer):
    classifier = TextClassifier("ridge", variance=1.0, vectorizer=vectorizer).fit(TEXTS[:80], TWO[:80])
    assert not Scorer.can_score(classifier.vectorizer_, classifier.model_)
    expected = classifier.model_.predict(classifier.vectorizer_.transform(TEXTS[80:]))
    np.testing.assert_array_equal(classifier.predict(TEXTS[80:]), expected)


def test_other_models_go_by_the_matrix():
    classifier = TextClassifier("nb").fit(TEXTS, ONE)
    assert classifier._scores(NEWS.test.texts)[1] is not None


def test_a_changed_model_gets_a_new_scorer():
    classifier = TextClassifier("ridge", variance=1.0).fit(TEXTS[:80], TWO[:80])
    classifier.predict(TEXTS[:3])
    before = classifier._scorer
    classifier.predict(TEXTS[:3])
    assert classifier._scorer is before
    classifier.fit(TEXTS[80:160], TWO[80:160])
    np.testing.assert_allclose(classifier._scores(TEXTS[:9])[0], slow_scores(classifier, TEXTS[:9]), atol=1e-10)
    assert "_scorer" not in classifier.__getstate__()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_many_batches_come_in_order(n_jobs):
    vectorizer = TextVectorizer(n_jobs=n_jobs)
    classifier = TextClassifier("ridge", variance=1.0, vectorizer=vectorizer).fit(TEXTS, ONE)
    many = [text * 5 for text in TEXTS * 3]
    np.testing.assert_allclose(classifier._scores(many)[0], slow_scores(classifier, many), atol=1e-9)


def test_no_texts_at_all():
    for model in ("ridge", "nb"):
        classifier = TextClassifier(model, variance=1.0).fit(TEXTS[:40], TWO[:40])
        assert classifier.predict([]).shape == (0,)
        assert classifier.predict_proba([]).shape == (0, 2)


@given(
    texts=st.lists(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 400)), max_size=8), max_size=5),
    tf=st.sampled_from("nlb"),
    cosine=st.booleans(),
    seed=st.integers(0, 99),
)
def test_the_kernel_and_plain_numpy(texts, tf, cosine, seed):
    random = np.random.default_rng(seed)
    texts = [list(dict(text).items()) for text in texts]
    coef = np.where(random.random((3, 6)) < 0.5, 0.0, random.normal(size=(3, 6)))
    factor = random.random(6)
    start = np.concatenate([[0], np.cumsum(np.count_nonzero(coef, axis=0))])
    category = np.concatenate([np.flatnonzero(column) for column in coef.T]).astype(np.int32)
    values = np.concatenate([column[column != 0] for column in coef.T])
    numbers = np.array([t for text in texts for t, _ in text], dtype=np.int32)
    counts = np.array([n for text in texts for _, n in text], dtype=np.int32)
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64) if texts else np.empty(0, dtype=np.int64)
    out = np.zeros((len(texts), 3))
    table = factor, start.astype(np.int64), category, values
    score_texts(numbers, counts, ends, "nlb".index(tf), _weights_of_counts(tf), cosine, *table, out)
    for row, text in zip(out, texts, strict=True):
        x = np.zeros(6)
        for t, n in text:
            x[t] = factor[t] * {"n": n, "l": 1 + np.log(n), "b": 1}[tf]
        if cosine and np.any(x):
            x /= np.linalg.norm(x)
        np.testing.assert_allclose(row, coef @ x, atol=1e-10)
