"""Word vectors: what they are, what is close, and what is refused."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import bayesift
from bayesift.text import TextVectorizer
from bayesift.vectors import WordVectors
from bayesift.vectors._cooccurrence import DocumentCompany
from bayesift.vectors._decomposition import decomposed


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
    counts = TextVectorizer("lnn", min_df=3, dtype=np.float32).fit_transform(texts)
    dense = DocumentCompany(counts, 6000, 0.75).information(np.arange(12)).toarray().astype(np.float64)
    left, scales, _ = np.linalg.svd(dense, full_matrices=False)
    expected = (left * np.sqrt(scales))[:, :4]
    # Up to the sign of each direction.
    assert_allclose(vectors.vectors_ @ vectors.vectors_.T, expected @ expected.T, atol=1e-3)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_a_sample_of_words_is_enough_for_the_directions_of_all(n_jobs):
    # Eight subjects, each with a hundred words.
    random = np.random.default_rng(1)
    dense = np.zeros((1000, 800), dtype=np.float32)
    for document in dense:
        subject = random.integers(8)
        document[subject * 100 + random.choice(100, 60, replace=False)] = 1.0
    company = DocumentCompany(sp.csr_matrix(dense), 800, 0.75)
    whole = decomposed(company, 8, n_jobs, 0)
    found = decomposed(company, 8, n_jobs, 0, n_sample=200)
    near = found @ found.T
    # Of a subject more or fewer words are in the sample.
    assert_allclose(near, whole @ whole.T, atol=0.3 * np.abs(near).max())
    assert_array_equal(found, decomposed(company, 8, 1, 0, n_sample=200))


def test_directions_that_hold_nothing_are_zero():
    counts = sp.csr_matrix(np.ones((5, 3), dtype=np.float32))
    assert not decomposed(DocumentCompany(counts, 1, 0.75), 1, 1, 0).any()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_company_may_be_a_few_words_around(n_jobs):
    # Words of the same sentence are neighbours, though all sentences stand in each text.
    random = np.random.default_rng(0)
    sentences = [["wheat", "corn", "grain"], ["gold", "silver", "mine"], ["rain", "wind", "storm"]]
    texts = [
        " stop stop ".join(" ".join(random.permutation(sentences[s])) for s in random.permutation(3))
        for _ in range(200)
    ]
    near = WordVectors(5, window=2, n_jobs=n_jobs).fit(texts)
    for sentence in sentences:
        assert {name for name, _ in near.most_similar(sentence[0], 2)} == set(sentence[1:])


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
        (sp.csr_matrix(-np.ones((4, 3))), {"words": list("abc")}, "not counts"),
        (sp.csr_matrix(np.full((4, 3), 0.5)), {"words": list("abc")}, "not counts"),
        (sp.csr_matrix(np.full((4, 3), np.nan)), {"words": list("abc")}, "not counts"),
        (sp.csr_matrix(np.ones((4, 3))), {"words": ["gold", "mine", "gold"]}, "words hold 'gold' 2 times"),
        (sp.csr_matrix(np.ones((4, 3))), {"words": [1, 2, 3]}, "words hold 1; expected strings"),
        (["some text"], {"words": list("abc")}, "columns of a sparse matrix"),
    ],
)
def test_documents_that_are_refused(documents, options, message):
    vectors = WordVectors()
    with pytest.raises(ValueError, match=message):
        vectors.fit(documents, **options)
    assert not hasattr(vectors, "words_")


@pytest.mark.parametrize(
    ("documents", "options", "message"),
    [
        (sp.csr_matrix(np.ones((4, 3))), {"words": list("abc")}, "no word order for window=2; expected texts"),
        (["some text"], {"words": list("abc")}, "columns of a sparse matrix"),
        (["a single text"], {}, "0 words that are in at least 3"),
        ([], {}, "0 words that are in at least 3"),
    ],
)
def test_documents_without_an_order_are_refused(documents, options, message):
    with pytest.raises(ValueError, match=message):
        WordVectors(window=2).fit(documents, **options)


def test_phrases_have_no_order():
    with pytest.raises(ValueError, match="single words"):
        WordVectors(window=2, vectorizer=TextVectorizer(ngram_range=(1, 2))).fit(["some text"])


def test_a_matrix_is_left_as_it_is():
    counts = sp.csr_matrix((np.full(8, 2, np.float32), [1, 0, 1, 1, 1, 0, 1, 0], [0, 2, 4, 6, 8]), shape=(4, 2))
    before = counts.copy()
    WordVectors(2).fit(counts, words=["gold", "mine"])
    assert_array_equal(counts.data, before.data)
    assert_array_equal(counts.indices, before.indices)


@pytest.mark.parametrize(
    "parameter",
    [{"rank": 0}, {"window": 0}, {"rank": 1.5}, {"contexts": 0}, {"exponent": 2}, {"min_df": 0}, {"vectorizer": "lsc"}],
)
def test_parameters_that_are_refused(texts, parameter):
    with pytest.raises(ValueError, match=next(iter(parameter))):
        WordVectors(**parameter).fit(texts)


@pytest.mark.parametrize(
    ("words", "given", "message"),
    [
        (["gold", "gold"], np.ones((2, 3)), "words hold 'gold' 2 times; expected different words"),
        ([1, "gold"], np.ones((2, 3)), "words hold 1; expected strings"),
        (["gold"], np.ones((2, 3)), r"vectors have shape \(2, 3\); expected a row for each of 1"),
        (["gold", "mine"], [[np.nan], [1.0]], "vectors hold a number that is not finite"),
        (["gold", "mine"], [[1e19], [1.0]], "vectors hold a number that is not finite, or above 1e18"),
    ],
)
def test_vectors_that_cannot_be_given(words, given, message):
    with pytest.raises(ValueError, match=message):
        WordVectors.from_matrix(words, given)


def test_given_vectors_stay_given_in_copies_and_files(texts, tmp_path):
    given = WordVectors.from_matrix(np.array(["gold", "mine"]), [[1.0, 0.0], [0.0, 1.0]])
    bayesift.save(given, tmp_path / "v.bayesift")
    for found in (given, deepcopy(given), bayesift.load(tmp_path / "v.bayesift")):
        assert_array_equal(clone(found).vectors_, given.vectors_)
    learned = given.set_params(rank=4).fit(texts)
    assert not hasattr(clone(learned), "vectors_")


def test_how_many_similar_words_is_a_whole_number(vectors):
    assert vectors.most_similar("gold", 0) == []
    for k in (-1, 2.5, None):
        with pytest.raises(ValueError, match=f"k is {k}; expected a whole number of at least 0"):
            vectors.most_similar("gold", k)


def test_nothing_is_known_before_a_fit():
    with pytest.raises(NotFittedError):
        WordVectors().most_similar("wheat")
    with pytest.raises(NotFittedError):
        WordVectors().matrix(["wheat"])
