"""Rows of CSV, TSV, JSONL and Parquet files, each with the number of its line."""

from __future__ import annotations

import codecs
import csv
import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from io import TextIOWrapper
from pathlib import Path
from types import ModuleType
from typing import Any

from bayesift._extras import require
from bayesift.datasets._errors import DamagedFileError, MalformedFileError
from bayesift.datasets._source import open_packed

Row = tuple[int, dict[str, Any]]

# The largest C long on every platform; csv's own limit, 128 KiB a field, is meant for spreadsheets.
_FIELD_LIMIT = 2**31 - 1


def csv_columns(path: Path, delimiter: str, encoding: str, quotes: bool) -> list[str]:
    """Read the header of a CSV or TSV file."""
    with _opened(path, encoding) as stream:
        header = next((row for _, row in _csv_lists(path, stream, delimiter, quotes)), None)
    if header is None:
        raise ValueError(f"{path} is empty, expected a header line and one line per document")
    return header


def csv_rows(path: Path, delimiter: str, encoding: str, quotes: bool) -> Iterator[Row]:
    """Return the rows after the header."""
    with _opened(path, encoding) as stream:
        lists = _csv_lists(path, stream, delimiter, quotes)
        _, header = next(lists)
        for line, fields in lists:
            if len(fields) != len(header):
                found = "1 field" if len(fields) == 1 else f"{len(fields)} fields"
                raise MalformedFileError(path, line, f"found {found}, expected {len(header)} as in the header")
            yield line, dict(zip(header, fields, strict=True))


def json_columns(path: Path, encoding: str) -> list[str]:
    """Read the keys of the first object of a JSONL file."""
    for _, row in json_rows(path, encoding):
        return list(row)
    raise ValueError(f"{path} is empty, expected one JSON object a line")


def json_rows(path: Path, encoding: str) -> Iterator[Row]:
    """Return the objects of a JSONL file."""
    with _opened(path, encoding) as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except json.JSONDecodeError as error:
                raise MalformedFileError(path, number, f"not JSON: {error.msg} (column {error.colno})") from error
            if not isinstance(row, dict):
                raise MalformedFileError(path, number, f"expected a JSON object, found {type(row).__name__}")
            yield number, row


def frame_columns(path: Path) -> list[str]:
    """Read the columns of a Parquet file."""
    with path.open("rb") as stream:
        if stream.read(4) != b"PAR1":
            raise ValueError(f"{path} is not a Parquet file")
    package = _parquet_package()
    with _damage(path, package):
        if package.__name__ == "polars":
            return list(package.read_parquet_schema(path))
        return list(package.read_schema(path).names)


def frame_rows(path: Path, columns: list[str]) -> Iterator[Row]:
    """Return the rows of a Parquet file, numbered from 1, by polars or else by pyarrow."""
    package = _parquet_package()
    with _damage(path, package):
        if package.__name__ == "polars":
            frame = package.read_parquet(path, columns=columns)
            values = [frame[name].to_list() for name in columns]
        else:
            table = package.read_table(path, columns=columns)
            values = [table.column(name).to_pylist() for name in columns]
    for number, row in enumerate(zip(*values, strict=True), start=1):
        yield number, dict(zip(columns, row, strict=True))


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


def _csv_lists(path: Path, stream: TextIOWrapper, delimiter: str, quotes: bool) -> Iterator[tuple[int, list[str]]]:
    """Return each row that is not blank with the number of the line it begins in."""
    csv.field_size_limit(_FIELD_LIMIT)
    reader = csv.reader(
        stream,
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE,
        strict=True,
    )
    begin = 1
    try:
        for row in reader:
            if row:
                yield begin, row
            begin = reader.line_num + 1
    except csv.Error as error:
        raise MalformedFileError(path, begin, str(error)) from error


@contextmanager
def _opened(path: Path, encoding: str) -> Iterator[TextIOWrapper]:
    """Open a text file; a byte that does not decode becomes an error with the number of its line."""
    # A mark at the beginning of the file, as spreadsheets write it, is not part of the first column's name.
    encoding = "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding
    with open_packed(path) as packed, TextIOWrapper(packed, encoding=encoding, newline="") as stream:
        try:
            yield stream
        except UnicodeDecodeError as error:
            raise MalformedFileError(
                path, _undecodable_line(path, encoding), f"not {error.encoding}: {error.reason}"
            ) from error


def _undecodable_line(path: Path, encoding: str) -> int:
    """Find the first line with a byte that does not decode."""
    decoder = codecs.getincrementaldecoder(encoding)()
    lines = 0
    with open_packed(path) as packed:
        for line in packed:
            lines += 1
            try:
                decoder.decode(line)
            except UnicodeDecodeError:
                break
    return lines
