"""Which columns hold texts and labels, by what stands in them, where their names do not tell."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

from bayesift.datasets._columns import USUAL
from bayesift.datasets._formats import Format, format_of
from bayesift.datasets._rows import csv_columns, csv_rows, frame_columns, frame_rows, json_columns, json_rows

#: Rows that are looked at.
LOOKED_AT = 1000


def column_names(path: Path, *, delimiter: str | None, encoding: str, quotes: bool, format: Any) -> list[str]:
    """List the columns of a file; none for folders and vectors."""
    found = format_of(path, format)
    if found in ("csv", "tsv"):
        return csv_columns(path, _separator(found, delimiter), encoding, quotes)
    if found == "jsonl":
        return json_columns(path, encoding)
    return frame_columns(path) if found == "parquet" else []


def columns_by_content(
    path: Path, text: str | None, labels: str | None, *, delimiter: str | None, encoding: str, quotes: bool, format: Any
) -> tuple[str | None, str | None]:
    """Guess the columns that are not given; None where that stays open.

    The column of texts is the one with the longest cells; that of labels the only other one whose values come again:
    on average at least twice. A usual name goes before.
    """
    found = format_of(path, format)
    if found in ("folder", "svmlight"):
        return text, labels
    rows = list(islice(_rows(path, found, delimiter, encoding, quotes), LOOKED_AT))
    if not rows:
        return text, labels
    names = list(rows[0])
    cells = {name: [_cell(row.get(name)) for row in rows] for name in names}
    free = [name for name in names if name not in (text, labels)]
    if text is None:
        named = [name for name in free if name.lower() in USUAL["text"]]
        others = [name for name in free if name.lower() not in (*USUAL["labels"], *USUAL["id"])]
        text = named[0] if len(named) == 1 else _longest(others, cells)
    if labels is None:
        free = [name for name in free if name != text]
        named = [name for name in free if name.lower() in USUAL["labels"]]
        again = [name for name in free if 2 <= len(set(cells[name])) <= len(rows) / 2]
        labels = named[0] if len(named) == 1 else again[0] if len(again) == 1 else None
    return text, labels


def _rows(path: Path, format: Format, delimiter: str | None, encoding: str, quotes: bool) -> Any:
    if format in ("csv", "tsv"):
        found = csv_rows(path, _separator(format, delimiter), encoding, quotes)
    elif format == "jsonl":
        found = json_rows(path, encoding)
    else:
        found = frame_rows(path, frame_columns(path))
    return (row for _, row in found)


def _separator(format: Format, delimiter: str | None) -> str:
    return delimiter or ("," if format == "csv" else "\t")


def _longest(names: list[str], cells: dict[str, list[str]]) -> str | None:
    return max(names, key=lambda name: sum(map(len, cells[name])), default=None)


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)
