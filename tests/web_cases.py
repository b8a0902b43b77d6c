"""Servers that run in a thread of the tests."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import uvicorn

from bayesift._web.listening import address_of, bind

#: How often a server looks whether it shall end, in seconds.
STEP = 0.005


class PromptServer(uvicorn.Server):
    """uvicorn's server, but for its tenths of a second from a look whether it shall end to the next."""

    async def main_loop(self) -> None:
        await self.on_tick(0)
        while not self.should_exit:
            await asyncio.sleep(STEP)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for listener in [*self.servers, *(sockets or [])]:
            listener.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        # What is not answered by then is cancelled when the loop ends.
        limit = time.monotonic() + self.config.timeout_graceful_shutdown
        while (self.server_state.connections or self.server_state.tasks) and time.monotonic() < limit:
            await asyncio.sleep(STEP)


@contextmanager
def in_thread(server: uvicorn.Server) -> Iterator[str]:
    """Run a server until the block ends; return its address."""
    prompt = PromptServer(server.config)
    listening = bind("127.0.0.1", 0, 0)
    thread = Thread(target=prompt.run, kwargs={"sockets": [listening]})
    thread.start()
    while not prompt.started:
        time.sleep(STEP)
    try:
        yield address_of(listening)
    finally:
        prompt.should_exit = True
        thread.join()
