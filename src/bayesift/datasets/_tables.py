"""Rows of CSV, TSV, JSONL and Parquet files, each with the number of its line."""

from __future__ import annotations

import codecs
import csv
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from io import BytesIO, TextIOWrapper
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import IO, Any, cast

from bayesift._extras import require
from bayesift._files import check_encoding
from bayesift.datasets._files import open_packed
from bayesift.datasets._formats import Format, format_of
from bayesift.datasets.errors import DamagedFileError, EncodingError, FormatError, MalformedFileError

#: What can be read: a file, standard input (``-``), or the content of a file.
Input = str | os.PathLike[str] | bytes

#: The number of a line, or of a row where there are no lines, and its cells by column.
Row = tuple[int, dict[str, Any]]

STANDARD_INPUT = Path("standard input")

# The largest C long on every platform; csv's own limit, 128 KiB a field, is meant for spreadsheets.
_FIELD_LIMIT = 2**31 - 1

#: Bytes of a stream that are taken at once; from a pipe, what there is.
_CHUNK = 1 << 20


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
        yield Table(name, found, parquet_columns(name), lambda columns: _parquet_rows(name, columns))
        return
    if found in ("folder", "svmlight"):
        raise FormatError(name, found, f"{name} is read as {found}, which has no columns; expected a table")
    with open_lines(source, encoding) as lines:
        if found == "jsonl":
            columns, objects = json_table(name, lines)
            yield Table(name, found, columns, lambda _: objects)
        else:
            columns, fields = csv_table(name, lines, separator_of(found, delimiter), quotes, strict)
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
    name: Path, lines: Iterable[str], separator: str, quotes: bool, strict: bool = True
) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """Return the header of a CSV or TSV file and, with the number of the line it begins in, each row after it."""
    fields = _csv_fields(name, lines, separator, quotes, strict)
    header = next(fields, (1, []))[1]
    if strict and not header:
        raise ValueError(f"{name} is empty, expected a header line and one line per document")
    return header, fields


def _csv_fields(
    name: Path, lines: Iterable[str], separator: str, quotes: bool, strict: bool
) -> Iterator[tuple[int, list[str]]]:
    csv.field_size_limit(_FIELD_LIMIT)
    reader = csv.reader(
        lines, delimiter=separator, quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE, strict=strict
    )
    begin, width = 1, 0
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
            begin = reader.line_num + 1
    except csv.Error as error:
        raise MalformedFileError(name, begin, str(error)) from error


def wrong_width(name: Path, line: int, n_fields: int, width: int) -> MalformedFileError:
    """Return the error for a row that has not as many fields as the header."""
    found = "1 field" if n_fields == 1 else f"{n_fields} fields"
    return MalformedFileError(name, line, f"found {found}, expected {width} as in the header")


def json_table(name: Path, lines: Iterable[str]) -> tuple[list[str], Iterator[Row]]:
    """Return the keys of the first object of a JSONL file, and all its objects."""
    numbered = ((number, line) for number, line in enumerate(lines, start=1) if line.strip())
    objects = ((number, _object(name, number, line)) for number, line in numbered)
    first = next(objects, None)
    if first is None:
        raise ValueError(f"{name} is empty, expected one JSON object per line")
    return list(first[1]), chain([first], objects)


def stream_objects(path: str | os.PathLike[str], *, skip: int = 0) -> Iterator[list[Row]]:
    """Return the objects of a JSONL file in UTF-8 as they arrive, without waiting for the end of a live stream.

    Parameters
    ----------
    path : path or "-"
        The file, or standard input.
    skip : int, default=0
        How many objects to leave out at the beginning; they are not parsed.

    Returns
    -------
    iterator of list of (int, dict)
        Those that can be read without waiting for more: number of the line, counted from 1, and the object.
    """
    name = _name(path)
    number = 0
    with open_bytes(path) as stream:
        for lines in _available_lines(stream):
            batch: list[Row] = []
            for line in lines:
                number += 1
                if not line.strip():
                    continue
                if skip > 0:
                    skip -= 1
                    continue
                batch.append((number, _object(name, number, line)))
            if batch:
                yield batch


def _available_lines(stream: Any) -> Iterator[list[bytes]]:
    """Return the lines that there are without waiting for more."""
    rest = b""
    while chunk := stream.read1(_CHUNK):
        *lines, rest = (rest + chunk).split(b"\n")
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
        raise MalformedFileError(name, number, "not JSON: nested too deeply") from error
    except UnicodeDecodeError as error:
        raise EncodingError(name, number, error.encoding, error.reason) from error
    if not isinstance(row, dict):
        raise MalformedFileError(name, number, f"expected a JSON object, found {type(row).__name__}")
    return row


def parquet_columns(path: Path) -> list[str]:
    """Read the columns of a Parquet file."""
    with path.open("rb") as stream:
        if stream.read(4) != b"PAR1":
            raise FormatError(path, "parquet", f"{path} is not a Parquet file")
    package = _parquet_package()
    with _damage(path, package):
        if package.__name__ == "polars":
            return list(package.read_parquet_schema(path))
        return list(package.read_schema(path).names)


def _parquet_rows(path: Path, columns: Sequence[str] | None) -> Iterator[Row]:
    """Return the rows of a Parquet file, numbered from 1, by polars or else by pyarrow."""
    names = parquet_columns(path) if columns is None else list(columns)
    package = _parquet_package()
    with _damage(path, package):
        if package.__name__ == "polars":
            frame = package.read_parquet(path, columns=names)
            values = [frame[name].to_list() for name in names]
        else:
            table = package.read_table(path, columns=names)
            values = [table.column(name).to_pylist() for name in names]
    for number, row in enumerate(zip(*values, strict=True), start=1):
        yield number, dict(zip(names, row, strict=True))


def _parquet_package() -> ModuleType:
    name = "polars" if find_spec("polars") else "pyarrow.parquet"
    return require(name, extra="frames", purpose="Parquet files")


@contextmanager
def _damage(path: Path, package: ModuleType) -> Iterator[None]:
    """Turn what a package says of a damaged file, which does not name it, into an error that does."""
    own = (package.exceptions.PolarsError,) if package.__name__ == "polars" else ()
    try:
        yield
    except (ValueError, OSError, *own) as error:
        raise DamagedFileError(path, error) from error


@contextmanager
def open_bytes(source: Input) -> Iterator[IO[bytes]]:
    """Open a file, standard input (``-``, which stays open) or content for reading bytes, unpacked."""
    if isinstance(source, bytes):
        yield BytesIO(source)
    elif str(source) == "-":
        yield sys.stdin.buffer
    else:
        with open_packed(Path(source)) as stream:
            yield stream


@contextmanager
def open_lines(source: Input, encoding: str) -> Iterator[TextIOWrapper]:
    """Open a file, standard input or content for reading text; a byte that does not decode is an EncodingError."""
    check_encoding(encoding)
    # A mark at the beginning of the file, as spreadsheets write it, is not part of the first column's name.
    encoding = "utf-8-sig" if is_utf_8(encoding) else encoding
    with open_bytes(source) as content:
        stream = TextIOWrapper(cast(Any, content), encoding=encoding, newline="")
        try:
            yield stream
        except UnicodeDecodeError as error:
            line = None if str(source) == "-" else _undecodable_line(source, encoding)
            raise EncodingError(_name(source), line, error.encoding, error.reason) from error
        finally:
            # Whoever opened the bytes closes them.
            stream.detach()


def is_utf_8(encoding: str) -> bool:
    """Tell whether an encoding is UTF-8, by any of its usual names."""
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8")


def _undecodable_line(source: Input, encoding: str) -> int:
    """Find the first line with a byte that does not decode."""
    decoder = codecs.getincrementaldecoder(encoding)()
    lines = 0
    with open_bytes(source) as content:
        for line in content:
            lines += 1
            try:
                decoder.decode(line)
            except UnicodeDecodeError:
                break
    return lines


def _name(source: Input) -> Path:
    """Return what to call it in messages."""
    if isinstance(source, bytes):
        return Path("the file")
    return STANDARD_INPUT if str(source) == "-" else Path(source)
