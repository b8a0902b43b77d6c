"""ASReview projects (``.asreview``): their records and decisions."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import BadZipFile, ZipFile

from bayesift.datasets._literature import Entry
from bayesift.datasets.errors import FormatError

#: The largest file of a project that is unpacked, in bytes, and the most files that are looked at.
_LARGEST, _MOST_FILES = 4 << 30, 10_000

#: Columns of the table of records that are shown as details, where they are lists joined.
_DETAILS = ("authors", "keywords", "year", "doi", "url")


def asreview_entries(path: Path) -> Iterator[Entry]:
    """Read the records of a project of ASReview 2 or 3; decisions are the detail ``asreview_label``."""
    try:
        with ZipFile(path) as archive, TemporaryDirectory() as folder:
            names = archive.namelist()
            if "project.json" not in names or len(names) > _MOST_FILES:
                raise FormatError(path, "asreview", f"{path} is no project of ASReview")
            bases = [
                _unpacked(path, archive, name, Path(folder)) for name in names if PurePosixPath(name).suffix == ".db"
            ]
            yield from _from_tables(path, bases)
    except (BadZipFile, sqlite3.DatabaseError, EOFError, NotImplementedError, RuntimeError) as error:
        raise FormatError(path, "asreview", f"{path} is no project of ASReview: {error}") from error


def _unpacked(path: Path, archive: ZipFile, name: str, folder: Path) -> Path:
    """Unpack one file under a generated name, because a name in an archive may lead anywhere."""
    if archive.getinfo(name).file_size > _LARGEST:
        raise FormatError(path, "asreview", f"{name} in {path} is larger than {_LARGEST >> 30} GB")
    target = folder / f"{len(list(folder.iterdir()))}.db"
    with archive.open(name) as source, target.open("wb") as stream:
        shutil.copyfileobj(source, stream)
    return target


def _from_tables(path: Path, bases: list[Path]) -> Iterator[Entry]:
    labels: dict[int, dict[str, Any]] = {}
    with_records = None
    for base in bases:
        with closing(_opened(base)) as connection:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if "record" in tables:
                with_records = base
            if "results" in tables:
                columns = {row[1] for row in connection.execute("PRAGMA table_info(results)")}
                kept = [name for name in ("record_id", "label", "note") if name in columns]
                for row in connection.execute(f"SELECT {', '.join(kept)} FROM results"):  # noqa: S608 - names of ours
                    labels[row[0]] = dict(zip(kept, row, strict=True))
    if with_records is None:
        raise FormatError(path, "asreview", f"{path} holds no table of records; open it once with ASReview 2 or newer")
    with closing(_opened(with_records)) as connection:
        connection.row_factory = sqlite3.Row
        for row in connection.execute("SELECT * FROM record ORDER BY record_id"):
            yield _entry(dict(row), labels.get(row["record_id"], {}))


def _opened(base: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"file:{base}?mode=ro", uri=True)
    # Nothing in an untrusted file may run functions.
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


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
    return Entry(str(row["record_id"]), str(row.get("title") or ""), str(row.get("abstract") or ""), details)


def _list(text: str) -> list[Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return [text]
    return found if isinstance(found, list) else [found]
