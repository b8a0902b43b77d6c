"""Objects of JSON and JSONL files: all of a file, or those of a stream as they arrive."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from bayesift.datasets._inputs import name_of, open_bytes
from bayesift.datasets._limits import cell_limit, check_lines
from bayesift.datasets.errors import CellTooLongError, EncodingError, MalformedFileError

#: The number of a line (or of a row or object if there are no lines), and its cells by column.
Row = tuple[int, dict[str, Any]]

#: Levels of lists and objects within an object.
MAX_DEPTH = 100

_CONTAINERS = (dict, list)

_SPACE = re.compile(r"[ \t\r\n]*")

#: Characters of a JSON file that are taken at once, and of the longest word, -Infinity, with room for an escape.
JSON_PIECE = 1 << 16
_LONGEST_WORD = 16

#: Bytes of a stream that are read at a time; from a pipe, whatever is available.
_CHUNK = 1 << 20


def json_table(name: Path, lines: Iterable[str], limit: int) -> tuple[list[str], Iterator[Row]]:
    """Return the keys of the first object of a JSONL file, and all its objects; no line is longer than the limit."""
    numbered = ((number, line) for number, line in enumerate(check_lines(name, lines, limit), start=1) if line.strip())
    objects = ((number, _object(name, number, line)) for number, line in numbered)
    first = next(objects, None)
    if first is None:
        raise ValueError(f"{name} is empty, expected one JSON object per line")
    return list(first[1]), chain([first], objects)


def stream_objects(path: str | os.PathLike[str], *, skip: int = 0, max_cell: int | None = None) -> Iterator[list[Row]]:
    """Return the objects of a JSONL file in UTF-8 as they arrive, without waiting for the end of a live stream.

    Parameters
    ----------
    path : path or "-"
        The file, or standard input.
    skip : int, default=0
        How many objects to skip at the beginning; they are not parsed.
    max_cell : int, optional
        The longest line, in bytes; see :func:`read`.

    Returns
    -------
    iterator of list of (int, dict)
        The objects that can be read without waiting for more, each with its line number, counted from 1.
    """
    name, limit = name_of(path), cell_limit(max_cell)
    number = 0
    with open_bytes(path) as stream:
        for lines in _available_lines(stream, limit):
            batch: list[Row] = []
            for line in lines:
                number += 1
                if len(line) > limit:
                    raise CellTooLongError(name, number, limit)
                if not line.strip():
                    continue
                if skip > 0:
                    skip -= 1
                    continue
                batch.append((number, _object(name, number, line)))
            if batch:
                yield batch


def _available_lines(stream: Any, limit: int) -> Iterator[list[bytes]]:
    """Return the lines available without waiting for more; the last may be the beginning of one that is too long."""
    rest = b""
    while chunk := stream.read1(_CHUNK):
        *lines, rest = (rest + chunk).split(b"\n")
        if len(rest) > limit:
            yield [*lines, rest]
            return
        if lines:
            yield lines
    if rest:
        yield [rest]


def json_objects(name: Path, pieces: Iterator[str], limit: int) -> tuple[list[str], Iterator[Row]]:
    """Return the keys of the first object of a JSON file, and all its objects, numbered from 1.

    The file is an array of objects, which are read one at a time; or objects one after the other; or one object, with
    arrays of the same length or objects with the same keys, one for each column; or with one array of objects in it.

    Parameters
    ----------
    name : Path
        The file, for messages.
    pieces : iterator of str
        Its content in pieces of any length.
    limit : int
        Characters of the longest object.
    """
    text = _JsonText(name, pieces, limit)
    begin = text.next_character()
    if not begin:
        raise ValueError(f"{name} is empty, expected an array of JSON objects")
    if begin == "[":
        rows = _array(text)
    else:
        one = _checked_object(name, 1, text.value(1), "object")
        rows = _following(name, one, text) if text.next_character() else iter(_columns_of(name, one))
    numbered = ((number, _checked_object(name, number, row, "object")) for number, row in enumerate(rows, start=1))
    first = next(numbered, None)
    if first is None:
        raise ValueError(f"{name} has no JSON objects, expected one for each text")
    return list(first[1]), chain([first], numbered)


class _JsonText:
    """A JSON text that is read value by value, and no further than necessary."""

    def __init__(self, name: Path, pieces: Iterator[str], limit: int) -> None:
        self.name = name
        self._pieces = pieces
        self._limit = limit
        self._decoder = json.JSONDecoder()
        self._buffer, self._at = "", 0

    def next_character(self) -> str:
        """Return the next character that is not a space, without taking it; empty at the end."""
        while True:
            self._at = _SPACE.match(self._buffer, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if not self._read_on(JSON_PIECE):
                return ""

    def take(self, number: int, expected: str) -> str:
        """Take one of some characters."""
        found = self.next_character()
        if not found or found not in expected:
            wanted = " or ".join(map(repr, expected))
            raise self.error(number, f"not JSON: expected {wanted}, found {found or 'the end of the file'!r}")
        self._at += 1
        return found

    def value(self, number: int) -> Any:
        """Take one value, which may be an object or an array."""
        self.next_character()
        while True:
            try:
                found, end = self._decoder.raw_decode(self._buffer, self._at)
            except json.JSONDecodeError as error:
                # A value that is cut off at the end of the buffer may continue after it.
                cut = error.pos > len(self._buffer) - _LONGEST_WORD or error.msg.startswith("Unterminated")
                size = len(self._buffer) - self._at
                if size > self._limit:
                    raise CellTooLongError(self.name, number, self._limit, unit="object") from error
                if not cut or not self._read_on(max(JSON_PIECE, size)):
                    raise self.error(number, f"not JSON: {_problem(error)}") from error
            except RecursionError as error:
                raise _too_deep(self.name, number, "object") from error
            except ValueError as error:
                raise self.error(number, f"not JSON that can be read: {error}") from error
            else:
                if end - self._at > self._limit:
                    raise CellTooLongError(self.name, number, self._limit, unit="object")
                self._at = end
                return found

    def error(self, number: int, problem: str) -> MalformedFileError:
        return MalformedFileError(self.name, number, problem, unit="object")

    def _read_on(self, size: int) -> bool:
        """Drop what has been used and read at least this many more characters, if there are any."""
        parts, n = [self._buffer[self._at :]], 0
        for piece in self._pieces:
            parts.append(piece)
            n += len(piece)
            if n >= size:
                break
        self._buffer, self._at = "".join(parts), 0
        return n > 0


def _array(text: _JsonText) -> Iterator[Any]:
    text.take(1, "[")
    number = 1
    if text.next_character() == "]":
        text.take(number, "]")
    else:
        while True:
            yield text.value(number)
            number += 1
            if text.take(number, ",]") == "]":
                break
    if text.next_character():
        raise text.error(number, "not JSON: something follows the array")


def _following(name: Path, first: Any, text: _JsonText) -> Iterator[Any]:
    """Return objects that follow one another, as in JSONL."""
    yield first
    number = 2
    while text.next_character():
        yield text.value(number)
        number += 1


def _columns_of(name: Path, found: dict[str, Any]) -> Iterable[Any]:
    """Return the rows of an object that represents a whole table, or that is a row itself."""
    values = list(found.values())
    if values and all(isinstance(value, list) for value in values):
        if len({len(value) for value in values}) > 1:
            lengths = ", ".join(f"{key!r}: {len(value)}" for key, value in list(found.items())[:10])
            raise MalformedFileError(name, 1, f"its arrays have different lengths ({lengths})", unit="object")
        if len(values) > 1 or not all(isinstance(row, dict) for row in values[0]):
            return [dict(zip(found, row, strict=True)) for row in zip(*values, strict=True)]
    if values and all(isinstance(value, dict) and value.keys() == values[0].keys() for value in values):
        return [{name: value[key] for name, value in found.items()} for key in values[0]]
    tables = [
        value for value in values if isinstance(value, list) and value and all(isinstance(x, dict) for x in value)
    ]
    return tables[0] if len(tables) == 1 else [found]


def _object(name: Path, number: int, line: str | bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise MalformedFileError(name, number, f"not JSON: {_problem(error)} (column {error.colno})") from error
    except RecursionError as error:
        raise _too_deep(name, number) from error
    except UnicodeDecodeError as error:
        raise EncodingError(name, number, error.encoding, error.reason) from error
    except ValueError as error:
        # An integer with more digits than Python accepts.
        raise MalformedFileError(name, number, f"not JSON that can be read: {error}") from error
    return _checked_object(name, number, row)


def _problem(error: json.JSONDecodeError) -> str:
    """Say what is wrong in a sentence where Python says it in words that go on with a place, or with those of JSON."""
    if error.msg.startswith("Invalid control character"):
        if error.doc[error.pos] in "\r\n":
            return r"a string has no closing quote in its line; a line break within it must be written as \n"
        return r"a string holds a tab or another control character, which must be written as \t or \u001f"
    if error.msg.startswith("Unterminated string"):
        return "a string has no closing quote"
    return "something follows the object" if error.msg == "Extra data" else error.msg


def _checked_object(name: Path, number: int, row: Any, unit: str = "line") -> dict[str, Any]:
    if not isinstance(row, dict):
        raise MalformedFileError(name, number, f"expected a JSON object, found {type(row).__name__}", unit=unit)
    containers = [value for value in row.values() if isinstance(value, _CONTAINERS)]
    if containers and not _is_shallow(containers):
        raise _too_deep(name, number, unit)
    return row


def _is_shallow(level: list[Any]) -> bool:
    """Tell whether no value is nested so deeply that showing or writing it could fail."""
    for _ in range(MAX_DEPTH):
        inside = chain.from_iterable(value.values() if isinstance(value, dict) else value for value in level)
        level = [value for value in inside if isinstance(value, _CONTAINERS)]
        if not level:
            return True
    return False


def _too_deep(name: Path, number: int, unit: str = "line") -> MalformedFileError:
    return MalformedFileError(name, number, f"nested too deeply, expected at most {MAX_DEPTH} levels", unit=unit)
