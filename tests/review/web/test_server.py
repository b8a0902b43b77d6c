"""The command itself, in a process of its own: killed, with a full disk, with two reviewers at once."""

from __future__ import annotations

import csv
import os
import resource
import signal
import socket
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from itertools import count
from pathlib import Path

import httpx
import pytest

from bayesift.cli.review import review
from bayesift.review.storage import Project, Topic
from process_cases import Command

#: After how many labels servers are killed; the long run, BAYESIFT_LABELS=1000, has several kills.
N_LABELS = int(os.environ.get("BAYESIFT_LABELS", "100"))


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("data") / "papers.csv"
    words = ["tin", "copper", "ship", "grain", "court", "mine", "price", "metal", "port", "strike"]
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "title", "text"])
        for number in range(1200):
            writer.writerow([f"p{number}", f"Paper {number}", " ".join(words[(number * k) % 10] for k in range(1, 9))])
    return path


class Running:
    """A server with the links of its reviewers."""

    def __init__(self, process: Command) -> None:
        self.process = process
        self.links: dict[str, str] = {}
        for line in process.stdout:
            if line.startswith("Stop with"):
                break
            name, _, link = line.strip().partition(": ")
            self.links[name] = link

    @property
    def address(self) -> str:
        return self.links["Anna"].partition("/login")[0]


@pytest.fixture
def command(tmp_path_factory) -> Callable[..., AbstractContextManager[Command]]:
    """How to run the command with some words; what it holds is killed at the end of the block."""
    folder, numbers = tmp_path_factory.mktemp("errors"), count()

    def run(*words: str | Path) -> AbstractContextManager[Command]:
        return closing(Command(["review", *words, "--no-browser", "--port", "0"], folder / f"{next(numbers)}.txt"))

    return run


@pytest.fixture
def running(command) -> Callable[..., AbstractContextManager[Running]]:
    """How to serve a project for Anna and Ben until the block ends."""

    @contextmanager
    def run(*words: str | Path) -> Iterator[Running]:
        with command(*words, "--reviewer", "Anna", "--reviewer", "Ben") as process:
            yield Running(process)

    return run


def label_until_it_dies(visitor, acknowledged: list[tuple[int, int]]) -> None:
    """Label as fast as answers come; note every number that the server has acknowledged."""
    try:
        document = visitor.card()
        while document is not None:
            answer = visitor.json_post("/api/topics/1/labels", {"document": document, "decision": "irrelevant"}).json()
            acknowledged.append((answer["event"], document))
            document = answer["document"]
    except httpx.TransportError:
        pass


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_killing_the_server_loses_no_acknowledged_label(kind, data, tmp_path, running, visit_once, request):
    moments = [N_LABELS // 4, N_LABELS // 2, N_LABELS] if N_LABELS >= 1000 else [N_LABELS]
    where = ["--project", tmp_path / "p.sqlite"]
    if kind == "postgresql":
        where = ["--database", request.getfixturevalue("new_postgresql")]
        moments = [N_LABELS // 2]
    database = where[1]
    acknowledged: list[tuple[int, int]] = []
    for moment in moments:
        with running(data, *where) as server, ThreadPoolExecutor(2) as pool:
            visitors = [
                visit_once(server.address, link.partition("#")[2]) for name, link in server.links.items() if "#" in link
            ]
            if not acknowledged:
                visitors[0].form_post("/new-topic", name="metals", keywords_for="tin")
            working = [pool.submit(label_until_it_dies, visitor, acknowledged) for visitor in visitors]
            while len(acknowledged) < moment and not any(work.done() for work in working):
                time.sleep(0.001)
            # In the middle of the work of both.
            os.kill(server.process.pid, signal.SIGKILL)
            for work in working:
                work.result()
            for visitor in visitors:
                visitor.close()
    assert len(acknowledged) >= moments[-1]
    with closing(Project.open(database)) as project:
        stored = {(event.id, event.document) for event in project.history.since(1)}
        assert set(acknowledged) <= stored
        # At most what was under way when the server was killed comes on top: one of each reviewer, each time.
        assert len(stored) - len(acknowledged) <= 2 * len(moments)
        assert len({document for _, document in stored}) == len(stored)
    if kind == "sqlite":
        with closing(sqlite3.connect(database)) as check:
            assert check.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_second_server_is_refused_and_the_first_goes_on(kind, data, tmp_path, running, command, visit_once, request):
    where = ["--project", tmp_path / "p.sqlite"]
    if kind == "postgresql":
        where = ["--database", request.getfixturevalue("new_postgresql")]
    with running(data, *where) as server:
        with command(*where) as second:
            assert second.wait() == 1
            assert f"is being served already, at {server.address}" in second.stderr
        with closing(visit_once(server.address, server.links["Anna"].partition("#")[2])) as anna:
            anna.form_post("/new-topic", name="metals", keywords_for="tin")
            anna.label("relevant")
        server.process.terminate()
        server.process.wait()
    with running(*where) as server, closing(visit_once(server.address, server.links["Anna"].partition("#")[2])) as anna:
        anna.label("relevant")


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="the limits of another process can be set on Linux only")
def test_a_full_disk_is_said_and_the_project_goes_on_when_there_is_space(data, tmp_path, running, visit_once):
    path = tmp_path / "p.sqlite"
    with (
        running(data, "--project", path) as server,
        closing(visit_once(server.address, server.links["Anna"].partition("#")[2])) as anna,
    ):
        anna.form_post("/new-topic", name="metals", keywords_for="tin")
        before = [anna.label("relevant") for _ in range(3)]
        wal = path.with_name("p.sqlite-wal").stat().st_size
        # No file of the server may grow any further, as on a disk that is full.
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (wal, resource.RLIM_INFINITY))
        document = anna.card()
        answer = anna.json_post("/api/topics/1/labels", {"document": document, "decision": "relevant"})
        while answer.status_code == 200:
            before.append(document)
            document = answer.json()["document"]
            answer = anna.json_post("/api/topics/1/labels", {"document": document, "decision": "relevant"})
        assert answer.status_code == 507
        assert "could not be saved" in answer.json()["detail"]
        assert anna.card() == document
        assert anna.json_post("/api/topics/1/undo", {}).status_code == 507
        assert "could not be saved" in anna.form_post("/new-topic", name="ships").text
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        assert anna.label("relevant") == document
    with closing(Project.open(path)) as project:
        assert [event.document for event in project.history.since(1)] == [*before, document]
        assert project.topics.all() == [Topic("metals", keywords_for=("tin",), id=1)]


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="the limits of another process can be set on Linux only")
def test_a_crowd_of_slow_clients_takes_neither_the_file_descriptors_nor_the_page(data, tmp_path, running, visit_once):
    with running(data, "--project", tmp_path / "p.sqlite") as server, ExitStack() as stack:
        token, pid = server.links["Anna"].partition("#")[2], server.process.pid
        most = len(os.listdir(f"/proc/{pid}/fd")) + 400
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (most, most))
        host, port = server.address.removeprefix("http://").split(":")
        # While the server cannot look, so that it finds them all at once.
        os.kill(pid, signal.SIGSTOP)
        for _ in range(600):
            line = stack.enter_context(closing(socket.socket()))
            line.setblocking(False)
            line.connect_ex((host, int(port)))
        os.kill(pid, signal.SIGCONT)
        with closing(visit_once(server.address, token)) as anna:
            anna.form_post("/new-topic", name="metals", keywords_for="tin")
            assert anna.card() is not None
        assert "Too many open files" not in server.process.stderr


def test_the_command_says_what_is_wrong_and_leaves_nothing(data, tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text("id,text\n1,one\n2,two,three\n")
    project = tmp_path / "x.sqlite"
    for arguments, sentence in (
        ({"data": [bad]}, "line 3: found 3 fields, expected 2"),
        ({"data": [data], "project": project, "host": "0.0.0.0"}, "other machines can reach"),
        ({"data": [data], "project": project, "database": "postgresql://x"}, "both given"),
        ({"data": [tmp_path / "none.csv"]}, "does not exist"),
        ({"data": [tmp_path / "none.review.sqlite"]}, "there is no project"),
        ({}, "DATA, --project and --database are all missing"),
    ):
        with pytest.raises((ValueError, OSError), match=sentence):
            review(**arguments)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.csv"]


def test_what_is_not_installed_is_named_with_the_command(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastapi", None)
    with pytest.raises(ImportError, match=r"pip install 'bayesift\[review\]'"):
        review([data])
