"""Reading vectors from the files that word2vec, GloVe and fastText write; a file may come from anybody."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from bayesift._typing import AnyArray
from bayesift.datasets import MalformedFileError

#: Numbers of vectors are smaller, so that their squares can be summed in single precision.
LARGEST = 1e18
#: Longest word, in bytes, and longest vector.
_LONGEST_WORD, _LONGEST_VECTOR = 4096, 4096
#: Longest line of text: a word, and numbers of at most 32 characters.
_LONGEST_LINE = _LONGEST_WORD + 33 * _LONGEST_VECTOR

_OPENERS: dict[str, Callable[[Path], Any]] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}

_Entry = tuple[str, AnyArray]


def read_vectors(
    path: str | os.PathLike[str], vocabulary: frozenset[str] | None, limit: int
) -> tuple[list[str], AnyArray]:
    """Return the words of a file and their vectors.

    Memory is taken for the words that are kept, as they come: what a header claims is compared with what follows it.
    Of a word that comes twice the first vector is kept.
    """
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise ValueError(f"limit is {limit!r}; expected a whole number of at least 1")
    name = Path(path)
    words: dict[str, None] = {}
    rows: list[AnyArray] = []
    with _OPENERS.get(name.suffix.lower(), _open)(name) as stream:
        try:
            for word, vector in _entries(stream, name, vocabulary):
                if word not in words:
                    words[word] = None
                    rows.append(vector)
                if len(words) == limit:
                    break
        except (EOFError, lzma.LZMAError, zlib.error, OSError) as error:
            # An error of the system, such as that of a disk, has a number.
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise MalformedFileError(name, None, f"compressed, and damaged or cut short: {error}") from error
    if not rows:
        wanted = "" if vocabulary is None else " of the vocabulary"
        raise MalformedFileError(name, None, f"without a vector for any word{wanted}")
    return list(words), np.array(rows, dtype=np.float32)


def _open(path: Path) -> BinaryIO:
    return path.open("rb")


def _entries(stream: BinaryIO, path: Path, vocabulary: frozenset[str] | None) -> Iterator[_Entry]:
    """Yield the words that are wanted, by the format that the first line and what follows it show."""
    first = _line(stream, path, 1)
    parts = first.split()
    if len(parts) != 2 or not all(part.isdigit() and len(part) < 12 for part in parts):
        # GloVe has no line with the numbers of words and columns.
        yield from _from_lines(stream, path, vocabulary, first, None, len(parts) - 1)
        return
    n_words, width = map(int, parts)
    if not 1 <= width <= _LONGEST_VECTOR or n_words < 1:
        raise MalformedFileError(path, 1, f"the header announces {n_words} vectors of length {width}")
    start = stream.read(_LONGEST_LINE)
    stream.seek(len(first))
    entries = _from_lines if _looks_like_text(start, width) else _from_bytes
    yield from entries(stream, path, vocabulary, b"", n_words, width)


def _looks_like_text(start: bytes, width: int) -> bool:
    """Tell whether what follows a header is a line with a word and so many numbers."""
    parts = start.partition(b"\n")[0].rsplit(None, width)
    try:
        return len(parts) == width + 1 and bool(np.isfinite([float(part) for part in parts[1:]]).all())
    except ValueError:
        return False


def _line(stream: BinaryIO, path: Path, number: int) -> bytes:
    line = stream.readline(_LONGEST_LINE + 1)
    if len(line) > _LONGEST_LINE:
        raise MalformedFileError(
            path, number, f"it is longer than {_LONGEST_LINE:,} bytes; expected a word and numbers"
        )
    return line


def _from_lines(
    stream: BinaryIO, path: Path, vocabulary: frozenset[str] | None, first: bytes, n_words: int | None, width: int
) -> Iterator[_Entry]:
    """Yield from lines of a word and numbers; a word may hold blanks, as some of GloVe's do."""
    if width < 1:
        raise MalformedFileError(path, 1, "it has no vector; expected a word and numbers")
    number, found = (1, 0) if n_words is None else (2, 0)
    line = first or _line(stream, path, number)
    while line:
        if not line.isspace():
            parts = line.rstrip(b"\r\n ").rsplit(b" ", width)
            if len(parts) != width + 1:
                raise MalformedFileError(path, number, f"{len(parts) - 1} numbers after the word; expected {width}")
            found += 1
            word = _text(parts[0])
            if vocabulary is None or word in vocabulary:
                yield word, _numbers(parts[1:], path, number)
        number += 1
        line = _line(stream, path, number)
    if n_words is not None and found != n_words:
        raise MalformedFileError(
            path, None, f"cut short or damaged: {n_words:,} vectors are announced, {found:,} follow"
        )


def _numbers(parts: list[bytes], path: Path, number: int) -> AnyArray:
    try:
        vector = np.array(parts, dtype=np.float32)
    except ValueError as error:
        raise MalformedFileError(path, number, f"not all entries after the word are numbers: {error}") from error
    return _finite(vector, path, number, "line")


def _finite(vector: AnyArray, path: Path, number: int, unit: str) -> AnyArray:
    if not np.all(np.abs(vector) < LARGEST):
        raise MalformedFileError(path, number, "a number is not finite, or above 1e18", unit=unit)
    return vector


def _from_bytes(
    stream: BinaryIO, path: Path, vocabulary: frozenset[str] | None, first: bytes, n_words: int | None, width: int
) -> Iterator[_Entry]:
    """Yield from words that are each followed by a blank and numbers of four bytes."""
    assert n_words is not None
    block, place, size = first, 0, 4 * width
    for number in range(1, n_words + 1):
        end = block.find(b" ", place)
        while end < 0 or len(block) < end + 1 + size:
            more = stream.read(1 << 20)
            if not more or (end < 0 and len(block) - place > _LONGEST_WORD):
                raise MalformedFileError(
                    path,
                    None,
                    f"cut short: {n_words:,} vectors of length {width} are announced, {number - 1:,} can be read",
                )
            block, place = block[place:] + more, 0
            end = block.find(b" ")
        if end - place > _LONGEST_WORD:
            raise MalformedFileError(path, number, f"it is longer than {_LONGEST_WORD:,} bytes", unit="word")
        word = _text(block[place:end].lstrip(b"\n"))
        if vocabulary is None or word in vocabulary:
            vector = np.frombuffer(block, "<f4", width, end + 1).astype(np.float32)
            yield word, _finite(vector, path, number, "word")
        place = end + 1 + size


def _text(word: bytes) -> str:
    return word.decode("utf-8", "replace")
