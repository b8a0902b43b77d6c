"""Co-occurrence and its information against sums written out."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from bayesift.vectors._cooccurrence import positive_information

COUNTS = arrays(np.int64, st.tuples(st.integers(1, 8), st.integers(1, 7)), elements=st.integers(0, 3))


def written_out(counts, n_contexts, exponent):
    """The formula, a word and a context at a time."""
    frequency = (counts > 0).sum(axis=0)
    contexts = sorted(sorted(np.flatnonzero(frequency), key=lambda c: (-frequency[c], c))[:n_contexts])
    pairs = np.zeros((counts.shape[1], len(contexts)))
    for document in counts:
        for word in range(document.size):
            for column, context in enumerate(contexts):
                if document.sum():
                    pairs[word, column] += document[word] * document[context] / document.sum()
    shares = pairs.sum(axis=0) ** exponent
    shares /= shares.sum()
    result = np.zeros_like(pairs)
    for word, column in np.argwhere(pairs > 0):
        result[word, column] = max(np.log(pairs[word, column] / (pairs[word].sum() * shares[column])), 0.0)
    return contexts, result


@given(COUNTS, st.integers(1, 8), st.sampled_from([0.0, 0.75, 1.0]), st.sampled_from([1, 2]))
def test_information_is_that_of_the_formula(counts, n_contexts, exponent, n_jobs):
    found = positive_information(sp.csr_matrix(counts), n_contexts, exponent, n_jobs)
    if not counts.any():
        assert found.matrix.nnz == found.contexts.size == 0
        return
    contexts, expected = written_out(counts, n_contexts, exponent)
    assert_array_equal(found.contexts, contexts)
    assert_allclose(found.matrix.toarray(), expected, atol=2e-5)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_many_words_on_any_number_of_threads(n_jobs):
    random = np.random.default_rng(0)
    counts = sp.random(300, 2000, 0.05, "csr", random_state=random, data_rvs=lambda n: random.integers(1, 5, n))
    found = positive_information(counts, 500, 0.75, n_jobs).matrix
    # Long enough for the arrays of a block to grow.
    assert found.nnz > 1 << 16
    contexts = positive_information(counts, 500, 0.75, 1).contexts
    share = sp.diags(1.0 / counts.sum(axis=1).A1)
    pairs = (counts.T @ share @ counts[:, contexts]).toarray()
    shares = pairs.sum(axis=0) ** 0.75
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = np.log(pairs / (pairs.sum(axis=1, keepdims=True) * (shares / shares.sum())))
    assert_allclose(found.toarray(), np.where(expected > 0, expected, 0.0), atol=1e-5)
