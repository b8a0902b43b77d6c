"""Terms that no training document holds: in the norm of a document, against a count of everything, by all ways."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesift.formats.model_file import load, save
from bayesift.text import TextScorer, TextVectorizer
from bayesift.workflow import TextClassifier, convert

TRAINING = ["wheat wheat corn gold", "corn gold gold gold oil", "oil ship", "wheat ship ship port 7 77"]
WORDS = [
    "wheat",
    "corn",
    "gold",
    "oil",
    "ship",
    "port",
    "77",
    "newterm",
    "new",
    "88",
    "ümlaut",
    "a" * 20,
    "a" * 21,
    "b",
]


def test_the_example_of_the_paper_s_rule():
    assert by_name("normalize") == {"corn": 0.269, "wheat": 0.456}
    assert by_name("ignore") == {"corn": 0.509, "wheat": 0.861}


def by_name(unknown_terms):
    vectorizer = TextVectorizer("lsc", unknown_terms=unknown_terms).fit(TRAINING)
    [row] = vectorizer.transform(["wheat wheat newterm corn"]).toarray().tolist()
    names = vectorizer.get_feature_names_out()
    return {name: round(weight, 3) for name, weight in zip(names, row, strict=True) if weight}


def by_hand(vectorizer, terms, texts):
    """Weigh the terms of texts, unknown ones too, one at a time."""
    frequency = dict(zip(vectorizer.get_feature_names_out(), vectorizer.document_frequency_.tolist(), strict=True))
    tf, idf, norm = vectorizer.weighting
    n = len(TRAINING)
    factor = {
        "n": lambda df: 1.0,
        "s": lambda df: np.log((n + 1) / (df + 1)),
        "t": lambda df: np.log(n / max(df, 1)),
        "p": lambda df: max(np.log(max(n - max(df, 1), 1e-9) / max(df, 1)), 0.0),
    }[idf]
    rows = np.zeros((len(texts), len(frequency)))
    for row, text in zip(rows, texts, strict=True):
        counts = Counter(terms(text))
        most = max(counts.values(), default=1)
        weights = {term: of_count(tf, count, most) * factor(frequency.get(term, 0)) for term, count in counts.items()}
        length = np.sqrt(sum(weight**2 for weight in weights.values())) if norm == "c" else 1.0
        for term, weight in weights.items():
            if term in vectorizer.vocabulary_:
                row[vectorizer.vocabulary_[term]] = weight / (length or 1.0)
    return rows


def of_count(tf, count, most):
    return {"n": count, "l": 1 + np.log(count), "b": 1.0, "a": 0.5 + 0.5 * count / most}[tf]


def words(text):
    return re.findall(r"\w\w+", text)


def pairs(text):
    found = words(text)
    return found + [" ".join(pair) for pair in pairwise(found)]


WAYS = {
    "words": ({}, words),
    "stop words": (
        {"stop_words": ["corn", "newterm"]},
        lambda t: [w for w in words(t) if w not in ("corn", "newterm")],
    ),
    "rules": (
        {"drop_numbers": True, "max_token_length": 4},
        lambda t: [w for w in words(t) if w.isalpha() and len(w) < 5],
    ),
    "stems": ({"stemmer": lambda word: word[:3]}, lambda t: [w[:3] for w in words(t)]),
    "pattern": ({"token_pattern": r"\w+"}, lambda t: re.findall(r"\w+", t)),
    "pairs": ({"ngram_range": (1, 2)}, pairs),
    "characters": (
        {"analyzer": "char", "ngram_range": (1, 2)},
        lambda t: [t[i : i + n] for n in (1, 2) for i in range(len(t) - n + 1)],
    ),
}


@pytest.mark.parametrize("way", WAYS)
@given(texts=st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), max_size=5), data=st.data())
@settings(max_examples=25, deadline=None)
def test_unknown_terms_count_in_the_norm_by_every_way(way, texts, data):
    options, terms = WAYS[way]
    weighting = data.draw(st.sampled_from(["lsc", "ltc", "nnc", "bpc", "asc", "lsn"]))
    vectorizer = TextVectorizer(weighting, unknown_terms="normalize", n_jobs=1, **options).fit(TRAINING)
    found = vectorizer.transform(texts)
    np.testing.assert_allclose(found.toarray(), by_hand(vectorizer, terms, texts), atol=1e-12)
    assert found.has_sorted_indices
    if TextScorer.supports(vectorizer):
        coef = np.random.default_rng(0).normal(size=(2, found.shape[1]))
        scores = TextScorer(vectorizer, coef, [1.0, 0.0]).scores(texts)
        np.testing.assert_allclose(scores, found @ coef.T + [1.0, 0.0], atol=1e-12)


def test_many_batches_on_several_threads_are_as_one_text_at_a_time():
    random = np.random.default_rng(0)
    texts = [" ".join(f"w{k}" for k in random.zipf(1.3, 400) % 100_000) for _ in range(1500)]
    vectorizer = TextVectorizer(unknown_terms="normalize").fit(texts[:200])
    together = vectorizer.transform(texts)
    alone = vectorizer.set_params(n_jobs=1).transform(texts[700:705])
    np.testing.assert_allclose(together[700:705].toarray(), alone.toarray(), atol=1e-15)
    lengths = np.sqrt(np.asarray(together.multiply(together).sum(axis=1)).ravel())
    assert np.allclose(lengths[:200], 1.0)
    assert lengths[200:].max() < 1.0


def test_terms_that_are_learnt_later_are_no_longer_unknown():
    stream = TextVectorizer("nnc", unknown_terms="normalize").partial_fit(["wheat"])
    assert stream.transform(["wheat corn"]).toarray().tolist() == [[pytest.approx(0.5**0.5)]]
    stream.partial_fit(["corn"])
    assert stream.transform(["wheat corn sea oil"]).toarray().tolist() == [[0.5, 0.5]]


def test_hashed_terms_are_all_known():
    one, other = (TextVectorizer(n_features=64, unknown_terms=rule).fit(TRAINING) for rule in ("ignore", "normalize"))
    assert (one.transform(["wheat newterm"]) != other.transform(["wheat newterm"])).nnz == 0


@pytest.mark.parametrize("options", [{"min_df": 2}, {"max_df": 0.5}, {"max_features": 3}, {"vocabulary": ["wheat"]}])
def test_terms_that_were_left_out_are_not_unknown(options):
    with pytest.raises(ValueError, match=r"unknown_terms is 'normalize', for which every term .* needs a column"):
        TextVectorizer(unknown_terms="normalize", **options).fit(TRAINING)


def test_a_classifier_keeps_the_rule(tmp_path):
    texts, labels = TRAINING * 30, ["farm", "farm", "sea", "sea"] * 30
    options = {"vectorizer": {"unknown_terms": "normalize"}, "variance": 1.0, "vectors": None}
    classifier = TextClassifier("lasso", **options).fit(texts, labels)
    assert classifier.vectorizer_.min_df == 1
    new = ["gold of the unknown kind", "gold"]
    save(classifier, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.predict_proba(new).tolist() == classifier.predict_proba(new).tolist()
    by_matrix = classifier.model_.predict_proba(classifier.vectorizer_.transform(new))
    np.testing.assert_allclose(classifier.predict_proba(new), by_matrix, atol=1e-12)
    assert by_matrix[0].max() < by_matrix[1].max()
    with pytest.raises(ValueError, match="uses unknown_terms, which scikit-learn's TfidfVectorizer does not have"):
        convert(classifier, "sklearn", tmp_path / "pipeline")
    convert(classifier, "bbr", tmp_path / "bbr")
    assert "unknown words count in the norm with the factor 4.79" in (tmp_path / "bbr.words").read_text()
