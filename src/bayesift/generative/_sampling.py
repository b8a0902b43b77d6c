"""Documents drawn word by word."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from bayesift._kernel import kernel
from bayesift._typing import FloatArray, Int64Array


@kernel
def _urn_words(weights: FloatArray, lengths: Int64Array, uniform: FloatArray, words: Int64Array) -> None:
    """Draw from Polya's urn: each ball goes back with another of its colour.

    After t balls the urn holds A + t: with probability t/(A+t) the next is a copy of one of the t, each as likely as
    the other, else it is drawn from the first filling. ``weights`` are cumulative.
    """
    filling = weights[-1]
    place = 0
    for i in range(lengths.shape[0]):
        first = place
        for t in range(lengths[i]):
            u = uniform[place] * (filling + t)
            words[place] = np.searchsorted(weights, u, side="right") if u < filling else words[first + int(u - filling)]
            place += 1


def document_lengths(length: Any, n: int, mean: float) -> Int64Array:
    """Return the lengths of documents to draw: those given, or the mean length."""
    lengths = np.broadcast_to(np.rint(mean) if length is None else length, (n,))
    right = (lengths >= 0) & (lengths == np.floor(lengths))
    if not right.all():
        raise ValueError(f"length is {lengths[~right][0]:g}; expected a whole number of at least 0")
    return lengths.astype(np.int64)


def draw_words(theta: FloatArray, lengths: Int64Array, rng: np.random.Generator) -> sp.csr_matrix:
    """Draw documents whose words are independent, with given probabilities."""
    cumulative = np.cumsum(theta)
    words = np.searchsorted(cumulative, rng.random(lengths.sum()) * cumulative[-1], side="right")
    return _counted(words, lengths, theta.size)


def draw_bursts(alpha: FloatArray, lengths: Int64Array, rng: np.random.Generator) -> sp.csr_matrix:
    """Draw documents whose words have probabilities of their own, with a Dirichlet(α) distribution."""
    words = np.empty(lengths.sum(), dtype=np.int64)
    _urn_words(np.cumsum(alpha), lengths, rng.random(words.size), words)
    return _counted(words, lengths, alpha.size)


def _counted(words: Int64Array, lengths: Int64Array, n_features: int) -> sp.csr_matrix:
    rows = np.repeat(np.arange(lengths.size), lengths)
    # Rounding may carry the largest random number past the end.
    columns = np.minimum(words, n_features - 1)
    return sp.coo_matrix((np.ones(words.size), (rows, columns)), shape=(lengths.size, n_features)).tocsr()
