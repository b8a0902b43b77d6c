"""``bayesift review`` and its sub-commands, as a person types them."""

from __future__ import annotations

import csv
import json
import re
from contextlib import closing
from io import StringIO
from pathlib import Path

import pytest
from typer.testing import CliRunner

pytest.importorskip("sqlalchemy")

from bayesift.cli.app import app
from bayesift.review.storage import Actor, Document, Project


def run(*arguments: str | Path) -> str:
    """Return what a command writes."""
    done = CliRunner().invoke(app, ["review", *map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture
def where(tmp_path: Path) -> Path:
    path = tmp_path / "papers.review.sqlite"
    Project.create(path, "Papers", [Document("a", "Tin", "Tin falls.")]).close()
    return path


def test_people_are_managed(where):
    assert "Anna (owner): http://127.0.0.1:8787/login#" in (
        run("token", where, "Anna", "--public-url", "http://127.0.0.1:8787/")
    )
    # The project is also found by the data beside which it lies.
    said = run("token", where.with_name("papers.csv"), "Ben", "--role", "reader")
    with closing(Project.open(where)) as project:
        assert project.reviewers.by_token(re.fullmatch(r"Ben \(reader\): (\S+)\n", said)[1]).name == "Ben"
        ben = project.reviewers.named("Ben")
        secrets = [project.sessions.begin(ben, "192.0.2.1", "a \x1b[31mbrowser") for _ in range(2)]
        listed = run("sessions", where)
        assert "\x1b" not in listed
        keys = [login.key for login in project.sessions.all()]
        assert all(key in listed for key in keys)
        assert run("sessions", where, "--end", keys[0]) == "1 ended\n"
        assert sum(project.sessions.reviewer(secret) is None for secret in secrets) == 1
        with pytest.raises((ValueError, OSError), match="there is no session"):
            run("sessions", where, "--end", keys[0])
        assert run("sessions", where, "--end-all") == "1 ended\n"
        run("role", where, "Ben", "reviewer")
        assert project.reviewers.named("Ben").role == "reviewer"
        run("remove", where, "Ben")
        assert re.search(r"Ben +reviewer +0 +20", run("reviewers", where))
        with pytest.raises((ValueError, OSError), match="the reviewers are Anna"):
            run("remove", where, "Ben")
        with pytest.raises((ValueError, OSError), match="Anna is the only owner"):
            run("remove", where, "Anna")


def test_the_audit_log_is_written(where):
    with closing(Project.open(where)) as project:
        anna = project.reviewers.add("Anna")
        project.audit.note("exported", Actor(anna.id, "192.0.2.1"), "=metals, all")
    table = list(csv.DictReader(StringIO(run("audit", where))))
    assert [entry["action"] for entry in table] == ["reviewer added", "exported"]
    assert (table[1]["reviewer"], table[1]["address"], table[1]["detail"]) == ("Anna", "192.0.2.1", "'=metals, all")
    lines = run("audit", where, "--format", "jsonl").splitlines()
    assert json.loads(lines[1])["detail"] == "=metals, all"


def test_what_is_not_a_command_is_data(tmp_path):
    assert "review open" in run("--help")
    assert "--public-url" in run("--help")
    with pytest.raises((ValueError, OSError), match="does not exist"):
        run(tmp_path / "none.csv")
    with pytest.raises((ValueError, OSError), match="DATA, --project and --database are all missing"):
        run()
    with pytest.raises((ValueError, OSError), match="there is no project at"):
        run("audit", tmp_path / "none.csv")


def test_options_about_one_project_are_refused_with_several(where, monkeypatch):
    for option in (("--reviewer", "Anna"), ("--public-url", "https://review.example.org"), ("--text", "abstract")):
        with pytest.raises((ValueError, OSError), match=f"{option[0]} is given with several projects"):
            run(where.parent, *option)
    with pytest.raises((ValueError, OSError), match="--simulate is given with several projects"):
        run(where, where, "--simulate")
    with pytest.raises((ValueError, OSError), match="or one project to serve there"):
        run(where.parent, "--host", "0.0.0.0")
    with pytest.raises((ValueError, OSError), match="expected project files where several are named"):
        run(where, where.with_name("none.csv"))
    monkeypatch.chdir(where.parent)
    with pytest.raises((ValueError, OSError), match="--reviewer is given with several projects"):
        run("--reviewer", "Anna")
