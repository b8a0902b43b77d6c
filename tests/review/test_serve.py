"""What the page listens on."""

from __future__ import annotations

import socket
from contextlib import closing

import pytest
from typer.testing import CliRunner

from bayesift._web.listening import bind
from bayesift.cli.app import app
from bayesift.review.serve import open_project


def test_connections_know_that_they_are_tcp():
    """asyncio switches TCP_NODELAY on only for sockets that do; without it every answer waits for 40 ms."""
    with closing(bind("127.0.0.1", 0, 0)) as listening, closing(socket.create_connection(listening.getsockname())):
        accepted, _ = listening.accept()
        with closing(accepted):
            assert accepted.proto == socket.IPPROTO_TCP


def test_no_message_shows_the_password_of_a_database(new_postgresql):
    address = new_postgresql.replace("bayesift@", "bayesift:secret@")
    with pytest.raises(FileNotFoundError, match=r"bayesift:\*\*\*@") as found:
        open_project(None, address)
    assert "secret" not in str(found.value)
    done = CliRunner().invoke(app, ["review", "audit", address])
    assert "there is no project at" in str(done.exception)
    assert "secret" not in str(done.exception)
