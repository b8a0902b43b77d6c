"""Copies of a project, taken while others write into it."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bayesift.cli.app import app
from bayesift.review.storage import Document, Event, Project, ProjectError, Topic, back_up, claim_project

OLD = Path(__file__).with_name("version-1.sqlite")

LABEL = """
import sys
from bayesift.review.storage import Event, Project
project = Project.open(sys.argv[1])
while True:
    with project.history.turn(1) as turn:
        event = turn.add(Event(0, 1, "label", "relevant"))
    print(event.id, flush=True)
"""


@pytest.fixture
def project(database):
    """A project with a topic, a reviewer, an undo and a claim; larger than one step of a copy."""
    given = [Document(f"p{k}", f"Title {k}", f"text {k} " * 200, {"year": k}) for k in range(2500)]
    with closing(Project.create(database, "News", given)) as made, closing(claim_project(database, "here")) as claim:
        made.served_under(claim)
        topic, anna = made.topics.add(Topic("metals", "Prices", ("tin",))), made.reviewers.add("Anna")
        with made.history.turn(topic.id) as turn:
            first = turn.add(Event(3, anna.id, "label", "relevant", None, "random", "prior", 3, 0.5))
            turn.add(Event(3, anna.id, "undo", undoes=first.id))
        yield made


def test_a_copy_is_a_project_of_its_own(project, database, tmp_path):
    target = tmp_path / "copy.review.sqlite"
    target.write_text("what stood here")
    back_up(database, target)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith((".", "copy"))] == [target.name]
    with closing(claim_project(target, "there")) as claim, closing(Project.open(target)) as copy:
        copy.served_under(claim)
        assert (copy.name, copy.id) == (project.name, project.id)
        assert list(copy.documents) == list(project.documents)
        assert copy.topics.all() == project.topics.all()
        assert copy.history.since(1) == project.history.since(1)
        assert copy.documents.search('"title 77"').places == project.documents.search('"title 77"').places == [77]
        # Its numbers go on.
        with copy.history.turn(1) as turn:
            assert turn.add(Event(0, 1, "label", "relevant")).id == 3
        copy.reviewers.add("Ben")
    assert len(project.history.since(1)) == 2


@pytest.mark.slow
def test_what_was_acknowledged_before_is_in_the_copy(project, database, tmp_path):
    """And it is whole, though labels are written all the time."""
    command = [sys.executable, "-c", LABEL, str(database)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        try:
            for turn in range(3):
                seen = int(writer.stdout.readline())
                time.sleep(0.1)
                target = tmp_path / f"copy{turn}.sqlite"
                back_up(database, target)
                with closing(sqlite3.connect(target)) as check:
                    assert check.execute("PRAGMA integrity_check").fetchone() == ("ok",)
                with closing(Project.open(target)) as copy:
                    numbers = [event.id for event in copy.history.since(1)]
                assert numbers == list(range(1, len(numbers) + 1))
                assert len(numbers) >= seen
        finally:
            writer.kill()


def test_an_older_project_is_copied_as_it_is(tmp_path):
    path = Path(shutil.copy(OLD, tmp_path / "old.sqlite"))
    back_up(path, tmp_path / "copy.sqlite")
    for file in (path, tmp_path / "copy.sqlite"):
        with closing(sqlite3.connect(file)) as copy:
            assert copy.execute("SELECT value FROM facts WHERE name = 'version'").fetchone() == ("1",)
    with closing(Project.open(tmp_path / "copy.sqlite")) as copy:
        assert copy.name == "Old news"


def test_what_cannot_be_copied_is_said_and_what_stood_there_stays(tmp_path, project):
    kept = tmp_path / "kept.sqlite"
    kept.write_text("kept")
    notes = tmp_path / "notes.sqlite"
    notes.write_text("This is not a database. " * 100)
    for wrong, sentence in ((tmp_path / "none.sqlite", "does not exist"), (notes, "not a project")):
        with pytest.raises(ProjectError, match=sentence):
            back_up(wrong, kept)
    damaged = Path(shutil.copy(OLD, tmp_path / "damaged.sqlite"))
    content = bytearray(damaged.read_bytes())
    content[512 * 3 : 512 * 5] = b"\xff" * 1024
    damaged.write_bytes(content)
    with pytest.raises((OSError, ProjectError, sqlite3.DatabaseError)):
        back_up(damaged, kept)
    assert kept.read_text() == "kept"


def test_the_command(tmp_path):
    path, copy = Path(shutil.copy(OLD, tmp_path / "old.review.sqlite")), tmp_path / "copy.review.sqlite"
    run = CliRunner().invoke(app, ["review", "backup", str(path), "-o", str(copy)])
    assert run.exit_code == 0, run.output
    with closing(Project.open(copy)) as opened:
        assert opened.name == "Old news"
        # An open project is no place for a copy, nor is the project itself.
        opened.reviewers.add("Ben")
        run = CliRunner().invoke(app, ["review", "backup", str(path), "-o", str(copy)])
        assert run.exit_code != 0
        assert "that is open" in str(run.exception or run.output)
    before = path.read_bytes()
    run = CliRunner().invoke(app, ["review", "backup", str(path), "-o", str(path)])
    assert run.exit_code != 0
    assert path.read_bytes() == before
