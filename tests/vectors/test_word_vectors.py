"""Word vectors: what they are, what is close, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from bayesift.text import TextVectorizer
from bayesift.vectors import WordVectors
from bayesift.vectors._cooccurrence import positive_information


@pytest.fixture(scope="module")
def texts():
    """Two subjects whose words never meet, and words of both."""
    random = np.random.default_rng(0)
    subjects = [["wheat", "corn", "grain", "harvest"], ["gold", "silver", "mine", "ounce"]]
    common = ["the", "price", "market", "said"]
    return [
        " ".join([*random.permutation(subjects[i % 2])[:3], *random.choice(common, 3), f"odd{i}"]) for i in range(400)
    ]


@pytest.fixture(scope="module")
def vectors(texts):
    return WordVectors(4).fit(texts)


def test_words_of_one_subject_are_close(vectors):
    for word, others in (("wheat", {"corn", "grain", "harvest"}), ("gold", {"silver", "mine", "ounce"})):
        assert {name for name, _ in vectors.most_similar(word, 3)} == others


def test_the_vectors_are_those_of_the_decomposition(texts, vectors):
    counts = TextVectorizer("lnn", min_df=3).fit_transform(texts)
    dense = positive_information(counts, 6000, 0.75).matrix.toarray().astype(np.float64)
    left, scales, _ = np.linalg.svd(dense, full_matrices=False)
    expected = (left * np.sqrt(scales))[:, :4]
    # Up to the sign of each direction.
    assert_allclose(vectors.vectors_ @ vectors.vectors_.T, expected @ expected.T, atol=1e-3)


def test_words_of_few_texts_have_none(vectors):
    assert "odd7" not in vectors
    assert len(vectors) == 12
    with pytest.raises(KeyError):
        vectors["odd7"]
    with pytest.raises(KeyError, match="'odd7' has no vector"):
        vectors.most_similar("odd7")


def test_a_matrix_with_names_is_the_same_as_texts(texts, vectors):
    vectorizer = TextVectorizer("nnn")
    counts = vectorizer.fit_transform(texts)
    found = WordVectors(4).fit(counts, words=vectorizer.get_feature_names_out())
    assert_array_equal(found.words_, vectors.words_)
    assert_array_equal(found.vectors_, vectors.vectors_)


def test_fits_are_alike_bit_by_bit(texts, vectors):
    assert_array_equal(clone(vectors).set_params(n_jobs=1).fit(texts).vectors_, vectors.vectors_)


def test_rows_for_a_vocabulary(vectors):
    rows = vectors.matrix(["wheat", "unheard", "gold"])
    assert rows.dtype == np.float32
    assert_array_equal(rows, [vectors["wheat"], np.zeros(4), vectors["gold"]])
    assert vectors.coverage(["wheat", "unheard", "gold", "mine"]) == 0.75
    assert np.isnan(vectors.coverage([]))
    assert vectors.matrix([]).shape == (0, 4)


def test_the_rank_is_no_greater_than_the_number_of_words(texts):
    assert WordVectors(200).fit(texts).vectors_.shape == (12, 12)
    assert WordVectors(200, contexts=5).fit(texts).vectors_.shape == (12, 5)


@pytest.mark.parametrize(
    ("documents", "options", "message"),
    [
        ([], {}, "no term was found"),
        (["a single text"], {}, "0 words that are in at least 3"),
        (sp.csr_matrix(np.ones((4, 3))), {}, "words are not given; expected the names of the 3 columns"),
        (sp.csr_matrix(np.ones((4, 3))), {"words": ["a", "b"]}, "words are 2"),
        (sp.csr_matrix(-np.ones((4, 3))), {"words": list("abc")}, "no counts"),
        (sp.csr_matrix(np.full((4, 3), 0.5)), {"words": list("abc")}, "no counts"),
        (sp.csr_matrix(np.full((4, 3), np.nan)), {"words": list("abc")}, "no counts"),
        (["some text"], {"words": list("abc")}, "columns of a sparse matrix"),
    ],
)
def test_documents_that_are_refused(documents, options, message):
    vectors = WordVectors()
    with pytest.raises(ValueError, match=message):
        vectors.fit(documents, **options)
    assert not hasattr(vectors, "words_")


@pytest.mark.parametrize(
    "parameter", [{"rank": 0}, {"rank": 1.5}, {"contexts": 0}, {"exponent": 2}, {"min_df": 0}, {"vectorizer": "lsc"}]
)
def test_parameters_that_are_refused(texts, parameter):
    with pytest.raises(ValueError, match=next(iter(parameter))):
        WordVectors(**parameter).fit(texts)


def test_nothing_is_known_before_a_fit():
    with pytest.raises(NotFittedError):
        WordVectors().most_similar("wheat")
    with pytest.raises(NotFittedError):
        WordVectors().matrix(["wheat"])
