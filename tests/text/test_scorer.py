"""Scores straight from the tokens: against the matrix of weights, and the kernel against plain numpy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from bayesift.text import TextScorer, TextVectorizer
from bayesift.text.scorer import _weights_of_counts, score_texts

TEXTS = ["wheat and corn, corn", "ships at sea", "the sea", "a ship of wheat", ""]


@pytest.mark.parametrize("selected", [None, np.array([0, 3, 4])])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_scores_are_those_of_the_matrix(form, selected):
    vectorizer = TextVectorizer().fit(TEXTS)
    assert TextScorer.supports(vectorizer)
    X = vectorizer.transform(TEXTS)
    n_columns = X.shape[1] if selected is None else selected.size
    coef = np.random.default_rng(0).normal(size=(3, n_columns))
    scorer = TextScorer(vectorizer, form(coef), [1.0, 0.0, -1.0], selected=selected)
    columns = slice(None) if selected is None else selected
    np.testing.assert_allclose(scorer.scores(TEXTS), X[:, columns] @ coef.T + [1.0, 0.0, -1.0], atol=1e-12)


@pytest.mark.parametrize(
    "options",
    [
        {"ngram_range": (1, 2)},
        {"ngram_range": (2, 3), "min_token_length": 1},
        {"ngram_range": (1, 3), "stop_words": ["of", "and", "at"]},
        {"stop_words": ["the", "of"]},
        {"drop_numbers": True, "vocabulary": ["1987", "wheat", "٣٣", "sea", "a1"]},
        {"min_token_length": 4, "max_token_length": 5, "stop_words": ["corn"]},
        {"min_token_length": 2, "max_token_length": 3},
        {"stop_words": ["the", "wheat"], "vocabulary": ["wheat", "sea", "Sea", "ship of", "a", ""]},
    ],
)
@pytest.mark.filterwarnings("ignore:vocabulary holds 'Sea'")
def test_scores_of_phrases_and_by_rules_for_tokens(options):
    vectorizer = TextVectorizer(n_jobs=1, **options).fit(TEXTS)
    assert TextScorer.supports(vectorizer)
    texts = [*TEXTS, "the ship of ship of wheat at the sea", "wheat unknown corn corn", "of of", "1987 ٣٣ a1 sea 大 海"]
    # With a stemmer that changes nothing the words are spelled.
    X = TextVectorizer(n_jobs=1, stemmer=str, **options).fit(TEXTS).transform(texts)
    coef = np.random.default_rng(0).normal(size=(2, X.shape[1]))
    scores = TextScorer(vectorizer, coef, [1.0, 0.0]).scores(texts)
    np.testing.assert_allclose(scores, X @ coef.T + [1.0, 0.0], atol=1e-12)
    assert (vectorizer.transform(texts) != X).nnz == 0


def test_parts_that_do_not_fit_are_refused_and_so_is_a_vectorizer_that_has_grown():
    vectorizer = TextVectorizer().fit(TEXTS)
    n = vectorizer.document_frequency_.size
    for weights, intercept, selected in [
        (np.ones((1, n - 1)), [0.0], None),
        (np.ones((1, n)), [0.0, 1.0], None),
        (np.ones((1, 2)), [0.0], np.array([0, n])),
        (np.ones((1, 2)), [0.0], np.array([0, 0])),
        (np.ones((1, 2)), [0.0], np.array([-1, 0])),
    ]:
        with pytest.raises(ValueError, match="expected"):
            TextScorer(vectorizer, weights, intercept, selected=selected)
    scorer = TextScorer(vectorizer, np.ones((1, n)), [0.0])
    scorer.scores(TEXTS)
    more = ["quite another text about nothing of the kind"]
    vectorizer.partial_fit(more)
    with pytest.raises(ValueError, match="make a new one"):
        scorer.scores(more)


def test_phrases_that_come_later_are_found():
    stream = TextVectorizer("nnn", ngram_range=(1, 2)).partial_fit(["wheat corn"])
    assert stream.transform(["corn wheat corn"]).toarray().tolist() == [[2, 1, 1]]
    stream.partial_fit(["apple corn"])
    assert stream.transform(["apple corn wheat corn"]).toarray().tolist() == [[2, 1, 1, 1, 1]]


def test_terms_may_be_counted_by_a_vocabulary_of_ones_own():
    column_of = {"sea": 0}
    counts = TextVectorizer().count_terms(TEXTS[:3], column_of)
    assert column_of == {"sea": 0, "and": 1, "at": 2, "corn": 3, "ships": 4, "the": 5, "wheat": 6}
    np.testing.assert_array_equal(counts.toarray()[0], [0, 1, 0, 2, 0, 0, 1])


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
