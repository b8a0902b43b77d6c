"""Measures how long a reviewer waits for a card while others send slowly, take nothing, guess tokens, or just connect.

    python -m benchmarks.review.crowd [DOCUMENTS]

All of them come from this machine, which has no limit of its own: only the limit to all connections holds.
"""

from __future__ import annotations

import resource
import socket
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

import httpx

from benchmarks.review.page import Server, write_documents

HEAD = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
FORM = b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"


@contextmanager
def lines(server: Server, n: int, begun: bytes) -> Iterator[None]:
    """Hold n connections on which something was begun."""
    address = server.client.base_url.host, server.client.base_url.port
    with ExitStack() as stack:
        for _ in range(n):
            line = stack.enter_context(closing(socket.create_connection(address, 60)))
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            with suppress(ConnectionError):
                line.sendall(begun)
        yield


@contextmanager
def guesses(server: Server, n: int) -> Iterator[None]:
    """Let n threads guess tokens as fast as they are answered."""
    stop = Event()

    def guess() -> None:
        with httpx.Client(base_url=server.client.base_url, timeout=600) as client:
            while not stop.is_set():
                with suppress(httpx.TransportError):
                    client.post("/login", data={"token": "wrong"}, timeout=2)

    threads = [Thread(target=guess) for _ in range(n)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def measure(server: Server, name: str, n: int = 50) -> None:
    """Ask for the card again and again; an answer counts from the first attempt, also if a connection was ended."""
    times, refused = [], 0
    for _ in range(n):
        begin = time.perf_counter()
        while True:
            with suppress(httpx.TransportError):
                if server.client.get("/api/topics/1/card").status_code == 200:
                    break
            refused += 1
            time.sleep(0.05)
        times.append(1000 * (time.perf_counter() - begin))
        time.sleep(0.05)
    files = len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))
    print(
        f"{name}: card median {statistics.median(times):.0f} ms, longest {max(times):.0f} ms, "
        f"{refused} refused; {files} files open, {server.status('VmRSS')} MB",
        flush=True,
    )


def main() -> None:
    n_documents = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    with TemporaryDirectory() as folder:
        data = Path(folder) / "news.csv"
        write_documents(data, n_documents)
        server = Server(data)
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (1024, 1024))
        csrf = server.client.headers["X-CSRF-Token"]
        server.client.post("/new-topic", data={"csrf": csrf, "name": "space", "keywords_for": "space, orbit"})
        cookies = "; ".join(f"{name}={value}" for name, value in server.client.cookies.items()).encode()
        export = b"GET /topics/1/export HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: " + cookies + b"\r\n\r\n"
        measure(server, "alone")
        for name, crowd in (
            ("2000 connections with half a head", lines(server, 2000, HEAD)),
            ("2000 connections with half a body", lines(server, 2000, FORM + b"Content-Length: 900\r\n\r\nto")),
            ("100 exports that nobody takes", lines(server, 100, export)),
            ("8 who guess tokens", guesses(server, 8)),
        ):
            with crowd:
                measure(server, name)
        server.close()


if __name__ == "__main__":
    main()
