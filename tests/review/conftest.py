"""Shared by the tests of the review page: databases of both kinds, one of them started here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from bayesift.review.storage import Document, Project
from benchmarks.review.postgresql import NotInstalledError, new_database, temporary_server

DOCUMENTS = [
    Document("a", "Tin falls in London", "The price of tin fell again on the metal exchange."),
    Document("b", "Ships wait", "A hundred ships wait for grain before the port.", {"year": 1987}),
    Document("c", "", "A court has fined a maker of tin cans."),
    Document("d", "Copper rises", "The price of copper rose: miners are on strike at the mine."),
    Document("e", "<script>alert(1)</script>", "<b>bold</b> & 'quoted' <script>document.title='owned'</script>"),
    Document("f", "Zinc mine opens", "A zinc mine opens, and the price of the metal falls."),
]


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The address of a PostgreSQL server of these tests, without the name of a database; it hears a socket only."""
    with ExitStack() as stack:
        try:
            # That commits are on the disk is the server's to keep; here nothing is unplugged.
            address = stack.enter_context(temporary_server(fsync=False))
        except NotInstalledError as error:
            pytest.skip(str(error))
        yield address


@pytest.fixture
def new_postgresql(postgresql: str) -> str:
    """The address of an empty database."""
    return new_database(postgresql)


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str | Path:
    """A new file, then an empty database of PostgreSQL."""
    if request.param == "sqlite":
        return tmp_path / "project.sqlite"
    return str(request.getfixturevalue("new_postgresql"))


@pytest.fixture(scope="session")
def documents() -> list[Document]:
    """Six documents, one of them a danger to careless pages."""
    return DOCUMENTS


@pytest.fixture
def project(database: str | Path) -> Iterator[Project]:
    """A small project in either kind of database."""
    made = Project.create(database, "News", DOCUMENTS)
    yield made
    made.close()
