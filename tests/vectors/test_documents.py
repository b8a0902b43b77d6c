"""Vectors of documents."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from bayesift.vectors import document_vectors


@given(st.integers(0, 30), st.integers(1, 20), st.integers(1, 40), st.integers(0, 99))
def test_directions_and_lengths_are_those_of_plain_numpy(n, words, rank, seed):
    random = np.random.default_rng(seed)
    X = sp.random(n, words, 0.3, format="csr", rng=random)
    E = random.normal(size=(words, rank)).astype(np.float32)
    if n == 0:
        return
    directions, lengths = document_vectors(X, E)
    expected = X @ E.astype(np.float64)
    assert_allclose(lengths, np.linalg.norm(expected, axis=1), rtol=1e-5, atol=1e-6)
    assert_allclose(directions * lengths[:, None], expected, rtol=1e-4, atol=1e-5)
    norms = np.linalg.norm(directions, axis=1)
    assert np.all((np.abs(norms - 1) < 1e-9) | (norms == 0))


def test_many_documents_on_several_threads_are_the_same():
    random = np.random.default_rng(0)
    X, E = sp.random(9000, 50, 0.1, format="csr", rng=random), random.normal(size=(50, 8))
    one, two = document_vectors(X, E, n_jobs=1), document_vectors(X, E, n_jobs=2)
    np.testing.assert_array_equal(one.directions, two.directions)


@pytest.mark.parametrize("shape", [(3, 2), (5, 2), (4,)])
def test_vectors_of_other_words_are_refused(shape):
    with pytest.raises(ValueError, match=r"matrix has shape .*; expected one row for each of the 4 columns"):
        document_vectors(np.ones((2, 4)), np.ones(shape))


@pytest.mark.parametrize(("x", "e"), [(1.0, np.nan), (1.0, np.inf), (1e60, 1.0)])
def test_vectors_that_are_not_finite_are_refused(x, e):
    with pytest.raises(ValueError, match="the vector of document 1 is not finite; expected X and matrix of finite"):
        document_vectors([[0.0, 2.0], [x, 1.0]], [[e], [1.0]])
