"""Document vectors from the vectors of their words."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bayesift._kernel import kernel
from bayesift._sparse import Compressed, canonical_rows, compressed
from bayesift._threads import map_threads, thread_count
from bayesift._typing import AnyArray, Float32Array, FloatArray

#: Threads get documents in blocks of this size.
_BLOCK = 4096


class DocumentVectors(NamedTuple):
    """The direction of xE for every document, a vector of length one (zeros where xE is zero), and its length."""

    directions: FloatArray
    lengths: FloatArray


def document_vectors(X: Any, matrix: AnyArray, *, n_jobs: int | None = -1) -> DocumentVectors:
    """Return xE / ‖xE‖ for every row x of a matrix of term weights.

    Parameters
    ----------
    X : sparse matrix or array of shape (n_documents, n_words)
        Term weights.
    matrix : array of shape (n_words, rank)
        E, the vectors of the words in the columns of X, as :meth:`WordVectors.matrix` returns them.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores.

    Returns
    -------
    DocumentVectors
        ``directions`` of shape (n_documents, rank), and ``lengths`` of shape (n_documents,).

    Examples
    --------
    >>> from bayesift.vectors import document_vectors
    >>> document_vectors([[3.0, 4.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]).directions.round(6).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    vectors = np.ascontiguousarray(matrix, dtype=np.float32)
    checked = canonical_rows(X)
    if vectors.ndim != 2 or vectors.shape[0] != checked.shape[1]:
        raise ValueError(
            f"matrix has shape {vectors.shape}; expected one row for each of the {checked.shape[1]} columns of X"
        )
    rows, n_documents = compressed(checked), checked.shape[0]
    directions, lengths = np.empty((n_documents, vectors.shape[1])), np.empty(n_documents)

    def work(first: int) -> None:
        add_up(rows, first, min(first + _BLOCK, n_documents), vectors, directions, lengths)

    map_threads(work, range(0, n_documents, _BLOCK), thread_count(n_jobs))
    if not np.isfinite(lengths).all():
        raise ValueError(
            f"the vector of document {np.argmin(np.isfinite(lengths))} is not finite; expected X and matrix of finite "
            f"numbers, whose products are below 1e38"
        )
    return DocumentVectors(directions, lengths)


@kernel(fastmath={"reassoc", "contract"})
def add_up(
    rows: Compressed, first: int, end: int, vectors: Float32Array, directions: FloatArray, lengths: FloatArray
) -> None:
    """Fill the directions and lengths of some of the documents."""
    starts, columns, values = rows
    rank = vectors.shape[1]
    total = np.empty(rank, np.float32)
    for i in range(first, end):
        for k in range(rank):
            total[k] = np.float32(0.0)
        for place in range(starts[i], starts[i + 1]):
            x = np.float32(values[place])
            own = vectors[columns[place]]
            for k in range(rank):
                total[k] += x * own[k]
        squares = 0.0
        for k in range(rank):
            squares += np.float64(total[k]) * np.float64(total[k])
        lengths[i] = np.sqrt(squares)
        factor = 1.0 / lengths[i] if squares > 0.0 else 0.0
        for k in range(rank):
            directions[i, k] = np.float64(total[k]) * factor
