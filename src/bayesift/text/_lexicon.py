"""The terms met so far, each with a number, in a compiled hash table or in a dictionary.

Both kinds do the same for the vectorizer: ``scan`` turns a batch of documents into a stream of term numbers,
``order`` sorts the terms and ``spell`` lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from itertools import accumulate
from typing import NamedTuple, Protocol, Self

import numpy as np

from bayesift._typing import AnyArray, ByteArray, Int32Array, Int64Array, UInt64Array
from bayesift.text import _scan, _sort
from bayesift.text._hashing import SECRET
from bayesift.text._terms import check_strings
from bayesift.text._unicode import NO_TABLE, SPECIAL_LOWER, WordTable, word_table


class Stream(NamedTuple):
    """Term numbers of a batch of documents, one after the other, and where each document ends.

    With ``counts``, each number occurs once in a document. ``renumber`` translates the numbers into those of another
    lexicon; see :func:`bayesift.text._pipeline.unite`.
    """

    raw_numbers: Int32Array
    ends: Int64Array
    counts: Int32Array | None = None
    renumber: Int32Array | None = None

    @property
    def numbers(self) -> Int32Array:
        """The numbers, translated."""
        return self.raw_numbers if self.renumber is None else self.renumber[self.raw_numbers]


class Scanner(Protocol):
    """Turns documents into streams."""

    def __len__(self) -> int:
        """Number of terms."""

    def scan(self, documents: Sequence[str]) -> Stream:
        """Number the tokens of the documents."""


class Lexicon(Scanner, Protocol):
    """What the vectorizer asks of a lexicon: a scanner that adds the terms not met before."""

    def absorb(self, other: Lexicon) -> Int32Array:
        """Add the terms of another lexicon of this kind; return this one's number for each of its numbers."""

    def order(self) -> Int64Array:
        """Return the numbers of the terms in code-point order."""

    def spell(self, order: AnyArray) -> list[str]:
        """List the terms with these numbers."""


class CompiledLexicon:
    """Runs of word characters, found and counted in compiled code.

    Parameters
    ----------
    lowercase : bool
        Lower-case the text first.
    keep_single : bool
        Keep tokens of one character.
    pairs : bool
        Cut runs of letters of languages without spaces into pairs.
    secret : array of uint64, optional
        The key of the hashing, see :mod:`bayesift.text._hashing`; that of the process by default.
    """

    def __init__(
        self,
        lowercase: bool = True,
        keep_single: bool = False,
        *,
        pairs: bool = False,
        secret: UInt64Array = SECRET,
    ) -> None:
        self.lowercase = lowercase
        self.pairs = pairs
        self.keep_single = keep_single
        self._secret = secret
        self._state: Int64Array = np.zeros(3, dtype=np.int64)
        self._keys: UInt64Array = np.empty((0, 2), dtype=np.uint64)
        self._offsets: Int64Array = np.empty(0, dtype=np.int64)
        self._arena: ByteArray = np.empty(0, dtype=np.uint8)
        self._clean: ByteArray = np.empty(0, dtype=np.uint8)
        self._grow = True
        self._reserve(1024, 1024)

    def __len__(self) -> int:
        return int(self._state[_scan.N_TERMS])

    def scan(self, documents: Sequence[str]) -> Stream:
        """Number the tokens of the documents, adding the terms not met before."""
        text, ends = self._encode(documents)
        raw = np.frombuffer(text, dtype=np.uint8)
        # The table takes a moment to make, so plain ASCII does without.
        table = NO_TABLE if text.isascii() else word_table(self.lowercase, self.pairs)
        capacity = raw.size * (3 if table is NO_TABLE else 5) // 2 + ends.size + _scan.PADDING
        if self._clean.size < capacity:
            self._clean = np.empty(capacity, dtype=np.uint8)
        n_bytes = _scan.clean(raw, ends, self.lowercase, table.pages, table.values, self._clean)
        return self._tokenize(self._clean, n_bytes, ends, table)

    def _tokenize(self, clean: ByteArray, n_bytes: int, ends: Int64Array, table: WordTable = NO_TABLE) -> Stream:
        """Number the runs of bytes that are not zero; the documents end where ``ends`` says."""
        # A token and what follows it take two bytes at least, three when single characters are dropped.
        numbers = np.empty(n_bytes // (2 if self.keep_single else 3) + 1, dtype=np.int32)
        doc_tokens = np.empty(ends.size, dtype=np.int64)
        position, doc, n_tokens = 0, 0, 0
        while True:
            position, doc, n_tokens = _scan.tokenize(
                clean,
                n_bytes,
                position,
                not self.keep_single,
                table.pages,
                table.values,
                self._grow,
                *self._tables,
                doc,
                ends,
                doc_tokens,
                numbers,
                n_tokens,
            )
            if position == n_bytes:
                return Stream(numbers[:n_tokens].copy(), doc_tokens)
            self._reserve(4 * len(self), 2 * int(self._state[_scan.ARENA_WANTED]))

    def reader(self, keep_single: bool) -> Self:
        """Return a lexicon that shares the tables of this one and adds nothing: unknown tokens get the next number."""
        reader = copy(self)
        reader.keep_single = keep_single
        reader._clean = np.empty(0, dtype=np.uint8)
        reader._grow = False
        return reader

    def absorb(self, other: Lexicon) -> Int32Array:
        """Add the terms of another compiled lexicon; return this one's number for each of its numbers."""
        if not isinstance(other, CompiledLexicon):
            raise TypeError(f"other must be a CompiledLexicon, got {type(other).__name__}")
        self._reserve(len(self) + len(other), int(self._state[_scan.ARENA_USED] + other._state[_scan.ARENA_USED]))
        return self._numbers_of(other, grow=True)

    def find(self, other: CompiledLexicon) -> Int32Array:
        """Return this one's number for each number of another compiled lexicon, -1 for terms that it lacks."""
        return self._numbers_of(other, grow=False)

    def _numbers_of(self, other: CompiledLexicon, grow: bool) -> Int32Array:
        numbers = np.empty(len(other), dtype=np.int32)
        _scan.absorb(len(other), other._keys, other._offsets, other._arena, grow, *self._tables, numbers)
        return numbers

    def order(self) -> Int64Array:
        """Return the numbers of the terms in code-point order."""
        return _sort.code_point_order(self._keys[: len(self)], self._offsets, self._arena)

    def spell(self, order: AnyArray) -> list[str]:
        """List the terms with these numbers."""
        if order.size == 0:
            return []
        text = _sort.spell(order, self._keys, self._offsets, self._arena)
        return text.tobytes().decode("utf-8", "surrogatepass").split("\0")

    @property
    def _tables(self) -> tuple[UInt64Array, Int32Array, UInt64Array, Int64Array, ByteArray, Int64Array]:
        return self._secret, self._slots, self._keys, self._offsets, self._arena, self._state

    def _reserve(self, n_terms: int, n_bytes: int) -> None:
        """Make room for terms (the table is at most half full) and for the bytes of long ones."""
        used, used_bytes = len(self), int(self._state[_scan.ARENA_USED])
        if n_terms > self._offsets.size:
            n_slots = 1 << (2 * n_terms - 1).bit_length()
            self._keys = _enlarged(self._keys, n_slots // 2, used)
            self._offsets = _enlarged(self._offsets, n_slots // 2, used)
            self._slots = np.full(n_slots, -1, dtype=np.int32)
            _scan.rehash(used, self._secret, self._keys, self._slots)
        if n_bytes > self._arena.size:
            self._arena = _enlarged(self._arena, n_bytes, used_bytes)

    def _encode(self, documents: Sequence[str]) -> tuple[bytes, Int64Array]:
        """Join the documents as UTF-8 and return where each ends; eight bytes follow the last."""
        encoded = [document.encode() if document.isascii() else self._encode_wide(document) for document in documents]
        ends = np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded)).cumsum()
        encoded.append(bytes(8))
        return b"".join(encoded), ends

    def _encode_wide(self, document: str) -> bytes:
        if self.lowercase and any(character in document for character in SPECIAL_LOWER):
            document = document.lower()
        return document.encode("utf-8", "surrogatepass")


def _enlarged(array: AnyArray, size: int, used: int) -> AnyArray:
    """Copy the used part into a new array with more rows."""
    larger = np.empty((size, *array.shape[1:]), dtype=array.dtype)
    larger[:used] = array[:used]
    return larger


class PythonLexicon:
    """Tokens from any callable, numbered in a dictionary: general, and slower.

    Parameters
    ----------
    tokens : callable
        Returns the tokens of a document.
    lowercase : bool
        Lower-case the text first.
    """

    def __init__(self, tokens: Callable[[str], Iterable[str]], lowercase: bool = True) -> None:
        self.tokens = tokens
        self.lowercase = lowercase
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def scan(self, documents: Sequence[str]) -> Stream:
        """Number the tokens of the documents, adding the terms not met before."""
        known = self._numbers
        numbered = [[known.setdefault(token, len(known)) for token in self._find(document)] for document in documents]
        ends = np.fromiter(accumulate(map(len, numbered)), dtype=np.int64, count=len(numbered))
        flat = (number for document in numbered for number in document)
        return Stream(np.fromiter(flat, dtype=np.int32, count=int(ends[-1]) if ends.size else 0), ends)

    def _find(self, document: str) -> Iterable[str]:
        found = self.tokens(document.lower() if self.lowercase else document)
        if not isinstance(found, Iterable):
            raise TypeError(f"tokenizer must give an iterable of strings, got {type(found).__name__}")
        return found

    def absorb(self, other: Lexicon) -> Int32Array:
        """Add the terms of another lexicon of this kind; return this one's number for each of its numbers."""
        if not isinstance(other, PythonLexicon):
            raise TypeError(f"other must be a PythonLexicon, got {type(other).__name__}")
        known = self._numbers
        return np.array([known.setdefault(term, len(known)) for term in other._numbers], dtype=np.int32)

    def order(self) -> Int64Array:
        """Return the numbers of the terms in code-point order."""
        terms = list(self._numbers)
        check_strings(terms, "tokenizer must give")
        return np.array(sorted(range(len(terms)), key=terms.__getitem__), dtype=np.int64)

    def spell(self, order: AnyArray) -> list[str]:
        """List the terms with these numbers."""
        terms = list(self._numbers)
        return [terms[number] for number in order]
