"""Sets of words as concepts: all frequent sets are found, and a few documents tell what they have in common."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from bayesift.concepts import word_sets
from bayesift.datasets import load
from bayesift.text import TextVectorizer

TERMS = list("abcdef")


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 4))
@settings(deadline=None, max_examples=40)
def test_all_frequent_sets_and_no_others(seed, max_words, min_documents):
    X = np.random.default_rng(seed).poisson(0.7, (12, 6))
    space = word_sets(X, TERMS, max_words=max_words, min_documents=min_documents)
    expected = {"any document": tuple(range(12))}
    for size in range(1, max_words + 1):
        for words in combinations(range(6), size):
            rows = np.flatnonzero((X[:, words] > 0).all(axis=1))
            if len(rows) >= min_documents:
                expected[" + ".join(TERMS[w] for w in words)] = tuple(rows)
    assert {name: space.extension(name) for name in space.names} == expected


def test_the_prior_halves_with_every_word():
    X = np.ones((3, 3))
    space = word_sets(X, TERMS[:3], max_words=3, min_documents=1)
    assert_allclose(space.prior, np.array([1, *[1 / 6] * 3, *[1 / 12] * 3, 1 / 8]) / 1.875)
    even = word_sets(X, TERMS[:3], max_words=1, min_documents=1, shrinking=1)
    assert_allclose(even.prior, [1 / 2, 1 / 6, 1 / 6, 1 / 6])


def test_sparse_input_with_names_of_documents_is_left_as_it_is():
    X = sparse.csr_array(
        (np.array([2.0, 0.0, 1, 1, 1]), np.array([0, 1, 0, 1, 1]), np.array([0, 2, 4, 5])), shape=(3, 2)
    )
    before = X.copy()
    space = word_sets(X, ["oil", "gas"], documents=["x", "y", "z"], min_documents=1)
    assert space.extension("oil") == ("x", "y")
    assert space.extension("gas") == ("y", "z")
    assert space.extension("oil + gas") == ("y",)
    for part in ("data", "indices", "indptr"):
        assert_array_equal(getattr(X, part), getattr(before, part))


def test_no_frequent_word_leaves_any_document():
    assert word_sets(np.eye(4), TERMS[:4]).names == ("any document",)


def test_three_news_items_tell_what_they_were_chosen_for():
    news = load("newsroom")
    vectorizer = TextVectorizer(stop_words="english", drop_numbers=True, min_df=3)
    X = vectorizer.fit_transform(news.train.texts)
    space = word_sets(X, vectorizer.get_feature_names_out().tolist(), min_documents=3)
    energy = news.indicator("train").toarray()[:, news.categories.index("energy")] > 0
    examples = np.flatnonzero(energy)[:3]
    assert space.map(examples) == "ministry + power"
    probability = space.predictive(examples)
    assert_allclose(probability[examples], 1)
    others = np.setdiff1d(np.arange(len(energy)), examples)
    found = others[probability[others] > 0.5]
    assert len(found) >= 3
    assert energy[found].mean() > 0.9
    assert probability[others][energy[others]].mean() > 3 * probability[others][~energy[others]].mean()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"terms": ["a"]}, "terms has 1 names; expected 6, one for each column"),
        ({"terms": ["a"] * 6}, "terms holds 'a' twice"),
        ({"documents": ["x"]}, "documents has 1 names; expected 3, one for each row"),
        ({"max_words": 0}, "max_words is 0; expected a whole number above 0"),
        ({"min_documents": 1.5}, "min_documents is 1.5; expected a whole number above 0"),
        ({"shrinking": 0}, "shrinking is 0; expected a number above 0 and at most 1"),
        ({"X": np.ones(6)}, r"X has shape \(6,\); expected a row for each document"),
        ({"X": np.full((3, 6), np.nan)}, "X holds NaN; expected counts or weights"),
        ({"max_hypotheses": 5, "max_words": 1}, "X gives up to 6 sets of 1 words; expected at most max_hypotheses=5"),
        ({"max_hypotheses": 10}, "X gives up to 21 sets of 2 words; expected at most max_hypotheses=10"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        word_sets(**{"X": np.ones((3, 6)), "terms": TERMS, **arguments})
