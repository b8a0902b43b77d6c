"""Concepts that are sets of words, learned from example documents."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from bayesift._typing import Int64Array
from bayesift.concepts._bits import BitSets
from bayesift.concepts.space import HypothesisSpace, numbered, strings


def word_sets(
    X: Any,
    terms: Sequence[str],
    *,
    documents: Sequence[Hashable] | None = None,
    max_words: int = 2,
    min_documents: int = 2,
    shrinking: float = 0.5,
    max_hypotheses: int = 1_000_000,
) -> HypothesisSpace:
    """Return the concepts "documents that contain all of these words" for small sets of words.

    The items of this space are documents. Given a few of them as examples, the posterior shows for which words they
    were chosen, and :meth:`HypothesisSpace.predictive` how probable it is that other documents are meant too.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_documents, n_terms)
        Counts or weights; a term is in a document if its entry is not zero.
    terms : sequence of str
        Names of the columns.
    documents : sequence of hashable, optional
        Names of the documents; their row numbers by default.
    max_words : int, default=2
        Maximum number of words in a set.
    min_documents : int, default=2
        Minimum number of documents that must contain the set.
    shrinking : float, default=0.5
        Ratio of the prior weight of all sets of k+1 words together to that of all sets of k words, above 0 and at most
        1. The empty set, "any document", comes first; sets of the same size share their weight equally.
    max_hypotheses : int, default=1_000_000
        Maximum number of sets; more are an error.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.concepts import word_sets
    >>> terms = ["oil", "price", "goal"]
    >>> X = np.array([[1, 1, 0], [2, 1, 0], [1, 1, 0], [1, 0, 0], [0, 1, 1], [0, 0, 2], [0, 0, 1], [0, 1, 0]])
    >>> space = word_sets(X, terms)
    >>> space.names
    ('any document', 'oil', 'price', 'goal', 'oil + price')
    >>> space.map([0, 1, 0]), space.map([0, 1, 3])
    ('oil + price', 'oil')
    >>> space.predictive([0, 1, 0]).round(2)   # for each document
    array([1.  , 1.  , 1.  , 0.3 , 0.22, 0.13, 0.13, 0.22])
    """
    present = _presence(X, terms)
    rows = range(present.shape[0]) if documents is None else documents
    if len(numbered("documents", rows)) != present.shape[0]:
        raise ValueError(f"documents has {len(rows)} names; expected {present.shape[0]}, one for each row of X")
    for name, value in {
        "max_words": max_words,
        "min_documents": min_documents,
        "max_hypotheses": max_hypotheses,
    }.items():
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 1:
            raise ValueError(f"{name} is {value!r}; expected a whole number above 0")
    if not 0 < shrinking <= 1:
        raise ValueError(f"shrinking is {shrinking!r}; expected a number above 0 and at most 1")
    levels = _frequent_sets(present, max_words, min_documents, max_hypotheses)
    parts = [HypothesisSpace.from_matrix(rows, ["any document"], np.ones((1, len(rows)), dtype=bool))]
    for words, bits in levels:
        names = [" + ".join(terms[word] for word in chosen) for chosen in words]
        parts.append(HypothesisSpace._from_bits(rows, names, bits, None))
    return HypothesisSpace.mix(parts, float(shrinking) ** np.arange(len(parts)))


def _presence(X: Any, terms: Sequence[str]) -> Any:
    """Return which terms the documents contain, as a sparse matrix of ones."""
    present = sparse.csr_array(X, copy=True)
    if present.ndim != 2:
        raise ValueError(f"X has shape {present.shape}; expected a row for each document and a column for each term")
    if np.isnan(present.data).any():
        raise ValueError("X holds NaN; expected counts or weights")
    if present.shape[1] != len(terms):
        raise ValueError(f"terms has {len(terms)} names; expected {present.shape[1]}, one for each column of X")
    numbered("terms", strings("terms", terms))
    present.sum_duplicates()
    present.data = (present.data != 0).astype(np.int64)
    present.eliminate_zeros()
    return present


def _frequent_sets(present: Any, most: int, least: int, limit: int) -> list[tuple[Int64Array, BitSets]]:
    """Return the sets of 1, 2, … words that enough documents contain, with those documents.

    A set grows by words that come after its last word and occur with that often enough; the documents of the larger set
    are those that the smaller set and the word have in common, an AND of bits.
    """
    frequent = np.flatnonzero(present.sum(axis=0) >= least)
    n_documents = present.shape[0]
    if not len(frequent):
        return []
    if len(frequent) > limit:
        raise _too_many(len(frequent), 1, limit)
    kept = sparse.csc_array(present)[:, frequent]
    single = BitSets.from_rows(kept.T)
    together = sparse.triu(kept.T @ kept, k=1).tocsr()
    together.data = np.where(together.data >= least, together.data, 0)
    together.eliminate_zeros()
    sets, bits = np.arange(len(frequent))[:, np.newaxis], single
    levels = [(frequent[sets], bits)]
    while len(levels) < most:
        last = sets[:, -1]
        choices = np.diff(together.indptr)[last]
        total = sum(level[1].n_sets for level in levels) + int(choices.sum())
        if total > limit:
            raise _too_many(total, len(levels) + 1, limit)
        parent = np.repeat(np.arange(len(sets)), choices)
        offset = np.arange(len(parent)) - np.repeat(np.cumsum(choices) - choices, choices)
        word = together.indices[together.indptr[last[parent]] + offset]
        grown = BitSets(bits.bytes[:, parent] & single.bytes[:, word], n_documents)
        enough = grown.sizes() >= least
        if not enough.any():
            break
        sets = np.column_stack([sets[parent], word])[enough]
        bits = BitSets(np.ascontiguousarray(grown.bytes[:, enough]), n_documents)
        levels.append((frequent[sets], bits))
    return levels


def _too_many(number: int, n_words: int, limit: int) -> ValueError:
    return ValueError(
        f"X gives up to {number} sets of {n_words} words; expected at most max_hypotheses={limit}; "
        "choose fewer terms, a larger min_documents or a smaller max_words"
    )
