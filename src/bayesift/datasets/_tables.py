"""Rows of CSV, TSV, JSONL, JSON, Parquet and Excel files, each with the number of its line."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BufferedReader
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple

from bayesift.datasets._dialect import check_header, detect_delimiter, numbered_columns
from bayesift.datasets._formats import Format, format_of
from bayesift.datasets._inputs import Input, lines_of, name_of, open_utf_8
from bayesift.datasets._json import JSON_PIECE, Row, json_objects, json_table
from bayesift.datasets._limits import cell_limit
from bayesift.datasets._parquet import parquet_columns, parquet_rows
from bayesift.datasets._recoding import beginning
from bayesift.datasets._xlsx import open_workbook
from bayesift.datasets.errors import UNCLOSED, CellTooLongError, FormatError, MalformedFileError, QuoteError

# The largest C long on every platform; csv's own limit, 128 KiB per field, is meant for spreadsheets.
_FIELD_LIMIT = 2**31 - 1


@dataclass(frozen=True)
class Table:
    """An open table: the names of its columns, and its rows, which can be read once.

    Parameters
    ----------
    name : Path
        The file, for messages.
    format : {"csv", "tsv", "jsonl", "json", "parquet", "xlsx"}
        Its format.
    columns : list of str
        The header of a CSV file, the keys of the first object of a JSONL file, or the columns of a Parquet file.
    read : callable
        Returns the rows; takes the columns that are needed (None for all), for formats that can leave out others.
    notes : list of str
        What was detected, such as the encoding, a sentence each; complete when all rows have been read.
    """

    name: Path
    format: Format
    columns: list[str]
    read: Callable[[Sequence[str] | None], Iterator[Row]]
    notes: list[str] = field(default_factory=list)

    def rows(self, columns: Sequence[str] | None = None) -> Iterator[Row]:
        """Return the rows with their numbers.

        Parameters
        ----------
        columns : sequence of str, optional
            The columns that are needed; all by default. Only Parquet files leave out the others.

        Returns
        -------
        iterator of (int, dict)
            Number of the line (or, for Parquet and Excel, of the row; for JSON, of the object), counted from 1, and
            cells by column.
        """
        return self.read(columns)


@contextmanager
def open_table(
    source: Input,
    *,
    format: Format | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    quotes: bool = True,
    header: bool | None = None,
    strict: bool = True,
    max_cell: int | None = None,
    wanted: Collection[str] = (),
) -> Iterator[Table]:
    r"""Open a CSV, TSV, JSONL, JSON, Parquet or Excel file for reading row by row; Parquet files are read whole.

    Parameters
    ----------
    source : path or bytes
        The file, decompressed while reading if its name ends with ``.gz``, ``.xz`` or ``.bz2``; or its content.
    format : {"csv", "tsv", "jsonl", "json", "parquet", "xlsx"}, optional
        The format, if the name does not show it; content is CSV by default.
    encoding, delimiter, quotes, header
        As in :func:`read`.
    strict : bool, default=True
        Whether rows with too few or too many fields, and text after a closing quote, are errors in CSV and TSV files;
        otherwise missing cells are empty and extra ones are dropped.
    max_cell : int, optional
        The longest cell or row, in bytes; see :func:`read`.
    wanted : collection of str
        Names of columns that the file should have; they help to detect how it is written.

    Yields
    ------
    Table

    Examples
    --------
    >>> from bayesift.datasets import open_table
    >>> with open_table(b"id;label\n7;spam\n") as table:
    ...     print(table.columns, *table.rows(), *table.notes)
    ['id', 'label'] (2, {'id': '7', 'label': 'spam'}) fields separated by ';'
    """
    name = name_of(source)
    found = format_of(name, format) if isinstance(source, str | os.PathLike) else (format or "csv")
    notes: list[str] = []
    limit = cell_limit(max_cell)
    if found in ("folder", "svmlight"):
        raise FormatError(name, found, f"{name} is read as {found}, which has no columns; expected a table")
    if found in ("parquet", "xlsx") and not isinstance(source, str | os.PathLike):
        raise FormatError(name, found, f"{name} is read as {found}; expected a file with a name")
    if found == "parquet":
        yield Table(name, found, parquet_columns(name), lambda columns: parquet_rows(name, columns))
        return
    if found == "xlsx":
        with open_workbook(name, limit, header, tuple(wanted), notes.append) as (columns, cells):
            yield Table(name, found, columns, lambda _: _named(columns, cells), notes)
        return
    with open_utf_8(source, encoding, notes.append) as content:
        if found in ("csv", "tsv"):
            way = csv_dialect(name, content, found, delimiter, quotes, header if strict else True, wanted, notes.append)
            with lines_of(content, limit) as lines:
                columns, fields = csv_table(name, lines, way, limit, strict)
                yield Table(name, found, columns, lambda _: _named(columns, fields), notes)
            return
        found = json_format(found, content, notes.append)
        with lines_of(content, limit if found == "jsonl" else JSON_PIECE) as lines:
            columns, objects = (json_table if found == "jsonl" else json_objects)(name, lines, limit)
            yield Table(name, found, columns, lambda _: objects, notes)


def _named(columns: list[str], rows: Iterable[tuple[int, list[str]]]) -> Iterator[Row]:
    return ((number, dict(zip(columns, row, strict=True))) for number, row in rows)


def json_format(format: str, content: BufferedReader, tell: Callable[[str], None]) -> Literal["json", "jsonl"]:
    """Return ``"json"`` for a file that is called JSONL but begins like an array, as no line of JSONL does."""
    if format == "jsonl" and beginning(content)[0].lstrip().startswith("["):
        tell("a JSON array, not JSON lines")
        return "json"
    return "jsonl" if format == "jsonl" else "json"


class Dialect(NamedTuple):
    """How a CSV file is written."""

    delimiter: str
    quotes: bool
    has_header: bool


def csv_dialect(
    name: Path,
    content: BufferedReader,
    format: str,
    delimiter: str | None,
    quotes: bool,
    header: bool | None,
    wanted: Collection[str],
    tell: Callable[[str], None],
) -> Dialect:
    """Detect how a CSV or TSV file is written from its beginning, unless the caller has said so."""
    separator = separator_of(format, delimiter)
    head, whole = ("", False) if delimiter is not None and header is not None else beginning(content)
    if delimiter is None:
        found = detect_delimiter(head, whole, separator, quotes, wanted)
        if found != separator:
            tell(f"fields separated by {found!r}")
        separator = found
    if header is None:
        check_header(name, head, whole, separator, quotes, wanted)
    return Dialect(separator, quotes, header is not False)


def separator_of(format: str, delimiter: str | None) -> str:
    """Return the field separator of a CSV or TSV file."""
    if delimiter is None:
        return "," if format == "csv" else "\t"
    if len(delimiter) != 1 or delimiter in '\r\n"':
        raise ValueError(f"delimiter must be one character, neither a quote nor a line end, found {delimiter!r}")
    return delimiter


def csv_table(
    name: Path, lines: Iterable[str], way: Dialect, limit: int, strict: bool = True
) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """Return the columns of a CSV or TSV file and, with the number of the line it begins in, each row.

    A row, which may span several lines, is not longer than the limit.
    """
    fields = _csv_fields(name, lines, way.delimiter, way.quotes, limit, strict)
    first = next(fields, (1, []))
    if strict and not first[1]:
        raise ValueError(f"{name} is empty, expected a header line and one line per document")
    if way.has_header:
        return first[1], fields
    return numbered_columns(first[1]), chain([first], fields)


def _csv_fields(
    name: Path, lines: Iterable[str], separator: str, quotes: bool, limit: int, strict: bool
) -> Iterator[tuple[int, list[str]]]:
    begin, width, size = 1, 0, 0

    def short_rows() -> Iterator[str]:
        nonlocal size
        for line in lines:
            size += len(line)
            if size > limit:
                raise CellTooLongError(name, begin, limit)
            yield line

    csv.field_size_limit(_FIELD_LIMIT)
    reader = csv.reader(
        short_rows(), delimiter=separator, quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE, strict=strict
    )
    try:
        for row in reader:
            # Blank lines are not rows.
            if row:
                width = width or len(row)
                if len(row) != width:
                    if strict:
                        raise wrong_width(name, begin, len(row), width, separator if quotes else None)
                    row = [*row, *[""] * (width - len(row))][:width]
                yield begin, row
            begin, size = reader.line_num + 1, 0
    except csv.Error as error:
        problem = UNCLOSED if str(error) == "unexpected end of data" else str(error)
        raise (QuoteError if quotes else MalformedFileError)(name, begin, problem) from error


def wrong_width(name: Path, line: int, n_fields: int, width: int, quotable: str | None) -> MalformedFileError:
    """Return the error for a row that does not have as many fields as the header.

    ``quotable`` is the separator where quotes can hide it; None where they are characters like any other.
    """
    found = "1 field" if n_fields == 1 else f"{n_fields} fields"
    remedy = f"; a field with {quotable!r} in it needs quotes around it" if quotable and n_fields > width else ""
    return MalformedFileError(name, line, f"found {found}, expected {width} as in the header{remedy}")
