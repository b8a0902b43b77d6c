"""A user's own documents, one at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from bayesift.datasets._columns import resolve
from bayesift.datasets._errors import MalformedFileError
from bayesift.datasets._origin import Origin
from bayesift.datasets._rows import csv_columns, csv_rows, frame_columns, frame_rows, json_columns, json_rows

Format = Literal["csv", "tsv", "jsonl", "parquet", "folder", "svmlight"]

_ENDINGS: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
}


class Record(NamedTuple):
    """One document of a file.

    Parameters
    ----------
    id : str
        From the column of identifiers, or the number of the record counted from 1.
    text : str
        The text.
    labels : tuple of str
        The label set, sorted.
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
                raise MalformedFileError(
                    origin.path, line, f"{origin.text!r} must be a string, found {type(text).__name__}"
                )
            labels: tuple[str, ...] = ()
            if origin.labels is not None:
                labels = self._labels(self._value(row, origin.labels, line), line)
            name = str(number) if origin.id is None else str(self._value(row, origin.id, line))
            yield Record(name, text, labels)

    def _value(self, row: dict[str, Any], column: str | None, line: int) -> Any:
        if column not in row:
            keys = ", ".join(map(repr, row)) or "none"
            raise MalformedFileError(self.origin.path, line, f"no key {column!r}; its keys are {keys}")
        return row[column]

    def _labels(self, cell: Any, line: int) -> tuple[str, ...]:
        if cell is None:
            return ()
        if hasattr(cell, "tolist"):
            cell = cell.tolist()
        if isinstance(cell, str):
            parts = cell.split(self.label_separator) if self.label_separator else [cell]
        elif isinstance(cell, list | tuple):
            parts = [str(part) for part in cell]
        elif isinstance(cell, int | float):
            parts = [str(cell)]
        else:
            raise MalformedFileError(
                self.origin.path,
                line,
                f"{self.origin.labels!r} must be a string, a number or a list, found {type(cell).__name__}",
            )
        return tuple(sorted({part.strip() for part in parts if part.strip()}))


def format_of(path: Path, format: Format | None = None) -> Format:
    """Tell the format of a file from the argument, from its being a folder, or from its name."""
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist")
    if format is not None:
        if format not in (*_ENDINGS.values(), "folder"):
            raise ValueError(f"format must be one of {_formats()}, found {format!r}")
        return format
    if path.is_dir():
        return "folder"
    ending = Path(path.stem).suffix if path.suffix in (".gz", ".xz", ".bz2") else path.suffix
    if ending.lower() not in _ENDINGS:
        raise ValueError(f"the format of {path} can not be told from its name; give format as one of {_formats()}")
    return _ENDINGS[ending.lower()]


def iter_records(
    path: str | os.PathLike[str],
    text: str | None = None,
    labels: str | Literal[False] | None = None,
    id: str | None = None,
    *,
    label_separator: str | None = None,
    encoding: str = "utf-8",
    quotes: bool = True,
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
        column of identifiers the records are numbered from 1.
    label_separator : str, optional
        What parts several labels in one cell; without it the whole cell is one label.
    encoding : str
        Encoding of the file.
    quotes : bool
        Whether fields of CSV and TSV files may be enclosed in double quotes.
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
    rows: Callable[[], Iterator[tuple[int, dict[str, Any]]]]
    if found in ("csv", "tsv"):
        delimiter = "," if found == "csv" else "\t"
        columns = csv_columns(path, delimiter, encoding, quotes)

        def rows() -> Iterator[tuple[int, dict[str, Any]]]:
            return csv_rows(path, delimiter, encoding, quotes)
    elif found == "jsonl":
        columns = json_columns(path, encoding)

        def rows() -> Iterator[tuple[int, dict[str, Any]]]:
            return json_rows(path, encoding)
    elif found == "parquet":
        columns = frame_columns(path)

        def rows() -> Iterator[tuple[int, dict[str, Any]]]:
            return frame_rows(path, [name for name in (origin.text, origin.labels, origin.id) if name])
    else:
        raise ValueError(f"format must be csv, tsv, jsonl or parquet to go record by record, found {found!r}")
    origin = resolve(path, found, columns, text=text, labels=labels, id=id)
    return Records(origin, label_separator, rows)


def _formats() -> str:
    return ", ".join([*dict.fromkeys(_ENDINGS.values()), "folder"])
