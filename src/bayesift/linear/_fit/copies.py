"""Copies of a document with the same labels, taken as one document of greater weight: the same objective, less work."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from bayesift._kernel import inner_kernel, kernel
from bayesift._sparse import Compressed, columns_dot, compressed
from bayesift._typing import AnyArray, FloatArray, Int64Array

#: With fewer documents, looking for copies is not worthwhile; copies are merged if at most this share would be left.
_FEWEST, _SHARE = 2000, 0.9


def merge_copies(X: Any, y: Any, weights: FloatArray) -> tuple[Any, Any, FloatArray]:
    """Leave out every document that is a copy of an earlier one with the same labels, whose weight grows by its own.

    Parameters
    ----------
    X : sparse matrix or array of shape (n_documents, n_features)
        Nothing is merged in an array, which is not made of texts.
    y : array of shape (n_documents,), or indicator matrix
        Labels.
    weights : float array of shape (n_documents,)

    Returns
    -------
    X, y, weights
        As given, where documents or copies are few.
    """
    if not sp.issparse(X) or X.shape[0] < _FEWEST:
        return X, y, weights
    documents = compressed(X)
    hashes = _hashes(documents, X.shape[1])
    # Labels, which may be many strings, are compared only for copies.
    if np.unique(hashes).size > _SHARE * hashes.size:
        return X, y, weights
    labels = compressed(y) if sp.issparse(y) or y.ndim == 2 else _codes(y)
    hashes += _hashes(labels, int(labels[1].max(initial=0)) + 1)
    first = np.arange(hashes.size)
    _find_first(documents, labels, hashes, np.argsort(hashes, kind="stable"), first)
    kept = np.flatnonzero(first == np.arange(first.size))
    if kept.size > _SHARE * first.size:
        return X, y, weights
    totals = np.bincount(first, weights, first.size).astype(np.float64, copy=False)
    return X.tocsr()[kept], (y.tocsr() if sp.issparse(y) else y)[kept], totals[kept]


def _codes(y: AnyArray) -> Compressed:
    """Return labels as a matrix of one column, of their numbers."""
    numbers = np.unique(y, return_inverse=True)[1]
    return np.arange(y.size + 1, dtype=np.uint32), np.zeros(y.size, np.uint32), numbers.astype(np.float64)


def _hashes(rows: Compressed, n_columns: int) -> FloatArray:
    """Return a hash of each row, its product with random numbers: the same for rows with the same entries."""
    result = np.empty(rows[0].size - 1)
    columns_dot(*rows, np.random.default_rng(n_columns).random(n_columns), result)
    return result


@inner_kernel
def _same(rows: Compressed, a: int, b: int) -> bool:
    """Tell whether two rows have the same entries."""
    starts, columns, values = rows
    size = starts[a + 1] - starts[a]
    if starts[b + 1] - starts[b] != size:
        return False
    for k in range(size):
        p, q = starts[a] + k, starts[b] + k
        if columns[p] != columns[q] or values[p] != values[q]:
            return False
    return True


@kernel
def _find_first(
    documents: Compressed, labels: Compressed, hashes: FloatArray, order: Int64Array, first: Int64Array
) -> None:
    """Fill ``first``, each document's own number, by that of the first one with the same entries and labels.

    ``order`` is one in which documents with the same hash are neighbours; they are compared entry by entry, and one
    with the hash of another but other entries stays on its own.
    """
    leader = order[0]
    for place in range(1, order.shape[0]):
        i = order[place]
        if hashes[i] != hashes[leader]:
            leader = i
        elif _same(documents, i, leader) and _same(labels, i, leader):
            first[i] = leader
