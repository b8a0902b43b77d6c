"""Code-point order of the terms of a compiled lexicon, and their spelling.

UTF-8 bytes sort as the code points do, so the keys are compared as big-endian words: first the first eight bytes of
every term, then the next eight where those are equal, then the rest of the few long terms that share sixteen bytes.
"""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._typing import AnyArray, ByteArray, Int64Array, UInt64Array
from bayesift.text._scan import SHORT

_U = np.uint64
_LONG_MARK = _U(0xFF)
_LENGTH = _U(0xFFFFFFFFFFFFFF)
_EIGHT, _FIFTY_SIX, _BYTE = _U(8), _U(56), _U(255)


@kernel
def _length(low, high):  # type: ignore[no-untyped-def]
    """Length in bytes of the term with this key."""
    if high >> _FIFTY_SIX == _LONG_MARK:
        return np.int64(high & _LENGTH)
    length = 0
    while low:
        length += 1
        low >>= _EIGHT
    while high:
        length += 1
        high >>= _EIGHT
    return length


@kernel
def _prefixes(keys: UInt64Array, offsets: Int64Array, arena: ByteArray) -> UInt64Array:
    """Give the first sixteen bytes of every term as two big-endian words."""
    prefixes = np.empty_like(keys)
    for term in range(keys.shape[0]):
        is_long = keys[term, 1] >> _FIFTY_SIX == _LONG_MARK
        for part in range(2):
            key, word = keys[term, part], _U(0)
            for i in range(8):
                byte = _U(arena[offsets[term] + 8 * part + i]) if is_long else (key >> _U(8 * i)) & _BYTE
                word = word << _EIGHT | byte
            prefixes[term, part] = word
    return prefixes


@kernel
def _write(order: Int64Array, keys: UInt64Array, offsets: Int64Array, arena: ByteArray, out: ByteArray) -> None:
    position = 0
    for term in order:
        low, high = keys[term, 0], keys[term, 1]
        length = _length(low, high)
        for i in range(length):
            if length > SHORT:
                out[position] = arena[offsets[term] + i]
            else:
                out[position] = ((low if i < 8 else high) >> _U(8 * (i & 7))) & _BYTE
            position += 1
        if position < out.size:
            out[position] = 10
        position += 1


@kernel
def _total_length(order: AnyArray, keys: UInt64Array) -> int:
    total = 0
    for term in order:
        total += _length(keys[term, 0], keys[term, 1])
    return total


def spell(order: AnyArray, keys: UInt64Array, offsets: Int64Array, arena: ByteArray) -> ByteArray:
    """Write the terms in this order as UTF-8 with a line feed between them."""
    if order.size == 0:
        return np.empty(0, dtype=np.uint8)
    out = np.empty(_total_length(order, keys) + order.size - 1, dtype=np.uint8)
    _write(order, keys, offsets, arena, out)
    return out


def code_point_order(keys: UInt64Array, offsets: Int64Array, arena: ByteArray) -> Int64Array:
    """Sort the terms as Python sorts strings; returns their numbers in that order."""
    prefixes = _prefixes(keys, offsets, arena)
    order = np.argsort(prefixes[:, 0])
    # Terms with equal first bytes stand together, so sorting all of them anew lets them fill the same places.
    places = _tied_places(prefixes[order, :1])
    tied = order[places]
    order[places] = tied[np.lexsort((prefixes[tied, 1], prefixes[tied, 0]))]
    places = places[_tied_places(prefixes[order[places]])]
    tied = order[places]
    spelled = spell(tied, keys, offsets, arena).tobytes().split(b"\n")
    order[places] = tied[sorted(range(tied.size), key=spelled.__getitem__)]
    return order


def _tied_places(rows: UInt64Array) -> Int64Array:
    """Places of sorted rows that equal a neighbour."""
    equal = np.zeros(len(rows) + 1, dtype=bool)
    equal[1:-1] = (rows[1:] == rows[:-1]).all(axis=1)
    return np.flatnonzero(equal[1:] | equal[:-1])
