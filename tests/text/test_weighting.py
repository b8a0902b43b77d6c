"""SMART weights against the formulas written out for dense arrays."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.feature_extraction.text import TfidfVectorizer

from bayesift.text import TextVectorizer
from bayesift.text.weighting import apply_weighting, inverse_document_frequency, parse_weighting

TRIPLES = [a + b + c for a in "nlba" for b in "ntsp" for c in "nc"]


def weigh_dense(counts, triple, frequency, n_documents):
    """The definitions, row by row and term by term."""
    weights = np.zeros(counts.shape)
    for i, row in enumerate(counts):
        for j, count in enumerate(row):
            if count == 0:
                continue
            size, sign = abs(count), np.sign(count)
            tf = {"n": size, "l": 1 + np.log(size), "b": 1, "a": 0.5 + 0.5 * size / np.abs(row).max()}[triple[0]]
            df, n = max(frequency[j], 1), n_documents
            if triple[1] == "s":
                idf = np.log((n + 1) / (frequency[j] + 1))
            else:
                idf = {"n": 1, "t": np.log(n / df), "p": max(0, np.log((n - df) / df)) if df < n else 0}[triple[1]]
            weights[i, j] = sign * tf * idf
        norm = np.linalg.norm(weights[i])
        if triple[2] == "c" and norm > 0:
            weights[i] /= norm
    return weights


@pytest.mark.parametrize("triple", TRIPLES)
@given(arrays(np.float64, (5, 4), elements=st.integers(-3, 6).map(float)))
@settings(max_examples=25, deadline=None)
def test_weights_equal_the_definitions(triple, counts):
    frequency = np.count_nonzero(counts, axis=0)
    idf = inverse_document_frequency(triple[1], frequency, 5)
    weights = apply_weighting(sp.csr_matrix(counts), parse_weighting(triple), idf).toarray()
    np.testing.assert_allclose(weights, weigh_dense(counts, triple, frequency, 5), rtol=1e-12, atol=1e-15)


def test_sublinear_tf_cosine_equals_scikit_learn():
    corpus = ["wheat corn wheat", "corn trade", "trade trade trade ship wheat", ""]
    theirs = TfidfVectorizer(sublinear_tf=True, use_idf=False).fit_transform(corpus).toarray()
    np.testing.assert_allclose(TextVectorizer("lnc").fit_transform(corpus).toarray(), theirs)


def test_lsc_is_the_formula_of_the_paper_and_uses_training_frequencies_only():
    vectorizer = TextVectorizer().fit(["wheat wheat corn", "corn", "ship"])
    row = vectorizer.transform(["wheat wheat corn unknown ship ship ship"]).toarray()[0]
    expected = np.array(
        [np.log(4 / 3), (1 + np.log(3)) * np.log(4 / 2), (1 + np.log(2)) * np.log(4 / 2)]
    )  # corn, ship, wheat
    np.testing.assert_allclose(row, expected / np.linalg.norm(expected))


def test_a_document_without_known_terms_is_a_row_of_zeros():
    vectorizer = TextVectorizer().fit(["wheat corn", "corn"])
    # Corn stands in every document, so that it weighs nothing.
    matrix = vectorizer.transform(["", "nothing known", "corn wheat"])
    np.testing.assert_array_equal(np.diff(matrix.indptr), [0, 0, 1])
    assert np.isfinite(matrix.data).all()


@pytest.mark.parametrize("triple", ["lsx", "ls", "xsc", "lxc", "", "lscc", "LSC"])
def test_unknown_triples_are_refused_with_what_is_known(triple):
    with pytest.raises(ValueError, match=r"weighting .*(triple|unknown letter)"):
        TextVectorizer(triple).fit(["some text"])
