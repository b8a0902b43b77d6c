"""A copy of a project as it is at one moment, made while others continue labelling."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import Engine, select

from bayesift._files import atomic_path
from bayesift.review.storage.connection import NotSavedError, ProjectError, file_of, open_database, reading, writing
from bayesift.review.storage.documents import index_all
from bayesift.review.storage.migrations import version_of
from bayesift.review.storage.tables import SCHEMA_VERSION, facts, metadata

#: How many rows are copied at once.
_BATCH = 1000


def back_up(database: str | Path, target: Path) -> None:
    """Copy a project to a new project file; a server may be using it, and need not wait.

    Everything that was acknowledged before the copy began is in it. The copy is checked before it replaces a file that
    is already there. A SQLite file is copied whatever the version of its tables; a PostgreSQL database becomes a file
    with the same rows.

    Parameters
    ----------
    database : str or Path
        Where the project is.
    target : Path
        The file to write.
    """
    path = file_of(database)
    if path is not None and not path.exists():
        raise ProjectError(f"{path} does not exist, expected a project of Bayesift")
    if target.with_name(f"{target.name}-wal").exists():
        raise ValueError(f"output is {target}, a project that is open; expected a file that is not in use")
    engine = open_database(database)
    try:
        version = version_of(engine)
        if version is None:
            raise ProjectError(f"{engine.url.database} is empty, expected a project of Bayesift")
        with atomic_path(target) as made:
            if path is not None:
                _copy_file(path, made)
            elif version == SCHEMA_VERSION:
                _copy_rows(engine, made)
            else:
                raise ProjectError(
                    f"{engine.url.database} has version {version}, expected {SCHEMA_VERSION}: open it once with "
                    "bayesift review, or use pg_dump"
                )
            _check(made)
    finally:
        engine.dispose()


def _copy_file(path: Path, made: Path) -> None:
    try:
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(made)) as copy:
            # In one step: with a write-ahead log it reads one state, and writers do not wait for it.
            source.backup(copy)
    except sqlite3.OperationalError as error:
        raise NotSavedError(f"The copy could not be made: {error}.", str(error)) from error


def _copy_rows(engine: Engine, made: Path) -> None:
    """Write the rows of all tables, of one state of the database, into a new file."""
    copy = open_database(made)
    # All statements of a transaction of this kind see what was there when it began.
    source = engine.execution_options(isolation_level="REPEATABLE READ")
    try:
        with reading(source) as origin, writing(copy) as target:
            metadata.create_all(target)
            for table in metadata.sorted_tables:
                rows = origin.execution_options(yield_per=_BATCH).execute(select(table).order_by(*table.primary_key))
                for some in rows.mappings().partitions():
                    target.execute(table.insert(), [dict(row) for row in some])
            target.execute(facts.delete().where(facts.c.name == "server"))
            index_all(target)
    finally:
        copy.dispose()


def _check(made: Path) -> None:
    """Check that a copy is complete, and make it a single file."""
    with closing(sqlite3.connect(made)) as copy:
        copy.execute("PRAGMA journal_mode = DELETE")
        found = copy.execute("PRAGMA integrity_check").fetchone()[0]
    if found != "ok":
        raise NotSavedError(f"The copy is damaged, and the project may be damaged too: {found}.", found)
