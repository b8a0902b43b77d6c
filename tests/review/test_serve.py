"""What the page listens on."""

from __future__ import annotations

import socket
from contextlib import closing

from bayesift.review.serve import bind


def test_connections_know_that_they_are_tcp():
    """asyncio switches TCP_NODELAY on only for sockets that do; without it every answer waits for 40 ms."""
    with closing(bind("127.0.0.1", 0)) as listening, closing(socket.create_connection(listening.getsockname())):
        accepted, _ = listening.accept()
        with closing(accepted):
            assert accepted.proto == socket.IPPROTO_TCP
