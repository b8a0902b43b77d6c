"""Write classified texts: CSV, TSV, JSON lines or Parquet, to a file or to standard output."""

from __future__ import annotations

import bz2
import csv
import gzip
import json
import lzma
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import TextIOWrapper
from itertools import chain
from pathlib import Path
from typing import IO, Any, Literal, Protocol, cast

from bayesift._extras import require
from bayesift._files import open_output
from bayesift.datasets import TextRow
from bayesift.workflow.errors import OutputFormatError

OutputFormat = Literal["csv", "tsv", "jsonl", "parquet"]

_ENDINGS: dict[str, OutputFormat] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}

#: Endings of formats that cannot be written; any other name gets the format of the input.
_NOT_WRITTEN = (".xlsx", ".xlsm", ".xls", ".ods", ".json", ".feather", ".arrow", ".pkl", ".html", ".zip")

_PACKERS: dict[str, Callable[[IO[bytes]], Any]] = {
    # Without a date and a name, the same texts give the same bytes.
    ".gz": lambda raw: gzip.GzipFile("", "wb", fileobj=raw, mtime=0),
    ".xz": lambda raw: lzma.LZMAFile(raw, "wb"),  # noqa: SIM115
    ".bz2": lambda raw: bz2.BZ2File(raw, "wb"),
}


class Writer(Protocol):
    """Writes rows or lines as they were read, followed by what is added, a list for each column."""

    def write(self, rows: list[Any], added: list[list[Any]]) -> None:
        """Write some rows."""

    def close(self) -> None:
        """Write what comes after the last row."""


class _Plain:
    """A format that needs nothing after its last row."""

    def close(self) -> None:
        """Write nothing."""


class _Lines:
    """Ends lines with a newline only, although csv is told CR LF, so that it quotes fields with either of them."""

    def __init__(self, stream: TextIOWrapper) -> None:
        self._stream = stream

    def write(self, line: str) -> None:
        self._stream.write(line[:-2] + "\n")


class CsvWriter(_Plain):
    """Lines of fields, with a header."""

    def __init__(self, stream: TextIOWrapper, columns: list[str], added: list[str], delimiter: str) -> None:
        self._writer = csv.writer(_Lines(stream), delimiter=delimiter, lineterminator="\r\n")
        self._columns = columns
        self._writer.writerow(columns + added)

    def write(self, rows: list[TextRow], added: list[list[Any]]) -> None:
        """Write some rows."""
        cells = zip(*added, strict=True)
        self._writer.writerows([*self._fields(row), *own] for row, own in zip(rows, cells, strict=True))

    def _fields(self, row: TextRow) -> list[Any]:
        if isinstance(row, dict):
            return [_cell(row.get(name)) for name in self._columns]
        return list(row)


class RawCsvWriter(_Plain):
    """Lines of fields as they were read, with cells appended."""

    def __init__(self, stream: TextIOWrapper, columns: list[str], added: list[str], delimiter: str) -> None:
        CsvWriter(stream, columns, added, delimiter)
        stream.flush()
        self._bytes = stream.buffer
        self._delimiter = delimiter
        self._single = len(added) == 1
        self._known: dict[Any, bytes] = {}

    def write(self, rows: list[bytes], added: list[list[Any]]) -> None:
        """Write some rows."""
        cells = self._labels(added[0]) if len(added) == 1 else self._cells(zip(*added, strict=True))
        self._bytes.write(b"".join(chain.from_iterable(zip(rows, cells, strict=True))))

    def _labels(self, labels: list[str]) -> list[bytes]:
        """Return the cells of a column with few different labels."""
        new = [label for label in dict.fromkeys(labels) if label not in self._known]
        self._known.update(zip(new, self._cells((label,) for label in new), strict=True))
        return [self._known[label] for label in labels]

    def _cells(self, added: Iterable[tuple[Any, ...]]) -> list[bytes]:
        """Return the ends of lines, each with a delimiter before and a newline after it."""
        cells: list[str] = []
        csv.writer(_Cells(cells), delimiter=self._delimiter, lineterminator="\r\n").writerows(added)
        if self._single:
            # An empty cell that is alone in its line would be quoted.
            cells = ["" if cell == '""' else cell for cell in cells]
        return [f"{self._delimiter}{cell}\n".encode("utf-8", "replace") for cell in cells]


class _Cells:
    """Collects lines without their ends."""

    def __init__(self, cells: list[str]) -> None:
        self._cells = cells

    def write(self, line: str) -> None:
        self._cells.append(line[:-2])


class JsonWriter(_Plain):
    """One JSON object per line."""

    def __init__(self, stream: TextIOWrapper, columns: list[str], added: list[str]) -> None:
        self._stream = stream
        self._columns = columns
        self._added = added

    def write(self, rows: list[TextRow], added: list[list[Any]]) -> None:
        """Write some rows."""
        for row, own in zip(rows, zip(*added, strict=True), strict=True):
            found = row if isinstance(row, dict) else dict(zip(self._columns, row, strict=True))
            found |= zip(self._added, own, strict=True)
            line = json.dumps(found, ensure_ascii=False, default=str)
            # Half of a surrogate pair cannot be encoded in UTF-8, but can be written as an escape.
            self._stream.write(line if _encodable(line) else json.dumps(found, default=str))
            self._stream.write("\n")


class ParquetWriter:
    """Columns of a Parquet file, a group of rows for each block.

    Columns read from a Parquet file keep their types. Others are strings; values that were not strings in JSON are
    written as JSON.
    """

    def __init__(
        self, stream: TextIOWrapper, columns: list[str], added: list[str], types: Mapping[str, Any] | None = None
    ) -> None:
        self._arrow = require("pyarrow", extra="frames", purpose="writing Parquet files")
        self._package = require("pyarrow.parquet", extra="frames", purpose="writing Parquet files")
        stream.flush()
        self._bytes = stream.buffer
        self._columns = columns
        self._added = added
        self._types = types or {}
        self._writer: Any = None

    def write(self, rows: list[TextRow], added: list[list[Any]]) -> None:
        """Write some rows."""
        arrays = [self._array(name, place, rows) for place, name in enumerate(self._columns)]
        arrays += [self._arrow.array(values) for values in added]
        table = self._arrow.table(dict(zip([*self._columns, *self._added], arrays, strict=True)))
        if self._writer is None:
            self._writer = self._package.ParquetWriter(self._bytes, table.schema)
        self._writer.write_table(table)

    def close(self) -> None:
        """Write the end of the file and, if there were no rows, its columns."""
        if self._writer is None:
            self.write([], [[]] * len(self._added))
        self._writer.close()

    def _array(self, name: str, place: int, rows: list[TextRow]) -> Any:
        values = [row.get(name) if isinstance(row, dict) else row[place] for row in rows]
        if name in self._types:
            return self._arrow.array(values, type=self._types[name])
        if rows and isinstance(rows[0], list) and isinstance(values[0], int):
            # Fields are strings, except for row numbers.
            return self._arrow.array(values)
        return self._arrow.array([_as_string(value) for value in values], type=self._arrow.string())


def parquet_types(path: str) -> dict[str, Any]:
    """Return the types of the columns of a Parquet file."""
    schema = require("pyarrow.parquet", extra="frames", purpose="writing Parquet files").read_schema(path)
    return dict(zip(schema.names, schema.types, strict=True))


def output_format(path: str, format: OutputFormat | None, source: str) -> OutputFormat:
    """Choose the format by the argument, the name of the file, or the format of the input."""
    if format is not None:
        return format
    place = Path(path)
    ending = Path(place.stem).suffix if place.suffix.lower() in _PACKERS else place.suffix
    if path != "-" and ending.lower() in _ENDINGS:
        return _ENDINGS[ending.lower()]
    if path != "-" and ending.lower() in _NOT_WRITTEN:
        expected = ", ".join(dict.fromkeys(f".{name}" for name in _ENDINGS.values()))
        raise OutputFormatError(f"{path} has the ending of a format that cannot be written; expected {expected}")
    return "jsonl" if source in ("jsonl", "json") else "tsv" if source == "tsv" else "csv"


@contextmanager
def open_stream(path: str) -> Iterator[TextIOWrapper]:
    """Open a file that appears when all is written, or standard output (``-``) or a pipe, which get texts at once."""
    if path == "-":
        with _wrapped(sys.stdout.buffer) as stream:
            yield stream
        return
    with (
        open_output(path) as raw,
        _packed(raw, path) as content,
        _wrapped(content) as stream,
    ):
        yield stream


@contextmanager
def _packed(raw: IO[bytes], path: str) -> Iterator[IO[bytes]]:
    """Compress what is written if the name ends with ``.gz``, ``.xz`` or ``.bz2``."""
    packer = _PACKERS.get(Path(path).suffix.lower())
    if packer is None:
        yield raw
        return
    with packer(raw) as packed:
        yield cast(IO[bytes], packed)


@contextmanager
def _wrapped(raw: IO[bytes]) -> Iterator[TextIOWrapper]:
    stream = TextIOWrapper(raw, encoding="utf-8", errors="replace", newline="")
    try:
        yield stream
        stream.flush()
    finally:
        # The raw stream is closed by whoever opened it.
        stream.detach()


def _cell(value: Any) -> Any:
    return ";".join(map(str, value)) if isinstance(value, list | tuple) else value


def _as_string(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _encodable(line: str) -> bool:
    try:
        line.encode()
    except UnicodeEncodeError:
        return False
    return True
