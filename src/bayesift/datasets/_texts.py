"""Texts one block after the other, with the rows they are in: from files, folders and standard input."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from bayesift._files import check_encoding
from bayesift.datasets._columns import USUAL_NAMES, check_columns, guess_column
from bayesift.datasets._csv_scan import CsvScanner
from bayesift.datasets._files import is_hidden
from bayesift.datasets._formats import check_exists, format_of, vectors_error
from bayesift.datasets._inputs import STANDARD_INPUT, is_utf_8, open_bytes, open_lines
from bayesift.datasets._json_lines import json_table
from bayesift.datasets._limits import cell_limit, check_lines
from bayesift.datasets._tables import csv_table, open_table, separator_of
from bayesift.datasets.errors import CellTooLongError, EncodingError, MalformedFileError, listed_names

TextFormat = Literal["csv", "tsv", "jsonl", "lines", "parquet", "folder"]

#: What a text is in: the fields of a line, or values by name.
TextRow = list[Any] | dict[str, Any]

#: Texts and characters in a block: enough to make full use of both cores, few enough to be forgotten quickly.
BLOCK_TEXTS = 20_000
BLOCK_CHARACTERS = 1 << 22


class TextBlock:
    """Some texts and the rows they are in.

    Parameters
    ----------
    texts : list of str
        The texts.
    rows : list
        The rows, a list of fields or a dict each; left out where there are lines.
    lines : list of bytes, optional
        The rows as they are in the file, without line ends.
    parse : callable, optional
        Makes fields of a line.
    """

    def __init__(
        self,
        texts: list[str],
        rows: list[TextRow] | None = None,
        *,
        lines: list[bytes] | None = None,
        parse: Callable[[bytes], list[str]] | None = None,
    ) -> None:
        self.texts = texts
        self.lines = lines
        self._rows = rows
        self._parse = parse

    @property
    def rows(self) -> list[TextRow]:
        """The rows; those of a scanned CSV file are parsed only when they are asked for."""
        if self._rows is None:
            assert self.lines is not None
            assert self._parse is not None
            self._rows = [self._parse(line) for line in self.lines]
        return self._rows


@dataclass(frozen=True)
class TextStream:
    """Texts with their rows, a block at a time.

    Parameters
    ----------
    format : {"csv", "tsv", "jsonl", "lines", "parquet", "folder"}
        How they are read.
    columns : list of str or None
        Names of the fields; None where rows are dicts.
    text : str or None
        The column of the texts; None where there are no columns.
    blocks : iterator of TextBlock
        The texts; they can be gone through once.
    delimiter : str or None
        The field separator, where blocks have ``lines`` that can be copied as they are.
    """

    format: TextFormat
    columns: list[str] | None
    text: str | None
    blocks: Iterator[TextBlock]
    delimiter: str | None = None


@contextmanager
def open_texts(
    path: str | os.PathLike[str],
    text: str | None = None,
    *,
    prefer: str | None = None,
    format: TextFormat | None = None,
    encoding: str = "utf-8",
    delimiter: str | None = None,
    quotes: bool = True,
    exact: bool = True,
    max_cell: int | None = None,
) -> Iterator[TextStream]:
    r"""Open a file, a folder, or standard input to go through its texts in constant memory.

    Texts need no labels. CSV and TSV files in UTF-8 are scanned by compiled code, which also returns
    rows as the bytes they are.

    Parameters
    ----------
    path : path or "-"
        CSV, TSV, JSONL, Parquet or plain text (a text in each line), decompressed while reading; a folder, in which
        each file is a text; or ``-``, standard input.
    text : str, optional
        The column of the texts; else ``prefer`` if the file has it, else the only one with a usual name, else the only
        one.
    prefer : str, optional
        The column of the texts that a model learned from.
    format : {"csv", "tsv", "jsonl", "lines", "parquet", "folder"}, optional
        The format, where the name does not show it; files with the ending ``.txt`` or without any are plain text. The
        format of standard input is recognised by its first line.
    encoding, delimiter, quotes
        As in :func:`read`.
    exact : bool, default=True
        Whether doubled quotes within texts must become single ones.
    max_cell : int, optional
        The longest cell, row or line, or file of a folder, in bytes; see :func:`read`.

    Yields
    ------
    TextStream

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from bayesift.datasets import open_texts
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "mail.csv"
    ...     _ = path.write_text("id,text\n7,buy now\n")
    ...     with open_texts(path) as stream:
    ...         print([(block.texts, block.rows) for block in stream.blocks])
    [(['buy now'], [['7', 'buy now']])]
    """
    check_encoding(encoding)
    limit = cell_limit(max_cell)
    standard_input = str(path) == "-"
    name = STANDARD_INPUT if standard_input else Path(path)
    found = format if standard_input else _format(name, format)
    if found == "folder":
        yield TextStream("folder", None, None, _in_blocks(_folder(name, encoding, limit)))
    elif found == "parquet":
        with open_table(name, format="parquet") as table:
            column = _choose(name, table.columns, text, prefer)
            yield TextStream("parquet", None, column, _in_blocks(_checked(name, table.rows(), column, "row")))
    elif found in ("csv", "tsv") and not standard_input and _can_scan(encoding, separator_of(found, delimiter)):
        separator = separator_of(found, delimiter)
        with open_bytes(name) as content:
            scanner = CsvScanner(content, name, separator, quotes, limit)
            column = _choose(name, scanner.columns, text, prefer)
            scanned = scanner.blocks(scanner.columns.index(column), exact=exact)
            blocks = (TextBlock(texts, lines=lines, parse=scanner.fields) for texts, lines in scanned)
            yield TextStream(found, scanner.columns, column, blocks, separator)
    else:
        with open_lines(path, encoding, limit) as lines:
            if found is None:
                first = next(lines, "")
                lines = chain([first] if first else [], lines)
                found = _format_of_line(first, text or prefer)
            yield _from_lines(name, found, lines, limit, text, prefer, delimiter, quotes)


def folder_texts(path: Path, encoding: str, limit: int) -> Iterator[tuple[Path, str]]:
    """Return the files of a folder and of those in it, sorted, with their texts; hidden ones do not count."""
    for file in sorted(path.rglob("*")):
        name = file.relative_to(path)
        if not file.is_file() or is_hidden(name):
            continue
        with file.open("rb") as stream:
            content = stream.read(limit + 1)
        if len(content) > limit:
            raise CellTooLongError(file, 1, limit)
        try:
            yield name, content.decode(encoding)
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise EncodingError(file, line, error.encoding, error.reason) from error


def _in_blocks(rows: Iterable[tuple[str, TextRow]]) -> Iterator[TextBlock]:
    """Gather texts and their rows into blocks."""
    texts: list[str] = []
    kept: list[TextRow] = []
    size = 0
    for text, row in rows:
        texts.append(text)
        kept.append(row)
        size += len(text)
        if len(texts) >= BLOCK_TEXTS or size >= BLOCK_CHARACTERS:
            yield TextBlock(texts, kept)
            texts, kept, size = [], [], 0
    if texts:
        yield TextBlock(texts, kept)


def _choose(path: Path, columns: list[str], text: str | None, prefer: str | None) -> str:
    """Choose the column of the texts."""
    check_columns(path, columns, text=text)
    if text is not None:
        return text
    if prefer is not None and prefer in columns:
        return prefer
    problem = "" if prefer is None else f"the model learned from {prefer!r}"
    return str(guess_column(path, "text", columns, columns, problem))


def _from_lines(
    path: Path,
    format: TextFormat,
    lines: Iterator[str],
    limit: int,
    text: str | None,
    prefer: str | None,
    delimiter: str | None,
    quotes: bool,
) -> TextStream:
    if format == "lines":
        contents = (line.rstrip("\r\n") for line in check_lines(path, lines, limit))
        return TextStream("lines", ["text"], "text", _in_blocks((content, [content]) for content in contents))
    if format == "jsonl":
        keys, objects = json_table(path, lines, limit)
        column = _choose(path, keys, text, prefer)
        return TextStream("jsonl", None, column, _in_blocks(_checked(path, objects, column, "line")))
    header, fields = csv_table(path, lines, separator_of(format, delimiter), quotes, limit)
    column = _choose(path, header, text, prefer)
    place = header.index(column)
    return TextStream(format, header, column, _in_blocks((row[place], row) for _, row in fields))


def _checked(
    path: Path, rows: Iterable[tuple[int, dict[str, Any]]], column: str, unit: str
) -> Iterator[tuple[str, TextRow]]:
    """Return texts and rows; a missing value is an empty text, a missing key an error."""
    for number, row in rows:
        if column not in row:
            raise MalformedFileError(path, number, f"no key {column!r}; its keys are {listed_names(row)}")
        value = row[column]
        if value is not None and not isinstance(value, str):
            found = type(value).__name__
            raise MalformedFileError(path, number, f"{column!r} must be a string, found {found}", unit=unit)
        yield value or "", row


def _folder(path: Path, encoding: str, limit: int) -> Iterator[tuple[str, TextRow]]:
    for name, text in folder_texts(path, encoding, limit):
        yield text, {"id": name.as_posix()}


def _can_scan(encoding: str, separator: str) -> bool:
    return is_utf_8(encoding) and separator.isascii()


def _format(path: Path, format: TextFormat | None) -> TextFormat:
    if format is not None:
        check_exists(path)
        return format
    if path.is_file() and path.suffix.lower() in ("", ".txt", ".text"):
        return "lines"
    found = format_of(path)
    if found == "svmlight":
        raise vectors_error(path)
    return found


def _format_of_line(line: str, column: str | None) -> TextFormat:
    """Tell the format of standard input from its first line."""
    if line.lstrip("\ufeff \t").startswith("{"):
        return "jsonl"
    formats: tuple[tuple[TextFormat, str], ...] = (("tsv", "\t"), ("csv", ","))
    for format, mark in formats:
        names = [name.strip().strip('"') for name in line.rstrip("\r\n").split(mark)]
        if column in names or (len(names) > 1 and any(name.lower() in USUAL_NAMES["text"] for name in names)):
            return format
    return "lines"
