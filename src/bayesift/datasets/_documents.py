"""Documents with title, text and details: from tables, folders, and RIS, the format of databases of literature."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from bayesift.datasets._columns import USUAL_NAMES, check_columns, find_column
from bayesift.datasets._files import open_packed
from bayesift.datasets._formats import ending, format_of
from bayesift.datasets._tables import open_table
from bayesift.datasets._texts import folder_texts
from bayesift.datasets.errors import ColumnError, EncodingError, FormatError, MalformedFileError

#: What the tags of RIS are called among the details of a document; the first tag of a name is the one to write.
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
        Its identifier, or, where it has none, its number, counted from 1.
    title, text : str
        Title and text; empty where they are missing.
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
    encoding: str = "utf-8",
) -> Iterator[Document]:
    r"""Return the documents of a CSV, TSV, JSONL, Parquet or RIS file, or of a folder, one at a time.

    Parameters
    ----------
    path : path
        The file; ``.gz``, ``.xz`` and ``.bz2`` are decompressed while reading. In a folder each file is a document.
    text, title, id : str, optional
        Names of the columns; where they are not given, those with the most usual names. A file may lack the text
        or the title, but not both.
    delimiter : str, optional
        The field separator of a CSV or TSV file.
    encoding : str, default="utf-8"
        Encoding of the texts.

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
    place = Path(path)
    if ending(place) == ".ris" and place.is_file():
        return _from_ris(place, encoding)
    format = format_of(place)
    if format == "folder":
        return (Document(name.as_posix(), name.stem, content, {}) for name, content in folder_texts(place, encoding))
    if format == "svmlight":
        expected = "expected texts: CSV, TSV, JSONL, Parquet, RIS or a folder"
        raise FormatError(place, format, f"{place} holds vectors; {expected}")
    return _from_table(place, text, title, id, delimiter, encoding)


def _from_table(
    path: Path, text: str | None, title: str | None, id: str | None, delimiter: str | None, encoding: str
) -> Iterator[Document]:
    with open_table(path, delimiter=delimiter, encoding=encoding) as table:
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


def _text(row: Mapping[str, Any], name: str | None) -> str:
    value = None if name is None else _plain(row.get(name))
    return "" if value is None else str(value).strip()


def _plain(value: Any) -> Any:
    """Return a value that JSON can hold; NaN is nothing."""
    if isinstance(value, float) and value != value:
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _from_ris(path: Path, encoding: str) -> Iterator[Document]:
    for number, fields in enumerate(_ris_records(path, encoding), start=1):
        details: dict[str, Any] = {}
        for tag, values in fields.items():
            if tag not in (*_RIS_TITLE, *_RIS_TEXT):
                name = RIS_NAMES.get(tag, tag)
                details[name] = "; ".join(filter(None, [details.get(name, ""), *values]))
        id, title, text = (_first(fields, tags) for tags in (_RIS_ID, _RIS_TITLE, _RIS_TEXT))
        yield Document(id or str(number), title, text, details)


def _ris_records(path: Path, encoding: str) -> Iterator[dict[str, list[str]]]:
    """Return the values of each record by tag."""
    fields: dict[str, list[str]] = {}
    tag = ""
    with open_packed(path) as stream:
        for number, raw in enumerate(stream, start=1):
            try:
                # Files that were joined from several have a mark at each beginning.
                line = raw.decode(encoding).lstrip("\ufeff").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise EncodingError(path, number, error.encoding, error.reason) from error
            found = _RIS_LINE.match(line)
            if found is None:
                if not line.strip():
                    continue
                if not tag:
                    raise MalformedFileError(path, number, f"found {line[:40]!r}, expected a tag such as 'TY  - JOUR'")
                # A long text may go on in the next line.
                fields[tag][-1] = f"{fields[tag][-1]} {line.strip()}".strip()
                continue
            tag, value = found[1], (found[2] or "").strip()
            if tag == "ER":
                if fields:
                    yield fields
                fields, tag = {}, ""
            else:
                fields.setdefault(tag, []).append(value)
    if fields:
        yield fields


def _first(fields: Mapping[str, list[str]], tags: Iterable[str]) -> str:
    return next((value for tag in tags for value in fields.get(tag, []) if value), "")
