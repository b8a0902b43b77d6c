"""Shared by the tests of the review page: databases of both kinds, one of them started here."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

import pytest
from sqlalchemy import create_engine, text

from bayesift.review.storage import Document, Project

DOCUMENTS = [
    Document("a", "Tin falls in London", "The price of tin fell again on the metal exchange."),
    Document("b", "Ships wait", "A hundred ships wait for grain before the port.", {"year": 1987}),
    Document("c", "", "A court has fined a maker of tin cans."),
    Document("d", "Copper rises", "The price of copper rose: miners are on strike at the mine."),
    Document("e", "<script>alert(1)</script>", "<b>bold</b> & 'quoted' <script>document.title='owned'</script>"),
    Document("f", "Zinc mine opens", "A zinc mine opens, and the price of the metal falls."),
]


def _programs() -> Path | None:
    """Find the newest PostgreSQL among Debian's, or the one on the path."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    found = debian[-1] if debian else shutil.which("initdb")
    return None if found is None else Path(found).parent


def _as_user() -> list[str]:
    """Say how to run as somebody else: PostgreSQL refuses to be run by root."""
    return ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.getuid() == 0 else []


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The address of a PostgreSQL server of these tests, without the name of a database; it hears a socket only."""
    programs = _programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    if _as_user() and shutil.which("setpriv") is None:
        pytest.skip("PostgreSQL cannot be run by root, and setpriv (Debian's util-linux) is not installed")
    # Not below the folder of pytest, which other users may not enter, and whose path may be too long for a socket.
    folder = Path(mkdtemp(prefix="bayesift-pg-", dir="/tmp"))
    if _as_user():
        shutil.chown(folder, "nobody", "nogroup")
    data, run = folder / "data", [*_as_user()]
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": str(folder)}
    try:
        initdb = [*run, str(programs / "initdb"), "-D", str(data), "-U", "bayesift", "-A", "trust", "-E", "UTF8", "-N"]
        subprocess.run(initdb, check=True, capture_output=True, env=environment, cwd=folder)
        # That commits are on the disk is the server's to keep; here nothing is unplugged.
        options = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off"
        control = [*run, str(programs / "pg_ctl"), "-D", str(data), "-w", "-l", str(folder / "log")]
        subprocess.run([*control, "-o", options, "start"], check=True, capture_output=True, env=environment, cwd=folder)
        try:
            yield f"postgresql://bayesift@/{{}}?host={folder}"
        finally:
            stop = [*control, "-m", "immediate", "stop"]
            subprocess.run(stop, check=False, capture_output=True, env=environment, cwd=folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def new_postgresql(postgresql: str) -> str:
    """The address of an empty database."""
    name = f"test_{secrets.token_hex(6)}"
    server = create_engine(
        postgresql.format("postgres").replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT"
    )
    with server.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    server.dispose()
    return postgresql.format(name)


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
