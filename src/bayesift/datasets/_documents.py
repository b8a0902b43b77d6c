"""Documents with title, text and details: from tables, folders, and RIS, the format of literature databases."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from bayesift.datasets._asreview import asreview_entries
from bayesift.datasets._columns import USUAL_NAMES, check_columns, find_column
from bayesift.datasets._formats import ending, format_of
from bayesift.datasets._inputs import open_utf_8
from bayesift.datasets._limits import cell_limit
from bayesift.datasets._literature import READERS, Entry, joined_lines
from bayesift.datasets._tables import open_table
from bayesift.datasets._texts import folder_texts
from bayesift.datasets.errors import CellTooLongError, ColumnError, EncodingError, FormatError, MalformedFileError

#: The names of RIS tags among the details of a document; the first tag with a name is the one to write.
RIS_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "TY": "type",
        "AU": "authors", "A1": "authors",
        "PY": "year", "Y1": "year",
        "T2": "journal", "JO": "journal", "JF": "journal",
        "DO": "doi",
        "KW": "keywords",
        "UR": "url",
        "LA": "language",
    }
)  # fmt: skip

_RIS_LINE = re.compile(r"([A-Z][A-Z0-9])  ?-(?: (.*))?$")
_RIS_TITLE = ("TI", "T1", "CT", "BT")
_RIS_TEXT = ("AB", "N2")
_RIS_ID = ("ID", "AN", "DO")


class Document(NamedTuple):
    """A document with what its file says about it.

    Parameters
    ----------
    id : str
        Its identifier or, if it has none, its number, counted from 1.
    title, text : str
        Title and text; empty if they are missing.
    details : dict
        Everything else, by name.
    """

    id: str
    title: str
    text: str
    details: dict[str, Any]


def read_documents(
    path: str | os.PathLike[str],
    *,
    text: str | None = None,
    title: str | None = None,
    id: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    max_cell: int | None = None,
    tell: Callable[[str], None] = lambda note: None,
) -> Iterator[Document]:
    r"""Return the documents of a table, a literature file or a folder, one at a time.

    Formats are CSV, TSV, JSONL, JSON, Parquet, Excel; RIS, PubMed (``.nbib``), BibTeX (``.bib``), EndNote XML
    (``.xml``) and ASReview projects (``.asreview``).

    Parameters
    ----------
    path : path
        The file; ``.gz``, ``.xz`` and ``.bz2`` are decompressed while reading. In a folder each file is a document.
    text, title, id : str, optional
        Names of the columns; by default, those with the most usual names. A file may lack the text or the title, but
        not both.
    delimiter : str, optional
        The field separator of a CSV or TSV file.
    encoding : str, optional
        Encoding of the texts; detected by default, as in :func:`read`.
    max_cell : int, optional
        The longest cell or row of a table, RIS record, or file of a folder, in bytes; see :func:`read`.
    tell : callable, optional
        Called, after the last document, with each sentence about what was detected, such as the encoding.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from bayesift.datasets import read_documents
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "papers.ris"
    ...     _ = path.write_text("TY  - JOUR\nTI  - Tin\nAB  - On tin.\nPY  - 1987\nER  - \n")
    ...     print(*read_documents(path))
    Document(id='1', title='Tin', text='On tin.', details={'type': 'JOUR', 'year': '1987'})
    """
    place, limit = Path(path), cell_limit(max_cell)
    if ending(place) == ".ris" and place.is_file():
        return _from_ris(place, encoding, limit, tell)
    if ending(place) in READERS and place.is_file():
        return _numbered(READERS[ending(place)](place, encoding, limit, tell))
    if ending(place) == ".asreview" and place.is_file():
        return _numbered(asreview_entries(place, limit))
    format = format_of(place)
    if format == "folder":
        texts = folder_texts(place, encoding, limit, tell)
        return (Document(name.as_posix(), name.stem, content, {}) for name, content in texts)
    if format == "svmlight":
        expected = "expected texts: CSV, TSV, JSONL, JSON, Parquet, Excel, RIS, PubMed, BibTeX, EndNote or a folder"
        raise FormatError(place, format, f"{place} holds vectors; {expected}")
    reading = {"delimiter": delimiter, "encoding": encoding, "max_cell": max_cell}
    return _from_table(place, text, title, id, tell, **reading)


def _numbered(entries: Iterable[Entry]) -> Iterator[Document]:
    """Return entries as documents; those without an identifier get their number."""
    for number, (id, title, text, details) in enumerate(entries, start=1):
        yield Document(id or str(number), title, text, dict(details))


def _from_table(
    path: Path, text: str | None, title: str | None, id: str | None, tell: Callable[[str], None], **reading: Any
) -> Iterator[Document]:
    wanted = [name for name in (text, title, id) if name]
    with open_table(path, wanted=wanted, header=True, **reading) as table:
        columns = table.columns
        check_columns(path, columns, text=text, title=title, id=id)
        text = text or find_column(columns, USUAL_NAMES["abstract"]) or find_column(columns, USUAL_NAMES["text"])
        title = title or find_column(columns, USUAL_NAMES["title"])
        if text is None and title is None:
            raise ColumnError(path, "text", columns)
        id = id or find_column(columns, (*USUAL_NAMES["id"], *USUAL_NAMES["record id"]))
        used = {text, title, id}
        for number, (_, row) in enumerate(table.rows(), start=1):
            details = {name: _plain(value) for name, value in row.items() if name not in used and value is not None}
            yield Document(_text(row, id) or str(number), _text(row, title), _text(row, text), details)
        for note in table.notes:
            tell(note)


def _text(row: Mapping[str, Any], name: str | None) -> str:
    value = None if name is None else _plain(row.get(name))
    return "" if value is None else str(value).strip()


def _plain(value: Any) -> Any:
    """Return a value that JSON can hold; NaN is nothing."""
    if isinstance(value, float) and value != value:
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _from_ris(path: Path, encoding: str | None, limit: int, tell: Callable[[str], None]) -> Iterator[Document]:
    notes: list[str] = []
    for number, fields in enumerate(_ris_records(path, encoding, limit, notes.append), start=1):
        details: dict[str, list[str]] = {}
        for tag, values in fields.items():
            if tag not in (*_RIS_TITLE, *_RIS_TEXT):
                details.setdefault(RIS_NAMES.get(tag, tag), []).extend(filter(None, values))
        id, title, text = (_first(fields, tags) for tags in (_RIS_ID, _RIS_TITLE, _RIS_TEXT))
        yield Document(id or str(number), title, text, {name: "; ".join(values) for name, values in details.items()})
    for note in notes:
        tell(note)


def _ris_records(
    path: Path, encoding: str | None, limit: int, tell: Callable[[str], None]
) -> Iterator[dict[str, list[str]]]:
    """Return the values of each record by tag."""
    # The lines of each value: a long text may continue on the next line.
    fields: dict[str, list[list[str]]] = {}
    tag, begin, size = "", 1, 0
    with open_utf_8(path, encoding, tell) as stream:
        for number, raw in enumerate(iter(partial(stream.readline, limit + 1), b""), start=1):
            begin, size = begin if fields else number, size + len(raw)
            if size > limit:
                raise CellTooLongError(path, begin, limit)
            try:
                # A file joined from several has a byte order mark at the beginning of each.
                line = raw.decode().lstrip("\ufeff").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise EncodingError(path, number, error.encoding, error.reason) from error
            found = _RIS_LINE.match(line)
            if found is None:
                if line.strip() and not tag:
                    raise MalformedFileError(path, number, f"found {line[:40]!r}, expected a tag such as 'TY  - JOUR'")
                if line.strip():
                    fields[tag][-1].append(line.strip())
                continue
            tag, value = found[1], (found[2] or "").strip()
            if tag == "ER":
                if fields:
                    yield joined_lines(fields)
                fields, tag, size = {}, "", 0
            else:
                fields.setdefault(tag, []).append([value])
    if fields:
        yield joined_lines(fields)


def _first(fields: Mapping[str, list[str]], tags: Iterable[str]) -> str:
    return next((value for tag in tags for value in fields.get(tag, []) if value), "")
