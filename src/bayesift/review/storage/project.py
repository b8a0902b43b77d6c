"""A project: everything about one collection of documents, in one file or one database."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from sqlalchemy import Engine, func, inspect, select

from bayesift._files import new_path
from bayesift.review.storage.audit import Audit
from bayesift.review.storage.claim import Claim
from bayesift.review.storage.connection import ProjectError, file_of, now, open_database, reading, writing
from bayesift.review.storage.documents import Document, Documents, fill, storable
from bayesift.review.storage.duplicates import DuplicateFinder, Duplicates, enter
from bayesift.review.storage.earlier import EarlierReviews
from bayesift.review.storage.history import History, Remarks
from bayesift.review.storage.migrations import create_tables, migrate, version_of
from bayesift.review.storage.reviewers import Reviewers, Sessions
from bayesift.review.storage.tables import facts
from bayesift.review.storage.topics import Stops, Topics

#: Held in PostgreSQL while a project is made.
_MAKING = 0x6261796573696674


class Project:
    """A collection of documents with its topics, reviewers and their history.

    Made by :meth:`create` and :meth:`open`.

    Parameters
    ----------
    engine : Engine
        A database with the tables of this version.

    Attributes
    ----------
    documents, duplicates, topics, reviewers, sessions, history, remarks, stops, earlier, audit
        The parts.
    name, id : str
        Name of the project, and a random word that identifies it.

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
        self.duplicates = Duplicates(engine)
        self.topics = Topics(engine)
        self.reviewers = Reviewers(engine)
        self.sessions = Sessions(engine)
        self.history = History(engine)
        self.remarks = Remarks(engine)
        self.stops = Stops(engine)
        self.earlier = EarlierReviews(engine)
        self.audit = Audit(engine)
        with reading(engine) as connection:
            known = {row.name: row.value for row in connection.execute(select(facts))}
        self.name = known["name"]
        self.id = known["id"]

    @classmethod
    def create(cls, database: str | Path, name: str, documents: Iterable[Document], *, source: str = "") -> Self:
        """Make a project in a new file or an empty database, completely or not at all.

        :mod:`bayesift.progress` reports how many documents have been added.

        Parameters
        ----------
        database : str or Path
            Path of the file, or an address ``postgresql://…``.
        name : str
            Name of the project.
        documents : iterable of Document
            The documents; at least one.
        source : str
            Where they come from, as a note.

        Returns
        -------
        Project
            The open project.
        """
        path = file_of(database)
        if path is None:
            with _closed_on_error(open_database(database)) as engine:
                _fill(engine, name, documents, source)
                return cls(engine)
        if path.exists():
            raise ProjectError(f"{path} already exists, expected the name of a new file")
        try:
            with new_path(path) as made, _closing(open_database(made)) as engine:
                _fill(engine, name, documents, source)
        except FileExistsError as error:
            raise ProjectError(f"{path} has been made by another process meanwhile, and is left as it is") from error
        return cls.open(path)

    @classmethod
    def open(cls, database: str | Path) -> Self:
        """Open a project; tables of an older version are migrated to this one."""
        path = file_of(database)
        if path is not None and not path.exists():
            raise ProjectError(f"{path} does not exist, expected a project of Bayesift")
        with _closed_on_error(open_database(database)) as engine:
            migrate(engine)
            return cls(engine)

    @staticmethod
    def exists(database: str | Path) -> bool:
        """Tell whether there is a project, of any version."""
        path = file_of(database)
        if path is not None and not path.exists():
            return False
        with _closing(open_database(database)) as engine:
            return version_of(engine) is not None

    def served_under(self, claim: Claim) -> None:
        """Stop writing once the claim of the server is lost."""
        claim.guard(self._engine)

    def check(self) -> None:
        """Check that the database answers.

        Raises
        ------
        NotSavedError
            If it does not answer.
        """
        with reading(self._engine) as connection:
            connection.execute(select(facts).limit(1))

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()


def _fill(engine: Engine, name: str, documents: Iterable[Document], source: str) -> None:
    """Make the tables in an empty database, and write the documents."""
    if version_of(engine) is not None:
        raise _not_empty(engine)
    with writing(engine) as connection:
        if connection.dialect.name == "postgresql":
            # One after the other: the second process finds the tables of the first.
            connection.execute(select(func.pg_advisory_xact_lock(_MAKING)))
        if inspect(connection).has_table(facts.name):
            raise _not_empty(engine)
        # Names of files need not be text.
        name, source = storable(name), storable(source)
        create_tables(connection, name=name, id=secrets.token_hex(8), created=now(), source=source)
        finder = DuplicateFinder()
        if not fill(connection, documents, finder.add):
            raise ValueError("there are no documents; expected at least one")
        enter(connection, finder.found())


def _not_empty(engine: Engine) -> ProjectError:
    return ProjectError(f"{engine.url.database} is not empty, expected a new file or an empty database")


@contextmanager
def _closing(engine: Engine) -> Iterator[Engine]:
    try:
        yield engine
    finally:
        engine.dispose()


@contextmanager
def _closed_on_error(engine: Engine) -> Iterator[Engine]:
    try:
        yield engine
    except BaseException:
        engine.dispose()
        raise
