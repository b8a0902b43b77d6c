"""RIS, the format in which databases of literature give their records."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bayesift.datasets import MalformedFileError
from bayesift.datasets._source import open_packed
from bayesift.review.storage import Document

_LINE = re.compile(r"([A-Z][A-Z0-9])  ?-(?: (.*))?$")

_TITLE = ("TI", "T1", "CT", "BT")
_TEXT = ("AB", "N2")
_KEY = ("ID", "AN", "DO")

#: What tags are called among the details of a document; the first tag of a name is the one that is written.
NAMES = {
    "TY": "type",
    "AU": "authors", "A1": "authors",
    "PY": "year", "Y1": "year",
    "T2": "journal", "JO": "journal", "JF": "journal",
    "DO": "doi",
    "KW": "keywords",
    "UR": "url",
    "LA": "language",
}  # fmt: skip

Fields = Mapping[str, list[str]]


def read_ris(path: Path, encoding: str = "utf-8") -> Iterator[Document]:
    """Return the records of a RIS file as documents; a record without an identifier has its number, counted from 1."""
    for number, fields in enumerate(_records(path, encoding), start=1):
        yield _document(fields, number)


def _records(path: Path, encoding: str) -> Iterator[dict[str, list[str]]]:
    fields: dict[str, list[str]] = {}
    tag = ""
    with open_packed(path) as stream:
        for number, raw in enumerate(stream, start=1):
            try:
                # Files that were joined from several have a mark at each beginning.
                line = raw.decode(encoding).lstrip("\ufeff").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise MalformedFileError(path, number, f"not {error.encoding}: {error.reason}") from error
            found = _LINE.match(line)
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


def _document(fields: Fields, number: int) -> Document:
    extra: dict[str, Any] = {}
    for tag, values in fields.items():
        if tag not in (*_TITLE, *_TEXT):
            name = NAMES.get(tag, tag)
            extra[name] = "; ".join(filter(None, [extra.get(name, ""), *values]))
    return Document(_first(fields, _KEY) or str(number), _first(fields, _TITLE), _first(fields, _TEXT), extra)


def _first(fields: Fields, tags: Iterable[str]) -> str:
    return next((value for tag in tags for value in fields.get(tag, []) if value), "")
