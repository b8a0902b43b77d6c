"""Phrases of several words: numbered from the stream of word numbers, without spelling any of them."""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._typing import Int32Array, Int64Array, UInt64Array
from bayesift.text._hashing import SECRET, home_slot
from bayesift.text._lexicon import Stream

_U = np.uint64


class Phrases:
    """The phrases met so far, each with a number; words have the numbers below ``n_words``.

    Parameters
    ----------
    n_words : int
        How many words there are.
    shortest, longest : int
        Least and greatest number of words in a phrase.
    secret : array of uint64, optional
        The key of the hashing, see :mod:`bayesift.text._hashing`; that of the process by default.
    """

    def __init__(self, n_words: int, shortest: int, longest: int, *, secret: UInt64Array = SECRET) -> None:
        self.n_words = n_words
        self.shortest = shortest
        self.longest = longest
        self._secret = secret
        self._state: Int64Array = np.zeros(1, dtype=np.int64)
        self._resize(1024)

    def __len__(self) -> int:
        return int(self._state[0])

    def scan(self, words: Stream, word_of: Int32Array) -> Stream:
        """Number the phrases of every document; ``word_of`` maps the stream's numbers to words (or -1 to leave out)."""
        word_numbers = words.numbers
        per_word = self.longest - self.shortest + 1
        numbers = np.empty(word_numbers.size * per_word, dtype=np.int32)
        ends = np.empty_like(words.ends)
        doc, n_stream = 0, 0
        while True:
            doc, n_stream = _append_phrases(
                word_numbers,
                words.ends,
                word_of,
                self.shortest,
                self.longest,
                doc,
                self._secret,
                self._slots,
                self._parts,
                self._state,
                self.n_words,
                numbers,
                ends,
                n_stream,
            )
            if doc == ends.size:
                return Stream(numbers[:n_stream].copy(), ends)
            n_tokens = int(words.ends[doc] - (words.ends[doc - 1] if doc else 0))
            self._resize(2 * len(self) + n_tokens * (self.longest - 1))

    def spell(self, words: list[str]) -> list[str]:
        """List words and phrases by number, the words of a phrase with a space between them."""
        spelled = list(words)
        for phrase, word in self._parts[: len(self)].tolist():
            spelled.append(f"{spelled[phrase]} {words[word]}")
        return spelled

    def wanted(self) -> Int64Array:
        """Numbers of the words and phrases that have a wanted length."""
        lengths = np.ones(self.n_words + len(self), dtype=np.int64)
        _phrase_lengths(self._parts[: len(self)], self.n_words, lengths)
        return np.flatnonzero(lengths >= self.shortest)

    def _resize(self, n_phrases: int) -> None:
        n_slots = 1 << (2 * n_phrases - 1).bit_length()
        parts = np.empty((n_slots // 2, 2), dtype=np.int32)
        if len(self):
            parts[: len(self)] = self._parts[: len(self)]
        self._parts: Int32Array = parts
        self._slots: Int32Array = np.full(n_slots, -1, dtype=np.int32)
        _rehash(len(self), self._secret, self._parts, self._slots)


@kernel
def _phrase_lengths(parts: Int32Array, n_words: int, lengths: Int64Array) -> None:
    # A phrase is numbered after the phrase it begins with.
    for phrase in range(parts.shape[0]):
        lengths[n_words + phrase] = lengths[parts[phrase, 0]] + 1


@kernel
def _append_phrases(
    numbers: Int32Array,
    ends: Int64Array,
    word_of: Int32Array,
    shortest: int,
    longest: int,
    doc: int,
    secret: UInt64Array,
    slots: Int32Array,
    parts: Int32Array,
    state: Int64Array,
    first_phrase: int,
    stream: Int32Array,
    stream_ends: Int64Array,
    n_stream: int,
) -> tuple[int, int]:
    """Append the phrases of ``shortest`` to ``longest`` words of every document from ``doc`` on.

    A phrase of n words is a pair, the phrase of its first n - 1 words and the last word: ``parts[p]`` for the phrase
    numbered ``first_phrase + p``; words have the numbers below. Stops before a document for which the table (of
    which at most half is filled) has no room; returns the next document and the length of the stream.
    """
    words = np.empty(0, dtype=np.int32)
    while doc < ends.size:
        begin = ends[doc - 1] if doc else 0
        if words.size < ends[doc] - begin:
            words = np.empty(ends[doc] - begin, dtype=np.int32)
        n_words = 0
        for i in range(begin, ends[doc]):
            words[n_words] = word_of[numbers[i]]
            n_words += words[n_words] >= 0
        if state[0] + n_words * (longest - 1) > slots.size // 2:
            break
        for i in range(n_words):
            phrase = words[i]
            if shortest == 1:
                stream[n_stream] = phrase
                n_stream += 1
            for length in range(2, min(longest, n_words - i) + 1):
                phrase = _pair(phrase, words[i + length - 1], secret, slots, parts, state, first_phrase)
                if length >= shortest:
                    stream[n_stream] = phrase
                    n_stream += 1
        stream_ends[doc] = n_stream
        doc += 1
    return doc, n_stream


@kernel
def _pair(phrase, word, secret, slots, parts, state, first_phrase):  # type: ignore[no-untyped-def]
    """Number of the phrase made of a phrase and one more word."""
    slot = home_slot(_U(phrase), _U(word), secret, slots.size)
    while True:
        found = slots[slot]
        if found < 0:
            found = state[0]
            slots[slot] = found
            parts[found, 0] = phrase
            parts[found, 1] = word
            state[0] += 1
            break
        if parts[found, 0] == phrase and parts[found, 1] == word:
            break
        slot = (slot + 1) & (slots.size - 1)
    return first_phrase + found


@kernel
def _rehash(n_phrases: int, secret: UInt64Array, parts: Int32Array, slots: Int32Array) -> None:
    """Fill the empty ``slots`` (all -1) with the phrases."""
    for phrase in range(n_phrases):
        slot = home_slot(_U(parts[phrase, 0]), _U(parts[phrase, 1]), secret, slots.size)
        while slots[slot] >= 0:
            slot = (slot + 1) & (slots.size - 1)
        slots[slot] = phrase
