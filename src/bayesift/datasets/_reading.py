"""Reading a user's own labelled documents, at once or one at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from math import isnan
from pathlib import Path
from typing import Any, Literal, NamedTuple

from bayesift.datasets._collection import Split
from bayesift.datasets._columns import Origin, choose_columns, columns_by_content
from bayesift.datasets._formats import Format, check_fit, format_of, vectors_error
from bayesift.datasets._limits import cell_limit
from bayesift.datasets._svmlight import read_svmlight
from bayesift.datasets._tables import Table, open_table
from bayesift.datasets._texts import folder_texts
from bayesift.datasets.errors import ColumnError, MalformedFileError, listed_names

#: Rows that are looked at to guess columns by their content.
_LOOKED_AT = 1000

_NO_COLUMNS = ("folder", "svmlight")


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
    """The documents of a file as an iterable, a record at a time; each iteration reads the file again.

    Parameters
    ----------
    origin : Origin
        The file and the columns used, with a note of what was guessed.
    label_separator : str, optional
        What separates the labels within a cell.
    open : callable
        Opens the table.
    """

    origin: Origin
    label_separator: str | None
    open: Callable[[], AbstractContextManager[Table]]

    def __iter__(self) -> Iterator[Record]:
        origin = self.origin
        with self.open() as table:
            rows = table.rows([name for name in (origin.text, origin.labels, origin.id) if name])
            for number, (line, row) in enumerate(rows, start=1):
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
            raise self._malformed(line, f"no key {column!r}; its keys are {listed_names(row)}")
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
    max_cell: int | None = None,
) -> Records:
    r"""Go through a CSV, TSV or JSONL file one record at a time, in constant memory.

    Wrong names of columns are reported at once, malformed lines when they are reached. Parquet files are
    taken as well, but read whole.

    Parameters
    ----------
    path : path
        The file; ``.gz``, ``.xz`` and ``.bz2`` are decompressed while reading.
    text, labels, id : str, optional
        Names of the columns or keys. Where they are not given they are guessed, if only one column has a
        usual name such as ``text`` or ``label``; ``labels=False`` says that there are no labels. Without a
        column of identifiers, or where it is empty, a record has its number, counted from 1.
    label_separator : str, optional
        What separates several labels in one cell; without it the whole cell is one label.
    encoding : str
        Encoding of the file; Parquet files have none.
    quotes : bool
        Whether fields of CSV and TSV files may be enclosed in double quotes.
    delimiter : str, optional
        The field separator of a CSV or TSV file; a comma, or a tab for TSV, by default.
    format : {"csv", "tsv", "jsonl", "parquet"}, optional
        The format, where the name of the file does not show it.
    max_cell : int, optional
        The longest cell or row, as in :func:`read`.

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
    if found in _NO_COLUMNS:
        raise ValueError(f"format must be csv, tsv, jsonl or parquet to read record by record, found {found!r}")
    writing: dict[str, Any] = {"encoding": encoding, "quotes": quotes, "delimiter": delimiter, "max_cell": max_cell}
    check_fit(path, found, **writing)
    opening = partial(open_table, path, format=found, **writing)
    with opening() as table:
        origin = choose_columns(path, found, table.columns, text=text, labels=labels, id=id)
    return Records(origin, label_separator, opening)


def read(
    path: str | os.PathLike[str],
    text: str | None = None,
    labels: str | Literal[False] | None = None,
    id: str | None = None,
    *,
    label_separator: str | None = None,
    encoding: str = "utf-8",
    quotes: bool = True,
    delimiter: str | None = None,
    n_features: int | None = None,
    format: Format | None = None,
    max_cell: int | None = None,
) -> Split:
    r"""Read labelled documents from a file or a folder.

    CSV and TSV files begin with a header line; JSONL files have one object per line; Parquet files need polars
    or pyarrow; in a folder of folders each file is a document and its folder the label; SVMlight files hold
    vectors instead of texts. An argument that does not apply to the format is an error.

    Parameters
    ----------
    path : path
        The file or folder.
    text, labels, id, label_separator, quotes, delimiter
        As in :func:`iter_records`; for files with columns.
    encoding : str
        Encoding of the texts.
    n_features : int, optional
        Number of columns of the matrix, for SVMlight.
    format : {"csv", "tsv", "jsonl", "parquet", "folder", "svmlight"}, optional
        The format, where the name does not show it.
    max_cell : int, optional
        The longest cell or row of a table, or file of a folder, in bytes (characters, where the encoding is not
        UTF-8); a longer one is an error, so that no file can take all memory. By default the environment variable
        ``BAYESIFT_MAX_CELL``, else 16 MiB.

    Returns
    -------
    Split
        ``texts`` (or ``matrix``, from SVMlight), ``labels``, ``ids``, ``categories`` and ``indicator()``;
        ``origin`` says which columns were used and which of them were guessed.

    Raises
    ------
    ColumnError, FormatError, EncodingError, MalformedFileError, CellTooLongError, DamagedFileError, ExpansionError
        A column is missing or cannot be guessed, or the file is not as it should be; each is a ``ValueError``.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from bayesift.datasets import read
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "news.tsv"
    ...     _ = path.write_text("headline\ttopics\nTin falls\tmetals, trade\n")
    ...     news = read(path, text="headline", label_separator=",")
    >>> news.labels, news.origin.guessed
    ([('metals', 'trade')], ('labels',))
    """
    path = Path(path)
    found = format_of(path, format)
    columns: dict[str, Any] = {"text": text, "labels": labels, "id": id, "label_separator": label_separator}
    writing: dict[str, Any] = {"encoding": encoding, "quotes": quotes, "delimiter": delimiter, "max_cell": max_cell}
    check_fit(path, found, **columns, **writing, n_features=n_features)
    if found == "svmlight":
        matrix, targets = read_svmlight(path, n_features=n_features)
        ids = [str(number) for number in range(1, len(targets) + 1)]
        return Split(targets, ids, matrix=matrix, origin=Origin(path, found))
    if found == "folder":
        return _read_folder(path, encoding, cell_limit(max_cell))
    records = iter_records(path, **columns, **writing, format=found)
    rows = list(records)
    if not rows:
        raise ValueError(f"{path} has no rows after its header")
    return Split(
        labels=[row.labels for row in rows],
        ids=[row.id for row in rows],
        texts=[row.text for row in rows],
        origin=records.origin,
    )


def _read_folder(path: Path, encoding: str, limit: int) -> Split:
    """Read a folder of folders; hidden files and folders do not count."""
    folders = sorted(inner for inner in path.iterdir() if inner.is_dir() and not inner.name.startswith("."))
    if not folders:
        raise ValueError(f"{path} has no folders in it, expected one per label with a file per document")
    found = [(folder.name, name, text) for folder in folders for name, text in folder_texts(folder, encoding, limit)]
    if not found:
        raise ValueError(f"{path} has folders but no files in them, expected a file per document")
    return Split(
        labels=[(label,) for label, _, _ in found],
        ids=[f"{label}/{name.as_posix()}" for label, name, _ in found],
        texts=[text for _, _, text in found],
        origin=Origin(path, "folder"),
    )


def read_texts(
    path: str | os.PathLike[str],
    text: str | None = None,
    labels: str | None = None,
    *,
    prefer: tuple[str | None, str | None] = (None, None),
    **reading: Any,
) -> Split:
    """Read labelled texts as :func:`read` does, and guess columns by their content where no name is a usual one.

    Parameters
    ----------
    path : path
        The file or folder.
    text, labels : str, optional
        Names of the columns. Without them those with a usual name are taken, else by content: the
        column with the longest cells, and the only other one whose values are repeated.
    prefer : pair of str
        Names of both columns to take where the file has them, as from a model that was trained on such a file.
    **reading
        ``label_separator``, ``encoding``, ``quotes``, ``delimiter``, ``format`` and ``max_cell``, as in :func:`read`.

    Returns
    -------
    Split
        With texts; ``origin.guessed`` says which columns were not named.

    Raises
    ------
    ColumnError, FormatError, EncodingError, MalformedFileError, DamagedFileError
        As in :func:`read`; a file of vectors is a ``FormatError``.
    """
    named: dict[str, str | None] = {"text": text, "labels": labels}
    as_table = {name: value for name, value in reading.items() if name != "label_separator"}
    if any(prefer) and None in (text, labels) and format_of(Path(path), reading.get("format")) not in _NO_COLUMNS:
        with open_table(path, **as_table) as table:
            columns = table.columns
        for role, wanted in zip(named, prefer, strict=True):
            if named[role] is None and wanted in columns and wanted not in named.values():
                named[role] = wanted
    try:
        split = read(path, named["text"], named["labels"], **reading)
    except ColumnError as error:
        if error.name is not None:
            raise
        with open_table(path, **as_table) as table:
            rows = [row for _, row in islice(table.rows(), _LOOKED_AT)]
        guess = columns_by_content(rows, named["text"], named["labels"])
        if None in guess:
            raise
        split = read(path, *guess, **reading)
    if not split.has_texts:
        raise vectors_error(Path(path))
    if split.origin is not None and split.origin.text is not None:
        roles = tuple(role for role, name in (("text", text), ("labels", labels)) if name is None)
        split.origin = replace(split.origin, guessed=roles)
    return split
