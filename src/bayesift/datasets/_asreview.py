"""ASReview projects (``.asreview``): their records and decisions."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import BadZipFile, ZipFile, ZipInfo

from bayesift.datasets._files import ARCHIVE_DAMAGE
from bayesift.datasets._limits import check_archive_size
from bayesift.datasets._literature import Entry
from bayesift.datasets.errors import DamagedFileError, FormatError, reason_of

#: So many times its size a project may unpack to, and the most files that are looked at.
_MOST_EXPANSION, _MOST_FILES = 128, 10_000

#: The longest row that SQLite can be asked for.
_LONGEST = 2**31 - 1

#: Columns of the table of records that are shown as details, where they are lists joined.
_DETAILS = ("authors", "keywords", "year", "doi", "url")


def asreview_entries(path: Path, limit: int) -> Iterator[Entry]:
    """Read the records of a project of ASReview 2 or 3; decisions are the detail ``asreview_label``."""
    try:
        with ZipFile(path) as archive, TemporaryDirectory() as folder:
            names = archive.namelist()
            if "project.json" not in names or len(names) > _MOST_FILES:
                raise FormatError(path, "asreview", f"{path} is no project of ASReview")
            check_archive_size(path, _MOST_EXPANSION)
            # Not by name: of members of one name, only the last would be read, each time.
            packed = [member for member in archive.infolist() if PurePosixPath(member.filename).suffix == ".db"]
            # The names in an archive may lead anywhere.
            bases = [
                _unpacked(path, archive, member, Path(folder, f"{place}.db")) for place, member in enumerate(packed)
            ]
            yield from _from_tables(path, bases, limit)
    except sqlite3.DataError as error:
        remedy = "; if it is meant to be that long, raise max_cell (or BAYESIFT_MAX_CELL)"
        problem = f"{path} holds a record that is longer than {limit:,} bytes"
        raise FormatError(path, "asreview", problem, remedy=remedy) from error
    except (BadZipFile, sqlite3.DatabaseError, EOFError, NotImplementedError, RuntimeError) as error:
        raise FormatError(path, "asreview", f"{path} is no project of ASReview: {reason_of(error)}") from error


def _unpacked(path: Path, archive: ZipFile, member: ZipInfo, target: Path) -> Path:
    try:
        with archive.open(member) as source, target.open("wb") as stream:
            shutil.copyfileobj(source, stream)
    except RuntimeError:
        # Encrypted, or compressed by a method that is not known: not damaged.
        raise
    except ARCHIVE_DAMAGE as error:
        raise DamagedFileError(path, error) from error
    return target


def _from_tables(path: Path, bases: list[Path], limit: int) -> Iterator[Entry]:
    labels: dict[Any, dict[str, Any]] = {}
    with_records = None
    for base in bases:
        read = partial(_rows, base, limit)
        # A virtual table, which has no page of its own, is what some module makes of it.
        tables = {row["name"] for row in read("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0")}
        if "record" in tables:
            with_records = read
        if "results" in tables:
            # Names of columns are quoted, and a query can only read.
            query = f"SELECT {_columns(read, 'results')} FROM results WHERE record_id IS NOT NULL"  # noqa: S608
            decided = read(query)
            labels |= {row.get("record_id"): {name: row.get(name) for name in ("label", "note")} for row in decided}
    if with_records is None:
        raise FormatError(path, "asreview", f"{path} holds no table of records; open it once with ASReview 2 or newer")
    for row in with_records(f"SELECT {_columns(with_records, 'record')} FROM record ORDER BY record_id"):  # noqa: S608
        yield _entry(row, labels.get(row.get("record_id"), {}))


def _rows(base: Path, limit: int, query: str) -> Iterator[dict[str, Any]]:
    """Return the rows of a query, by lower-case column name; a row that is too long raises a DataError."""
    with closing(sqlite3.connect(f"file:{base}?mode=ro", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(limit, _LONGEST))
        # Nothing in an untrusted file may run functions: columns that it generates are left out, too.
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.set_authorizer(_allowed)
        for row in connection.execute(query):
            yield {name.lower(): row[name] for name in row.keys()}  # noqa: SIM118 - a row iterates over its values


def _allowed(action: int, *names: str | None) -> int:
    """Let a query read and do nothing else."""
    reads = action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_PRAGMA)
    return sqlite3.SQLITE_OK if reads else sqlite3.SQLITE_DENY


def _columns(read: Callable[[str], Iterator[dict[str, Any]]], table: str) -> str:
    """List the columns of a table that are in the file, for a query."""
    names = (row["name"] for row in read(f"PRAGMA table_xinfo({table})") if row["hidden"] == 0)
    return ", ".join('"' + str(name).replace('"', '""') + '"' for name in names)


def _entry(row: dict[str, Any], decided: dict[str, Any]) -> Entry:
    details = {}
    for name in _DETAILS:
        value = row.get(name)
        if isinstance(value, str) and value.startswith("["):
            value = "; ".join(map(str, _list(value)))
        if value not in (None, ""):
            details[name] = str(value)
    if decided.get("label") is not None:
        details["asreview_label"] = str(decided["label"])
    if decided.get("note"):
        details["asreview_note"] = str(decided["note"])
    return Entry(str(row.get("record_id")), str(row.get("title") or ""), str(row.get("abstract") or ""), details)


def _list(text: str) -> list[Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return [text]
    return found if isinstance(found, list) else [found]
