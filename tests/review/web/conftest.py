"""A project served for real, and clients that log in as the reviewers would."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from pathlib import Path

import httpx
import pytest

from bayesift.review.engine import Corpus
from bayesift.review.serve import server_of
from bayesift.review.service import Service
from bayesift.review.storage import Project, Topic, reading_text
from bayesift.review.web import Settings
from web_cases import in_thread

TOPIC = Topic("metals", "Prices of metals such as tin and copper", ("tin", "copper"), ("ships",))


class Visitor(httpx.Client):
    """A reviewer who logs in, if there is a token, and sends the word of the session along."""

    def __init__(self, address: str, token: str | None = None) -> None:
        # Certificates are not needed here, and take longer to read than most tests.
        super().__init__(base_url=address, timeout=60, follow_redirects=token is not None, verify=False)
        self.csrf = ""
        if token is not None:
            answer = self.post("/login", data={"token": token})
            found = re.search(r'name="csrf" content="(\w+)"', answer.text)
            assert found is not None, answer.text
            self.csrf = found[1]

    def json_post(self, path: str, body: object, **options: object):
        return self.post(path, json=body, headers={"X-CSRF-Token": self.csrf}, **options)

    def form_post(self, path: str, **fields: object):
        return self.post(path, data={"csrf": self.csrf, **fields})

    def card(self, topic: int = 1):
        return self.get(f"/api/topics/{topic}/card").json()["document"]

    def label(self, decision: str, document: int | None = None, topic: int = 1):
        document = self.card(topic) if document is None else document
        answer = self.json_post(f"/api/topics/{topic}/labels", {"document": document, "decision": decision})
        assert answer.status_code == 200, answer.text
        return document

    def undo(self, topic: int = 1):
        return self.json_post(f"/api/topics/{topic}/undo", {}).json()


@contextmanager
def served(service: Service, settings: Settings | None = None, **options: float) -> Iterator[str]:
    """Serve a project from a thread; return the address. Options are those of uvicorn's configuration."""
    server = server_of(service, settings or Settings())
    for name, value in options.items():
        setattr(server.config, name, value)
    with in_thread(server) as address:
        yield address


@pytest.fixture(scope="session")
def words(documents) -> Corpus:
    return Corpus.build([reading_text(document.title, document.text) for document in documents])


@pytest.fixture
def service(tmp_path: Path, documents, words: Corpus) -> Iterator[Service]:
    project = Project.create(tmp_path / "project.sqlite", "News", documents)
    made = Service(project, words)
    yield made
    made.close()
    project.close()


@pytest.fixture(scope="session")
def serve_once() -> Callable[[Service], AbstractContextManager[str]]:
    """How to serve a project, for tests that share a server."""
    return served


@pytest.fixture(scope="session")
def visit_once() -> type[Visitor]:
    """How to log in, for tests that share a server."""
    return Visitor


@pytest.fixture
def address(service: Service) -> Iterator[str]:
    """Where the project is served."""
    with served(service) as found:
        yield found


@pytest.fixture
def serve_with(service: Service) -> Iterator[Callable[..., str]]:
    """Serve the project with other settings too."""
    with ExitStack() as stack:
        yield lambda settings, **options: stack.enter_context(served(service, settings, **options))


@pytest.fixture
def visitor(service: Service, address: str) -> Iterator[Callable[[str], Visitor]]:
    """Let somebody log in; who is new is added."""
    with ExitStack() as stack:

        def visit(name: str) -> Visitor:
            reviewers = service.project.reviewers
            token = reviewers.issue_token(reviewers.named(name) or reviewers.add(name))
            return stack.enter_context(closing(Visitor(address, token)))

        yield visit


@pytest.fixture
def anna(visitor: Callable[[str], Visitor], service: Service) -> Visitor:
    """The first reviewer, with a topic to work on."""
    found = visitor("Anna")
    service.add_topic(TOPIC, service.project.reviewers.all()[0].id)
    return found


@pytest.fixture
def ben(anna: Visitor, visitor: Callable[[str], Visitor]) -> Visitor:
    """A second reviewer of the same project."""
    return visitor("Ben")


@pytest.fixture
def stranger(anna: Visitor, address: str) -> Iterator[Visitor]:
    """Somebody who is not logged in."""
    with closing(Visitor(address)) as found:
        yield found
