r"""What every code point becomes in a token: the table behind the compiled scanner.

A token is a run of word characters of the lower-cased text, as in the regular expression ``\w``. The table is made
from the running Python's own Unicode data, so that it agrees with :mod:`re` and :meth:`str.lower` by construction.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

import numpy as np

from bayesift._typing import Int32Array

#: The two characters whose lower case the table cannot give: the first becomes two characters, the second depends on
#: its neighbours. Documents that hold one are lower-cased by Python before the scan.
SPECIAL_LOWER = "\u0130\u03a3"

_N_CODE_POINTS = 0x110000
_PAGE = 256


class WordTable(NamedTuple):
    """A two-level table: ``values[pages[c >> 8], c & 255]`` is 0 or the code point to keep for ``c``."""

    pages: Int32Array
    values: Int32Array


@cache
def word_table(lowercase: bool) -> WordTable:
    """Build the table of word characters, lower-cased or as they are."""
    everything = "".join(map(chr, range(_N_CODE_POINTS)))
    kept = everything
    if lowercase:
        kept = everything.replace(SPECIAL_LOWER[0], "i").lower()
    values = np.frombuffer(kept.encode("utf-32-le", "surrogatepass"), dtype=np.int32).copy()
    is_word = np.zeros(_N_CODE_POINTS, dtype=bool)
    for match in re.finditer(r"\w+", kept):
        is_word[match.start() : match.end()] = True
    values[~is_word] = 0
    rows: dict[bytes, int] = {}
    pages = [rows.setdefault(page.tobytes(), len(rows)) for page in values.reshape(-1, _PAGE)]
    kept_pages = np.frombuffer(b"".join(rows), dtype=np.int32).reshape(-1, _PAGE)
    return WordTable(np.array(pages, dtype=np.int32), kept_pages)
