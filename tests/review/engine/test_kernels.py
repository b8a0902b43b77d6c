import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import normalize

from bayesift.review.engine._kernels import field_moments, moved_fields, pair_products, smallest_hashes
from bayesift.review.engine.corpus import near_duplicates


def some_rows(seed, n=12, d=9, density=0.4):
    random = np.random.default_rng(seed)
    X = sp.random(n, d, density, format="csr", random_state=random)
    X.sort_indices()
    return X, random


@given(st.integers(0, 1000))
def test_field_moments(seed):
    X, random = some_rows(seed)
    mean, variance = random.standard_normal(10), random.random(10)
    means, variances = field_moments(X.indptr, X.indices, X.data, mean, variance)
    dense = np.column_stack([X.toarray(), np.ones(12)])
    np.testing.assert_allclose(means, dense @ mean, atol=1e-12)
    np.testing.assert_allclose(variances, dense**2 @ variance, atol=1e-12)


@given(st.integers(0, 1000))
def test_moved_fields(seed):
    X, random = some_rows(seed)
    columns, means, variances = X.tocsc(), random.standard_normal(12), random.random(12)
    chosen = np.flatnonzero(random.random(9) < 0.5)
    steps, growths = random.standard_normal(len(chosen)), random.random(len(chosen))
    dense = X.toarray()[:, chosen]
    expected = means + dense @ steps, variances + dense**2 @ growths
    moved_fields((columns.indptr, columns.indices, columns.data), chosen, steps, growths, means, variances)
    np.testing.assert_allclose((means, variances), expected, atol=1e-12)


@given(st.integers(0, 1000))
def test_pair_products(seed):
    X, random = some_rows(seed)
    first, second = random.integers(0, 12, (2, 30))
    found = pair_products(X.indptr, X.indices, X.data, first, second)
    dense = X.toarray()
    np.testing.assert_allclose(found, np.sum(dense[first] * dense[second], axis=1), atol=1e-12)


def test_smallest_hashes():
    X, random = some_rows(3)
    hashes = random.integers(0, 2**62, (9, 5))
    found = smallest_hashes(X.indptr, X.indices, hashes)
    for row, least in zip(X.toarray(), found, strict=True):
        columns = np.flatnonzero(row)
        expected = hashes[columns].min(axis=0) if len(columns) else np.full(5, np.iinfo(np.int64).max)
        np.testing.assert_array_equal(least, expected)


def test_near_duplicates_are_grouped_and_others_are_not():
    random = np.random.default_rng(0)
    base = sp.random(40, 300, 0.1, format="csr", random_state=random)
    twin = base[:10].copy()
    twin.data[:] *= 1 + 0.05 * random.random(twin.nnz)
    X = normalize(sp.vstack([base, twin, sp.csr_matrix((2, 300))], format="csr"))
    X.sort_indices()
    groups = near_duplicates(X)
    np.testing.assert_array_equal(groups[40:50], np.arange(10))
    np.testing.assert_array_equal(groups[:40], np.arange(40))
    np.testing.assert_array_equal(groups[50:], [50, 51])


def test_no_words_no_duplicates():
    np.testing.assert_array_equal(near_duplicates(sp.csr_matrix((3, 5))), [0, 1, 2])
