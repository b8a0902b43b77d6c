"""Open a database, SQLite in one file or PostgreSQL, so that a commit that has returned is on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, Select, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError

from bayesift._extras import require

T = TypeVar("T")

#: How long a writer waits for another one, in seconds.
PATIENCE = 30


class ProjectError(ValueError):
    """A file or a database is not a project that this version can open."""


class NotSavedError(OSError):
    """Something could not be written: the disk is full, or the database does not answer.

    Parameters
    ----------
    sentence : str
        What to tell the person who tried it.
    reason : str
        What the database says.
    """

    def __init__(self, sentence: str, reason: str = "") -> None:
        super().__init__(sentence)
        self.reason = reason


def open_database(database: str | Path) -> Engine:
    """Open a SQLite file by its path, or a PostgreSQL database by its address.

    Parameters
    ----------
    database : str or Path
        A path, or an address such as ``postgresql://user@host/name``.

    Returns
    -------
    Engine
        Connections are made when they are needed.
    """
    url = _url(database)
    if url.get_backend_name() == "sqlite":
        engine = create_engine(url, connect_args={"timeout": PATIENCE, "check_same_thread": False})
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    require("psycopg", extra="postgresql", purpose="a PostgreSQL database")
    engine = create_engine(url.set(drivername="postgresql+psycopg"), pool_pre_ping=True)
    event.listen(engine, "connect", _prepare_postgresql)
    return engine


def file_of(database: str | Path) -> Path | None:
    """Return the path of a SQLite file, or None if the database is kept by a server."""
    url = _url(database)
    return Path(url.database or "") if url.get_backend_name() == "sqlite" else None


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """Return a connection whose changes are all kept, and on disk, if the block succeeds, and otherwise none.

    The execution option ``checks`` of the engine holds functions that may refuse to write.

    Raises
    ------
    NotSavedError
        If the changes could not be written; the project is as it was before.
    """
    try:
        with engine.connect().execution_options(writing=True) as connection, connection.begin():
            for check in connection.get_execution_options().get("checks", ()):
                check(connection)
            yield connection
    except (OperationalError, InterfaceError) as error:
        reason = _reason(error)
        sentence = f"This could not be saved: {reason}. The project is as it was before."
        raise NotSavedError(sentence, reason) from error


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """Return a connection for reading; it sees one state of the database."""
    try:
        with engine.connect() as connection, connection.begin():
            yield connection
    except (OperationalError, InterfaceError) as error:
        raise NotSavedError(f"The project cannot be read: {_reason(error)}.") from error


def read_all(engine: Engine, query: Select[Any], make: Callable[[Any], T]) -> list[T]:
    """Return the objects made from the rows of a query."""
    with reading(engine) as connection:
        return [make(row) for row in connection.execute(query)]


def read_one(engine: Engine, query: Select[Any], make: Callable[[Any], T]) -> T | None:
    """Return the object made from the only row of a query; None if there is no row."""
    with reading(engine) as connection:
        row = connection.execute(query).one_or_none()
    return None if row is None else make(row)


def now() -> str:
    """Return the time as text."""
    return as_text(datetime.now(UTC))


def as_text(moment: datetime) -> str:
    """Write a time in UTC, to the millisecond, as text that sorts by time."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _url(database: str | Path) -> URL:
    if isinstance(database, Path) or "://" not in database:
        return URL.create("sqlite", database=str(database))
    try:
        url = make_url(database)
    except ArgumentError as error:
        raise ProjectError(f"the address of the database is not valid: {error}") from error
    if url.get_backend_name() != "postgresql":
        raise ProjectError(
            f"the database is {url.get_backend_name()}; expected the path of a SQLite file or postgresql://…"
        )
    return url


def _reason(error: DBAPIError) -> str:
    return " ".join(str(error.orig).split())


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    # The driver would begin transactions by its own rules; here they begin in _begin_sqlite.
    connection.isolation_level = None
    for setting in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {setting}")


def _begin_sqlite(connection: Connection) -> None:
    # A writer that began as a reader could find, when it comes to write, that another one was faster.
    immediate = connection.get_execution_options().get("writing", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")


def _prepare_postgresql(connection: Any, _record: Any) -> None:
    # Whatever the server's default is: a label is acknowledged when it is on the disk.
    connection.execute("SET synchronous_commit TO on")
    connection.commit()
