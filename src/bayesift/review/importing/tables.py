"""CSV, TSV, JSONL and Parquet files whose rows are documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bayesift.datasets._columns import USUAL
from bayesift.datasets._formats import Format
from bayesift.datasets._rows import Row, csv_columns, csv_rows, frame_columns, frame_rows, json_columns, json_rows
from bayesift.review.importing.columns import Columns
from bayesift.review.storage import Document

#: Usual names, the most usual first; small letters.
TITLES = ("title", "primary_title", "article title", "headline", "subject", "ti", "t1")
TEXTS = ("abstract", "notes_abstract", "abstract note", *USUAL["text"], "ab", "n2")
KEYS = (*USUAL["id"], "record_id", "key", "pmid", "pubmedid", "accession number", "doi")


def read_table(path: Path, format: Format, columns: Columns, encoding: str = "utf-8") -> Iterator[Document]:
    """Return the rows of a file as documents; columns that are not named are guessed by their usual names."""
    names, rows = opened_table(path, format, encoding, columns.delimiter)
    text, title, key = settled(path, names, columns)
    used = {text, title, key}
    for number, (_, row) in enumerate(rows, start=1):
        extra = {name: _plain(value) for name, value in row.items() if name not in used and value is not None}
        yield Document(
            _text(row, key) or str(number),
            _text(row, title),
            _text(row, text),
            extra,
        )


def opened_table(
    path: Path, format: Format, encoding: str = "utf-8", delimiter: str | None = None
) -> tuple[list[str], Iterator[Row]]:
    """Return the columns of a file and its rows."""
    if format in ("csv", "tsv"):
        mark = delimiter or ("," if format == "csv" else "\t")
        return csv_columns(path, mark, encoding, True), csv_rows(path, mark, encoding, True)
    if format == "jsonl":
        return json_columns(path, encoding), json_rows(path, encoding)
    names = frame_columns(path)
    return names, frame_rows(path, names)


def settled(path: Path, names: Sequence[str], columns: Columns) -> tuple[str | None, str | None, str | None]:
    """Settle which columns hold text, title and identifier; a title alone will do for a text."""
    for argument, name in (("text", columns.text), ("title", columns.title), ("id", columns.id)):
        if name is not None and name not in names:
            raise ValueError(f"{argument}: {path} has no column {name!r}; its columns are {', '.join(names)}")
    text = columns.text or usual(names, TEXTS)
    title = columns.title or usual(names, TITLES)
    if text is None and title is None:
        raise ValueError(
            f"text must name a column of {path}: none has a usual name; its columns are {', '.join(names)}"
        )
    return text, title, columns.id or usual(names, KEYS)


def usual(names: Sequence[str], wanted: Sequence[str]) -> str | None:
    """Find the column with the most usual name."""
    found = {name.strip().lower(): name for name in reversed(names)}
    return next((found[name] for name in wanted if name in found), None)


def _text(row: Mapping[str, Any], name: str | None) -> str:
    value = None if name is None else _plain(row.get(name))
    return "" if value is None else str(value).strip()


def _plain(value: Any) -> Any:
    """Return a value that JSON can hold; NaN is nothing."""
    if isinstance(value, float) and value != value:
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)
