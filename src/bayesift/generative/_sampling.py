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
    the other, else it is drawn from the first filling. ``weights`` are cumulative and finite, the last above 0.
    """
    filling, last = weights[-1], weights.shape[0] - 1
    place = 0
    for i in range(lengths.shape[0]):
        first = place
        for t in range(lengths[i]):
            u = uniform[place] * (filling + t)
            # Rounding may carry the largest random number past the end, of the words as well as of the balls.
            if u < filling or t == 0:
                words[place] = min(np.searchsorted(weights, u, side="right"), last)
            else:
                words[place] = words[first + min(int(u - filling), t - 1)]
            place += 1


#: No document that was learned from is longer on average; a model whose counts are something else may say so.
_LONGEST_MEAN = 1e6


def document_lengths(length: Any, n: int, mean: float) -> Int64Array:
    """Return the lengths of documents to draw: those given, or the mean length."""
    if length is None and not 0 <= mean <= _LONGEST_MEAN:
        raise ValueError(
            f"length is None, and the documents of the class have {mean:g} words on average; expected a length if "
            f"that is above {_LONGEST_MEAN:g}"
        )
    lengths = np.broadcast_to(np.rint(mean) if length is None else length, (n,))
    right = (lengths >= 0) & (lengths == np.floor(lengths))
    if not right.all():
        raise ValueError(f"length is {lengths[~right][0]:g}; expected a whole number of at least 0")
    return lengths.astype(np.int64)


def draw_words(theta: FloatArray, lengths: Int64Array, rng: np.random.Generator) -> sp.csr_matrix:
    """Draw documents whose words are independent, with given probabilities."""
    cumulative = _cumulative("probabilities", theta)
    words = np.searchsorted(cumulative, rng.random(lengths.sum()) * cumulative[-1], side="right")
    return _counted(words, lengths, theta.size)


def draw_bursts(alpha: FloatArray, lengths: Int64Array, rng: np.random.Generator) -> sp.csr_matrix:
    """Draw documents whose words have probabilities of their own, with a Dirichlet(α) distribution."""
    words = np.empty(lengths.sum(), dtype=np.int64)
    _urn_words(_cumulative("weights", alpha), lengths, rng.random(words.size), words)
    return _counted(words, lengths, alpha.size)


def _cumulative(name: str, amounts: FloatArray) -> FloatArray:
    """Return cumulative sums that one can draw by; refuse amounts that leave nothing to draw."""
    total = np.cumsum(amounts)
    if not (total.size and np.isfinite(total[-1]) and total[-1] > 0 and amounts.min() >= 0):
        raise ValueError(
            f"the {name} of the words are negative, infinite or all 0; expected a model with words to draw"
        )
    return total


def _counted(words: Int64Array, lengths: Int64Array, n_features: int) -> sp.csr_matrix:
    rows = np.repeat(np.arange(lengths.size), lengths)
    # Rounding may carry the largest random number of words that are independent past the end.
    columns = np.minimum(words, n_features - 1)
    return sp.coo_matrix((np.ones(words.size), (rows, columns)), shape=(lengths.size, n_features)).tocsr()
