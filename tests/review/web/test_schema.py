"""Requests made up from the description of the interface, good ones and bad ones: none may break the server."""

from __future__ import annotations

import os

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, settings

from bayesift.review.service import Service
from bayesift.review.storage import Project, Topic
from bayesift.review.web import Settings, create_app

schema = schemathesis.openapi.from_dict(create_app(None).openapi()).exclude(path="/logout")


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory, documents, words, serve_once, visit_once):
    """A server of its own with a reviewer logged in, and a session of requests."""
    project = Project.create(tmp_path_factory.mktemp("fuzz") / "project.sqlite", "News", documents)
    service = Service(project, words)
    person = project.reviewers.add("Anna")
    for name in ("metals", "ships"):
        service.add_topic(Topic(name, "tin and ships"), person.id)
    project.reviewers.add("Ben")
    with serve_once(service, Settings(free_logins=10**6)) as address, requests.Session() as session:
        visitor = visit_once(address, project.reviewers.issue_token(person))
        session.cookies.update(dict(visitor.cookies))
        visitor.close()
        yield address, session, {"X-CSRF-Token": visitor.csrf}
    service.close()
    project.close()


@schema.parametrize()
@settings(max_examples=int(os.environ.get("BAYESIFT_FUZZ", "5")), suppress_health_check=list(HealthCheck))
def test_no_request_breaks_the_server(case, fuzzed):
    address, session, headers = fuzzed
    # Most numbers name nothing; those of things that are there say more.
    for name, count in (("topic", 3), ("document", 7)):
        value = (case.path_parameters or {}).get(name)
        if isinstance(value, int):
            case.path_parameters[name] = abs(value) % count
    if str((case.path_parameters or {}).get("reviewer")) in ("1", "True"):
        # Who sends the requests would not be logged in any longer.
        case.path_parameters["reviewer"] = 2
    answer = case.call(base_url=address, session=session, headers=headers, allow_redirects=False)
    assert answer.status_code < 500, answer.text
    assert answer.status_code != 401 or case.path == "/login"
