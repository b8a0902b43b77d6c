"""Objects of JSONL files: all of a file, or those of a stream as they arrive."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from bayesift.datasets._inputs import name_of, open_bytes
from bayesift.datasets._limits import cell_limit, check_lines
from bayesift.datasets.errors import CellTooLongError, EncodingError, MalformedFileError

#: The number of a line, or of a row where there are no lines, and its cells by column.
Row = tuple[int, dict[str, Any]]

#: Levels of lists and objects within an object.
MAX_DEPTH = 100

_CONTAINERS = (dict, list)

#: Bytes of a stream that are taken at once; from a pipe, what there is.
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
        How many objects to leave out at the beginning; they are not parsed.
    max_cell : int, optional
        The longest line, in bytes; see :func:`read`.

    Returns
    -------
    iterator of list of (int, dict)
        Those that can be read without waiting for more: number of the line, counted from 1, and the object.
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
    """Return the lines that there are without waiting for more; the last may be the beginning of one too long."""
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


def _object(name: Path, number: int, line: str | bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise MalformedFileError(name, number, f"not JSON: {error.msg} (column {error.colno})") from error
    except RecursionError as error:
        raise _too_deep(name, number) from error
    except UnicodeDecodeError as error:
        raise EncodingError(name, number, error.encoding, error.reason) from error
    except ValueError as error:
        # A whole number of more digits than Python reads.
        raise MalformedFileError(name, number, f"not JSON that can be read: {error}") from error
    if not isinstance(row, dict):
        raise MalformedFileError(name, number, f"expected a JSON object, found {type(row).__name__}")
    containers = [value for value in row.values() if isinstance(value, _CONTAINERS)]
    if containers and not _is_shallow(containers):
        raise _too_deep(name, number)
    return row


def _is_shallow(level: list[Any]) -> bool:
    """Tell whether nothing in these is nested so deeply that showing or writing it could fail."""
    for _ in range(MAX_DEPTH):
        inside = chain.from_iterable(value.values() if isinstance(value, dict) else value for value in level)
        level = [value for value in inside if isinstance(value, _CONTAINERS)]
        if not level:
            return True
    return False


def _too_deep(name: Path, number: int) -> MalformedFileError:
    return MalformedFileError(name, number, f"nested too deeply, expected at most {MAX_DEPTH} levels")
