"""Languages without spaces: runs of their letters are pairs of characters, by every road."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from itertools import groupby, pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from bayesift import load
from bayesift.datasets import Split
from bayesift.text import TextScorer, TextVectorizer, _documents, has_unspaced_letters
from bayesift.text._unicode import unspaced_letters
from bayesift.workflow import TextClassifier, convert, train
from bayesift.workflow._plain_pipeline import plain_pipeline

LETTERS = "漢字々〇かカｶーทีา่ລາຂខែម្မာ𠀀"
texts = st.one_of(
    st.text(alphabet=LETTERS + "ab é9_๑,・ \x00\ud800İΣ", max_size=60),
    st.text(alphabet=LETTERS, max_size=30),
    st.text(alphabet=st.characters(), max_size=60),
)
corpora = st.lists(texts, min_size=1, max_size=6)

CHINESE = ["我喜欢猫", "我喜欢小猫", "股票上涨了", "股票下跌了"] * 6
TOPICS = ["pets", "pets", "money", "money"] * 6


def tokens_by_hand(text, shortest=2):
    """Tokens of a lower-cased text, run by run."""
    letters = unspaced_letters()

    def kind(character):
        if ord(character) in letters:
            return "letter"
        return "other" if re.match(r"\w", character) else "none"

    found = []
    for name, group in groupby(text.lower(), kind):
        run = "".join(group)
        if name == "letter":
            found += [a + b for a, b in pairwise(run)] or [run]
        elif name == "other" and len(run) >= shortest:
            found.append(run)
    return found


@pytest.mark.slow
@given(corpora)
@example(["漢", "a漢", "漢a字b", "漢字ab", "漢字ab漢字", "aaaaaaa漢字aaaaaaaaa字漢漢"])
@settings(max_examples=400, deadline=None)
def test_compiled_pattern_and_hand_agree(corpus):
    by_hand = [Counter(tokens_by_hand(text)) for text in corpus]
    vectorizer = TextVectorizer("nnn", n_jobs=1)
    pattern = re.compile(vectorizer.token_regex())
    assert [Counter(pattern.findall(text.lower())) for text in corpus] == by_hand
    terms = sorted(set().union(*by_hand))
    if not terms:
        return
    X = vectorizer.fit_transform(corpus)
    assert list(vectorizer.vocabulary_) == terms
    assert X.toarray().tolist() == [[row[term] for term in terms] for row in by_hand]
    assert (vectorizer.transform(corpus) != X).nnz == 0
    peer = CountVectorizer(token_pattern=vectorizer.token_regex(), ngram_range=(1, 2))
    expected = peer.fit_transform(corpus)
    with_phrases = TextVectorizer("nnn", ngram_range=(1, 2), n_jobs=1)
    assert (with_phrases.fit_transform(corpus) != expected).nnz == 0
    assert with_phrases.vocabulary_ == peer.vocabulary_
    assert (with_phrases.transform(corpus) != expected).nnz == 0


@given(corpora, st.sampled_from([1, 2, 3]))
@settings(max_examples=100, deadline=None)
def test_lengths_that_are_asked_for_hold_for_all(corpus, shortest):
    expected = [Counter(t for t in tokens_by_hand(text, shortest) if len(t) >= shortest) for text in corpus]
    terms = sorted(set().union(*expected))
    if terms:
        X = TextVectorizer("nnn", min_token_length=shortest).fit_transform(corpus)
        assert X.toarray().tolist() == [[row[term] for term in terms] for row in expected]


def test_long_runs_and_batches(monkeypatch):
    monkeypatch.setattr(_documents, "BATCH_CHARACTERS", 50)
    rng = np.random.default_rng(0)
    corpus = ["".join(rng.choice(list(LETTERS + "a "), n)) for n in rng.integers(0, 400, 60)]
    expected = CountVectorizer(token_pattern=TextVectorizer().token_regex()).fit_transform(corpus)
    assert (TextVectorizer("nnn", n_jobs=3).fit_transform(corpus) != expected).nnz == 0


def test_letters_and_marks_but_no_digits():
    names = ("CJK UNIFIED", "CJK COMPATIBILITY IDEO", "HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA")
    names += ("THAI", "LAO ", "KHMER", "MYANMAR")
    for code in range(0x110000):
        character = chr(code)
        kind = unicodedata.category(character)
        if unicodedata.name(character, "").startswith(names):
            assert (code in unspaced_letters()) == (kind in ("Lo", "Lm", "Mn", "Mc", "Nl")), character
    assert all(has_unspaced_letters(f"a{letter}") for letter in LETTERS)
    assert not has_unspaced_letters("Привет, κόσμε, 한국어 ๑ 9 é")


def test_scores():
    vectorizer = TextVectorizer(n_jobs=1).fit([*CHINESE, "cat 猫"])
    coef = np.random.default_rng(0).normal(size=(2, len(vectorizer.vocabulary_)))
    others = ["小猫喜欢股票", "猫", "狗", "cat猫猫"]
    expected = vectorizer.transform(others) @ coef.T
    assert TextScorer.supports(vectorizer)
    np.testing.assert_allclose(TextScorer(vectorizer, coef, np.zeros(2)).scores(others), expected, atol=1e-12)


def test_a_file_from_before_keeps_its_rule():
    path = Path(__file__).parents[1] / "formats/models/protocol-2/text-lasso.bayesift"
    classifier = load(path)
    vectorizer = getattr(classifier, "vectorizer_", None) or classifier[0]
    assert (vectorizer.unspaced, vectorizer.analyzer) == ("whole", "word")
    assert vectorizer.token_regex() == r"(?u)\b\w{2,}\b"


def test_a_note_says_how_many_texts():
    labels = [(topic,) for topic in TOPICS]
    trained = train(
        Split(labels, TOPICS, [*CHINESE[:-2], "shares", "more shares"]), TextClassifier("nb"), validation=None
    )
    assert [note for note in trained.notes if "pairs of characters" in note] == [
        "22 texts of 24 with letters of languages written without spaces, such as Chinese, Japanese or Thai: these are "
        "cut into pairs of characters"
    ]
    whole = TextClassifier("nb", vectorizer=TextVectorizer("nnn", unspaced="whole"))
    assert train(Split(labels, TOPICS, CHINESE), whole, validation=None).notes == []


def test_conversion(tmp_path):
    classifier = TextClassifier("ridge", variance=1.0, threshold="half").fit(CHINESE, TOPICS)
    plain = plain_pipeline(classifier)
    others = ["小猫喜欢股票", "cat", "股票 上 涨了", ""]
    np.testing.assert_allclose(plain.decision_function(others), classifier.decision_function(others), atol=1e-10)
    with pytest.raises(ValueError, match="an ONNX graph cannot cut such texts into pairs of characters"):
        convert(classifier, "onnx", tmp_path / "a.onnx")


def test_no_pattern_where_there_is_none():
    with pytest.raises(ValueError, match="expected a pattern"):
        TextVectorizer(tokenizer=str.split).token_regex()
    assert TextVectorizer(token_pattern="a+").token_regex() == "a+"
    with pytest.raises(ValueError, match="'unspaced' parameter of TextVectorizer"):
        TextVectorizer(unspaced="bigrams").fit(["a"])
