"""Rows of CSV, TSV, JSONL and Parquet files, each with the number of its line."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bayesift.datasets._formats import Format, format_of
from bayesift.datasets._inputs import Input, open_lines
from bayesift.datasets._json_lines import Row, json_table
from bayesift.datasets._limits import cell_limit
from bayesift.datasets._parquet import parquet_columns, parquet_rows
from bayesift.datasets.errors import CellTooLongError, FormatError, MalformedFileError

# The largest C long on every platform; csv's own limit, 128 KiB a field, is meant for spreadsheets.
_FIELD_LIMIT = 2**31 - 1


@dataclass(frozen=True)
class Table:
    """A table that is open: the names of its columns, and its rows as they are asked for, once.

    Parameters
    ----------
    name : Path
        The file, for messages.
    format : {"csv", "tsv", "jsonl", "parquet"}
        Its format.
    columns : list of str
        The header of a CSV file, the keys of the first object of a JSONL file, or the columns of a Parquet file.
    read : callable
        Returns the rows; takes the columns that are needed, all if None, where a format can leave out others.
    """

    name: Path
    format: Format
    columns: list[str]
    read: Callable[[Sequence[str] | None], Iterator[Row]]

    def rows(self, columns: Sequence[str] | None = None) -> Iterator[Row]:
        """Return the rows with their numbers.

        Parameters
        ----------
        columns : sequence of str, optional
            The columns that are needed; all by default. Only Parquet files leave out the others.

        Returns
        -------
        iterator of (int, dict)
            Number of the line (or, for Parquet, of the row), counted from 1, and cells by column.
        """
        return self.read(columns)


@contextmanager
def open_table(
    source: Input,
    *,
    format: Format | None = None,
    encoding: str = "utf-8",
    delimiter: str | None = None,
    quotes: bool = True,
    strict: bool = True,
    max_cell: int | None = None,
) -> Iterator[Table]:
    r"""Open a CSV, TSV, JSONL or Parquet file for reading row by row; Parquet files are read whole.

    Parameters
    ----------
    source : path or bytes
        The file, decompressed while reading if its name ends with ``.gz``, ``.xz`` or ``.bz2``; or its content.
    format : {"csv", "tsv", "jsonl", "parquet"}, optional
        The format, where the name does not show it; content is CSV by default.
    encoding, delimiter, quotes
        As in :func:`read`.
    strict : bool, default=True
        Whether rows of too few or too many fields, and text after a closing quote, are errors in CSV and TSV files;
        otherwise missing cells are empty and surplus ones are dropped.
    max_cell : int, optional
        The longest cell or row, in bytes; see :func:`read`.

    Yields
    ------
    Table

    Examples
    --------
    >>> from bayesift.datasets import open_table
    >>> with open_table(b"id;label\n7;spam\n", delimiter=";") as table:
    ...     print(table.columns, *table.rows())
    ['id', 'label'] (2, {'id': '7', 'label': 'spam'})
    """
    name = Path("the file") if isinstance(source, bytes) else Path(source)
    found = (format or "csv") if isinstance(source, bytes) else format_of(name, format)
    if found == "parquet":
        yield Table(name, found, parquet_columns(name), lambda columns: parquet_rows(name, columns))
        return
    if found in ("folder", "svmlight"):
        raise FormatError(name, found, f"{name} is read as {found}, which has no columns; expected a table")
    limit = cell_limit(max_cell)
    with open_lines(source, encoding, limit) as lines:
        if found == "jsonl":
            columns, objects = json_table(name, lines, limit)
            yield Table(name, found, columns, lambda _: objects)
        else:
            columns, fields = csv_table(name, lines, separator_of(found, delimiter), quotes, limit, strict)
            rows = ((line, dict(zip(columns, row, strict=True))) for line, row in fields)
            yield Table(name, found, columns, lambda _: rows)


def separator_of(format: str, delimiter: str | None) -> str:
    """Return the field separator of a CSV or TSV file."""
    if delimiter is None:
        return "," if format == "csv" else "\t"
    if len(delimiter) != 1 or delimiter in '\r\n"':
        raise ValueError(f"delimiter must be one character, neither a quote nor a line end, found {delimiter!r}")
    return delimiter


def csv_table(
    name: Path, lines: Iterable[str], separator: str, quotes: bool, limit: int, strict: bool = True
) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """Return the header of a CSV or TSV file and, with the number of the line it begins in, each row after it.

    A row, which may have several lines, is not longer than the limit.
    """
    fields = _csv_fields(name, lines, separator, quotes, limit, strict)
    header = next(fields, (1, []))[1]
    if strict and not header:
        raise ValueError(f"{name} is empty, expected a header line and one line per document")
    return header, fields


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
                        raise wrong_width(name, begin, len(row), width)
                    row = [*row, *[""] * (width - len(row))][:width]
                yield begin, row
            begin, size = reader.line_num + 1, 0
    except csv.Error as error:
        raise MalformedFileError(name, begin, str(error)) from error


def wrong_width(name: Path, line: int, n_fields: int, width: int) -> MalformedFileError:
    """Return the error for a row that has not as many fields as the header."""
    found = "1 field" if n_fields == 1 else f"{n_fields} fields"
    return MalformedFileError(name, line, f"found {found}, expected {width} as in the header")
