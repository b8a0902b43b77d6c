"""Compiled scanner: bytes to clean bytes to term numbers.

Two passes over a batch of documents that fits the second-level cache:

1. :func:`clean` lower-cases the text and puts a zero wherever there is no word character, so that a token is a maximal
   run of non-zero bytes;
2. :func:`tokenize` finds the runs 64 bytes at a time, looks each token up in an open-addressing hash table (or adds it)
   and writes the stream of term numbers.

A token of at most 16 bytes is its own key (two words, padded with zeros). A longer one has its hash for a key, a mark
in the second word (a byte that never occurs in UTF-8) and its bytes in an arena, which are compared on a match. All
hashing is keyed by the ``secret`` of the table, see :mod:`bayesift.text._hashing`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesift._kernel import inner_kernel, kernel
from bayesift._typing import ByteArray, Int32Array, Int64Array, UInt64Array
from bayesift.text._bits import load_word, store_word, trailing_zeros
from bayesift.text._hashing import fold_product, home_slot
from bayesift.text._unicode import UNSPACED_BIT

#: Zero bytes that must follow the text in a buffer, so that whole words can be read at its end.
PADDING = 80

#: Longest token that is its own key, in bytes.
SHORT = 16

_U = np.uint64
_ONES = _U(0x0101010101010101)
_HIGH = _U(0x8080808080808080)
_LOW7 = _U(0x7F7F7F7F7F7F7F7F)
_PACK = _U(0x0102040810204080)
_ALL = _U(0xFFFFFFFFFFFFFFFF)
_ZERO, _ONE, _TWO, _SEVEN, _FIFTY_SIX, _SIXTY_THREE = _U(0), _U(1), _U(2), _U(7), _U(56), _U(63)
_BYTES, _LENGTH, _LENGTHS, _UNSPACED = _U(0xFFFFFFFF), _U(32), _U(7), _U(UNSPACED_BIT)
_LONG_MARK = _U(0xFF00000000000000)

# Byte masks for the two words of a key by token length.
KEEP_LOW = np.array([(1 << 8 * min(n, 8)) - 1 for n in range(SHORT + 1)], dtype=np.uint64)
KEEP_HIGH = np.array([(1 << 8 * max(n - 8, 0)) - 1 for n in range(SHORT + 1)], dtype=np.uint64)

# No position, and its type: for a bare constant that they are given, functions would be compiled once more.
_NONE: Any = np.int64(-1)

# Positions in the ``state`` vector of a table.
N_TERMS, ARENA_USED, ARENA_WANTED = range(3)


@kernel(inline="always")
def _between(word, first, last):  # type: ignore[no-untyped-def]
    """Set the high bit of each byte of an ASCII word that lies in [first, last]."""
    return (word + _ONES * _U(128 - first)) & ~(word + _ONES * _U(127 - last)) & _HIGH


@kernel(inline="always")
def _clean_ascii(word, lowercase):  # type: ignore[no-untyped-def]
    """Lower-case eight ASCII bytes and zero those that are not letters, digits or underscores."""
    upper = _between(word, 65, 90)
    if lowercase:
        word |= upper >> _TWO
        upper = _ZERO
    keep = _between(word, 97, 122) | upper | _between(word, 48, 57) | _between(word, 95, 95)
    return word & ((keep >> _SEVEN) * _U(255))


@kernel(inline="always")
def character_at(raw, position):  # type: ignore[no-untyped-def]
    """Code point of the character of UTF-8 at a place, and the place after it."""
    lead = np.int32(raw[position])
    if lead < 0x80:
        code, length = lead, 1
    elif lead < 0xE0:
        code, length = (lead & 0x1F) << 6 | (raw[position + 1] & 0x3F), 2
    elif lead < 0xF0:
        code = (lead & 0x0F) << 12 | (raw[position + 1] & 0x3F) << 6 | (raw[position + 2] & 0x3F)
        length = 3
    else:
        code = (lead & 0x07) << 18 | (raw[position + 1] & 0x3F) << 12
        code |= (raw[position + 2] & 0x3F) << 6 | (raw[position + 3] & 0x3F)
        length = 4
    return code, position + length


@kernel(inline="always")
def write_character(out, written, kept):  # type: ignore[no-untyped-def]
    """Write a character as the table has it; return the place after it, from where on anything may be written over."""
    store_word(out, written, kept & _BYTES)
    return written + np.int64((kept >> _LENGTH) & _LENGTHS)


@kernel
def clean(
    raw: ByteArray, ends: Int64Array, lowercase: bool, pages: Int32Array, values: UInt64Array, out: ByteArray
) -> int:
    """Write the word characters of UTF-8 documents with zeros between them; return the number of bytes written.

    Document ``i`` ends before ``raw[ends[i]]`` and the next begins there; ``raw`` goes on for at least eight bytes
    after the last. ``ends`` is changed to where the documents end in ``out``, which has room for 5/2 of the text (3/2
    if it is ASCII), a byte a document and the padding.

    A run of letters that the table marks is written as its pairs. Each letter is written twice, at the end of a pair
    and, from ``second`` on, at the beginning of the next; at the end of the run the last beginning is taken back.
    """
    position, written = 0, 0
    for doc in range(ends.size):
        end = ends[doc]
        run, second = 0, 0
        while position < end:
            word = load_word(raw, position)
            if end - position < 8:
                word &= KEEP_LOW[end - position]
            if word & _HIGH == _ZERO:
                if run > 0:
                    written, run = _end_run(out, written, run, second), 0
                store_word(out, written, _clean_ascii(word, lowercase))
                advance = min(8, end - position)
                position += advance
                written += advance
                continue
            stop = min(position + 8, end)
            while position < stop:
                code, position = character_at(raw, position)
                kept = values[pages[code >> 8], code & 0xFF]
                if (kept >> _UNSPACED) & _ONE == _ZERO:
                    if run > 0:
                        written, run = _end_run(out, written, run, second), 0
                else:
                    if run > 0:
                        written = write_character(out, written, kept)
                    out[written] = 0
                    written += 1
                    run, second = run + 1, written
                written = write_character(out, written, kept)
        if run > 0:
            written = _end_run(out, written, run, second)
        ends[doc] = written
        out[written] = 0
        written += 1
    for place in range(written, written + PADDING):
        out[place] = 0
    return written


@kernel(inline="always")
def _end_run(out, written, run, second):  # type: ignore[no-untyped-def]
    """End a run of letters that are cut into pairs; a single letter is a token of its own. Returns where to go on."""
    after = second
    if run == 1:
        out[written] = 0
        after = written + 1
    return after


@kernel(inline="always")
def _token_bits(clean_bytes, position):  # type: ignore[no-untyped-def]
    """Pack 64 bytes into a word with one bit for each byte that is not zero."""
    bits = _ZERO
    for part in range(8):
        word = load_word(clean_bytes, position + 8 * part)
        filled = (((word & _LOW7) + _LOW7) | word) & _HIGH
        bits |= ((filled >> _SEVEN) * _PACK >> _FIFTY_SIX) << _U(8 * part)
    return bits


@inner_kernel
def long_key(clean_bytes, start, length, secret):  # type: ignore[no-untyped-def]
    """Hash of a token of more than 16 bytes, and the mark with its length."""
    mixed = secret[2]
    for offset in range(0, length - 7, 8):
        mixed = fold_product(mixed ^ load_word(clean_bytes, start + offset), secret[3])
    return fold_product(mixed ^ load_word(clean_bytes, start + length - 8), secret[3]), _LONG_MARK | _U(length)


@kernel
def _same_bytes(first, start, second, offset, length):  # type: ignore[no-untyped-def]
    """Compare eight bytes or more, word by word; the last word may overlap the one before."""
    for i in range(0, length - 7, 8):
        if load_word(first, start + i) != load_word(second, offset + i):
            return False
    return load_word(first, start + length - 8) == load_word(second, offset + length - 8)


@inner_kernel
def find_term(buffer, first, length, low, high, secret, slots, keys, offsets, arena):  # type: ignore[no-untyped-def]
    """Look a token up: its term number, or ``-1 - slot`` for the free slot where it belongs."""
    slot = home_slot(low, high, secret, slots.size)
    while True:
        term = np.int64(slots[slot])
        if term < 0:
            return -1 - slot
        if (
            keys[term, 0] == low
            and keys[term, 1] == high
            and (length <= SHORT or _same_bytes(buffer, first, arena, offsets[term], length))
        ):
            return term
        slot = (slot + 1) & (slots.size - 1)


@kernel
def tokenize(
    clean_bytes: ByteArray,
    n_bytes: int,
    position: int,
    skip_single: bool,
    pages: Int32Array,
    values: UInt64Array,
    grow: bool,
    secret: UInt64Array,
    slots: Int32Array,
    keys: UInt64Array,
    offsets: Int64Array,
    arena: ByteArray,
    state: Int64Array,
    doc: int,
    ends: Int64Array,
    doc_tokens: Int64Array,
    stream: Int32Array,
    n_stream: int,
) -> tuple[int, int, int]:
    """Append the term number of every token from ``position`` on; stop early when a table is full.

    Without ``grow`` the tables are only read, and every unknown token gets the number after the last. With
    ``skip_single`` tokens of one character are left out, unless the table of characters marks it.
    Returns the position reached, the document it lies in and the length of the stream. When the position is not
    ``n_bytes``, the caller enlarges the tables and calls again with what was returned. ``doc_tokens[i]`` becomes the
    length of the stream at the end of document ``i``.
    """
    room = min(slots.size // 2, offsets.size)
    block = position
    start = _NONE
    inside = _ZERO
    while block < n_bytes:
        bits = _token_bits(clean_bytes, block)
        # One bit for each place where a token begins or ends.
        turns = bits ^ ((bits << _ONE) | inside)
        inside = bits >> _SIXTY_THREE
        while turns != _ZERO:
            turn = block + trailing_zeros(turns)
            turns &= turns - _ONE
            if start < 0:
                start = turn
                continue
            first, length = start, turn - start
            start = _NONE
            while first > ends[doc]:
                doc_tokens[doc] = n_stream
                doc += 1
            if (
                skip_single
                and _is_single(clean_bytes[first], length)
                and (length == 1 or not _is_unspaced(clean_bytes, first, pages, values))
            ):
                continue
            if length <= SHORT:
                low = load_word(clean_bytes, first) & KEEP_LOW[length]
                high = load_word(clean_bytes, first + 8) & KEEP_HIGH[length]
            else:
                low, high = long_key(clean_bytes, first, length, secret)
            term = find_term(clean_bytes, first, length, low, high, secret, slots, keys, offsets, arena)
            if term < 0 and not grow:
                term = state[N_TERMS]
            elif term < 0:
                if state[N_TERMS] == room or (length > SHORT and state[ARENA_USED] + length > arena.size):
                    state[ARENA_WANTED] = state[ARENA_USED] + length
                    return first, doc, n_stream
                slots[-1 - term] = state[N_TERMS]
                term = add_term(clean_bytes, first, length, low, high, keys, offsets, arena, state)
            stream[n_stream] = term
            n_stream += 1
        block += 64
    for rest in range(doc, doc_tokens.size):
        doc_tokens[rest] = n_stream
    return n_bytes, doc, n_stream


@kernel(inline="always")
def _is_single(lead, length):  # type: ignore[no-untyped-def]
    """Tell whether a token of ``length`` bytes with this first byte is one character."""
    return length == 1 or (
        length <= 4 and lead >= 0xC0 and length == 2 + np.int64(lead >= 0xE0) + np.int64(lead >= 0xF0)
    )


@inner_kernel
def _is_unspaced(clean_bytes, position, pages, values):  # type: ignore[no-untyped-def]
    """Tell whether the table marks a character, not an ASCII one, as a letter of a language without spaces."""
    code, _ = character_at(clean_bytes, position)
    return (values[pages[code >> 8], code & 0xFF] >> _UNSPACED) & _ONE == _ONE


@inner_kernel
def add_term(clean_bytes, first, length, low, high, keys, offsets, arena, state):  # type: ignore[no-untyped-def]
    """Give a token the next number; there must be room."""
    term = state[N_TERMS]
    keys[term, 0] = low
    keys[term, 1] = high
    offsets[term] = state[ARENA_USED]
    if length > SHORT:
        # A loop: numba takes seconds to compile the message of a copy between slices of different lengths.
        for place in range(length):
            arena[state[ARENA_USED] + place] = clean_bytes[first + place]
        state[ARENA_USED] += length
    state[N_TERMS] = term + 1
    return term


@kernel
def rehash(n_terms: int, secret: UInt64Array, keys: UInt64Array, slots: Int32Array) -> None:
    """Fill the empty ``slots`` (all -1) with the terms."""
    wrap = slots.size - 1
    for term in range(n_terms):
        slot = home_slot(keys[term, 0], keys[term, 1], secret, slots.size)
        while slots[slot] >= 0:
            slot = (slot + 1) & wrap
        slots[slot] = term


@kernel
def absorb(
    n_other: int,
    other_keys: UInt64Array,
    other_offsets: Int64Array,
    other_arena: ByteArray,
    grow: bool,
    secret: UInt64Array,
    slots: Int32Array,
    keys: UInt64Array,
    offsets: Int64Array,
    arena: ByteArray,
    state: Int64Array,
    numbers: Int32Array,
) -> None:
    """Look up the terms of another table; ``numbers`` gets the term numbers here.

    With ``grow`` unknown ones are added, for which there must be room; without it their number is -1.
    """
    for other in range(n_other):
        low, high, start = other_keys[other, 0], other_keys[other, 1], other_offsets[other]
        length = np.int64(high & ~_LONG_MARK) if high >= _LONG_MARK else SHORT
        if length > SHORT:
            # The other table may have another secret.
            low, high = long_key(other_arena, start, length, secret)
        term = find_term(other_arena, start, length, low, high, secret, slots, keys, offsets, arena)
        if term < 0 and grow:
            slots[-1 - term] = state[N_TERMS]
            term = add_term(other_arena, start, length, low, high, keys, offsets, arena, state)
        numbers[other] = max(term, -1)
