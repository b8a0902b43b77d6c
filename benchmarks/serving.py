"""A model behind ``bayesift serve``, asked at the socket: texts per second, and how long one waits for an answer.

The server is a process of its own that may use one core only; the client, another process, keeps its connections open.
The waiting times are those of this machine as busy as it is; the processor time of the server, which it counts itself
at ``/metrics``, is what a text costs on any machine, and one over it is the most texts per second on one core.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from urllib.request import urlopen

from benchmarks.measuring import show

ROOT = Path(__file__).resolve().parents[1]

#: The characters of a short text.
SHORT = 120


class Load(NamedTuple):
    """How the server is asked."""

    name: str
    connections: int
    texts: int
    reasons: int = 0
    #: Requests per second of all connections together; 0 for as many as are answered.
    rate: int = 0


LOADS = (
    Load("one text, one connection", 1, 1),
    Load("one text, 16 connections", 16, 1),
    Load("one text, 16 connections, 500 requests a second", 16, 1, rate=500),
    Load("one text with 5 reasons", 1, 1, reasons=5),
    Load("100 texts, one connection", 1, 100),
)


@contextmanager
def served(model: Path) -> Iterator[int]:
    """Serve a model by the command, on one core; return the port."""
    path = os.pathsep.join(filter(None, [str(ROOT / "src"), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-m", "bayesift", "serve", str(model), "--port", "0"]
    core = min(os.sched_getaffinity(0))
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        preexec_fn=lambda: os.sched_setaffinity(0, {core}),
    ) as process:
        try:
            assert process.stdout is not None
            first = process.stdout.readline()
            yield int(re.search(r":(\d+)/classify", first)[1])
        finally:
            process.terminate()


def processor_seconds(port: int) -> float:
    """Return the processor time that the server has used so far."""
    with urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        return float(re.search(r"^process_cpu_seconds_total (\S+)$", answer.read().decode(), re.M)[1])


def request(texts: list[str], reasons: int) -> bytes:
    """Write a request."""
    body = json.dumps({"texts": texts, "reasons": reasons}).encode()
    head = b"POST /classify HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    return head % len(body) + body


async def ask(port: int, requests: Iterator[bytes], pause: float, ends: float, waits: list[float]) -> None:
    """Send requests over one connection until the time is over; note how long each waited for its answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    due = time.perf_counter()
    while time.perf_counter() < ends:
        if pause:
            due += pause
            await asyncio.sleep(max(due - time.perf_counter(), 0))
        begun = time.perf_counter()
        writer.write(next(requests))
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(re.search(rb"content-length: (\d+)", head)[1]))
        waits.append(time.perf_counter() - begun)
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(head.decode())
    writer.close()


def measure(port: int, texts: list[str], load: Load, seconds: float) -> tuple[str, ...]:
    """Ask for some seconds; return a row of the table."""

    def endless(first: int) -> Iterator[bytes]:
        place = first
        while True:
            own = [texts[(place + number) % len(texts)] for number in range(load.texts)]
            place += load.texts
            yield request(own, load.reasons)

    async def all_of_them(seconds: float) -> list[float]:
        waits: list[float] = []
        ends = time.perf_counter() + seconds
        pause = load.connections / load.rate if load.rate else 0.0
        askers = (ask(port, endless(37 * number), pause, ends, waits) for number in range(load.connections))
        await asyncio.gather(*askers)
        return waits

    asyncio.run(all_of_them(0.5))
    used, begun = processor_seconds(port), time.perf_counter()
    waits = sorted(asyncio.run(all_of_them(seconds)))
    took, used = time.perf_counter() - begun, processor_seconds(port) - used
    n_texts = load.texts * len(waits)
    middle, late = (waits[min(int(share * len(waits)), len(waits) - 1)] for share in (0.5, 0.99))
    cost = used / n_texts
    return (
        load.name,
        f"{n_texts / took:,.0f}",
        f"{1e3 * middle:.1f}",
        f"{1e3 * late:.1f}",
        f"{1e3 * cost:.2f}",
        f"{1 / cost:,.0f}",
    )


def run(repeats: int) -> None:
    from bayesift.datasets import load
    from bayesift.formats import save
    from bayesift.workflow import TextClassifier

    news = load("newsroom")
    texts = [text[:SHORT] for text in news.test.texts]
    # The server has the first of the cores to itself.
    others = os.sched_getaffinity(0) - {min(os.sched_getaffinity(0))}
    header = ("load", "texts/s", "median ms", "99 % ms", "processor ms/text", "texts/s of a core")
    with TemporaryDirectory() as folder:
        for name in ("lasso", "nb"):
            model = Path(folder) / f"{name}.bayesift"
            save(TextClassifier(name).fit(news.train.texts, news.train.labels), model)
            with served(model) as port:
                before = os.sched_getaffinity(0)
                os.sched_setaffinity(0, others or before)
                rows = [measure(port, texts, one, float(repeats)) for one in LOADS]
                os.sched_setaffinity(0, before)
            show(f"bayesift serve, model {name}, texts of {SHORT} characters", header, rows)
