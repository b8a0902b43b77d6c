"""A project: everything about one collection of documents, in one file or one database."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from sqlalchemy import Engine, select

from bayesift.review.storage.connection import ProjectError, now, open_database, reading, writing
from bayesift.review.storage.documents import Document, Documents, fill
from bayesift.review.storage.history import History
from bayesift.review.storage.migrations import create_tables, migrate, version_of
from bayesift.review.storage.reviewers import Reviewers, Sessions
from bayesift.review.storage.tables import facts
from bayesift.review.storage.topics import Topics


class Project:
    """A collection of documents with its topics, reviewers and their history.

    Made by :meth:`create` and :meth:`open`.

    Parameters
    ----------
    engine : Engine
        A database with the tables of this version.

    Attributes
    ----------
    documents, topics, reviewers, sessions, history
        The parts.
    name, id : str
        What the project is called, and a random word that tells it from all others.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from bayesift.review.storage import Document, Project
    >>> with TemporaryDirectory() as folder:
    ...     documents = [Document("1", "Tin falls", "The price of tin fell."), Document("2", "", "Ships sail.")]
    ...     project = Project.create(Path(folder) / "news.sqlite", "News", documents)
    ...     print(len(project.documents), project.documents.get(0).title)
    ...     project.close()
    2 Tin falls
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.documents = Documents(engine)
        self.topics = Topics(engine)
        self.reviewers = Reviewers(engine)
        self.sessions = Sessions(engine)
        self.history = History(engine)
        with reading(engine) as connection:
            known = {row.name: row.value for row in connection.execute(select(facts))}
        self.name = known["name"]
        self.id = known["id"]

    @classmethod
    def create(cls, database: str | Path, name: str, documents: Iterable[Document], *, source: str = "") -> Self:
        """Make a project in a new file or an empty database: whole, or not at all.

        :mod:`bayesift.progress` tells how many documents have been added.

        Parameters
        ----------
        database : str or Path
            Path of the file, or an address ``postgresql://…``.
        name : str
            What to call it.
        documents : iterable of Document
            The documents; at least one.
        source : str
            Where they come from, as a note.

        Returns
        -------
        Project
            The open project.
        """
        new = isinstance(database, Path) and not database.exists()
        with _closed_on_error(open_database(database), remove=new) as engine:
            if version_of(engine) is not None:
                raise ProjectError(f"{engine.url.database} is not empty, expected a new file or an empty database")
            with writing(engine) as connection:
                create_tables(connection, name=name, id=secrets.token_hex(8), created=now(), source=source)
                if not fill(connection, documents):
                    raise ValueError("there are no documents; expected at least one")
            return cls(engine)

    @classmethod
    def open(cls, database: str | Path) -> Self:
        """Open a project; tables of an older version are brought to this one."""
        with _closed_on_error(open_database(database)) as engine:
            migrate(engine)
            return cls(engine)

    @staticmethod
    def exists(database: str | Path) -> bool:
        """Tell whether there is a project, of whatever version."""
        if isinstance(database, Path) and not database.exists():
            return False
        engine = open_database(database)
        try:
            return version_of(engine) is not None
        finally:
            engine.dispose()

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()


@contextmanager
def _closed_on_error(engine: Engine, *, remove: bool = False) -> Iterator[Engine]:
    """Close the connections if the block raises, and remove the file if it was made in it."""
    try:
        yield engine
    except BaseException:
        engine.dispose()
        if remove:
            Path(engine.url.database or "").unlink(missing_ok=True)
        raise
