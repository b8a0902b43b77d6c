"""Read a user's own labelled documents, all at once or one at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

from bayesift.datasets._collection import Split
from bayesift.datasets._columns import (
    FeaturedText,
    Origin,
    TextColumns,
    choose_columns,
    columns_by_content,
    joined,
    text_columns,
)
from bayesift.datasets._formats import Format, check_fit, format_of, format_of_line, vectors_error
from bayesift.datasets._inputs import Content, kept_input, name_of, open_utf_8
from bayesift.datasets._limits import cell_limit
from bayesift.datasets._recoding import beginning
from bayesift.datasets._svmlight import read_svmlight
from bayesift.datasets._tables import Table, open_table
from bayesift.datasets._texts import folder_texts, missing_texts, present
from bayesift.datasets.errors import ColumnError, MalformedFileError, listed_names

#: How many rows are read to guess columns by their content.
_LOOKED_AT = 1000

_NO_COLUMNS = ("folder", "svmlight")


class Record(NamedTuple):
    """One document of a file.

    Parameters
    ----------
    id : str
        From the column of identifiers or, if that is empty, the number of the record, counted from 1.
    text : str
        The text; a :class:`FeaturedText` if features were asked for.
    labels : tuple of str
        The label set, sorted; missing labels (None, NaN, empty strings) are left out.
    """

    id: str
    text: str
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Records:
    """The documents of a file as an iterable of records; each iteration reads the file again.

    Parameters
    ----------
    origin : Origin
        The file and the columns used, with a note of what was guessed.
    label_separator : str, optional
        What separates the labels within a cell.
    open : callable
        Opens the table.
    notes : list of str
        What the last iteration detected, such as the encoding, and what was missing, a sentence each.
    """

    origin: Origin
    label_separator: str | None
    open: Callable[[], AbstractContextManager[Table]]
    notes: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[Record]:
        origin, n_missing = self.origin, 0
        columns = text_columns(origin.text)
        with self.open() as table:
            rows = table.rows([name for name in (*columns, origin.labels, origin.id, *origin.features) if name])
            for number, (line, row) in enumerate(rows, start=1):
                text = self._text(row, columns[0], line)
                if len(columns) > 1:
                    cells = [text, *(self._text(row, column, line) for column in columns[1:])]
                    text = None if all(cell is None for cell in cells) else joined(cells)
                if text is None:
                    n_missing, text = n_missing + 1, ""
                if origin.features:
                    # An object may leave out what is missing.
                    text = FeaturedText(text, {name: present(row.get(name)) for name in origin.features})
                name = None if origin.id is None else self._value(row, origin.id, line)
                labels = () if origin.labels is None else self._labels(self._value(row, origin.labels, line), line)
                yield Record(str(number) if name in (None, "") else str(name), text, labels)
            self.notes[:] = [*table.notes, *([missing_texts(n_missing)] if n_missing else [])]

    def _text(self, row: dict[str, Any], column: str, line: int) -> str | None:
        cell = self._value(row, column, line)
        if not (isinstance(cell, str) or cell is None):
            raise self._malformed(line, f"{column!r} must be a string, found {type(cell).__name__}")
        return cell

    def _value(self, row: dict[str, Any], column: str | None, line: int) -> Any:
        """Return the cell of a column; None if the file marks it as missing."""
        if column not in row:
            raise self._malformed(line, f"no key {column!r}; its keys are {listed_names(row)}")
        return present(row[column])

    def _labels(self, cell: Any, line: int) -> tuple[str, ...]:
        if isinstance(cell, str):
            parts = cell.split(self.label_separator) if self.label_separator else [cell]
        else:
            parts = [present(part) for part in cell] if isinstance(cell, list) else [cell]
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
        unit = {"parquet": "row", "xlsx": "row", "json": "object"}.get(self.origin.format, "line")
        return MalformedFileError(self.origin.path, line, problem, unit=unit)


def iter_records(
    path: str | os.PathLike[str],
    text: TextColumns | None = None,
    labels: str | Literal[False] | None = None,
    id: str | None = None,
    *,
    label_separator: str | None = None,
    encoding: str | None = None,
    quotes: bool = True,
    delimiter: str | None = None,
    header: bool | None = None,
    format: Format | None = None,
    max_cell: int | None = None,
    features: Sequence[str] = (),
) -> Records:
    r"""Read a CSV, TSV, JSONL, JSON or Excel file one record at a time, in constant memory.

    Wrong column names are reported at once, malformed lines when they are reached. Parquet files and standard input are
    accepted as well, but read whole.

    Parameters
    ----------
    path : path or "-"
        The file; ``.gz``, ``.xz`` and ``.bz2`` are decompressed while reading. ``-`` is standard input.
    text, labels, id : str, optional
        Names of the columns or keys; the cells of several text columns are joined with a blank line between them. Names
        that are not given are guessed, if only one column has a usual name such as ``text`` or ``label``;
        ``labels=False`` means that there are no labels. Without a column of identifiers, or if its cell is empty, a
        record is identified by its number, counted from 1.
    label_separator : str, optional
        What separates several labels in a cell; without it the whole cell is one label.
    encoding : str, optional
        Encoding of the file. By default it is UTF-8, or UTF-16 if it begins with a byte order mark, or cp1252 if it can
        be nothing else; ``notes`` says so. Parquet and Excel files have none.
    quotes : bool
        Whether fields of CSV and TSV files may be enclosed in double quotes.
    delimiter : str, optional
        The field separator of a CSV or TSV file. The default is a comma, or a tab for TSV, unless only another one
        turns the file into a table; ``notes`` says so.
    header : bool, optional
        Whether the first line of a CSV, TSV or Excel file names the columns; without a header they are ``"1"``, ``"2"``
        and so on. By default it does, and a file whose first line seems to be an ordinary row is refused.
    format : {"csv", "tsv", "jsonl", "json", "parquet", "xlsx"}, optional
        The format, if the name of the file does not show it.
    max_cell : int, optional
        The longest cell or row, as in :func:`read`.
    features : sequence of str, default=()
        Columns whose values are kept with the texts, which are then :class:`FeaturedText`.

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
    source = kept_input(path)
    writing = {"encoding": encoding, "quotes": quotes, "delimiter": delimiter, "header": header, "max_cell": max_cell}
    found = _format(source, format, *text_columns(text))
    return _records(source, text, labels, id, label_separator, tuple(features), found, writing)


def _records(
    source: Path | Content,
    text: TextColumns | None,
    labels: str | Literal[False] | None,
    id: str | None,
    label_separator: str | None,
    features: tuple[str, ...],
    format: Format,
    writing: dict[str, Any],
) -> Records:
    name = name_of(source)
    if format in _NO_COLUMNS:
        raise ValueError(f"format must be csv, tsv, jsonl or parquet to read record by record, found {format!r}")
    check_fit(name, format, **writing)
    wanted = [column for column in (*text_columns(text), labels, id, *features) if column]
    opening = partial(open_table, source, format=format, wanted=wanted, **writing)
    with opening() as table:
        origin = choose_columns(name, table.format, table.columns, text=text, labels=labels, id=id, features=features)
    return Records(origin, label_separator, opening)


def _format(source: Path | Content, format: Format | None, *wanted: str | None) -> Format:
    """Tell the format from the argument, the name of the file or, without a name, the first line."""
    if isinstance(source, Path):
        return format_of(source, format)
    if format is not None:
        return format
    with open_utf_8(source, None, lambda note: None) as content:
        return format_of_line(beginning(content)[0].partition("\n")[0], wanted) or "csv"


def read(
    path: str | os.PathLike[str],
    text: TextColumns | None = None,
    labels: str | Literal[False] | None = None,
    id: str | None = None,
    *,
    label_separator: str | None = None,
    encoding: str | None = None,
    quotes: bool = True,
    delimiter: str | None = None,
    header: bool | None = None,
    n_features: int | None = None,
    format: Format | None = None,
    max_cell: int | None = None,
    features: Sequence[str] = (),
) -> Split:
    r"""Read labelled documents from a file or a folder.

    CSV and TSV files begin with a header line; JSONL files have one object per line, JSON files an array of objects.
    Parquet files need polars or pyarrow; Excel files need openpyxl, and their first sheet is read. In a folder of
    folders, each file is a document and its folder is the label. SVMlight files hold vectors instead of texts. An
    argument that does not apply to the format is an error. Missing texts (None, NaN) are taken as empty.

    Parameters
    ----------
    path : path or "-"
        The file or folder; ``-`` is standard input, whose format is detected from its first line.
    text, labels, id, label_separator, quotes, delimiter, header
        As in :func:`iter_records`; for files with columns.
    encoding : str, optional
        Encoding of the texts; detected by default, as in :func:`iter_records`.
    n_features : int, optional
        Number of columns of the matrix, for SVMlight.
    format : {"csv", "tsv", "jsonl", "json", "parquet", "xlsx", "folder", "svmlight"}, optional
        The format, if the name does not show it.
    max_cell : int, optional
        The longest cell or row of a table, or file of a folder, in bytes; a longer one is an error, so that no file can
        use up all memory. By default the environment variable ``BAYESIFT_MAX_CELL``, else 16 MiB.
    features : sequence of str, default=()
        Columns whose values are kept with the texts, which are then :class:`FeaturedText`.

    Returns
    -------
    Split
        ``texts`` (or ``matrix``, from SVMlight), ``labels``, ``ids``, ``categories`` and ``indicator()``;
        ``origin`` says which columns were used, which of them were guessed and, in its ``notes``, what else was
        detected or missing.

    Raises
    ------
    ColumnError, HeaderError, OptionError, FormatError, EncodingError, MalformedFileError, CellTooLongError, \
DamagedFileError, ExpansionError
        A column is missing or cannot be guessed, or something is wrong with the file; each is a ``ValueError``.

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
    source = kept_input(path)
    writing = {"encoding": encoding, "quotes": quotes, "delimiter": delimiter, "header": header, "max_cell": max_cell}
    columns: dict[str, Any] = {"text": text, "labels": labels, "id": id, "label_separator": label_separator}
    columns["features"] = tuple(features)
    return _read(source, columns, writing, _format(source, format, *text_columns(text)), n_features)


def _read(
    source: Path | Content, columns: dict[str, Any], writing: dict[str, Any], format: Format, n_features: int | None
) -> Split:
    name = name_of(source)
    check_fit(name, format, **columns, **writing, n_features=n_features)
    if format == "svmlight":
        matrix, targets = read_svmlight(name, n_features=n_features)
        ids = [str(number) for number in range(1, len(targets) + 1)]
        return Split(targets, ids, matrix=matrix, origin=Origin(name, format))
    if format == "folder":
        return _read_folder(name, writing["encoding"], cell_limit(writing["max_cell"]))
    records = _records(source, **columns, format=format, writing=writing)
    rows = list(records)
    if not rows:
        raise ValueError(f"{name} has no rows after its header")
    return Split(
        labels=[row.labels for row in rows],
        ids=[row.id for row in rows],
        texts=[row.text for row in rows],
        origin=replace(records.origin, notes=tuple(records.notes)),
    )


def _read_folder(path: Path, encoding: str | None, limit: int) -> Split:
    """Read a folder of folders; hidden files and folders do not count."""
    folders = sorted(inner for inner in path.iterdir() if inner.is_dir() and not inner.name.startswith("."))
    if not folders:
        raise ValueError(f"{path} has no folders in it, expected one per label with a file per document")
    notes: list[str] = []
    found = []
    for folder in folders:
        told: list[str] = []
        found += [(folder.name, name, text) for name, text in folder_texts(folder, encoding, limit, told.append)]
        notes += [f"{folder.name}: {note}" for note in told]
    if not found:
        raise ValueError(f"{path} has folders but no files in them, expected a file per document")
    return Split(
        labels=[(label,) for label, _, _ in found],
        ids=[f"{label}/{name.as_posix()}" for label, name, _ in found],
        texts=[text for _, _, text in found],
        origin=Origin(path, "folder", notes=tuple(notes)),
    )


def read_texts(
    path: str | os.PathLike[str],
    text: TextColumns | None = None,
    labels: str | None = None,
    *,
    prefer: tuple[TextColumns | None, str | None] = (None, None),
    **reading: Any,
) -> Split:
    """Read labelled texts like :func:`read`, but also guess columns by their content if none has a usual name.

    Parameters
    ----------
    path : path or "-"
        The file or folder; ``-`` is standard input.
    text, labels : str, optional
        Names of the columns; several text columns are joined. By default, columns with a usual name are used, or else
        the content decides: the column with the longest cells, and the only other one whose values are repeated.
    prefer : pair of str
        Names of both columns to use if the file has them, for example those that a model was trained on.
    **reading
        ``label_separator``, ``encoding``, ``quotes``, ``delimiter``, ``header``, ``format``, ``max_cell`` and
        ``features``, as in :func:`read`.

    Returns
    -------
    Split
        With texts; ``origin.guessed`` says which columns were not named, ``origin.notes`` what else was detected.

    Raises
    ------
    ColumnError, FormatError, EncodingError, MalformedFileError, DamagedFileError
        As in :func:`read`; a file of vectors is a ``FormatError``.
    """
    named: dict[str, Any] = {"text": text, "labels": labels}
    source = kept_input(path)
    given = {"encoding": None, "quotes": True, "delimiter": None, "header": None, "max_cell": None} | reading
    format, label_separator = given.pop("format", None), given.pop("label_separator", None)
    features = tuple(given.pop("features", ()))
    wanted = [*text_columns(text), *text_columns(prefer[0]), *(name for name in (labels, prefer[1]) if name)]
    wanted += features
    found = _format(source, format, *wanted)

    def read_columns(text: TextColumns | None, labels: str | None) -> Split:
        columns: dict[str, Any] = {"text": text, "labels": labels, "id": None, "label_separator": label_separator}
        columns["features"] = features
        return _read(source, columns, given, found, None)

    if any(prefer) and None in (text, labels) and found not in _NO_COLUMNS:
        with open_table(source, format=found, wanted=wanted, **given) as table:
            columns = table.columns
        texts = text_columns(prefer[0])
        if text is None and texts and all(name in columns and name != labels for name in texts):
            named["text"] = prefer[0]
        if labels is None and prefer[1] in columns and prefer[1] not in text_columns(named["text"]):
            named["labels"] = prefer[1]
    try:
        split = read_columns(named["text"], named["labels"])
    except ColumnError as error:
        if error.name is not None:
            raise
        with open_table(source, format=found, wanted=wanted, **given) as table:
            rows = [row for _, row in islice(table.rows(), _LOOKED_AT)]
        guess = columns_by_content(rows, named["text"], named["labels"], features)
        if None in guess:
            raise
        split = read_columns(*guess)
    if not split.has_texts:
        raise vectors_error(name_of(source))
    if split.origin is not None and split.origin.text is not None:
        roles = tuple(role for role, name in (("text", text), ("labels", labels)) if name is None)
        split.origin = replace(split.origin, guessed=roles)
    return split
