"""The home of several projects, as a browser asks for it."""

from __future__ import annotations

import re
from contextlib import closing

import httpx
import pytest

from bayesift._web.listening import make_server
from bayesift.review.projects import Projects
from bayesift.review.storage import Document, Project, claim_project
from bayesift.review.web import Settings
from bayesift.review.web.projects import Secrets, create_home
from web_cases import in_thread


@pytest.fixture
def folder(tmp_path):
    for name in ("papers", "<b>news"):
        path = tmp_path / f"{name.strip('<b>')}.review.sqlite"
        Project.create(path, name, [Document("a", "Tin", "Tin falls.")]).close()
    return tmp_path


@pytest.fixture
def home(folder):
    """The address of a list, what its link brings, and the projects."""
    projects, secrets = Projects([folder], home="http://127.0.0.1:1"), Secrets()
    with in_thread(make_server(create_home(projects, Settings(), secrets), Settings().limits)) as address:
        yield address, secrets, projects
    projects.close_all()


@pytest.fixture
def person(home):
    """Who started the program."""
    address, secrets, _ = home
    with httpx.Client(base_url=address, verify=False, timeout=60, follow_redirects=True) as client:
        assert "<h1>Projects</h1>" in client.post("/login", data={"token": secrets.token}).text
        yield client


def key_of(page: str, name: str) -> str:
    return re.search(rf'/projects/(\w+)/open">(?:(?!</form>).)*Open {name}"', page, re.S)[1]


def test_a_project_is_opened_from_the_list(home, person):
    _, secrets, _ = home
    page = person.get("/").text
    assert "&lt;b&gt;news" in page
    assert "<b>news" not in page
    key = key_of(page, "papers")
    opened = person.post(f"/projects/{key}/open", data={"csrf": secrets.word}, follow_redirects=False)
    assert opened.status_code == 303
    link = opened.headers["location"]
    address, token = link.split("/login#")
    with httpx.Client(base_url=address, verify=False, timeout=60, follow_redirects=True) as owner:
        topics = owner.post("/login", data={"token": token}).text
        assert "<h1>Topics</h1>" in topics
        assert '<a href="http://127.0.0.1:1">All projects</a>' in topics
    assert "/close" in person.get("/").text
    closed = person.post(f"/projects/{key}/close", data={"csrf": secrets.word})
    assert closed.status_code == 200
    assert "/close" not in closed.text
    assert "<h1>Projekte</h1>" in person.get("/", headers={"Accept-Language": "de"}).text


def test_what_cannot_be_opened_is_said(home, person, folder):
    _, secrets, _ = home
    key = key_of(person.get("/").text, "papers")
    with closing(claim_project(folder / "papers.review.sqlite", "http://elsewhere")):
        refused = person.post(f"/projects/{key}/open", data={"csrf": secrets.word})
    assert refused.status_code == 409
    assert "is being served already, at http://elsewhere" in refused.text
    (folder / "papers.review.sqlite").unlink()
    gone = person.post(f"/projects/{key}/open", data={"csrf": secrets.word})
    assert gone.status_code == 404
    assert "There is no such project any more." in gone.text
    assert "Back to the projects" in gone.text


def test_only_who_started_the_program_sees_or_opens_anything(home, person):
    address, secrets, projects = home
    key = key_of(person.get("/").text, "papers")
    with httpx.Client(base_url=address, verify=False) as stranger:
        for method, path in (("GET", "/"), ("POST", f"/projects/{key}/open"), ("POST", f"/projects/{key}/close")):
            answer = stranger.request(method, path, data={"csrf": secrets.word} if method == "POST" else None)
            assert (answer.status_code, answer.headers["location"]) == (303, "/login"), path
        wrong = stranger.post("/login", data={"token": "guess"})
        assert wrong.status_code == 401
        assert "set-cookie" not in wrong.headers
        assert stranger.get("/static/review.css").status_code == 200
        assert stranger.get("/", headers={"Host": "elsewhere.org"}).status_code == 421
    for data in ({}, {"csrf": "guess"}, {"csrf": "\u00e9"}):
        assert person.post(f"/projects/{key}/open", data=data).status_code == 403
    foreign = person.post(
        f"/projects/{key}/open", data={"csrf": secrets.word}, headers={"Origin": "http://elsewhere.org"}
    )
    assert foreign.status_code == 403
    assert not any(row.is_open for row in projects.listed())
    policy = person.get("/").headers["content-security-policy"]
    assert "form-action 'self' http://127.0.0.1:* http://localhost:*;" in policy
    assert "http" not in policy.replace("http://127.0.0.1:* http://localhost:*", "")
