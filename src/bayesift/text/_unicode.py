r"""What every code point becomes in a token: the tables behind the compiled scanners.

A token is a run of word characters of the lower-cased text, as in the regular expression ``\w``. The table is made
from the running Python's own Unicode data, so that it agrees with :mod:`re` and :meth:`str.lower` by construction.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import NamedTuple
from unicodedata import category

import numpy as np

from bayesift._typing import Int32Array, UInt64Array

#: The two characters whose lower case the table cannot give: the first becomes two characters, the second depends on
#: its neighbours. Documents that hold one are lower-cased by Python before the scan.
SPECIAL_LOWER = "\u0130\u03a3"

#: What stands for the character 0, whose byte ends terms: two bytes that never occur in UTF-8.
NUL = b"\xc0\x80"

#: The bits of a value that say that a character is white space, and that it belongs to a language without spaces.
SPACE_BIT, UNSPACED_BIT = 40, 41

#: Blocks of the scripts that are written without spaces between words.
_UNSPACED_BLOCKS = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x3007),  # marks and numerals among Chinese characters
    (0x3021, 0x3029),
    (0x3038, 0x303B),
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),  # Chinese characters
    (0x4E00, 0x9FFF),
    (0xA9E0, 0xA9FF),  # Burmese
    (0xAA60, 0xAA7F),
    (0xF900, 0xFAFF),  # Chinese characters
    (0xFF66, 0xFF9F),  # Katakana of half width
    (0x1AFF0, 0x1B16F),  # Hiragana, Katakana
    (0x20000, 0x323AF),  # Chinese characters
)

_N_CODE_POINTS = 0x110000
_PAGE = 256


class WordTable(NamedTuple):
    """A two-level table: ``values[pages[c >> 8], c & 255]`` says what to write for the code point ``c``.

    The low 32 bits hold the UTF-8 bytes, first byte lowest, and the next three bits their number: one zero byte for
    what is not a word character.
    """

    pages: Int32Array
    values: UInt64Array


#: Stands in where there is nothing to look up.
NO_TABLE = WordTable(np.empty(0, dtype=np.int32), np.empty((0, _PAGE), dtype=np.uint64))


@cache
def unspaced_letters() -> frozenset[int]:
    """Return the letters, and the marks on them, of the scripts that are written without spaces between words."""
    codes = (code for first, last in _UNSPACED_BLOCKS for code in range(first, last + 1))
    return frozenset(code for code in codes if category(chr(code)) in ("Lo", "Lm", "Mn", "Mc", "Nl"))


@cache
def unspaced_class() -> str:
    """Return these letters as what stands between the brackets of a regular expression."""
    codes = sorted(unspaced_letters())
    starts = [code for before, code in pairwise([-1, *codes]) if code != before + 1]
    ends = [code for code, after in pairwise([*codes, -1]) if after != code + 1]
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in zip(starts, ends, strict=True))


@cache
def _unspaced_letter() -> re.Pattern[str]:
    return re.compile(f"[{unspaced_class()}]")


def has_unspaced_letters(text: str) -> bool:
    """Tell whether a text holds letters of a language that is written without spaces.

    These are Chinese, Japanese, Thai, Lao, Khmer and Burmese.

    Parameters
    ----------
    text : str

    Examples
    --------
    >>> from bayesift.text import has_unspaced_letters
    >>> has_unspaced_letters("猫 means cat"), has_unspaced_letters("kočka")
    (True, False)
    """
    return not text.isascii() and _unspaced_letter().search(text) is not None


def pairs_pattern(shortest: int) -> str:
    r"""Return the regular expression of tokens where runs of such letters are cut into pairs.

    ``shortest`` is the least length of other tokens. What the single group finds is the token; the rest takes a letter
    or a word away, so that pairs overlap.
    """
    letter, other = f"[{unspaced_class()}]", rf"[^\W{unspaced_class()}]"
    lone = f"(?<!{letter}){letter}(?!{letter})"
    return f"(?=({letter}{letter}|{lone}|{other}{{{shortest},}}))(?:{letter}|{other}+)"


@cache
def word_table(lowercase: bool, pairs: bool) -> WordTable:
    """Build the table of word characters, lower-cased or as they are; letters to be cut into pairs have a bit set."""
    everything = "".join(map(chr, range(_N_CODE_POINTS)))
    kept = everything
    if lowercase:
        kept = everything.replace(SPECIAL_LOWER[0], "i").lower()
    is_word = np.zeros(_N_CODE_POINTS, dtype=bool)
    for match in re.finditer(r"\w+", kept):
        is_word[match.start() : match.end()] = True
    code_points = np.frombuffer(kept.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
    unspaced = np.zeros(_N_CODE_POINTS, dtype=bool)
    if pairs:
        unspaced[list(unspaced_letters())] = True
    values = np.where(is_word | unspaced, _packed_utf8(code_points), np.uint64(1 << 32))
    values |= unspaced.astype(np.uint64) << np.uint64(UNSPACED_BIT)
    return _in_pages(values.reshape(-1, _PAGE))


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
