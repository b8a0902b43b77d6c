"""Phrases of several words: numbered from the stream of word numbers, without spelling any of them."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np

from bayesift._kernel import inner_kernel, kernel
from bayesift._typing import ByteArray, Int32Array, Int64Array, UInt64Array
from bayesift.text import _sort
from bayesift.text._hashing import SECRET, home_slot
from bayesift.text._lexicon import Stream

_U = np.uint64

#: Bits of the filter for each slot of the table.
_BITS_A_SLOT = 4

_ODD = re.compile("[\\0- ]")


def are_plain(words: list[str]) -> bool:
    """Tell whether all characters of words come after the space, and no word is empty.

    Then phrases are sorted as their words are, and no two phrases are spelled the same.
    """
    return "" not in words and _ODD.search("".join(words)) is None


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
        longest_document = int(np.diff(words.ends, prepend=0).max(initial=0))
        own_words, phrases = np.empty((2, longest_document + 1), dtype=np.int32)
        places = np.empty(longest_document + 1, dtype=np.int64)
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
                own_words,
                phrases,
                places,
                numbers,
                ends,
                n_stream,
            )
            if doc == ends.size:
                return Stream(numbers[:n_stream].copy(), ends)
            n_tokens = int(words.ends[doc] - (words.ends[doc - 1] if doc else 0))
            self._resize(2 * len(self) + n_tokens * (self.longest - 1))

    def add(self, terms: Stream) -> Int32Array:
        """Add every document, whose words are its numbers, as one phrase; return the numbers of these phrases."""
        self._resize(len(self) + terms.raw_numbers.size)
        numbers = np.empty(terms.ends.size, dtype=np.int32)
        _add_phrases(
            terms.raw_numbers, terms.ends, self._secret, self._slots, self._parts, self._state, self.n_words, numbers
        )
        self._filter = np.zeros(self._slots.size * _BITS_A_SLOT // 8, dtype=np.uint8)
        _fill_filter(len(self), self._secret, self._parts, self._filter)
        return numbers

    def find(self, words: Stream, word_of: Int32Array, unknown: int) -> Stream:
        """Number the phrases that were added and leave out all others.

        ``word_of`` maps the stream's numbers to words, to -1 where they are to be left out before phrases are made, or
        to ``unknown``, which is no part of any phrase.
        """
        longest_document = int(np.diff(words.ends, prepend=0).max(initial=0))
        numbers = np.empty(words.raw_numbers.size * (self.longest - self.shortest + 1), dtype=np.int32)
        ends = np.empty_like(words.ends)
        own_words, phrases = np.empty((2, longest_document + 1), dtype=np.int32)
        starts, places = np.empty((2, longest_document + 1), dtype=np.int64)
        n_stream = _find_phrases(
            words.numbers,
            words.ends,
            word_of,
            unknown,
            self.shortest,
            min(self.longest, longest_document),
            self._secret,
            self._filter,
            self._slots,
            self._parts,
            self.n_words,
            own_words,
            phrases,
            starts,
            places,
            numbers,
            ends,
        )
        return Stream(numbers[:n_stream].copy(), ends)

    def order(self, numbers: Int64Array) -> Int64Array:
        """Sort numbers of words and phrases by their words, one after the other; words are numbered in their order.

        This is the order of their spelling if all characters of words come after the space.
        """
        parts = self._parts[: len(self)].astype(np.uint64)
        lengths = self._lengths()
        rank = np.arange(self.n_words + len(self), dtype=np.uint64)
        for length in range(2, self.longest + 1):
            # What is longer by one word comes directly after the rest of it, in the order of the last word.
            places = numbers if length == self.longest else np.flatnonzero(lengths <= length)
            keys = rank[places]
            long = np.flatnonzero(lengths[places] == length)
            ends = parts[places[long] - self.n_words]
            keys *= np.uint64(self.n_words + 1)
            keys[long] = rank[ends[:, 0]] * np.uint64(self.n_words + 1) + ends[:, 1] + np.uint64(1)
            places = places[_sort.ascending(keys)]
            rank[places] = np.arange(places.size, dtype=np.uint64)
        return places if self.longest > 1 else np.sort(numbers)

    def spell(self, words: list[str], numbers: Int64Array) -> list[str]:
        """List words and phrases by number, the words of a phrase with a space between them."""
        if numbers.size == 0:
            return []
        encoded = [word.encode("utf-8", "surrogatepass") for word in words]
        starts = np.zeros(self.n_words + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded)), out=starts[1:])
        letters = np.frombuffer(b"".join(encoded), dtype=np.uint8).copy()
        sizes = np.empty(self.n_words + len(self), dtype=np.int64)
        sizes[: self.n_words] = np.diff(starts)
        _phrase_sizes(self._parts[: len(self)], self.n_words, sizes)
        out = np.empty(int(sizes[numbers].sum()) + numbers.size, dtype=np.uint8)
        _write_phrases(numbers, self._parts, self.n_words, sizes, starts, letters, out)
        text = out.tobytes()
        if text.count(b"\n") == numbers.size:
            return text[:-1].decode("utf-8", "surrogatepass").split("\n")
        ends = np.cumsum(sizes[numbers] + 1).tolist()
        return [text[a : b - 1].decode("utf-8", "surrogatepass") for a, b in pairwise([0, *ends])]

    def wanted(self) -> Int64Array:
        """Numbers of the words and phrases that have a wanted length."""
        return np.flatnonzero(self._lengths() >= self.shortest)

    def _lengths(self) -> Int64Array:
        lengths = np.ones(self.n_words + len(self), dtype=np.int64)
        _phrase_lengths(self._parts[: len(self)], self.n_words, lengths)
        return lengths

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
    words: Int32Array,
    phrases: Int32Array,
    places: Int64Array,
    stream: Int32Array,
    stream_ends: Int64Array,
    n_stream: int,
) -> tuple[int, int]:
    """Append the phrases of ``shortest`` to ``longest`` words of every document from ``doc`` on, short ones first.

    A phrase of n words is a pair, the phrase of its first n - 1 words and the last word: ``parts[p]`` for the phrase
    numbered ``first_phrase + p``; words have the numbers below. Stops before a document for which the table (of
    which at most half is filled) has no room; returns the next document and the length of the stream. ``words``,
    ``phrases`` and ``places`` have room for the longest document and one more.
    """
    while doc < ends.size:
        n_words = _words_of(numbers, ends[doc - 1] if doc else 0, ends[doc], word_of, words)
        if state[0] + n_words * (longest - 1) > slots.size // 2:
            break
        for i in range(n_words):
            phrases[i] = words[i]
        for length in range(1, min(longest, n_words) + 1):
            n_phrases = n_words - length + 1
            if length > 1:
                # First a look at all, as in finding.
                for i in range(n_phrases):
                    slot = home_slot(_U(phrases[i]), _U(words[i + length - 1]), secret, slots.size)
                    places[i] = _first_look(slot, phrases[i], words[i + length - 1], slots, parts)
                for i in range(n_phrases):
                    if places[i] >= 0:
                        phrases[i] = first_phrase + places[i]
                    else:
                        last = words[i + length - 1]
                        phrases[i] = _pair(phrases[i], last, secret, slots, parts, state, first_phrase)
            if length >= shortest:
                for i in range(n_phrases):
                    stream[n_stream + i] = phrases[i]
                n_stream += n_phrases
        stream_ends[doc] = n_stream
        doc += 1
    return doc, n_stream


@inner_kernel
def _pair(phrase, word, secret, slots, parts, state, first_phrase):  # type: ignore[no-untyped-def]
    """Number of the phrase made of a phrase and one more word."""
    found = _find_pair(home_slot(_U(phrase), _U(word), secret, slots.size), phrase, word, slots, parts)
    if found < 0:
        slots[-1 - found] = state[0]
        found = state[0]
        parts[found, 0] = phrase
        parts[found, 1] = word
        state[0] += 1
    return first_phrase + found


@inner_kernel
def _find_pair(slot, phrase, word, slots, parts):  # type: ignore[no-untyped-def]
    """Place of a pair in ``parts``, searched from a slot on, or ``-1 - slot`` for the free slot where it belongs."""
    while True:
        found = np.int64(slots[slot])
        if found < 0:
            return -1 - slot
        if parts[found, 0] == phrase and parts[found, 1] == word:
            return found
        slot = (slot + 1) & (slots.size - 1)


@kernel
def _add_phrases(
    words: Int32Array,
    ends: Int64Array,
    secret: UInt64Array,
    slots: Int32Array,
    parts: Int32Array,
    state: Int64Array,
    first_phrase: int,
    numbers: Int32Array,
) -> None:
    """Number the phrases that whole documents are; no document is empty, and there must be room."""
    begin = 0
    for doc in range(ends.size):
        phrase = np.int64(words[begin])
        for i in range(begin + 1, ends[doc]):
            phrase = _pair(phrase, words[i], secret, slots, parts, state, first_phrase)
        numbers[doc] = phrase
        begin = ends[doc]


@kernel
def _find_phrases(
    numbers: Int32Array,
    ends: Int64Array,
    word_of: Int32Array,
    unknown: int,
    shortest: int,
    longest: int,
    secret: UInt64Array,
    bits: ByteArray,
    slots: Int32Array,
    parts: Int32Array,
    first_phrase: int,
    words: Int32Array,
    phrases: Int32Array,
    starts: Int64Array,
    places: Int64Array,
    stream: Int32Array,
    stream_ends: Int64Array,
) -> int:
    """Write the known phrases of every document, the short ones first; returns the length of the stream.

    ``words``, ``phrases``, ``starts`` and ``places`` have room for the longest document and one more. A phrase that
    begins with ``starts[k]`` is ``phrases[k]``. All pairs take each step together, so that the processor waits for the
    memory once and not for each of them.
    """
    begin, n_stream = 0, 0
    for doc in range(ends.size):
        n_words = _words_of(numbers, begin, ends[doc], word_of, words)
        begin = ends[doc]
        n_found = 0
        for i in range(n_words):
            phrases[n_found] = words[i]
            starts[n_found] = i
            n_found += words[i] != unknown
        for length in range(1, longest + 1):
            if length > 1:
                n_found = _possible(phrases, starts, n_found, words, n_words, length, secret, bits, places)
                for k in range(n_found):
                    places[k] = _first_look(places[k], phrases[k], words[starts[k] + length - 1], slots, parts)
                n_found = _certain(phrases, starts, n_found, words, length, slots, parts, first_phrase, places)
            if length >= shortest:
                for k in range(n_found):
                    stream[n_stream + k] = phrases[k]
                n_stream += n_found
        stream_ends[doc] = n_stream
    return n_stream


@inner_kernel
def _possible(phrases, starts, n, words, n_words, length, secret, bits, places):  # type: ignore[no-untyped-def]
    """Keep the phrases that a word follows with which they may be known; returns how many.

    Their first slots go to ``places``. Every known pair has set a bit: where it is not set, the large table need not be
    looked at.
    """
    kept = 0
    for k in range(n):
        last = starts[k] + length - 1
        if last >= n_words:
            break
        place = home_slot(_U(phrases[k]), _U(words[last]), secret, 8 * bits.size)
        phrases[kept] = phrases[k]
        starts[kept] = starts[k]
        places[kept] = place // _BITS_A_SLOT
        kept += bits[place >> 3] >> (place & 7) & 1
    return kept


@kernel(inline="always")
def _first_look(slot, phrase, word, slots, parts):  # type: ignore[no-untyped-def]
    """Place of a pair if its first slot holds it, -1 if the slot is free, else -2 - slot."""
    found = np.int64(slots[slot])
    same = parts[max(found, 0), 0] == phrase and parts[max(found, 0), 1] == word
    return found if same or found < 0 else -2 - slot


@inner_kernel
def _certain(phrases, starts, n, words, length, slots, parts, first_phrase, places):  # type: ignore[no-untyped-def]
    """Replace phrases by those that are longer by a word, where these are known; returns how many."""
    kept = 0
    for k in range(n):
        found = places[k]
        if found < -1:
            found = _find_pair(-2 - found, phrases[k], words[starts[k] + length - 1], slots, parts)
        phrases[kept] = first_phrase + found
        starts[kept] = starts[k]
        kept += found >= 0
    return kept


@inner_kernel
def _words_of(numbers, begin, end, word_of, words):  # type: ignore[no-untyped-def]
    """Write the words that are not left out; returns how many."""
    n_words = 0
    for i in range(begin, end):
        words[n_words] = word_of[numbers[i]]
        n_words += words[n_words] >= 0
    return n_words


@kernel
def _phrase_sizes(parts: Int32Array, n_words: int, sizes: Int64Array) -> None:
    """Fill in the bytes of every phrase after those of the words."""
    for phrase in range(parts.shape[0]):
        sizes[n_words + phrase] = sizes[parts[phrase, 0]] + 1 + sizes[parts[phrase, 1]]


@kernel
def _write_phrases(
    numbers: Int64Array,
    parts: Int32Array,
    n_words: int,
    sizes: Int64Array,
    starts: Int64Array,
    letters: ByteArray,
    out: ByteArray,
) -> None:
    """Write words and phrases, each followed by a line feed; a phrase from its last word back to its first."""
    end = 0
    for number in numbers:
        end += sizes[number]
        out[end] = 10
        place = end
        while True:
            word = number if number < n_words else np.int64(parts[number - n_words, 1])
            for letter in range(starts[word + 1] - 1, starts[word] - 1, -1):
                place -= 1
                out[place] = letters[letter]
            if number < n_words:
                break
            place -= 1
            out[place] = 32
            number = np.int64(parts[number - n_words, 0])
        end += 1


@kernel
def _rehash(n_phrases: int, secret: UInt64Array, parts: Int32Array, slots: Int32Array) -> None:
    """Fill the empty ``slots`` (all -1) with the phrases."""
    for phrase in range(n_phrases):
        slot = home_slot(_U(parts[phrase, 0]), _U(parts[phrase, 1]), secret, slots.size)
        while slots[slot] >= 0:
            slot = (slot + 1) & (slots.size - 1)
        slots[slot] = phrase


@kernel
def _fill_filter(n_phrases: int, secret: UInt64Array, parts: Int32Array, bits: ByteArray) -> None:
    """Set the bit of every phrase; the first bits of its place are those of its slot."""
    for phrase in range(n_phrases):
        place = home_slot(_U(parts[phrase, 0]), _U(parts[phrase, 1]), secret, 8 * bits.size)
        bits[place >> 3] |= np.uint8(1 << (place & 7))
