"""Rows of Excel workbooks, read with openpyxl: the cells of the first sheet as the strings of a CSV file."""

from __future__ import annotations

import datetime
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from bayesift._extras import require
from bayesift.datasets._dialect import check_header_rows, numbered_columns
from bayesift.datasets._limits import check_archive_size
from bayesift.datasets.errors import (
    CellTooLongError,
    ColumnError,
    DamagedFileError,
    FormatError,
    MalformedFileError,
    listed_names,
)

#: Columns that are looked for in the first row, and rows that a sheet may have by the rules of its format.
MAX_COLUMNS = 2000
MAX_ROWS = 1 << 20

#: So many times its size a workbook may unpack to: its strings are kept in memory while it is read.
MAX_EXPANSION = 128

#: Rows that are looked at for signs that there is no header.
_LOOKED_AT = 200

Cells = Iterator[tuple[int, list[str]]]


@contextmanager
def open_workbook(
    path: Path, limit: int, header: bool | None, wanted: tuple[str, ...], tell: Callable[[str], None]
) -> Iterator[tuple[list[str], Cells]]:
    """Open the first sheet that is not empty: its columns, and its rows with their numbers.

    Parameters
    ----------
    path : Path
    limit : int
        Characters of the longest cell.
    header : bool or None
        Whether its first row names the columns; None to refuse it if it does not seem to.
    wanted : tuple of str
        Names of columns that it should have.
    tell : callable
        Called with a sentence on which sheet it is, if there are several.
    """
    package = require("openpyxl", extra="excel", purpose="Excel workbooks")
    if not zipfile.is_zipfile(path):
        raise FormatError(path, "xlsx", f"{path} is not an Excel workbook (.xlsx)")
    with _damage(path):
        check_archive_size(path, MAX_EXPANSION)
        with warnings.catch_warnings():
            # Of styles and menus that it does not read.
            warnings.simplefilter("ignore")
            book = package.load_workbook(path, read_only=True, data_only=True, keep_links=False)
    try:
        with _damage(path):
            name, first = _first_sheet(path, book)
        if len(book.sheetnames) > 1:
            tell(f"sheet {name!r} of {len(book.sheetnames)}")
        number, names = first
        columns = names if header is not False else numbered_columns(names)
        rows = _rows(path, book[name], len(names), limit)
        if header is None:
            looked_at = [row for _, row in islice(_rows(path, book[name], len(names), limit), _LOOKED_AT)]
            check_header_rows(path, looked_at, wanted)
        yield columns, (row for row in rows if header is False or row[0] > number)
    except ColumnError as error:
        if others := [title for title in book.sheetnames if title != name]:
            error.add(
                f"only its sheet {name!r} is read, not {listed_names(others)}: the sheet with the texts must come first"
            )
        raise
    finally:
        book.close()


def _first_sheet(path: Path, book: Any) -> tuple[str, tuple[int, list[str]]]:
    """Return the name of the first sheet with something in it, and number and cells of its first row."""
    for sheet in book.worksheets:
        for number, cells in enumerate(sheet.iter_rows(max_row=MAX_ROWS, max_col=MAX_COLUMNS, values_only=True), 1):
            while cells and cells[-1] is None:
                cells = cells[:-1]
            if cells:
                return sheet.title, (number, [_text(cell) for cell in cells])
    raise ValueError(f"{path} is empty, expected a row of names and one row for each text")


def _rows(path: Path, sheet: Any, width: int, limit: int) -> Cells:
    with _damage(path):
        # One column more shows whether a row is too long.
        found = sheet.iter_rows(max_row=MAX_ROWS, max_col=width + 1, values_only=True)
        for number, cells in enumerate(found, start=1):
            if not any(cell is not None for cell in cells):
                continue
            if cells[-1] is not None:
                raise MalformedFileError(
                    path, number, f"found more than {width} cells, as in the first row", unit="row"
                )
            row = [_text(cell) for cell in cells[:-1]]
            if max(map(len, row)) > limit:
                raise CellTooLongError(path, number, limit, unit="row")
            yield number, row


def _text(cell: Any) -> str:
    match cell:
        case None:
            return ""
        case bool():
            return str(cell).upper()
        case datetime.datetime() if cell.time() == datetime.time():
            return cell.date().isoformat()
        case datetime.datetime():
            return cell.isoformat(sep=" ")
        case _:
            return str(cell)


@contextmanager
def _damage(path: Path) -> Iterator[None]:
    """Turn what openpyxl says of a damaged file, which can be anything, into an error that names it."""
    try:
        yield
    except (ValueError, OSError, MemoryError) as error:
        if str(path) in str(error):
            raise
        raise DamagedFileError(path, error) from error
    except Exception as error:
        raise DamagedFileError(path, error) from error
