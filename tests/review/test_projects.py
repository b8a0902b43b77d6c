"""Several projects: which are meant, what they are at a glance, and opening one."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from sqlalchemy import update

from bayesift.review.home import open_home
from bayesift.review.projects import Projects, several_places
from bayesift.review.serve import project_file
from bayesift.review.storage import Document, Event, InUseError, Project, ProjectError, Topic, claim_project
from bayesift.review.storage.summary import Summary, TopicSummary, summary_of
from bayesift.review.storage.tables import facts

OLD = Path(__file__).parent / "storage" / "version-1.sqlite"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two projects, one of another version, a file that is none, and data."""
    made = tmp_path / "reviews"
    made.mkdir()
    for name in ("papers", "news"):
        Project.create(made / f"{name}.review.sqlite", name, [Document("a", "Tin", "Tin falls.")]).close()
    shutil.copy(OLD, made / "old.review.sqlite")
    (made / "text.review.sqlite").write_text("no database")
    (made / "papers.csv").write_text("id,title,text\n1,Tin,Tin falls.\n")
    return made


def test_several_are_meant_by_a_folder_or_by_several_names(folder, monkeypatch):
    papers, news = folder / "papers.review.sqlite", folder / "news.review.sqlite"
    assert several_places([folder]) == [folder]
    assert several_places([papers]) == []
    assert several_places([folder / "papers.csv"]) == []
    assert several_places([folder / "papers.csv", news]) == [papers, news]
    assert several_places([folder, news]) == [folder, news]
    assert several_places([folder.parent]) == []
    with pytest.raises(FileNotFoundError, match="expected project files where several are named"):
        several_places([papers, folder / "none.csv"])
    assert several_places([]) == []
    monkeypatch.chdir(folder)
    assert several_places([]) == [folder]
    # A folder of texts that has its own project beside it is opened as before, whatever else is in it.
    Project.create(project_file(folder), "texts", [Document("a", "", "x")]).close()
    assert several_places([folder]) == []
    assert several_places([Path()]) == []


def test_a_project_at_a_glance(folder, tmp_path):
    path = folder / "papers.review.sqlite"
    assert summary_of(path) == Summary("papers", 1)
    documents = [Document(name, name, "Tin.") for name in "abcd"]
    with closing(Project.create(tmp_path / "more.review.sqlite", "More", documents)) as project:
        anna, ben = (project.reviewers.add(name).id for name in ("Anna", "Ben"))
        metals = project.topics.add(Topic("metals", "Metals")).id
        project.topics.add(Topic("ships", "Ships"))
        with project.history.turn(metals) as turn:
            said = turn.add_all(
                [
                    Event(0, anna, "label", "relevant"),
                    Event(0, ben, "label", "irrelevant"),
                    Event(1, anna, "label", "skip"),
                    Event(2, anna, "label", "relevant"),
                    Event(0, anna, "label", "relevant", stage="full text"),
                ]
            )
            undo = turn.add_all([Event(2, anna, "undo", undoes=said[3].id)])[0]
        found = summary_of(tmp_path / "more.review.sqlite")
        assert found[:3] == ("More", 4, (TopicSummary("metals", 1), TopicSummary("ships", 0)))
        assert found.last == undo.at
        with project._engine.begin() as connection:
            connection.execute(update(facts).where(facts.c.name == "version").values(value="99"))
    with pytest.raises(ProjectError, match="has version 99; this program reads"):
        summary_of(tmp_path / "more.review.sqlite")
    with pytest.raises(ProjectError, match="not a project of Bayesift"):
        summary_of(folder / "text.review.sqlite")
    with pytest.raises(ProjectError, match="does not exist"):
        summary_of(folder / "none.review.sqlite")


def test_listing_changes_nothing(folder):
    before = OLD.read_bytes()
    rows = {row.path.name.partition(".")[0]: row for row in Projects([folder]).listed()}
    assert list(rows) == ["news", "old", "papers", "text"]
    assert rows["old"].summary == Summary("Old news", is_older=True)
    assert (rows["text"].summary, "not a project" in rows["text"].problem) == (None, True)
    assert (folder / "old.review.sqlite").read_bytes() == before


def test_projects_are_opened_and_closed(folder):
    projects = Projects([folder], home="http://127.0.0.1:1")
    keys = {path.name.partition(".")[0]: key for key, path in projects.paths().items()}
    try:
        first = projects.open(keys["papers"])
        second = projects.open(keys["papers"])
        other = projects.open(keys["news"])
        address = first.partition("/login")[0]
        assert second.startswith(f"{address}/login#")
        assert second != first
        assert not other.startswith(address)
        assert httpx.get(f"{address}/health", verify=False).json()["status"] == "ok"
        assert [row.path.name[:4] for row in projects.listed() if row.is_open] == ["news", "pape"]
        with pytest.raises(InUseError, match=f"already, at {address}"):
            claim_project(folder / "papers.review.sqlite", "another")
        projects.close(keys["papers"])
        projects.close(keys["papers"])
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{address}/health", verify=False)
        claim = claim_project(folder / "papers.review.sqlite", "http://elsewhere")
        with closing(claim), pytest.raises(InUseError, match="at http://elsewhere"):
            projects.open(keys["papers"])
        assert projects.open(keys["papers"])
        with pytest.raises(ProjectError, match="not a project"):
            projects.open(keys["text"])
        with pytest.raises(LookupError, match="no such project"):
            projects.open("0")
    finally:
        projects.close_all()
    claim_project(folder / "papers.review.sqlite", "free again").close()


def test_a_list_is_for_this_machine(folder):
    with pytest.raises(ValueError, match="or one project to serve there"), open_home([folder], host="0.0.0.0"):
        pass
