"""Blocks of texts with the rows they are in, from files, folders and standard input."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import Any, Literal

from bayesift._files import check_encoding
from bayesift.datasets._columns import (
    FeaturedText,
    TextColumns,
    as_text,
    check_columns,
    check_features,
    guess_column,
    joined,
    text_columns,
)
from bayesift.datasets._csv_scan import CsvScanner
from bayesift.datasets._files import is_hidden
from bayesift.datasets._formats import check_exists, format_of, format_of_line, vectors_error
from bayesift.datasets._inputs import lines_of, name_of, open_utf_8
from bayesift.datasets._json import JSON_PIECE, json_objects, json_table
from bayesift.datasets._limits import cell_limit, check_lines
from bayesift.datasets._recoding import beginning, decode_file
from bayesift.datasets._tables import csv_dialect, csv_table, json_format, open_table
from bayesift.datasets.errors import CellTooLongError, ColumnError, EncodingError, MalformedFileError, listed_names

TextFormat = Literal["csv", "tsv", "jsonl", "json", "lines", "parquet", "xlsx", "folder"]

#: The row of a text: the fields of a line, or values by name.
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
        The rows, each a list of fields or a dict; left out if there are ``lines``.
    lines : list of bytes, optional
        The rows as they are in the file, without line ends.
    parse : callable, optional
        Splits a line into fields.
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
        """The rows; those of a scanned CSV file are parsed only when needed."""
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
    format : {"csv", "tsv", "jsonl", "json", "lines", "parquet", "xlsx", "folder"}
        The format they are read as.
    columns : list of str or None
        Names of the fields; None if rows are dicts.
    text : str, tuple of str or None
        The column of the texts, or the columns that are joined; None if there are no columns.
    blocks : iterator of TextBlock
        The texts; can be iterated over once.
    delimiter : str or None
        The field separator, if blocks have ``lines`` that can be copied as they are.
    notes : list of str
        What was detected, such as the encoding, and what was missing, a sentence each; complete after the last block.
    """

    format: TextFormat
    columns: list[str] | None
    text: str | tuple[str, ...] | None
    blocks: Iterator[TextBlock]
    delimiter: str | None = None
    notes: list[str] = field(default_factory=list)


@contextmanager
def open_texts(
    path: str | os.PathLike[str],
    text: TextColumns | None = None,
    *,
    prefer: TextColumns | None = None,
    format: TextFormat | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    quotes: bool = True,
    header: bool | None = None,
    exact: bool = True,
    max_cell: int | None = None,
    features: Sequence[str] = (),
) -> Iterator[TextStream]:
    r"""Open a file, a folder or standard input to read its texts in constant memory.

    Texts need no labels. CSV and TSV files are scanned by compiled code, which also returns the raw rows as UTF-8
    bytes.

    Parameters
    ----------
    path : path or "-"
        CSV, TSV, JSONL, JSON, Parquet, Excel or plain text (one text per line), decompressed while reading; a folder,
        in which each file is a text; or ``-``, standard input.
    text : str or sequence of str, optional
        The column of the texts, or several, whose cells are joined with a blank line between them. By default
        ``prefer`` if the file has it, else the only column with a usual name, else the only column.
    prefer : str or sequence of str, optional
        The column or columns of texts that a model learned from.
    format : {"csv", "tsv", "jsonl", "json", "lines", "parquet", "xlsx", "folder"}, optional
        The format, if the name does not show it; files that end in ``.txt`` or have no ending are plain text. The
        format of standard input is detected from its first line.
    encoding, delimiter, quotes, header
        As in :func:`read`.
    exact : bool, default=True
        Whether doubled quotes within texts must become single ones.
    max_cell : int, optional
        The longest cell, row or line, or file of a folder, in bytes; see :func:`read`.
    features : sequence of str, default=()
        Columns whose values are kept with the texts, which are then :class:`FeaturedText`.

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
    limit = cell_limit(max_cell)
    standard_input = str(path) == "-"
    name = name_of(path)
    found = format if standard_input else _format(name, format)
    notes: list[str] = []
    if features and found in ("folder", "lines"):
        raise ColumnError(name, "feature", (), name=features[0])
    if found == "folder":
        yield TextStream("folder", None, None, _in_blocks(_folder(name, encoding, limit, notes)), notes=notes)
        return
    wanted = [*text_columns(text), *text_columns(prefer), *features]
    if found in ("parquet", "xlsx"):
        with open_table(path, format=found, header=header, max_cell=max_cell, wanted=wanted) as table:
            chosen = _choose(name, table.columns, text, prefer, features)
            columns = table.columns if found == "xlsx" else None
            blocks = _in_blocks(_checked(name, table.rows(), chosen, features, "row", table.notes))
            yield TextStream(found, columns, as_text(chosen), blocks, notes=table.notes)
        return
    with open_utf_8(path, encoding, notes.append) as content:
        if found is None:
            head = beginning(content)[0]
            found = format_of_line(head.partition("\n")[0], wanted) or "lines"
        if found in ("csv", "tsv"):
            way = csv_dialect(name, content, found, delimiter, quotes, header, wanted, notes.append)
            single = max(map(len, map(text_columns, (text, prefer)))) < 2 and not features
            if way.delimiter.isascii() and not standard_input and single:
                scanner = CsvScanner(content, name, way.delimiter, quotes, limit, has_header=way.has_header)
                [column] = _choose(name, scanner.columns, text, prefer, ())
                scanned = scanner.blocks(scanner.columns.index(column), exact=exact)
                blocks = (TextBlock(texts, lines=lines, parse=scanner.fields) for texts, lines in scanned)
                yield TextStream(found, scanner.columns, column, blocks, way.delimiter, notes)
                return
            with lines_of(content, limit) as lines:
                columns, fields = csv_table(name, lines, way, limit)
                chosen = _choose(name, columns, text, prefer, features)
                places = [columns.index(column) for column in chosen]
                beside = [(feature, columns.index(feature)) for feature in features]

                def text_of(row: list[str]) -> str:
                    return _with_features(
                        joined([row[place] for place in places]), {name: row[place] for name, place in beside}
                    )

                blocks = _in_blocks((text_of(row), row) for _, row in fields)
                yield TextStream(found, columns, as_text(chosen), blocks, notes=notes)
        elif found == "lines" and features:
            raise ColumnError(name, "feature", (), name=features[0])
        elif found == "lines":
            with lines_of(content, limit) as lines:
                stripped = (line.rstrip("\r\n") for line in check_lines(name, lines, limit))
                blocks = _in_blocks((line, [line]) for line in stripped)
                yield TextStream("lines", ["text"], "text", blocks, notes=notes)
        else:
            found = json_format(found, content, notes.append)
            with lines_of(content, limit if found == "jsonl" else JSON_PIECE) as lines:
                keys, objects = (json_table if found == "jsonl" else json_objects)(name, lines, limit)
                chosen = _choose(name, keys, text, prefer, features)
                unit = "line" if found == "jsonl" else "object"
                blocks = _in_blocks(_checked(name, objects, chosen, features, unit, notes))
                yield TextStream(found, None, as_text(chosen), blocks, notes=notes)


def folder_texts(
    path: Path, encoding: str | None, limit: int, tell: Callable[[str], None]
) -> Iterator[tuple[Path, str]]:
    """Return the files of a folder and its subfolders, sorted, with their texts; hidden files are left out.

    Finally, ``tell`` is called with the number of files that were not UTF-8, if no encoding was given.
    """
    if encoding is not None:
        check_encoding(encoding)
    recognised: Counter[str] = Counter()
    for file in sorted(path.rglob("*")):
        name = file.relative_to(path)
        if not file.is_file() or is_hidden(name):
            continue
        with file.open("rb") as stream:
            content = stream.read(limit + 1)
        if len(content) > limit:
            raise CellTooLongError(file, 1, limit)
        try:
            text, other = decode_file(content, encoding)
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise EncodingError(file, line, error.encoding, error.reason) from error
        if other is not None:
            recognised[other] += 1
        yield name, text
    for other, number in recognised.items():
        tell(f"{number:,} {'file' if number == 1 else 'files'} not UTF-8: read as {other}")


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


def _with_features(text: str, features: Mapping[str, Any]) -> str:
    """Return a text with its features; without any, as it is."""
    return FeaturedText(text, {name: present(value) for name, value in features.items()}) if features else text


def _choose(
    path: Path,
    columns: list[str],
    text: TextColumns | None,
    prefer: TextColumns | None,
    features: Sequence[str],
) -> tuple[str, ...]:
    """Choose the columns of the texts."""
    check_features(path, columns, features, text_columns(text))
    names, learned = text_columns(text), text_columns(prefer)
    for name in names:
        check_columns(path, columns, text=name)
    if names:
        return names
    if learned and all(name in columns for name in learned):
        return learned
    problem = f"the model learned from {listed_names(learned)}" if learned else ""
    free = [name for name in columns if name not in features]
    return (str(guess_column(path, "text", free, columns, problem)),)


def _checked(
    path: Path,
    rows: Iterable[tuple[int, dict[str, Any]]],
    columns: Sequence[str],
    features: Sequence[str],
    unit: str,
    notes: list[str],
) -> Iterator[tuple[str, TextRow]]:
    """Return texts and rows; a missing value is an empty text, a missing key an error."""
    n_missing = 0
    several = len(columns) > 1
    for number, row in rows:
        text = _cell(path, row, columns[0], number, unit)
        if several:
            cells = [text, *(_cell(path, row, column, number, unit) for column in columns[1:])]
            text = None if all(cell is None for cell in cells) else joined(cells)
        n_missing += text is None
        # An object may leave out what is missing.
        yield _with_features(text or "", {name: row.get(name) for name in features}), row
    if n_missing:
        notes.append(missing_texts(n_missing))


def _cell(path: Path, row: dict[str, Any], column: str, number: int, unit: str) -> str | None:
    if column not in row:
        raise MalformedFileError(path, number, f"no key {column!r}; its keys are {listed_names(row)}", unit=unit)
    value = present(row[column])
    if not (isinstance(value, str) or value is None):
        problem = f"{column!r} must be a string, found {type(value).__name__}"
        raise MalformedFileError(path, number, problem, unit=unit)
    return value


def present(value: Any) -> Any:
    """Return None for anything that marks a missing value, before its name could become a string."""
    return None if isinstance(value, float) and isnan(value) else value


def missing_texts(number: int) -> str:
    """Say how many texts are missing and how they are treated."""
    return f"{number:,} missing {'text' if number == 1 else 'texts'} taken as empty"


def _folder(path: Path, encoding: str | None, limit: int, notes: list[str]) -> Iterator[tuple[str, TextRow]]:
    for name, text in folder_texts(path, encoding, limit, notes.append):
        yield text, {"id": name.as_posix()}


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
