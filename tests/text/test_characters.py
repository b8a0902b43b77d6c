"""Sequences of characters: exactly those of scikit-learn, on any text."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

from bayesift import load, save
from bayesift.text import TextScorer, TextVectorizer, _documents
from bayesift.text._characters import CharacterLexicon
from text.test_equals_scikit_learn import AWKWARD, assert_same

WHITE = " \t\n\r\x0b\x0c\x1c\x1f\x85\xa0\u1680\u2003\u2028\u3000\u200b"
texts = st.one_of(
    st.text(max_size=60),
    st.text(alphabet=st.characters(), max_size=60),
    st.text(alphabet=AWKWARD + WHITE, max_size=80),
    st.text(alphabet="aB" + WHITE, max_size=60),
    st.text(alphabet="ab \x00\n", max_size=60),
    st.text(alphabet="e\u0301\u0308👍🏽\u200d👩\ud83d\udc4d \t", max_size=60),
)
corpora = st.lists(texts, min_size=1, max_size=6)
ranges = st.tuples(st.integers(1, 7), st.integers(0, 4)).map(lambda pair: (pair[0], sum(pair)))
kinds = st.sampled_from(["char", "char_wb"])


@given(corpora, kinds, ranges, st.booleans())
@example(["a\n\nb \x00a", "\x00", " \x85 "], "char", (1, 2), True)
@example(["İΣ aΣ Σ\u3000\u3000b"], "char_wb", (3, 5), True)
@settings(max_examples=400, deadline=None)
def test_terms_and_counts_equal_count_vectorizer(corpus, analyzer, ngram_range, lowercase):
    options = {"analyzer": analyzer, "ngram_range": ngram_range, "lowercase": lowercase}
    assert_same(TextVectorizer("nnn", n_jobs=1, **options), CountVectorizer(**options), corpus)


@given(corpora, corpora, kinds, ranges)
@settings(max_examples=100, deadline=None)
def test_known_terms_are_found_in_other_texts(corpus, others, analyzer, ngram_range):
    options = {"analyzer": analyzer, "ngram_range": ngram_range}
    try:
        theirs = CountVectorizer(**options).fit(corpus)
    except ValueError:
        return
    ours = TextVectorizer("nnn", n_jobs=1, **options).fit(corpus)
    assert (ours.transform(others) != theirs.transform(others)).nnz == 0


@given(corpora, kinds)
@settings(max_examples=50, deadline=None)
def test_hashing_equals_hashing_vectorizer(corpus, analyzer):
    # Lone surrogates are an error in scikit-learn.
    corpus = [text.encode("utf-8", "replace").decode() for text in corpus]
    options = {"analyzer": analyzer, "ngram_range": (2, 4), "n_features": 64}
    ours, theirs = TextVectorizer("nnn", **options), HashingVectorizer(norm=None, **options)
    assert (ours.transform(corpus) != theirs.transform(corpus)).nnz == 0


@pytest.mark.parametrize("analyzer", ["char", "char_wb"])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_batches_threads_and_tables_that_grow_change_nothing(monkeypatch, analyzer, n_jobs):
    rng = np.random.default_rng(0)
    corpus = ["".join(rng.choice(list("abcdefg é漢😀  \x00"), rng.integers(0, 300))) for _ in range(200)]
    monkeypatch.setattr(_documents, "BATCH_CHARACTERS", 700)
    options = {"analyzer": analyzer, "ngram_range": (1, 12)}
    assert_same(TextVectorizer("nnn", n_jobs=n_jobs, **options), CountVectorizer(**options), corpus)


@pytest.mark.slow
def test_every_code_point():
    # As white space, alone and in a run, and by its lower case; of those that stand for nothing, some.
    kinds = {code: unicodedata.category(chr(code)) for code in range(0x110000)}
    characters = [chr(code) for code, kind in kinds.items() if kind not in ("Cs", "Cn", "Co")]
    characters += [chr(code) for code, kind in kinds.items() if kind in ("Cn", "Co") and code % 101 == 0]
    corpus = ["".join(f"a{c}b{c}{c}" for c in characters[k : k + 5000]) for k in range(0, len(characters), 5000)]
    for analyzer in ("char", "char_wb"):
        options = {"analyzer": analyzer, "ngram_range": (2, 2)}
        assert_same(TextVectorizer("nnn", **options), CountVectorizer(**options), corpus)


def test_tokens_of_other_tables_are_united():
    first, second = (CharacterLexicon(True, "char", (1, 9)) for _ in range(2))
    first.scan(["abc"])
    numbers = second.scan(["\x00bc and something long"]).numbers
    renumbered = first.absorb(second)
    assert first.spell(renumbered[numbers]) == second.spell(numbers)
    assert first.spell(first.order()) == sorted(first.spell(np.arange(len(first))))


@pytest.mark.parametrize("analyzer", ["char", "char_wb"])
def test_scores_and_a_model_file(tmp_path, analyzer):
    corpus = ["wheat and corn", "ships at sea", "a\nb\x00", ""]
    vectorizer = TextVectorizer(analyzer=analyzer, ngram_range=(1, 4), n_jobs=1).fit(corpus)
    theirs = TfidfVectorizer(
        analyzer=analyzer, ngram_range=(1, 4), sublinear_tf=True, vocabulary=vectorizer.vocabulary_
    )
    theirs.idf_ = vectorizer.idf_
    others = [*corpus, "shipsand\n\ncorn", "ωheat"]
    X = theirs.transform(others)
    np.testing.assert_allclose(vectorizer.transform(others).toarray(), X.toarray(), atol=1e-12)
    assert TextScorer.supports(vectorizer)
    coef = np.random.default_rng(0).normal(size=(2, X.shape[1]))
    np.testing.assert_allclose(TextScorer(vectorizer, coef, [0.0, 1.0]).scores(others), X @ coef.T + [0.0, 1.0])
    save(vectorizer, tmp_path / "a.bayesift")
    assert (load(tmp_path / "a.bayesift").transform(others) != vectorizer.transform(others)).nnz == 0


def test_columns_are_added_for_new_terms():
    stream = TextVectorizer("nnn", analyzer="char", ngram_range=(2, 2)).partial_fit(["abc"])
    assert stream.transform(["bcab"]).toarray().tolist() == [[1, 1]]
    stream.partial_fit(["xab"])
    assert stream.vocabulary_ == {"ab": 0, "bc": 1, "xa": 2}
    assert stream.transform(["xabab"]).toarray().tolist() == [[2, 0, 1]]


def test_a_fixed_vocabulary_may_hold_what_is_never_found():
    vectorizer = TextVectorizer("nnn", analyzer="char_wb", ngram_range=(2, 3), vocabulary=["", "ab", "abcd", " a"])
    assert vectorizer.fit(["ab"]).transform(["ab abcd"]).toarray().tolist() == [[0, 2, 0, 2]]


@pytest.mark.parametrize(
    "rule",
    [
        {"stop_words": ["a"]},
        {"stemmer": "porter"},
        {"drop_numbers": True},
        {"token_pattern": "a"},
        {"max_token_length": 3},
    ],
)
def test_rules_for_words_are_refused(rule):
    name = next(iter(rule))
    with pytest.raises(ValueError, match=f"{name}=.* is a rule for words, but analyzer='char' takes characters"):
        TextVectorizer(analyzer="char", **rule).fit(["a"])


def test_what_is_no_analyzer():
    with pytest.raises(TypeError, match="got a function: give a function from a text to its tokens as tokenizer"):
        TextVectorizer(analyzer=str.split).fit(["a"])
    with pytest.raises(ValueError, match="'analyzer' parameter of TextVectorizer must be a str among"):
        TextVectorizer(analyzer="chars").fit(["a"])
    with pytest.raises(ValueError, match="no term was found"):
        TextVectorizer(analyzer="char_wb").fit(["", " \n "])
