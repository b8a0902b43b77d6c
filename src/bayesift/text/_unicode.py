r"""What every code point becomes in a token: the tables behind the compiled scanners.

A token is a run of word characters of the lower-cased text, as in the regular expression ``\w``. The table is made
from the running Python's own Unicode data, so that it agrees with :mod:`re` and :meth:`str.lower` by construction.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

import numpy as np

from bayesift._typing import Int32Array, UInt64Array

#: The two characters whose lower case the table cannot give: the first becomes two characters, the second depends on
#: its neighbours. Documents that hold one are lower-cased by Python before the scan.
SPECIAL_LOWER = "\u0130\u03a3"

#: What stands for the character 0, whose byte ends terms: two bytes that never occur in UTF-8.
NUL = b"\xc0\x80"

#: The bit of a value that says that a character is white space.
SPACE_BIT = 40

_N_CODE_POINTS = 0x110000
_PAGE = 256


class WordTable(NamedTuple):
    """A two-level table: ``values[pages[c >> 8], c & 255]`` says what to write for the code point ``c``.

    The low 32 bits hold the UTF-8 bytes, first byte lowest, and the high 32 bits their number: one zero byte for what
    is not a word character.
    """

    pages: Int32Array
    values: UInt64Array


#: Stands in where there is nothing to look up.
NO_TABLE = WordTable(np.empty(0, dtype=np.int32), np.empty((0, _PAGE), dtype=np.uint64))


@cache
def word_table(lowercase: bool) -> WordTable:
    """Build the table of word characters, lower-cased or as they are."""
    everything = "".join(map(chr, range(_N_CODE_POINTS)))
    kept = everything
    if lowercase:
        kept = everything.replace(SPECIAL_LOWER[0], "i").lower()
    is_word = np.zeros(_N_CODE_POINTS, dtype=bool)
    for match in re.finditer(r"\w+", kept):
        is_word[match.start() : match.end()] = True
    code_points = np.frombuffer(kept.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
    return _in_pages(np.where(is_word, _packed_utf8(code_points), np.uint64(1 << 32)).reshape(-1, _PAGE))


@cache
def character_table(lowercase: bool, n_characters: int = _N_CODE_POINTS) -> WordTable:
    """Build the table of the first characters, lower-cased or as they are, with a bit that marks white space."""
    everything = "".join(map(chr, range(n_characters)))
    kept = everything.replace(SPECIAL_LOWER[0], "i").lower() if lowercase else everything
    code_points = np.frombuffer(kept.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
    values = _packed_utf8(code_points)
    values[0] = np.uint64(int.from_bytes(NUL, "little") | len(NUL) << 32)
    is_space = np.fromiter(map(str.isspace, kept), dtype=bool, count=n_characters)
    values |= is_space.astype(np.uint64) << np.uint64(SPACE_BIT)
    return _in_pages(values.reshape(-1, _PAGE))


def _in_pages(values: UInt64Array) -> WordTable:
    """Keep each row once."""
    rows: dict[bytes, int] = {}
    pages = [rows.setdefault(page.tobytes(), len(rows)) for page in values]
    # A copy, because kernels would be compiled anew for an array that cannot be written.
    distinct = np.frombuffer(b"".join(rows), dtype=np.uint64).reshape(-1, _PAGE).copy()
    return WordTable(np.array(pages, dtype=np.int32), distinct)


def _packed_utf8(code: UInt64Array) -> UInt64Array:
    """Encode code points: bytes in the low half, first byte lowest, their number in the high half."""
    six = np.uint64(0x3F)
    last, third, second = (0x80 | (code >> np.uint64(shift) & six) for shift in (0, 6, 12))
    one = code | np.uint64(1 << 32)
    two = (0xC0 | code >> np.uint64(6)) | last << np.uint64(8) | np.uint64(2 << 32)
    three = (0xE0 | code >> np.uint64(12)) | third << np.uint64(8) | last << np.uint64(16) | np.uint64(3 << 32)
    four = (0xF0 | code >> np.uint64(18)) | second << np.uint64(8) | third << np.uint64(16) | last << np.uint64(24)
    four |= np.uint64(4 << 32)
    return np.select([code < 0x80, code < 0x800, code < 0x10000], [one, two, three], four)
