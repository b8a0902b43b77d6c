"""Columns of terms by hashing, for streams whose vocabulary nobody wants to keep."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.utils import murmurhash3_32

from bayesift._typing import Int32Array


def hashed_columns(terms: list[str], n_features: int, signed: bool) -> Int32Array:
    """Return each term its column, as scikit-learn's ``HashingVectorizer`` does.

    With ``signed`` there are two columns for each feature, an even one for the sign + and an odd one for -; see
    :func:`combine_signs`.
    """
    hashes = np.array([murmurhash3_32(term.encode("utf-8", "surrogatepass")) for term in terms], dtype=np.int64)
    columns = np.abs(hashes) % n_features
    if signed:
        columns = 2 * columns + (hashes < 0)
    return columns.astype(np.int32)


def combine_signs(counts: sp.csr_matrix) -> sp.csr_matrix:
    """Subtract every odd column from the even one before it; entries that cancel are left out."""
    counts.data[counts.indices % 2 == 1] *= -1
    counts.indices //= 2
    result = sp.csr_matrix((counts.data, counts.indices, counts.indptr), shape=(counts.shape[0], counts.shape[1] // 2))
    result.has_sorted_indices = True
    result.sum_duplicates()
    result.eliminate_zeros()
    return result
