"""Servers that run in a thread of the tests."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import uvicorn

from bayesift._web.listening import address_of, bind


@contextmanager
def in_thread(server: uvicorn.Server) -> Iterator[str]:
    """Run a server until the block ends; return its address."""
    listening = bind("127.0.0.1", 0, 0)
    thread = Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    while not server.started:
        time.sleep(0.005)
    try:
        yield address_of(listening)
    finally:
        server.should_exit = True
        thread.join()
