"""One server for a project: two processes, and what becomes of a claim when its holder or its connection dies."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from bayesift.review.storage import Document, InUseError, NotSavedError, Project, Topic, claim_project
from bayesift.review.storage import claim as claims

HOLD = """
import sys
import time
from bayesift.review.storage import claim_project
claim = claim_project(sys.argv[1], "http://127.0.0.1:8787")
print("held", flush=True)
sys.stdin.readline()
claim.close()
"""


@contextmanager
def held_by_another(database: str | Path) -> Iterator[subprocess.Popen[str]]:
    """Let a process of its own hold the claim."""
    command = [sys.executable, "-c", HOLD, str(database)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "held\n"
        try:
            yield other
        finally:
            other.kill()


def test_a_project_has_one_server_until_that_ends_or_dies(database):
    Project.create(database, "News", [Document("a", "", "a text")]).close()
    with held_by_another(database) as other:
        with pytest.raises(InUseError, match="is being served already"):
            claim_project(database, "here")
        other.communicate("\n", timeout=60)
        claim_project(database, "here").close()
    with held_by_another(database) as other:
        other.kill()
        other.wait()
        # The database notices the end of the connection, not of the process.
        for _ in range(600):
            try:
                claim_project(database, "here").close()
                break
            except InUseError:
                time.sleep(0.1)
        else:
            pytest.fail("the claim of a process that is dead still holds")
    if isinstance(database, Path):
        assert [path.name for path in database.parent.iterdir()] == [database.name]


def test_the_other_server_is_named(database):
    with (
        closing(Project.create(database, "News", [Document("a", "", "a text")])) as project,
        closing(claim_project(database, "http://127.0.0.1:8787")) as claim,
    ):
        project.served_under(claim)
        with pytest.raises(InUseError, match=r"served already, at http://127.0.0.1:8787"):
            claim_project(database, "there")


@pytest.fixture
def cut(new_postgresql: str):
    """End the connection that holds the claim, as a network would."""
    engine = create_engine(new_postgresql.replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT")

    def end() -> None:
        with engine.connect() as connection:
            query = "SELECT count(pg_terminate_backend(pid, 60000)) FROM pg_locks WHERE locktype = 'advisory'"
            assert connection.scalar(text(query)) == 1

    yield end
    engine.dispose()


def test_a_server_whose_connection_is_lost_takes_its_claim_again(new_postgresql, cut, monkeypatch):
    monkeypatch.setattr(claims, "TRUST", 0.0)
    with (
        closing(Project.create(new_postgresql, "News", [Document("a", "", "a text")])) as project,
        closing(claim_project(new_postgresql, "one")) as claim,
    ):
        project.served_under(claim)
        project.topics.add(Topic("before"))
        cut()
        project.topics.add(Topic("after"))
        with pytest.raises(InUseError):
            claim_project(new_postgresql, "two")


@pytest.mark.parametrize("trust", [0.0, 3600.0])
def test_a_server_that_lost_its_claim_to_another_saves_nothing_more(trust, new_postgresql, cut, monkeypatch):
    """Also if it has not noticed yet that its connection is gone."""
    monkeypatch.setattr(claims, "TRUST", trust)
    with (
        closing(Project.create(new_postgresql, "News", [Document("a", "", "a text")])) as project,
        closing(claim_project(new_postgresql, "one")) as claim,
    ):
        project.served_under(claim)
        project.topics.add(Topic("before"))
        cut()
        with (
            closing(Project.open(new_postgresql)) as later,
            closing(claim_project(new_postgresql, "two")) as other,
        ):
            later.served_under(other)
            with pytest.raises(NotSavedError, match="another server has taken over"):
                project.topics.add(Topic("lost"))
            later.topics.add(Topic("after"))
        # Not even when the other one has ended: what this one knows of the project is old.
        with pytest.raises(NotSavedError, match="another server has taken over"):
            project.topics.add(Topic("lost"))
        assert [topic.name for topic in project.topics.all()] == ["before", "after"]
