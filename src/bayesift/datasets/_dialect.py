"""How a CSV file is written: which character separates its fields, and whether it begins with a header line."""

from __future__ import annotations

import csv
from collections.abc import Collection, Sequence
from io import StringIO
from itertools import islice
from pathlib import Path

from bayesift.datasets._columns import USUAL_NAMES
from bayesift.datasets.errors import HeaderError

#: Characters that separate fields, the most usual first.
_MARKS = ",;\t|"

#: Characters and rows that are looked at.
_LOOKED_AT = 1 << 16
_ROWS = 200

#: So many rows must follow before a value that is found again tells anything.
_FEW = 3

_NAMES = frozenset(name for names in USUAL_NAMES.values() for name in names)


def detect_delimiter(head: str, whole: bool, default: str, quotes: bool, wanted: Collection[str] = ()) -> str:
    """Return the field separator: the default, unless only another one makes a table of the rows.

    Parameters
    ----------
    head : str
        The beginning of the file.
    whole : bool
        Whether that is all of it.
    default : str
        The separator that the name of the file suggests.
    quotes : bool
        Whether fields may be enclosed in double quotes.
    wanted : collection of str
        Names of columns; if the default separator gives one of them, it is right.
    """
    rows = _rows(head, whole, default, quotes)
    if rows and (_is_table(rows) or any(name in rows[0] for name in wanted)):
        return default
    found = {mark: _rows(head, whole, mark, quotes) for mark in _MARKS if mark != default}
    tables = [mark for mark, rows in found.items() if len(rows) > (1 if whole else 0) and _is_table(rows)]
    # Between several, or with no more than the header, a known name decides.
    if len(tables) > 1 or (tables and len(found[tables[0]]) == 1):
        tables = [mark for mark in tables if any(_is_usual(name) or name in wanted for name in found[mark][0])]
    return tables[0] if len(tables) == 1 else default


def check_header(
    path: Path, head: str, whole: bool, delimiter: str, quotes: bool, wanted: Collection[str] = ()
) -> None:
    """Refuse a CSV file whose first line seems to be an ordinary row, as :func:`check_header_rows` does.

    Parameters
    ----------
    path : Path
        The file, for the message.
    head, whole, quotes, wanted
        As in :func:`detect_delimiter`.
    delimiter : str
        The field separator.
    """
    check_header_rows(path, _rows(head, whole, delimiter, quotes), wanted)


def check_header_rows(path: Path, rows: Sequence[Sequence[str]], wanted: Collection[str] = ()) -> None:
    """Refuse rows if the first seems to be like the others: no usual name, and a value that occurs again."""
    if len(rows) <= _FEW or any(_is_usual(name) or name in wanted for name in rows[0]):
        return
    for value, *column in zip(*rows, strict=False):
        if value.strip() and value in column:
            raise HeaderError(path, rows[0], value)


def numbered_columns(row: Sequence[str]) -> list[str]:
    """Name the columns of a file without a header by their numbers, from 1."""
    return [str(number) for number in range(1, len(row) + 1)]


def _rows(head: str, whole: bool, delimiter: str, quotes: bool) -> list[list[str]]:
    """Return the complete rows at the beginning; none if they break the rules."""
    lines = list(StringIO(head[:_LOOKED_AT], newline=""))
    cut = not (whole and len(head) <= _LOOKED_AT)
    if cut and lines and not lines[-1].endswith("\n"):
        lines.pop()
    reader = csv.reader(
        lines, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE, strict=True
    )
    rows: list[list[str]] = []
    try:
        for row in islice(filter(None, reader), _ROWS):
            rows.append(row)  # noqa: PERF402 - those before an error are kept
    except csv.Error as error:
        if not (cut and "unexpected end" in str(error)):
            return []
    return rows


def _is_table(rows: Sequence[Sequence[str]]) -> bool:
    return len(rows[0]) > 1 and all(len(row) == len(rows[0]) for row in rows)


def _is_usual(name: str) -> bool:
    return name.strip().lower() in _NAMES
