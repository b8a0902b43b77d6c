"""Documents that say nearly the same: candidates by MinHash, then their cosine."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from bayesift._typing import Int64Array
from bayesift.review.engine._fields import pair_products, smallest_hashes

#: Bands of so many hash functions each: documents with a Jaccard similarity of 0.8 meet with a probability of 0.99.
_BANDS, _ROWS = 8, 4


def near_duplicates(matrix: sp.csr_matrix, cosine: float = 0.9) -> Int64Array:
    """Return for every row the first row of its group; rows of one group are linked by cosines of at least ``cosine``.

    Parameters
    ----------
    matrix : csr_matrix
        Rows of length 1 (or 0: empty rows stand alone), their columns sorted.
    cosine : float, default=0.9
        From this similarity on, two rows that meet in a band of hash values are near-duplicates.

    Returns
    -------
    groups : array of shape (n_rows,)
    """
    n = matrix.shape[0]
    groups = np.arange(n, dtype=np.int64)
    if matrix.nnz == 0:
        return groups
    hashes = np.random.default_rng(0).integers(0, 2**62, size=(matrix.shape[1], _BANDS * _ROWS), dtype=np.int64)
    signature = smallest_hashes(matrix.indptr, matrix.indices, hashes)
    filled = np.flatnonzero(np.diff(matrix.indptr))
    pairs = np.concatenate([_neighbours(signature[:, first : first + _ROWS], filled)
                            for first in range(0, _BANDS * _ROWS, _ROWS)])  # fmt: skip
    pairs = np.unique(pairs, axis=0)
    alike = pair_products(matrix.indptr, matrix.indices, matrix.data, *np.ascontiguousarray(pairs.T)) >= cosine
    links = sp.coo_matrix((np.ones(alike.sum()), tuple(pairs[alike].T)), shape=(n, n))
    _, component = sp.csgraph.connected_components(links, directed=False)
    first = np.full(n, n, dtype=np.int64)
    np.minimum.at(first, component, groups)
    return first[component]


def _neighbours(band: Int64Array, rows: Int64Array) -> Int64Array:
    """Pair the rows that are next to each other among those with equal hash values."""
    order = rows[np.lexsort(band[rows].T)]
    equal = np.all(band[order[1:]] == band[order[:-1]], axis=1)
    return np.column_stack([order[:-1][equal], order[1:][equal]])
