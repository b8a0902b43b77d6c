"""The vectorizer finds exactly what scikit-learn's finds, on any text."""

import unicodedata
from functools import partial

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer

from bayesift.text import TextVectorizer, _documents, _pipeline

# Characters that have gone wrong somewhere: special lower cases, lengths that change, marks, surrogates, NUL.
AWKWARD = "İΣσςßẞΪȺȾⱥKÅſıΐ\u0345\u0307\u00ad\u200d_٣𝔘𐐀ǅ\x00\ud800\udfff\n\r\x85\u2028 .-'aAzZ09é你好"
texts = st.one_of(
    st.text(max_size=80),
    st.text(alphabet=st.characters(), max_size=80),
    st.text(alphabet=AWKWARD, max_size=120),
    st.text(alphabet="abcAB Σσ", max_size=300),
    st.lists(st.text(alphabet="abcdefXYZ09_é", min_size=1, max_size=40), max_size=30).map(" ".join),
)
corpora = st.lists(texts, min_size=1, max_size=8)
# Chinese and the like in one piece, as scikit-learn takes them.
plain = partial(TextVectorizer, unspaced="whole")


def assert_same(ours, theirs, corpus):
    """Fit both; compare vocabulary and counts, or that both find nothing."""
    try:
        expected = theirs.fit_transform(corpus)
    except ValueError as error:
        assert "vocabulary" in str(error)  # noqa: PT017 - scikit-learn's message for a corpus without terms
        with pytest.raises(ValueError, match="no term was found"):
            ours.fit(corpus)
        return
    counts = ours.fit_transform(corpus)
    assert ours.vocabulary_ == theirs.vocabulary_
    assert list(ours.vocabulary_) == sorted(ours.vocabulary_)
    assert counts.shape == expected.shape
    assert (counts != expected).nnz == 0
    assert counts.has_canonical_format
    assert (ours.transform(corpus) != expected).nnz == 0


@given(corpora)
@example(["Σ ΑΣ ΣΑΣ. ΑΣ", "İstanbul İ"])
@example(["a" * 63 + " bb", "x" * 64 + "yy zz", " " * 62 + "ab cd"])
@settings(max_examples=400, deadline=None)
def test_counts_equal_count_vectorizer(corpus):
    assert_same(plain("nnn", n_jobs=1), CountVectorizer(), corpus)


@given(corpora, st.booleans(), st.sampled_from([(1, 2), (2, 2), (1, 3), (2, 3)]))
@settings(max_examples=150, deadline=None)
def test_phrases_equal_count_vectorizer(corpus, lowercase, ngram_range):
    stop_words = ["ab", "bb", "aa"]
    ours = plain("nnn", ngram_range=ngram_range, lowercase=lowercase, stop_words=stop_words, n_jobs=1)
    theirs = CountVectorizer(ngram_range=ngram_range, lowercase=lowercase, stop_words=stop_words)
    assert_same(ours, theirs, corpus)


@given(corpora, corpora, st.sampled_from([(1, 2), (2, 2), (1, 3), (2, 3)]), st.sampled_from([None, ["ab", "bb", "aa"]]))
@settings(max_examples=150, deadline=None)
def test_known_phrases_are_found_in_other_texts(corpus, others, ngram_range, stop_words):
    theirs = CountVectorizer(ngram_range=ngram_range, stop_words=stop_words)
    try:
        theirs.fit(corpus)
    except ValueError:
        return
    ours = plain("nnn", ngram_range=ngram_range, stop_words=stop_words, n_jobs=1).fit(corpus)
    assert (ours.transform(others) != theirs.transform(others)).nnz == 0
    # Rules that are applied to spelled tokens take another road.
    spelled = plain("nnn", ngram_range=ngram_range, stop_words=stop_words, max_token_length=10**6, n_jobs=1)
    assert (spelled.fit(corpus).transform(others) != theirs.transform(others)).nnz == 0


@given(corpora)
@settings(max_examples=100, deadline=None)
def test_general_road_equals_compiled_road(corpus):
    # A pattern that means the same but is written otherwise takes the road through Python.
    assert_same(plain("nnn", token_pattern=r"\w\w+"), CountVectorizer(), corpus)


@given(corpora)
@settings(max_examples=100, deadline=None)
def test_single_characters_can_be_kept(corpus):
    assert_same(plain("nnn", min_token_length=1), CountVectorizer(token_pattern=r"(?u)\b\w+\b"), corpus)


@given(corpora, st.booleans())
@settings(max_examples=60, deadline=None)
def test_hashing_equals_hashing_vectorizer(corpus, signed):
    ours = plain("nnn", n_features=64, signed=signed)
    theirs = HashingVectorizer(n_features=64, alternate_sign=signed, norm=None)
    assert (ours.transform(corpus) != theirs.transform(corpus)).nnz == 0


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_batches_and_threads_change_nothing(monkeypatch, n_jobs):
    rng = np.random.default_rng(n_jobs)
    words = ["".join(rng.choice(list("abcdeé"), rng.integers(2, 25))) for _ in range(3000)]
    corpus = [" ".join(rng.choice(words, rng.integers(0, 60))) for _ in range(400)]
    theirs = CountVectorizer()
    expected = theirs.fit_transform(corpus)
    monkeypatch.setattr(_documents, "BATCH_CHARACTERS", 700)
    monkeypatch.setattr(_pipeline, "GROUP_SIZE", 3000)
    ours = plain("nnn", n_jobs=n_jobs)
    assert (ours.fit_transform(corpus) != expected).nnz == 0
    assert ours.vocabulary_ == theirs.vocabulary_
    assert (ours.transform(corpus) != expected).nnz == 0
    assert (ours.fit_transform(iter(corpus)) != expected).nnz == 0


@pytest.mark.parametrize("limits", [{"min_df": 3}, {"max_df": 0.2}, {"min_df": 0.05, "max_df": 30}])
@pytest.mark.parametrize("ngram_range", [(1, 1), (1, 3), (2, 2)])
def test_document_frequency_limits_equal_count_vectorizer(limits, ngram_range):
    rng = np.random.default_rng(0)
    corpus = [" ".join(f"w{int(k)}" for k in rng.geometric(0.05, 40)) for _ in range(100)]
    assert_same(
        plain("nnn", ngram_range=ngram_range, **limits),
        CountVectorizer(ngram_range=ngram_range, **limits),
        corpus,
    )


@pytest.mark.slow
def test_every_code_point_is_classified_as_by_python():
    # Each code point between two letters: a word character joins them, any other separates them.
    everything = [
        f"a{chr(code)}b {chr(code)}{chr(code)}" for code in range(0x110000) if unicodedata.category(chr(code)) != "Cs"
    ]
    corpus = [" ".join(everything[start : start + 5000]) for start in range(0, len(everything), 5000)]
    assert_same(plain("nnn"), CountVectorizer(), corpus)
    assert_same(plain("nnn", lowercase=False), CountVectorizer(lowercase=False), corpus)


@pytest.mark.collection("20newsgroups")
def test_real_text_gives_the_same_matrix():
    from bayesift.datasets import load

    corpus = load("20newsgroups").train.texts[:2000]
    assert_same(plain("nnn", n_jobs=2), CountVectorizer(), corpus)
