"""Sequences of characters as terms: found, numbered and counted in compiled code.

White space is treated as scikit-learn treats it. For sequences across words (``char``) a run of two or more white
characters becomes one space, and a single one stays as it is. For sequences within words (``char_wb``) words are what
stands between white space, with a space before and after each; a word that is shorter than the shortest sequence is
one term as a whole.

The terms are in the same table as tokens are, see :mod:`bayesift.text._scan`. A zero byte ends a term there, so the
character 0 is written as two other bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, Self

import numpy as np

from bayesift._kernel import inner_kernel, kernel
from bayesift._typing import AnyArray, ByteArray, Int32Array, Int64Array, UInt64Array
from bayesift.text import _scan, _sort
from bayesift.text._bits import load_word
from bayesift.text._hashing import SECRET
from bayesift.text._lexicon import CompiledLexicon, Lexicon, Stream
from bayesift.text._scan import ARENA_USED, ARENA_WANTED, KEEP_HIGH, KEEP_LOW, N_TERMS, SHORT
from bayesift.text._unicode import NUL, SPACE_BIT, character_table

_U = np.uint64
_SPACE = _U(SPACE_BIT)

#: First page of the tables: ASCII needs no more.
_FIRST_PAGE = 256


class CharacterLexicon(CompiledLexicon):
    """Sequences of characters, found and counted in compiled code.

    Parameters
    ----------
    lowercase : bool
        Lower-case the text first.
    analyzer : {"char", "char_wb"}
        Whether sequences go across words or stay within them.
    ngram_range : tuple of two int
        Least and greatest number of characters.
    secret : array of uint64, optional
        The key of the hashing, see :mod:`bayesift.text._hashing`; that of the process by default.
    """

    def __init__(
        self,
        lowercase: bool,
        analyzer: Literal["char", "char_wb"],
        ngram_range: tuple[int, int],
        *,
        secret: UInt64Array = SECRET,
    ) -> None:
        super().__init__(lowercase, keep_single=True, secret=secret)
        self._within_words = analyzer == "char_wb"
        self._shortest, self._longest = ngram_range
        self._longest_known = 0
        self._has_nul = False

    def scan(self, documents: Sequence[str]) -> Stream:
        """Number the sequences of the documents, adding those not met before."""
        text, ends = self._encode(documents)
        raw = np.frombuffer(text, dtype=np.uint8)
        capacity = 2 * (raw.size + ends.size) + _scan.PADDING
        if self._clean.size < capacity:
            self._clean = np.empty(capacity, dtype=np.uint8)
        self._has_nul |= text.find(0, 0, -8) >= 0
        table = character_table(self.lowercase, _FIRST_PAGE) if text.isascii() else character_table(self.lowercase)
        n_bytes = fold(raw, ends, self._within_words, table.pages, table.values, self._clean)
        longest = max(min(self._longest, int(np.diff(ends, prepend=0).max(initial=0))), self._shortest)
        # Terms that begin at one place.
        most = longest - self._shortest + 2
        numbers = np.empty((n_bytes + 1) * min(most, 8) + most, dtype=np.int32)
        doc_terms = np.empty(ends.size, dtype=np.int64)
        position, doc, n_terms = 0, 0, 0
        while True:
            position, doc, n_terms = number_sequences(
                self._clean,
                position,
                self._within_words,
                self._shortest,
                longest,
                self._grow,
                *self._tables,
                doc,
                ends,
                doc_terms,
                numbers,
                n_terms,
            )
            if doc == ends.size:
                return Stream(numbers[:n_terms].copy(), doc_terms)
            if numbers.size - n_terms < most:
                numbers = np.concatenate([numbers[:n_terms], np.empty(numbers.size, dtype=np.int32)])
            else:
                self._reserve(4 * len(self), 2 * int(self._state[ARENA_WANTED]))

    def insert(self, terms: Iterable[str]) -> Int32Array:
        """Add terms as they are, none of them empty; return their numbers."""
        terms = list(terms)
        self._longest_known = max(map(len, terms), default=self._longest_known)
        encoded = (term.encode("utf-8", "surrogatepass").replace(b"\0", NUL) for term in terms)
        text = b"\0".join([*encoded, bytes(_scan.PADDING)])
        n_bytes = len(text) - _scan.PADDING
        self._has_nul |= NUL in text
        buffer = np.frombuffer(bytearray(text), dtype=np.uint8)
        return self._tokenize(buffer, n_bytes, np.array([n_bytes])).raw_numbers

    def reader(self, keep_single: bool) -> Self:
        """Return a lexicon that shares the tables of this one and adds nothing: unknown terms get the next number."""
        reader = super().reader(keep_single)
        # Nothing longer than what was inserted can be known.
        reader._longest = max(min(self._longest, self._longest_known), self._shortest)
        return reader

    def absorb(self, other: Lexicon) -> Int32Array:
        """Add the terms of another lexicon of this kind; return this one's number for each of its numbers."""
        if isinstance(other, CharacterLexicon):
            self._has_nul |= other._has_nul
        return super().absorb(other)

    def order(self) -> Int64Array:
        """Return the numbers of the terms in code-point order."""
        order = super().order()
        if self._has_nul:
            # What stands for the character 0 is not where 0 would be.
            names = self.spell(order)
            order = order[sorted(range(order.size), key=names.__getitem__)]
        return order

    def spell(self, order: AnyArray) -> list[str]:
        """List the terms with these numbers."""
        if not self._has_nul or order.size == 0:
            return super().spell(order)
        text = _sort.spell(order, self._keys, self._offsets, self._arena).tobytes()
        return [term.replace(NUL, b"\0").decode("utf-8", "surrogatepass") for term in text.split(b"\0")]


@kernel
def fold(
    raw: ByteArray, ends: Int64Array, within_words: bool, pages: Int32Array, values: UInt64Array, out: ByteArray
) -> int:
    """Write UTF-8 documents as the table has their characters, white space folded; return the bytes written.

    Document ``i`` ends before ``raw[ends[i]]`` and the next begins there. ``ends`` is changed to where the documents
    end in ``out``, which has room for twice the text, two bytes a document and the padding.
    """
    position, written = 0, np.int64(0)
    for doc in range(ends.size):
        begin, run, before_run = written, 0, written
        while position < ends[doc]:
            code, position = _scan.character_at(raw, position)
            kept = values[pages[code >> 8], code & 0xFF]
            is_space = (kept >> _SPACE) & _U(1) == _U(1)
            if not is_space:
                if within_words and written == begin:
                    out[written] = 32
                    written += 1
                run = 0
            elif run == 0:
                run, before_run = 1, written
                if within_words:
                    # Nothing before the first word.
                    out[written] = 32
                    written += written > begin
                    continue
            else:
                if not within_words:
                    out[before_run] = 32
                    written = before_run + 1
                continue
            written = _scan.write_character(out, written, kept)
        if within_words and run == 0 and written > begin:
            out[written] = 32
            written += 1
        ends[doc] = written
    return int(written)


@kernel(inline="always")
def _after(text, position):  # type: ignore[no-untyped-def]
    """Return the place after the character at a place."""
    lead = text[position]
    return position + 1 + np.int64(lead >= 0xC0) + np.int64(lead >= 0xE0) + np.int64(lead >= 0xF0)


@kernel
def number_sequences(
    text: ByteArray,
    position: int,
    within_words: bool,
    shortest: int,
    longest: int,
    grow: bool,
    secret: UInt64Array,
    slots: Int32Array,
    keys: UInt64Array,
    offsets: Int64Array,
    arena: ByteArray,
    state: Int64Array,
    doc: int,
    ends: Int64Array,
    doc_terms: Int64Array,
    stream: Int32Array,
    n_stream: int,
) -> tuple[int, int, int]:
    """Append the numbers of all sequences that begin from ``position`` on; stop early when a table is full.

    Returns the position reached, the document it lies in and the length of the stream. When not all documents are done,
    the caller enlarges the tables or the stream, which must have room for all terms that begin at one place, and calls
    again with what was returned. ``doc_terms[i]`` becomes the length of the stream at the end of document ``i``.
    Without ``grow`` the tables are only read, and every unknown sequence gets the number after the last.
    """
    while doc < ends.size:
        begin, end = ends[doc - 1] if doc else 0, ends[doc]
        while position < end:
            if stream.size - n_stream < longest - shortest + 2:
                return position, doc, n_stream
            kept = n_stream
            starts_word = within_words and text[position] == 32
            # The space after a word is that before the next one too.
            stop, n = position, 0
            if starts_word and (position == end - 1 or (shortest == 1 and position > begin)):
                n = longest if position == end - 1 else 0
                if shortest == 1:
                    term = _number(text, position, 1, grow, secret, slots, keys, offsets, arena, state)
                    if term < 0:
                        return position, doc, kept
                    stream[n_stream] = term
                    n_stream += 1
            while n < longest and stop < end:
                last = stop
                stop = _after(text, stop)
                n += 1
                ends_word = within_words and last > position and text[last] == 32
                if n >= shortest or (ends_word and starts_word):
                    term = _number(text, position, stop - position, grow, secret, slots, keys, offsets, arena, state)
                    if term < 0:
                        return position, doc, kept
                    stream[n_stream] = term
                    n_stream += 1
                if ends_word:
                    break
            position = _after(text, position)
        doc_terms[doc] = n_stream
        doc += 1
    return position, doc, n_stream


@inner_kernel
def _number(text, first, length, grow, secret, slots, keys, offsets, arena, state):  # type: ignore[no-untyped-def]
    """Number of a term, which is added if it is new; -1 if there is no room for it."""
    if length <= SHORT:
        low = load_word(text, first) & KEEP_LOW[length]
        high = load_word(text, first + 8) & KEEP_HIGH[length]
    else:
        low, high = _scan.long_key(text, first, length, secret)
    term = _scan.find_term(text, first, length, low, high, secret, slots, keys, offsets, arena)
    if term >= 0:
        return term
    if not grow:
        return state[N_TERMS]
    if state[N_TERMS] == min(slots.size // 2, offsets.size) or (
        length > SHORT and state[ARENA_USED] + length > arena.size
    ):
        state[ARENA_WANTED] = state[ARENA_USED] + length
        return np.int64(-1)
    slots[-1 - term] = state[N_TERMS]
    return _scan.add_term(text, first, length, low, high, keys, offsets, arena, state)
