"""Bringing a project to the tables of this version, one version at a time."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Engine,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    inspect,
    select,
    update,
)
from sqlalchemy.exc import DatabaseError

from bayesift.review.storage.connection import ProjectError, reading, writing
from bayesift.review.storage.documents import index_all
from bayesift.review.storage.tables import SCHEMA_VERSION, facts, metadata


def _to_version_2(connection: Connection) -> None:
    """Let a topic say how cards are chosen and when to stop; remember who is logged in."""
    for column in (
        "informative FLOAT NOT NULL DEFAULT 0.10",
        "random FLOAT NOT NULL DEFAULT 0.05",
        "target_recall FLOAT NOT NULL DEFAULT 0.95",
        "confidence FLOAT NOT NULL DEFAULT 0.95",
        "shared BOOLEAN NOT NULL DEFAULT true",
    ):
        connection.exec_driver_sql(f"ALTER TABLE topics ADD COLUMN {column}")
    connection.exec_driver_sql(
        "CREATE TABLE sessions (token_hash TEXT NOT NULL PRIMARY KEY, "
        "reviewer INTEGER NOT NULL REFERENCES reviewers (id), created TEXT NOT NULL)"
    )


def _to_version_3(connection: Connection) -> None:
    """Give reviewers roles, the first that of the owner; let them be removed; say where sessions are; keep an audit."""
    for addition in (
        "reviewers ADD COLUMN role TEXT NOT NULL DEFAULT 'reviewer'",
        "reviewers ADD COLUMN removed TEXT",
        "sessions ADD COLUMN address TEXT NOT NULL DEFAULT ''",
        "sessions ADD COLUMN browser TEXT NOT NULL DEFAULT ''",
    ):
        connection.exec_driver_sql(f"ALTER TABLE {addition}")
    connection.exec_driver_sql("UPDATE reviewers SET role = 'owner' WHERE id = (SELECT MIN(id) FROM reviewers)")
    version_3 = MetaData()
    Table("reviewers", version_3, Column("id", Integer, primary_key=True))
    Table(
        "links",
        version_3,
        Column("token_hash", Text, primary_key=True),
        Column("reviewer", Integer, ForeignKey("reviewers.id"), nullable=False),
        Column("expires", Text, nullable=False),
    ).create(connection)
    Table(
        "audit",
        version_3,
        Column("id", Integer, primary_key=True),
        Column("at", Text, nullable=False),
        Column("action", Text, nullable=False),
        Column("reviewer", Integer, ForeignKey("reviewers.id")),
        Column("address", Text, nullable=False),
        Column("detail", Text, nullable=False),
    ).create(connection)


def _to_version_4(connection: Connection) -> None:
    """Find documents by an index of their words."""
    index_all(connection)


def _to_version_5(connection: Connection) -> None:
    """Give topics criteria, reasons for exclusion and tags; let a decision name its reason; keep notes and tags."""
    for addition in (
        "topics ADD COLUMN inclusion TEXT NOT NULL DEFAULT ''",
        "topics ADD COLUMN exclusion TEXT NOT NULL DEFAULT ''",
        "topics ADD COLUMN reasons TEXT NOT NULL DEFAULT '[]'",
        "topics ADD COLUMN tags TEXT NOT NULL DEFAULT '[]'",
        "events ADD COLUMN reason TEXT",
    ):
        connection.exec_driver_sql(f"ALTER TABLE {addition}")
    version_5 = MetaData()
    for name, key in (("topics", "id"), ("documents", "place"), ("reviewers", "id")):
        Table(name, version_5, Column(key, Integer, primary_key=True))
    Table(
        "remarks",
        version_5,
        Column("id", Integer, primary_key=True),
        Column("topic", Integer, ForeignKey("topics.id"), nullable=False),
        Column("document", Integer, ForeignKey("documents.place"), nullable=False),
        Column("reviewer", Integer, ForeignKey("reviewers.id"), nullable=False),
        Column("kind", Text, nullable=False),
        Column("content", Text, nullable=False),
        Column("at", Text, nullable=False),
        Index("remarks_of_document", "topic", "document"),
    ).create(connection)


def _to_version_6(connection: Connection) -> None:
    """Let documents be copies of others, and their texts be mended; nothing is looked for in an older project."""
    version_6 = MetaData()
    for name, key in (("documents", "place"), ("reviewers", "id")):
        Table(name, version_6, Column(key, Integer, primary_key=True))
    Table(
        "duplicates",
        version_6,
        Column("document", Integer, ForeignKey("documents.place"), primary_key=True, autoincrement=False),
        Column("original", Integer, ForeignKey("documents.place"), nullable=False),
        Column("how", Text, nullable=False),
    ).create(connection)
    Table(
        "mendings",
        version_6,
        Column("id", Integer, primary_key=True),
        Column("document", Integer, ForeignKey("documents.place"), nullable=False),
        Column("reviewer", Integer, ForeignKey("reviewers.id")),
        Column("at", Text, nullable=False),
        Column("before", Text, nullable=False),
        Column("after", Text, nullable=False),
    ).create(connection)


def _to_version_7(connection: Connection) -> None:
    """Let topics have two readers for each document, full texts and shares of the work; keep when they were stopped."""
    for addition in (
        "topics ADD COLUMN double BOOLEAN NOT NULL DEFAULT false",
        "topics ADD COLUMN full_text BOOLEAN NOT NULL DEFAULT false",
        "topics ADD COLUMN shares TEXT NOT NULL DEFAULT '[]'",
        "events ADD COLUMN stage TEXT NOT NULL DEFAULT 'abstract'",
    ):
        connection.exec_driver_sql(f"ALTER TABLE {addition}")
    version_7 = MetaData()
    for name in ("topics", "reviewers"):
        Table(name, version_7, Column("id", Integer, primary_key=True))
    Table(
        "stops",
        version_7,
        Column("id", Integer, primary_key=True),
        Column("topic", Integer, ForeignKey("topics.id"), nullable=False),
        Column("reviewer", Integer, ForeignKey("reviewers.id"), nullable=False),
        Column("at", Text, nullable=False),
        Column("stopped", Boolean, nullable=False),
        Column("statement", Text, nullable=False),
        Column("numbers", Text, nullable=False),
        Column("note", Text, nullable=False),
    ).create(connection)


def _to_version_8(connection: Connection) -> None:
    """Let a topic stop with a number left, and learn from earlier reviews, which the project keeps."""
    for addition in ("at_most INTEGER NOT NULL DEFAULT 0", "earlier TEXT NOT NULL DEFAULT '[]'"):
        connection.exec_driver_sql(f"ALTER TABLE topics ADD COLUMN {addition}")
    version_8 = MetaData()
    Table("reviewers", version_8, Column("id", Integer, primary_key=True))
    Table(
        "earlier_reviews",
        version_8,
        Column("id", Integer, primary_key=True),
        Column("source", Text, nullable=False),
        Column("digest", Text, nullable=False, unique=True),
        Column("at", Text, nullable=False),
        Column("reviewer", Integer, ForeignKey("reviewers.id")),
        Column("relevant", Integer, nullable=False),
        Column("irrelevant", Integer, nullable=False),
        Column("in_project", Integer, nullable=False),
    ).create(connection)
    Table(
        "earlier_records",
        version_8,
        Column("id", Integer, primary_key=True),
        Column("review", Integer, ForeignKey("earlier_reviews.id"), nullable=False),
        Column("title", Text, nullable=False),
        Column("text", Text, nullable=False),
        Column("relevant", Boolean, nullable=False),
        Index("records_of_earlier_review", "review", "id"),
    ).create(connection)


#: ``STEPS[n]`` turns tables of version n into those of version n + 1.
STEPS: dict[int, Callable[[Connection], None]] = {
    1: _to_version_2,
    2: _to_version_3,
    3: _to_version_4,
    4: _to_version_5,
    5: _to_version_6,
    6: _to_version_7,
    7: _to_version_8,
}


def create_tables(connection: Connection, **values: str) -> None:
    """Make the tables of this version in an empty database, and note the facts given."""
    metadata.create_all(connection)
    rows = {"version": str(SCHEMA_VERSION), **values}
    connection.execute(facts.insert(), [{"name": name, "value": value} for name, value in rows.items()])


def version_of(engine: Engine) -> int | None:
    """Tell the version of the tables, or None for an empty database.

    Raises
    ------
    ProjectError
        If there are tables, but not those of a project.
    """
    name = engine.url.database
    try:
        with reading(engine) as connection:
            tables = inspect(connection).get_table_names()
            if not tables:
                return None
            found = None
            if "facts" in tables:
                found = connection.scalar(select(facts.c.value).where(facts.c.name == "version"))
    except DatabaseError as error:
        raise ProjectError(f"{name} is not a project of Bayesift: {error.orig}") from error
    if found is None or not found.isdecimal():
        raise ProjectError(f"{name} is a database, but not a project of Bayesift")
    return int(found)


def migrate(engine: Engine) -> int:
    """Bring the tables to this version, in one transaction.

    Returns
    -------
    int
        The version that was found.

    Raises
    ------
    ProjectError
        If the tables are of a newer version.
    """
    found = version_of(engine)
    if found is None:
        raise ProjectError(f"{engine.url.database} is empty, expected a project of Bayesift")
    if found > SCHEMA_VERSION:
        raise ProjectError(
            f"{engine.url.database} has version {found}, this program reads versions up to {SCHEMA_VERSION}: "
            "a newer Bayesift made it; update with: pip install --upgrade 'bayesift[review]'"
        )
    if found < SCHEMA_VERSION:
        with writing(engine) as connection:
            # Read again, alone: another process may have been faster.
            held = select(facts.c.value).where(facts.c.name == "version").with_for_update()
            for version in range(int(connection.scalars(held).one()), SCHEMA_VERSION):
                STEPS[version](connection)
            connection.execute(update(facts).where(facts.c.name == "version").values(value=str(SCHEMA_VERSION)))
    return found
