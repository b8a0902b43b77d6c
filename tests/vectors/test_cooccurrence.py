"""Co-occurrence and its information against sums written out."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from bayesift.vectors._cooccurrence import DocumentCompany, WindowCompany, document_frequency, keep_words

COUNTS = arrays(np.int64, st.tuples(st.integers(1, 8), st.integers(1, 7)), elements=st.integers(0, 3))
TEXTS = st.lists(st.lists(st.integers(0, 5), max_size=9), min_size=1, max_size=6)
EXPONENTS = st.sampled_from([0.0, 0.75, 1.0])


def most_frequent(frequency, n_contexts):
    return sorted(sorted(np.flatnonzero(frequency), key=lambda c: (-frequency[c], c))[:n_contexts])


def information(pairs, exponent):
    """The formula, a word and a context at a time."""
    shares = pairs.sum(axis=0) ** exponent
    shares /= shares.sum()
    result = np.zeros_like(pairs)
    for word, column in np.argwhere(pairs > 0):
        result[word, column] = max(np.log(pairs[word, column] / (pairs[word].sum() * shares[column])), 0.0)
    return result


@given(COUNTS, st.integers(1, 8), EXPONENTS, st.randoms())
def test_information_of_documents_is_that_of_the_formula(counts, n_contexts, exponent, random):
    found = DocumentCompany(sp.csr_matrix(counts, dtype=np.float32), n_contexts, exponent)
    words = np.array([w for w in range(counts.shape[1]) if random.random() < 0.7], dtype=np.int64)
    if not counts.any():
        assert found.shape == (counts.shape[1], 0)
        return
    contexts = most_frequent((counts > 0).sum(axis=0), n_contexts)
    pairs = np.zeros((counts.shape[1], len(contexts)))
    for document in counts:
        for word in range(document.size):
            for column, context in enumerate(contexts):
                if document.sum():
                    pairs[word, column] += document[word] * document[context] / document.sum()
    assert_array_equal(found.contexts, contexts)
    assert_allclose(found.information(words).toarray(), information(pairs, exponent)[words], atol=2e-5)


def flat(texts):
    numbers = np.array([number for text in texts for number in text], dtype=np.int32)
    return numbers, np.cumsum([len(text) for text in texts])


@given(TEXTS, st.integers(1, 12), st.integers(1, 7), EXPONENTS)
def test_information_of_windows_is_that_of_the_formula(texts, window, n_contexts, exponent):
    numbers, ends = flat(texts)
    frequency = document_frequency(numbers, ends, 6)
    assert_array_equal(frequency, [sum(word in text for text in texts) for word in range(6)])
    contexts = most_frequent(frequency, n_contexts)
    pairs = np.zeros((6, 6))
    for text in texts:
        for here, word in enumerate(text):
            for there, other in enumerate(text):
                pairs[word, other] += 0 < abs(here - there) <= window
    found = WindowCompany(numbers, ends, frequency, window, n_contexts, exponent)
    assert_array_equal(found.contexts, contexts)
    if pairs[:, contexts].any():
        expected = information(pairs[:, contexts], exponent)
        assert_allclose(found.information(np.arange(6)).toarray(), expected, atol=2e-5)
    else:
        assert found.information(np.arange(6)).nnz == 0


@given(TEXTS, st.sets(st.integers(0, 5)))
def test_words_are_left_out_of_sequences(texts, kept):
    numbers, ends = flat(texts)
    new_number = np.full(6, -1, dtype=np.int32)
    new_number[sorted(kept)] = np.arange(len(kept))
    size = keep_words(numbers, ends, new_number)
    found = [part.tolist() for part in np.split(numbers[:size], ends[:-1])]
    assert found == [[sorted(kept).index(word) for word in text if word in kept] for text in texts]
