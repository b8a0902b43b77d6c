"""Texts to classify, one after the other, with the rows they stand in; files, folders and standard input."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from io import TextIOWrapper
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

from bayesift.datasets._columns import USUAL
from bayesift.datasets._errors import MalformedFileError
from bayesift.datasets._formats import format_of
from bayesift.datasets._rows import _csv_lists, _opened, frame_columns, frame_rows
from bayesift.datasets._source import is_hidden, open_packed
from bayesift.text._documents import check_encoding
from bayesift.workflow._csv_scan import CsvScanner

SourceFormat = Literal["csv", "tsv", "jsonl", "lines", "parquet", "folder"]

#: What a text stands in: the fields of a line, or names and values, or the bytes of a line of fields.
Row = list[Any] | dict[str, Any] | bytes

STANDARD_INPUT = Path("standard input")


#: Texts and their rows.
Block = tuple[list[str], list[Row]]

#: Texts and characters in a block: enough to make full use of both cores, few enough to be forgotten quickly.
BLOCK_TEXTS = 20_000
BLOCK_CHARACTERS = 1 << 22


class Source(NamedTuple):
    """Texts with their rows, a block at a time.

    ``columns`` are the names of the fields; None for rows that are names and values. ``text`` is the column of texts,
    None where there are no columns. ``scanner`` takes rows of bytes apart, where rows are bytes.
    """

    format: SourceFormat
    columns: list[str] | None
    text: str | None
    blocks: Iterator[Block]
    scanner: CsvScanner | None = None
    delimiter: str = ","


@contextmanager
def open_source(
    path: str | os.PathLike[str],
    *,
    text: str | None = None,
    prefer: str | None = None,
    format: SourceFormat | None = None,
    encoding: str = "utf-8",
    delimiter: str | None = None,
    quotes: bool = True,
    exact: bool = True,
) -> Iterator[Source]:
    """Open a file, a folder, or standard input (``-``), and settle which column holds the texts.

    Parameters
    ----------
    path : path or "-"
    text : str, optional
        The column; else ``prefer`` if it is there, else the only one with a usual name, else the only one.
    prefer : str, optional
        The column of the texts that a model learned from.
    format : optional
        The format, where the name does not tell; plain files of unknown names have a text in each line. On standard
        input the first line tells.
    encoding, delimiter, quotes
        As in :func:`bayesift.datasets.read`.
    exact : bool
        Whether doubled quotes within texts must become single ones.
    """
    check_encoding(encoding)
    if str(path) == "-":
        found: SourceFormat | None = format
        opening: AbstractContextManager[TextIOWrapper] = _standard_input(encoding)
        name = STANDARD_INPUT
    else:
        name = Path(path)
        found = _format(name, format)
        if found == "folder":
            yield Source("folder", None, None, in_blocks(_folder(name, encoding)))
            return
        if found == "parquet":
            column = choose_text(name, frame_columns(name), text, prefer)
            yield Source("parquet", None, column, in_blocks(_frame(name, column)))
            return
        if found in ("csv", "tsv") and _is_utf_8(encoding):
            separator = _separator(found, delimiter)
            with open_packed(name) as content:
                scanner = CsvScanner(content, name, separator, quotes)
                column = choose_text(name, scanner.columns, text, prefer)
                found_blocks: Any = scanner.blocks(scanner.columns.index(column), exact=exact)
                yield Source(found, scanner.columns, column, found_blocks, scanner, separator)
            return
        opening = _opened(name, encoding)
    with opening as stream:
        lines: Iterator[str] = iter(stream)
        if found is None:
            first = next(lines, "")
            lines = chain([first] if first else [], lines)
            found = _format_of_line(first, text or prefer)
        yield _from_lines(name, found, lines, text, prefer, delimiter, quotes)


def in_blocks(rows: Iterator[tuple[str, Row]]) -> Iterator[Block]:
    """Gather texts and their rows into blocks."""
    texts: list[str] = []
    kept: list[Row] = []
    size = 0
    for text, row in rows:
        texts.append(text)
        kept.append(row)
        size += len(text)
        if len(texts) >= BLOCK_TEXTS or size >= BLOCK_CHARACTERS:
            yield texts, kept
            texts, kept, size = [], [], 0
    if texts:
        yield texts, kept


def choose_text(path: Path, columns: list[str], text: str | None, prefer: str | None) -> str:
    """Settle which column holds the texts."""
    listed = ", ".join(map(repr, columns))
    if text is not None:
        if text not in columns:
            raise ValueError(f"text: {path} has no column {text!r}; its columns are {listed}")
        return text
    if prefer in columns:
        return str(prefer)
    usual = [name for name in columns if name.lower() in USUAL["text"]]
    candidates = usual or columns
    if len(candidates) == 1:
        return candidates[0]
    raise ValueError(f"text must name a column of {path}: the model learned from {prefer!r}; its columns are {listed}")


def _from_lines(
    path: Path,
    format: SourceFormat,
    lines: Iterator[str],
    text: str | None,
    prefer: str | None,
    delimiter: str | None,
    quotes: bool,
) -> Source:
    if format == "lines":
        return Source("lines", ["text"], "text", in_blocks(_plain(lines)))
    if format == "jsonl":
        return _objects(path, lines, text, prefer)
    separator = _separator(format, delimiter)
    found = _csv_lists(path, lines, separator, quotes)  # type: ignore[arg-type]  # any iterable of lines will do
    header = next(found, (1, []))[1]
    if not header:
        raise ValueError(f"{path} is empty, expected a header line and one line per text")
    column = choose_text(path, header, text, prefer)
    rows = _fields(path, found, len(header), header.index(column))
    return Source(format, header, column, in_blocks(rows), delimiter=separator)


def _separator(format: SourceFormat, delimiter: str | None) -> str:
    if delimiter is None:
        return "," if format == "csv" else "\t"
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '\r\n"':
        raise ValueError(f"delimiter must be one ASCII character, no quote and no line end, found {delimiter!r}")
    return delimiter


def _is_utf_8(encoding: str) -> bool:
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8")


def _fields(path: Path, found: Iterator[tuple[int, list[str]]], width: int, place: int) -> Iterator[tuple[str, Row]]:
    for line, fields in found:
        if len(fields) != width:
            number = "1 field" if len(fields) == 1 else f"{len(fields)} fields"
            raise MalformedFileError(path, line, f"found {number}, expected {width} as in the header")
        yield fields[place], fields


def _objects(path: Path, lines: Iterator[str], text: str | None, prefer: str | None) -> Source:
    numbered = ((number, line) for number, line in enumerate(lines, start=1) if line.strip())
    first = next(numbered, None)
    if first is None:
        raise ValueError(f"{path} is empty, expected one JSON object a line")
    column = choose_text(path, list(_object(path, *first)), text, prefer)

    def rows() -> Iterator[tuple[str, Row]]:
        for number, line in chain([first], numbered):
            row = _object(path, number, line)
            if column not in row:
                raise MalformedFileError(path, number, f"no key {column!r}; its keys are {', '.join(map(repr, row))}")
            yield _text(path, number, column, row[column]), row

    return Source("jsonl", None, column, in_blocks(rows()))


def _object(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise MalformedFileError(path, number, f"not JSON: {error}") from error
    if not isinstance(row, dict):
        raise MalformedFileError(path, number, f"expected a JSON object, found {type(row).__name__}")
    return row


def _text(path: Path, number: int, column: str, value: Any) -> str:
    """Return a cell as text; a missing one is an empty text."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise MalformedFileError(path, number, f"{column!r} must be a string, found {type(value).__name__}")
    return value


def _plain(lines: Iterator[str]) -> Iterator[tuple[str, Row]]:
    for line in lines:
        content = line.rstrip("\r\n")
        yield content, [content]


def _frame(path: Path, column: str) -> Iterator[tuple[str, Row]]:
    for number, row in frame_rows(path, frame_columns(path)):
        yield _text(path, number, column, row[column]), row


def _folder(path: Path, encoding: str) -> Iterator[tuple[str, Row]]:
    for file in sorted(path.rglob("*")):
        name = file.relative_to(path)
        if file.is_file() and not is_hidden(name):
            try:
                content = file.read_text(encoding=encoding)
            except UnicodeDecodeError as error:
                raise ValueError(f"{file} is not {encoding}: {error.reason} at byte {error.start}") from error
            yield content, {"id": name.as_posix()}


def _format(path: Path, format: SourceFormat | None) -> SourceFormat:
    if format is not None:
        if not path.exists():
            raise FileNotFoundError(f"{path} does not exist")
        return format
    if path.is_file() and path.suffix.lower() in ("", ".txt", ".text"):
        return "lines"
    found = format_of(path)
    if found == "svmlight":
        raise ValueError(f"{path} holds vectors, not texts; expected texts to count words in")
    return found


def _format_of_line(line: str, column: str | None) -> SourceFormat:
    """Tell the format of standard input from its first line."""
    if line.lstrip("\ufeff \t").startswith("{"):
        return "jsonl"
    for format, mark in (("tsv", "\t"), ("csv", ",")):
        names = [name.strip().strip('"') for name in line.rstrip("\r\n").split(mark)]
        if column in names or (len(names) > 1 and any(name.lower() in USUAL["text"] for name in names)):
            return format  # type: ignore[return-value]
    return "lines"


@contextmanager
def _standard_input(encoding: str) -> Iterator[TextIOWrapper]:
    encoding = "utf-8-sig" if _is_utf_8(encoding) else encoding
    stream = TextIOWrapper(sys.stdin.buffer, encoding=encoding, newline="")
    try:
        yield stream
    except UnicodeDecodeError as error:
        raise ValueError(f"standard input is not {error.encoding}: {error.reason}") from error
    finally:
        # The interpreter closes it; a second wrapper must not.
        stream.detach()
