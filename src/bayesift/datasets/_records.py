"""A user's own documents, one at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any, Literal, NamedTuple

from bayesift.datasets._columns import resolve
from bayesift.datasets._errors import MalformedFileError
from bayesift.datasets._formats import Format, check_fit, format_of
from bayesift.datasets._origin import Origin
from bayesift.datasets._rows import csv_columns, csv_rows, frame_columns, frame_rows, json_columns, json_rows


class Record(NamedTuple):
    """One document of a file.

    Parameters
    ----------
    id : str
        From the column of identifiers, or, where that has none, the number of the record counted from 1.
    text : str
        The text.
    labels : tuple of str
        The label set, sorted; missing labels (None, NaN, empty strings) are left out.
    """

    id: str
    text: str
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Records:
    """The documents of a file as an iterable that reads it anew each time, a record at a time.

    Parameters
    ----------
    origin : Origin
        The file and the columns used, with a note of what was guessed.
    label_separator : str, optional
        What parts the labels within a cell.
    rows : callable
        Opens the file and gives line number and row, a mapping from column to value.
    """

    origin: Origin
    label_separator: str | None
    rows: Callable[[], Iterator[tuple[int, dict[str, Any]]]]

    def __iter__(self) -> Iterator[Record]:
        origin = self.origin
        for number, (line, row) in enumerate(self.rows(), start=1):
            text = self._value(row, origin.text, line)
            if not isinstance(text, str):
                found = "a missing value" if text is None else type(text).__name__
                raise self._malformed(line, f"{origin.text!r} must be a string, found {found}")
            name = None if origin.id is None else self._value(row, origin.id, line)
            labels = () if origin.labels is None else self._labels(self._value(row, origin.labels, line), line)
            yield Record(str(number) if name in (None, "") else str(name), text, labels)

    def _value(self, row: dict[str, Any], column: str | None, line: int) -> Any:
        """Return the cell of a column; None where the file marks it as missing."""
        if column not in row:
            keys = ", ".join(map(repr, row)) or "none"
            raise self._malformed(line, f"no key {column!r}; its keys are {keys}")
        return _present(row[column])

    def _labels(self, cell: Any, line: int) -> tuple[str, ...]:
        if isinstance(cell, str):
            parts = cell.split(self.label_separator) if self.label_separator else [cell]
        else:
            parts = [_present(part) for part in cell] if isinstance(cell, list) else [cell]
        names = set()
        for part in parts:
            if not isinstance(part, str | int | float | None):
                raise self._malformed(
                    line,
                    f"{self.origin.labels!r} must be a string, a number or a list of them, found {type(part).__name__}",
                )
            names.add("" if part is None else str(part).strip())
        return tuple(sorted(names - {""}))

    def _malformed(self, line: int, problem: str) -> MalformedFileError:
        unit = "row" if self.origin.format == "parquet" else "line"
        return MalformedFileError(self.origin.path, line, problem, unit=unit)


def _present(value: Any) -> Any:
    """Return None for every mark of a missing value, before its name could become a string."""
    return None if isinstance(value, float) and isnan(value) else value


def iter_records(
    path: str | os.PathLike[str],
    text: str | None = None,
    labels: str | Literal[False] | None = None,
    id: str | None = None,
    *,
    label_separator: str | None = None,
    encoding: str = "utf-8",
    quotes: bool = True,
    delimiter: str | None = None,
    format: Format | None = None,
) -> Records:
    r"""Go through a CSV, TSV or JSONL file one record at a time, in constant memory.

    Wrong names of columns are reported at once, malformed lines when they are reached. Parquet files are
    taken as well, but read whole.

    Parameters
    ----------
    path : path
        The file; ``.gz``, ``.xz`` and ``.bz2`` are unpacked on the way.
    text, labels, id : str, optional
        Names of the columns or keys. Where they are not given they are guessed, if only one column has a
        usual name such as ``text`` or ``label``; ``labels=False`` says that there are no labels. Without a
        column of identifiers, or where it is empty, a record has its number, counted from 1.
    label_separator : str, optional
        What parts several labels in one cell; without it the whole cell is one label.
    encoding : str
        Encoding of the file; Parquet files have none.
    quotes : bool
        Whether fields of CSV and TSV files may be enclosed in double quotes.
    delimiter : str, optional
        The character between the fields of a CSV or TSV file; a comma, or a tab for TSV, by default.
    format : {"csv", "tsv", "jsonl", "parquet"}, optional
        The format, where the name of the file does not tell.

    Returns
    -------
    Records
        An iterable of ``Record(id, text, labels)``; its ``origin`` says which columns are used.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from bayesift.datasets import iter_records
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "mail.csv"
    ...     _ = path.write_text("text,label\nbuy now,spam\n")
    ...     list(iter_records(path))
    [Record(id='1', text='buy now', labels=('spam',))]
    """
    path = Path(path)
    found = format_of(path, format)
    if found in ("folder", "svmlight"):
        raise ValueError(f"format must be csv, tsv, jsonl or parquet to go record by record, found {found!r}")
    check_fit(path, found, encoding=encoding, quotes=quotes, delimiter=delimiter)
    rows: Callable[[], Iterator[tuple[int, dict[str, Any]]]]
    if found in ("csv", "tsv"):
        separator = _separator(found, delimiter)
        columns = csv_columns(path, separator, encoding, quotes)

        def rows() -> Iterator[tuple[int, dict[str, Any]]]:
            return csv_rows(path, separator, encoding, quotes)
    elif found == "jsonl":
        columns = json_columns(path, encoding)

        def rows() -> Iterator[tuple[int, dict[str, Any]]]:
            return json_rows(path, encoding)
    else:
        columns = frame_columns(path)

        def rows() -> Iterator[tuple[int, dict[str, Any]]]:
            return frame_rows(path, [name for name in (origin.text, origin.labels, origin.id) if name])

    origin = resolve(path, found, columns, text=text, labels=labels, id=id)
    return Records(origin, label_separator, rows)


def _separator(format: Format, delimiter: str | None) -> str:
    if delimiter is None:
        return "," if format == "csv" else "\t"
    if len(delimiter) != 1 or delimiter in '\r\n"':
        raise ValueError(f"delimiter must be one character, no quote and no line end, found {delimiter!r}")
    return delimiter
