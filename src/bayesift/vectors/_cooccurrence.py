"""Which words keep which company, and what it tells: co-occurrence and its pointwise mutual information.

Both kinds of company compute the rows of any words on demand, so that the matrix of all of them is never held.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import scipy.sparse as sp

from bayesift._kernel import inner_kernel, kernel
from bayesift._typing import AnyArray, Int32Array, Int64Array

#: Stands between documents, where words stand in their order.
_END = -1


class Company(Protocol):
    """Words (rows), the frequent words that serve as contexts (columns), and what the one tell about the other."""

    @property
    def shape(self) -> tuple[int, int]:
        """How many words and contexts there are."""

    def information(self, words: Int64Array) -> sp.csr_matrix:
        """Return the rows of some words: ln(N_wc / (Σ_c N_wc · q_c)) where it is positive.

        N_wc is the co-occurrence of the word w and the context c; the probabilities q of contexts are proportional to
        (Σ_w N_wc) to the power of an exponent.
        """


class DocumentCompany:
    """Words meet the words of the same documents.

    A document in which the word w has the weight n_w, out of n in all, adds ``n_w n_c / n`` to the co-occurrence of the
    word w and the context c: every word of it meets one word, drawn from the document.

    Parameters
    ----------
    counts : csr_matrix of float32 of shape (n_documents, n_words)
        How often each word stands in each document, or a weight that grows with it.
    n_contexts : int
        How many words, those of the most documents, serve as contexts.
    exponent : float
        Below 1 it makes rare contexts more probable, which otherwise have the greatest information.
    """

    def __init__(self, counts: sp.csr_matrix, n_contexts: int, exponent: float) -> None:
        lengths = np.asarray(counts.sum(axis=1, dtype=np.float64)).ravel()
        by_word = counts.tocsc()
        self.contexts = _most_frequent(np.diff(by_word.indptr), n_contexts)
        of_contexts = counts[:, self.contexts]
        self._by_word = by_word.indptr.astype(np.int64), by_word.indices, by_word.data
        self._of_contexts = of_contexts.indptr.astype(np.int64), of_contexts.indices, of_contexts.data
        self._share = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0.0).astype(np.float32)
        # Summed over all words, what a document adds to a context is the count of the context.
        self._log_shares = _log_shares(of_contexts.sum(axis=0, dtype=np.float64), exponent)
        self.shape = counts.shape[1], self.contexts.size

    def information(self, words: Int64Array) -> sp.csr_matrix:
        found = _of_documents(self._by_word, self._of_contexts, self._share, self._log_shares, words)
        return _rows(found, words.size, self.shape[1])


class WindowCompany:
    """Words meet the words at most so many places before or behind them in the same document.

    Parameters
    ----------
    numbers : ndarray of int32
        The words of all documents in their order, by their numbers.
    ends : ndarray of int64 of shape (n_documents,)
        Where the words of each document end.
    frequency : ndarray of shape (n_words,)
        In how many documents each word is.
    window : int
        How many places.
    n_contexts, exponent
        As in :class:`DocumentCompany`.
    """

    def __init__(
        self,
        numbers: Int32Array,
        ends: Int64Array,
        frequency: Int64Array,
        window: int,
        n_contexts: int,
        exponent: float,
    ) -> None:
        self._window = window
        self.contexts = _most_frequent(frequency, n_contexts)
        self._context_of = np.full(frequency.size, -1, dtype=np.int32)
        self._context_of[self.contexts] = np.arange(self.contexts.size, dtype=np.int32)
        self._sequence = _with_ends(numbers, ends)
        occurrences = np.bincount(numbers, minlength=frequency.size)
        self._starts = np.append(0, np.cumsum(occurrences))
        small = self._sequence.size <= np.iinfo(np.int32).max
        self._places = np.empty(numbers.size, dtype=np.int32 if small else np.int64)
        met = np.zeros(frequency.size, dtype=np.int64)
        _find_places(self._sequence, ends, window, self._starts[:-1].copy(), self._places, met)
        self._log_shares = _log_shares(met[self.contexts].astype(np.float64), exponent)
        self.shape = frequency.size, self.contexts.size

    def information(self, words: Int64Array) -> sp.csr_matrix:
        found = _of_windows(
            self._sequence, (self._starts, self._places), self._window, self._context_of, self._log_shares, words
        )
        return _rows(found, words.size, self.shape[1])


def _most_frequent(frequency: AnyArray, n_contexts: int) -> Int64Array:
    """Return the words of the most documents, in ascending order; of equally many documents, the first ones."""
    found = np.argsort(-frequency, kind="stable")[: min(n_contexts, np.count_nonzero(frequency))]
    return np.sort(found)


def _log_shares(totals: AnyArray, exponent: float) -> AnyArray:
    powers = np.asarray(totals).ravel() ** exponent
    with np.errstate(divide="ignore"):
        return np.log(powers / powers.sum()).astype(np.float32)


def _rows(found: tuple[Int64Array, Int32Array, AnyArray], n_words: int, n_contexts: int) -> sp.csr_matrix:
    lengths, columns, values = found
    return sp.csr_matrix((values, columns, np.append(0, np.cumsum(lengths))), shape=(n_words, n_contexts))


@kernel
def _of_documents(
    by_word: tuple[Int64Array, Int32Array, AnyArray],
    of_contexts: tuple[Int64Array, Int32Array, AnyArray],
    share: AnyArray,
    log_shares: AnyArray,
    words: Int64Array,
) -> tuple[Int64Array, Int32Array, AnyArray]:
    """Return the rows of words: their lengths, columns and values.

    One row is summed at a time, in an array that stays in the cache of the core.
    """
    starts, documents, counts = by_word
    rows, columns, context_counts = of_contexts
    row = np.zeros(log_shares.size, np.float32)
    lengths = np.zeros(words.size, np.int64)
    # Memory is taken where it is written to.
    found, values = np.empty(words.size * row.size, np.int32), np.empty(words.size * row.size, np.float32)
    size = 0
    for i in range(words.size):
        for k in range(starts[words[i]], starts[words[i] + 1]):
            document = documents[k]
            weight = counts[k] * share[document]
            for p in range(rows[document], rows[document + 1]):
                row[columns[p]] += weight * context_counts[p]
        lengths[i] = _keep_positive(row, log_shares, found[size:], values[size:])
        size += lengths[i]
    return lengths, found[:size].copy(), values[:size].copy()


@kernel
def _of_windows(
    sequence: Int32Array,
    by_word: tuple[Int64Array, AnyArray],
    window: int,
    context_of: Int32Array,
    log_shares: AnyArray,
    words: Int64Array,
) -> tuple[Int64Array, Int32Array, AnyArray]:
    """Return the rows of words, as :func:`_of_documents` does."""
    starts, places = by_word
    row = np.zeros(log_shares.size, np.float32)
    lengths = np.zeros(words.size, np.int64)
    found, values = np.empty(words.size * row.size, np.int32), np.empty(words.size * row.size, np.float32)
    size = 0
    for i in range(words.size):
        for k in range(starts[words[i]], starts[words[i] + 1]):
            for step in (-1, 1):
                place = places[k]
                for _ in range(window):
                    place += step
                    other = sequence[place]
                    if other == _END:
                        break
                    if context_of[other] >= 0:
                        row[context_of[other]] += np.float32(1.0)
        lengths[i] = _keep_positive(row, log_shares, found[size:], values[size:])
        size += lengths[i]
    return lengths, found[:size].copy(), values[:size].copy()


@inner_kernel
def _keep_positive(row, log_shares, found, values):  # type: ignore[no-untyped-def]
    """Write the positive information of a row of co-occurrences and set it to zeros; returns how many there are."""
    total = 0.0
    for c in range(row.size):
        total += row[c]
    if total == 0.0:
        return 0
    size = 0
    log_total = np.float32(np.log(total))
    for c in range(row.size):
        if row[c] > np.float32(0.0):
            information = np.log(row[c]) - log_total - log_shares[c]
            if information > np.float32(0.0):
                found[size] = c
                values[size] = information
                size += 1
            row[c] = np.float32(0.0)
    return size


def _with_ends(numbers: Int32Array, ends: Int64Array) -> Int32Array:
    """Return the numbers with an end before the first document and behind each one."""
    sequence = np.full(numbers.size + ends.size + 1, _END, dtype=np.int32)
    _copy_documents(numbers, ends, sequence)
    return sequence


@kernel
def _copy_documents(numbers: Int32Array, ends: Int64Array, sequence: Int32Array) -> None:
    begin = 0
    for document in range(ends.size):
        for place in range(begin, ends[document]):
            sequence[place + document + 1] = numbers[place]
        begin = ends[document]


@kernel
def _find_places(
    sequence: Int32Array, ends: Int64Array, window: int, following: Int64Array, places: AnyArray, met: Int64Array
) -> None:
    """Write where each word stands, words in their order, and how many others each one meets."""
    begin = 1
    for document in range(ends.size):
        end = ends[document] + document + 1
        for place in range(begin, end):
            word = sequence[place]
            places[following[word]] = place
            following[word] += 1
            met[word] += min(place - begin, window) + min(end - 1 - place, window)
        begin = end + 1


@kernel
def document_frequency(numbers: Int32Array, ends: Int64Array, n_words: int) -> Int64Array:
    """Count the documents that hold each word."""
    frequency, last = np.zeros(n_words, np.int64), np.full(n_words, -1, np.int64)
    begin = 0
    for document in range(ends.size):
        for place in range(begin, ends[document]):
            word = numbers[place]
            frequency[word] += last[word] != document
            last[word] = document
        begin = ends[document]
    return frequency


@kernel
def keep_words(numbers: Int32Array, ends: Int64Array, new_number: Int32Array) -> int:
    """Renumber the words in place and leave out those whose new number is negative; returns how many are left."""
    begin, size = 0, 0
    for document in range(ends.size):
        for place in range(begin, ends[document]):
            number = new_number[numbers[place]]
            if number >= 0:
                numbers[size] = number
                size += 1
        begin = ends[document]
        ends[document] = size
    return size
