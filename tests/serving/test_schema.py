"""Requests made up from the description of the interface, good ones and bad ones: none may break the server."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing

import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, settings

from bayesift._web.listening import make_server
from bayesift.serving import Settings, create_app
from bayesift.serving.app import router
from web_cases import in_thread

described = FastAPI()
described.include_router(router)
schema = schemathesis.openapi.from_dict(described.openapi())


@pytest.fixture(scope="module")
def address(one_of_two) -> Iterator[str]:
    """Where a model is served from a thread."""
    app = create_app(one_of_two)
    server = make_server(app, Settings().limits, says_json=True)
    with closing(app.state.turns), in_thread(server) as found:
        yield found


@schema.parametrize()
@settings(max_examples=int(os.environ.get("BAYESIFT_FUZZ", "10")), suppress_health_check=list(HealthCheck))
def test_no_request_breaks_the_server(case, address):
    answer = case.call(base_url=address)
    assert answer.status_code < 500, answer.text
    if answer.status_code == 200:
        case.validate_response(answer)
