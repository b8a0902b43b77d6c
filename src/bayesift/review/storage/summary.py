"""A summary of a project file: nothing is migrated or written, and a server may be using the project."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import URL, Connection, create_engine, func, select
from sqlalchemy.exc import DatabaseError
from sqlalchemy.pool import NullPool

from bayesift.review.storage.connection import PATIENCE, ProjectError, reading
from bayesift.review.storage.migrations import version_of
from bayesift.review.storage.tables import SCHEMA_VERSION, documents, events, facts, topics


class TopicSummary(NamedTuple):
    """A topic by its name, and how many documents have a decision about title and abstract that was not taken back."""

    name: str
    decided: int


class Summary(NamedTuple):
    """A project at a glance.

    Parameters
    ----------
    name : str
        Its name.
    n_documents : int
        Number of documents, including copies.
    topics : tuple of TopicSummary
        Its topics, in the order in which they were made.
    last : str or None
        When the last decision was made; None if there is none.
    is_older : bool
        Whether an older version of the program made it; then only its name is read.
    """

    name: str
    n_documents: int = 0
    topics: tuple[TopicSummary, ...] = ()
    last: str | None = None
    is_older: bool = False


def summary_of(path: Path) -> Summary:
    """Summarise a project file without changing it.

    Parameters
    ----------
    path : Path
        The project file.

    Returns
    -------
    Summary
        Name, documents and topics.

    Raises
    ------
    ProjectError
        If it is not a project, or one of a newer version.
    """
    if not path.is_file():
        raise ProjectError(f"{path.name} does not exist, expected a project of Bayesift")
    # Projects are not opened like this, because that would give an older file a write-ahead log.
    engine = create_engine(
        URL.create("sqlite", database=path.name), creator=lambda: _only_read(path), poolclass=NullPool
    )
    try:
        version = version_of(engine)
        if version is None:
            raise ProjectError(f"{path.name} is empty, expected a project of Bayesift")
        if version > SCHEMA_VERSION:
            raise ProjectError(f"{path.name} has version {version}; this program reads versions up to {SCHEMA_VERSION}")
        with reading(engine) as connection:
            return _read(connection, version)
    except DatabaseError as error:
        raise ProjectError(f"{path.name} cannot be read: {error.orig}") from error
    finally:
        engine.dispose()


def _only_read(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=PATIENCE, check_same_thread=False)
    connection.execute("PRAGMA query_only = ON")
    return connection


def _read(connection: Connection, version: int) -> Summary:
    name = connection.scalar(select(facts.c.value).where(facts.c.name == "name")) or ""
    if version < SCHEMA_VERSION:
        return Summary(name, is_older=True)
    undone = select(events.c.undoes).where(events.c.undoes.is_not(None))
    held = (
        select(events.c.topic, func.count(events.c.document.distinct()))
        .where(events.c.stage == "abstract", events.c.action != "undo", events.c.decision != "skip")
        .where(events.c.id.not_in(undone))
        .group_by(events.c.topic)
    )
    decided = {row[0]: row[1] for row in connection.execute(held)}
    rows = connection.execute(select(topics.c.id, topics.c.name).order_by(topics.c.id))
    return Summary(
        name,
        connection.scalar(select(func.count()).select_from(documents)) or 0,
        tuple(TopicSummary(row.name, decided.get(row.id, 0)) for row in rows),
        connection.scalar(select(func.max(events.c.at))),
    )
