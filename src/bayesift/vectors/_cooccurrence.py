"""Which words keep which company: co-occurrence within documents, and the pointwise mutual information of it."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from bayesift._kernel import kernel
from bayesift._threads import map_threads, thread_count
from bayesift._typing import AnyArray, Int32Array, Int64Array

#: Blocks of words for each thread; more of them share the work evenly.
_BLOCKS = 16


class Information(NamedTuple):
    """The positive information that words give about their contexts, and which columns the contexts are."""

    matrix: sp.csr_matrix
    contexts: Int64Array


def positive_information(
    counts: sp.csr_matrix, n_contexts: int, exponent: float, n_jobs: int | None = -1
) -> Information:
    """Return the positive pointwise mutual information of words (rows) and contexts (columns).

    A document in which the word w has the weight n_w, out of n in all, adds ``n_w n_c / n`` to the co-occurrence N_wc
    of the word w and the context c: every word of it meets one word, drawn from the document. Contexts are the words of
    the most documents; their probabilities q are proportional to ``(Σ_w N_wc) ** exponent``. Kept are the positive
    values of ln(N_wc / (Σ_c N_wc · q_c)).

    Parameters
    ----------
    counts : csr_matrix of shape (n_documents, n_words)
        How often each word stands in each document, or a weight that grows with it.
    n_contexts : int
        How many words serve as contexts.
    exponent : float
        Below 1 it makes rare contexts more probable, which otherwise have the greatest information.
    n_jobs : int or None
        Threads.
    """
    by_word = counts.astype(np.float32).tocsc()
    frequency = np.diff(by_word.indptr)
    # Words of equally many documents in the order of their columns.
    contexts = np.sort(np.argsort(-frequency, kind="stable")[: min(n_contexts, np.count_nonzero(frequency))])
    of_contexts = by_word[:, contexts].tocsr()
    lengths = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
    share = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0.0).astype(np.float32)
    # Summed over all words, what a document adds to a context is the count of the context.
    totals = np.asarray(of_contexts.sum(axis=0, dtype=np.float64)).ravel() ** exponent
    log_shares = np.log(totals / totals.sum()).astype(np.float32)
    word_ends, context_ends = by_word.indptr.astype(np.int64), of_contexts.indptr.astype(np.int64)

    def work(words: tuple[int, int]) -> tuple[Int64Array, Int32Array, AnyArray]:
        return information_of_words(
            (word_ends, by_word.indices, by_word.data),
            (context_ends, of_contexts.indices, of_contexts.data),
            share,
            log_shares,
            *words,
        )

    n_threads = thread_count(n_jobs)
    parts = map_threads(work, _blocks(by_word, of_contexts, _BLOCKS * n_threads), n_threads)
    lengths_of_rows, columns, values = (np.concatenate(found) for found in zip(*parts, strict=True))
    starts = np.append(0, np.cumsum(lengths_of_rows))
    matrix = sp.csr_matrix((values, columns, starts), shape=(counts.shape[1], contexts.size))
    return Information(matrix, contexts)


def _blocks(by_word: sp.csc_matrix, of_contexts: sp.csr_matrix, n_blocks: int) -> list[tuple[int, int]]:
    """Cut the words into neighbouring blocks of about the same work."""
    work = np.append(0, np.cumsum(np.diff(of_contexts.indptr)[by_word.indices] + 1, dtype=np.int64))[by_word.indptr]
    wanted = np.linspace(0, work[-1], n_blocks + 1)
    ends = np.unique(np.append(np.searchsorted(work, wanted[:-1]), by_word.shape[1]))
    return list(pairwise(ends.tolist())) if ends.size > 1 else [(0, 0)]


@kernel
def information_of_words(
    by_word: tuple[Int64Array, Int32Array, AnyArray],
    of_contexts: tuple[Int64Array, Int32Array, AnyArray],
    share: AnyArray,
    log_shares: AnyArray,
    first: int,
    last: int,
) -> tuple[Int64Array, Int32Array, AnyArray]:
    """Return the rows of some words: their lengths, columns and values.

    One row is summed at a time, in an array that stays in the cache of the core.
    """
    starts, documents, counts = by_word
    rows, columns, context_counts = of_contexts
    n_contexts = log_shares.shape[0]
    row = np.zeros(n_contexts, np.float32)
    lengths = np.zeros(last - first, np.int64)
    found = np.empty(1 << 16, np.int32)
    values = np.empty(1 << 16, np.float32)
    size = 0
    for word in range(first, last):
        for k in range(starts[word], starts[word + 1]):
            document = documents[k]
            weight = counts[k] * share[document]
            for p in range(rows[document], rows[document + 1]):
                row[columns[p]] += weight * context_counts[p]
        total = 0.0
        for c in range(n_contexts):
            total += row[c]
        if total == 0.0:
            continue
        if size + n_contexts > found.shape[0]:
            longer = max(2 * found.shape[0], size + n_contexts)
            more_found = np.empty(longer, np.int32)
            more_values = np.empty(longer, np.float32)
            for k in range(size):
                more_found[k] = found[k]
                more_values[k] = values[k]
            found, values = more_found, more_values
        begin = size
        log_total = np.float32(np.log(total))
        for c in range(n_contexts):
            if row[c] > np.float32(0.0):
                information = np.log(row[c]) - log_total - log_shares[c]
                if information > np.float32(0.0):
                    found[size] = c
                    values[size] = information
                    size += 1
                row[c] = np.float32(0.0)
        lengths[word - first] = size - begin
    return lengths, found[:size].copy(), values[:size].copy()
