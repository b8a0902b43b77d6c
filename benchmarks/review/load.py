"""Puts the page under load, over HTTP: how long reviewers wait for the next card, and whether anything is lost.

    python -m benchmarks.review.load [one] [twenty] [flood] [kills] [--documents 100000] [--labels 10000] [--kills 20]

``one``: one reviewer who labels, with and without a pause. ``twenty``: twenty reviewers who read for two seconds, with
the question whether to stop that the page asks after every label. ``flood``: what a reviewer waits while others send
searches of the slowest kind all the time, or one imports 90,000 decisions, and after that for an undo. ``kills``: eight
reviewers label as fast as the server answers, which is killed and started again, with SQLite and PostgreSQL; every
label that was acknowledged must be there. Documents as in ``benchmarks.review.page``.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event as Signal
from typing import Any
from urllib.parse import urlencode

from bayesift.review.storage import Project
from benchmarks.review.page import processor_time, write_documents
from benchmarks.review.postgresql import new_database, temporary_server

NAMES = tuple(f"reviewer{number:02}" for number in range(20))
TOPIC = {
    "name": "space",
    "description": "Space flight, rockets, satellites and orbits",
    "keywords_for": "space, orbit, nasa, shuttle",
}


class Reviewer:
    """A reviewer with one connection that stays open, as a browser has it."""

    def __init__(self, port: int, token: str) -> None:
        self._port = port
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        self._used = time.monotonic()
        self._headers = {"Cookie": "", "X-CSRF-Token": ""}
        answer, _ = self._ask("POST", "/login", urlencode({"token": token}), "application/x-www-form-urlencoded")
        self._headers["Cookie"] = answer.getheader("Set-Cookie").partition(";")[0]
        self._headers["X-CSRF-Token"] = re.search(r'csrf" content="(\w+)"', self.get("/"))[1]

    def _ask(self, method: str, path: str, body: str | None = None, kind: str = "application/json") -> Any:
        headers = {**self._headers, **({"Content-Type": kind} if body is not None else {})}
        if time.monotonic() - self._used > 4:
            # The server is about to close it, and a browser would connect anew.
            self._connection.close()
        if self._connection.sock is None:
            self._connection.connect()
            self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        content = answer.read().decode()
        self._used = time.monotonic()
        return answer, content

    def get(self, path: str) -> str:
        """Ask for a page."""
        return self._ask("GET", path)[1]

    def form(self, path: str, **fields: str) -> str:
        """Send a form."""
        return self._ask("POST", path, urlencode(fields), "application/x-www-form-urlencoded")[1]

    def card(self) -> int | None:
        """Return the document of the card."""
        return json.loads(self.get("/api/topics/1/card"))["document"]

    def label(self, document: int, relevant: bool) -> dict[str, Any]:
        """Label a document; the answer brings the number of the label and the next card."""
        body = {"document": document, "decision": "relevant" if relevant else "irrelevant"}
        return json.loads(self._ask("POST", "/api/topics/1/labels", json.dumps(body))[1])

    def undo(self) -> None:
        """Take the last label back."""
        self._ask("POST", "/api/topics/1/undo", "{}")

    def upload(self, path: str, content: bytes) -> int:
        """Send a file."""
        border = "xxxxxxxxborderxxxxxxxx"
        head = f'--{border}\r\nContent-Disposition: form-data; name="file"; filename="x.csv"\r\n\r\n'
        body = head + content.decode() + f"\r\n--{border}--\r\n"
        return self._ask("POST", path, body, f"multipart/form-data; boundary={border}")[0].status

    def again(self) -> None:
        """Connect anew, with the session there is."""
        self._connection.close()
        self._connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=600)


def free_port() -> int:
    """Find a port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


@contextmanager
def serving(port: int, *arguments: str | Path, reviewers: Sequence[str] = ()) -> Iterator[tuple[int, dict[str, str]]]:
    """Run the command; return its process number and the tokens of the reviewers, by name."""
    named = [word for name in reviewers for word in ("--reviewer", name)]
    command = [sys.executable, "-m", "bayesift", "review", *map(str, arguments), "--no-browser", "--port", str(port)]
    with subprocess.Popen([*command, *named], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as run:
        tokens = {}
        for line in run.stdout:
            if found := re.match(r"(\w+): http\S+/login#(\S+)", line):
                tokens[found[1]] = found[2]
            if line.startswith("Stop with"):
                break
        else:
            raise RuntimeError("the server did not start")
        try:
            yield run.pid, tokens
        finally:
            run.kill()


def timed(function: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """Return how many milliseconds a call took, and what it returned."""
    begin = time.perf_counter()
    answer = function(*arguments)
    return 1000 * (time.perf_counter() - begin), answer


def tell(name: str, times: Sequence[float]) -> None:
    """Print the median and the upper quantiles."""
    if len(times) < 2:
        print(f"{name}: {times}", flush=True)
        return
    cuts = statistics.quantiles(times, n=100, method="inclusive")
    print(
        f"{name}: n {len(times)}, median {cuts[49]:.0f} ms, p90 {cuts[89]:.0f} ms, p99 {cuts[98]:.0f} ms, "
        f"longest {max(times):.0f} ms",
        flush=True,
    )


def work(
    reviewer: Reviewer, truth: list[bool], n: int, pause: float, stopping: bool = False
) -> tuple[list[float], ...]:
    """Label so many documents; return how long each answer took, and each answer to whether to stop."""
    labels, stops = [], []
    document = reviewer.card()
    for _ in range(n):
        took, answer = timed(reviewer.label, document, truth[document])
        labels.append(took)
        document = answer["document"]
        if stopping:
            # What the page asks when somebody rests.
            time.sleep(0.4)
            took, _ = timed(reviewer.get, "/api/topics/1/stopping")
            stops.append(took)
        time.sleep(max(pause - 0.4 * stopping, 0.0))
    return labels, stops


def one(reviewers: Sequence[Reviewer], truth: list[bool], pid: int) -> None:
    """One reviewer alone."""
    for pause in (0.3, 0.0):
        before, n = processor_time(pid), 300
        times, _ = work(reviewers[0], truth, n, pause)
        spent = 1000 * (processor_time(pid) - before) / n
        tell(f"one reviewer, {pause} s between labels (processor {spent:.0f} ms each, fits included)", times)


def twenty(reviewers: Sequence[Reviewer], truth: list[bool], pid: int) -> None:
    """Twenty reviewers who read for two seconds."""
    before = processor_time(pid)

    def begin(place: int) -> tuple[list[float], ...]:
        time.sleep(2 * place / len(reviewers))
        return work(reviewers[place], truth, 50, 2.0, stopping=True)

    with ThreadPoolExecutor(len(reviewers)) as pool:
        found = list(pool.map(begin, range(len(reviewers))))
    times = [took for labels, _ in found for took in labels]
    spent = 1000 * (processor_time(pid) - before) / len(times)
    tell(f"twenty reviewers, 2 s between labels (processor {spent:.0f} ms each)", times)
    tell("  whether to stop, asked after every label", [took for _, stops in found for took in stops])


def flood(reviewers: Sequence[Reviewer], truth: list[bool], _pid: int) -> None:
    """One reviewer's searches, imports and undo, and another one's cards meanwhile."""
    victim, hostile = reviewers[0], reviewers[1:]

    def waits(during: Callable[[], Any]) -> tuple[list[float], float]:
        done = Signal()

        def label() -> list[float]:
            times = []
            while not done.is_set():
                times += work(victim, truth, 1, 0.2)[0]
            return times

        with ThreadPoolExecutor(1) as pool:
            labelling = pool.submit(label)
            try:
                took, _ = timed(during)
            finally:
                done.set()
            return labelling.result(), took

    words = "+".join(f"{chr(97 + k % 26)}*" for k in range(66))

    def searches() -> None:
        def ask(reviewer: Reviewer) -> None:
            for query in (words[:200], *["a*+b*+c*+d*+e*+f*+g*+h*+i*+j*+k*+l*"] * 3):
                reviewer.get(f"/topics/1/browse?q={query}")

        with ThreadPoolExecutor(len(hostile)) as pool:
            list(pool.map(ask, hostile))

    times, took = waits(searches)
    tell(f"cards during searches of {len(hostile)} others, of the slowest kind ({took / 1000:.1f} s)", times)
    rows = "".join(f"d{k},{int(relevant)}\n" for k, relevant in enumerate(truth[: int(0.9 * len(truth))]))
    content = ("id,label\n" + rows).encode()
    times, took = waits(lambda: hostile[0].upload("/topics/1/labels/import", content))
    tell(f"cards during the import of {rows.count(chr(10))} decisions ({took / 1000:.1f} s)", times)
    tell("undo after it", [timed(victim.undo)[0] for _ in range(10)])


def kills(folder: Path, n_labels: int, n_kills: int, where: Sequence[str | Path]) -> None:
    """Kill the server again and again in the middle of the work of eight."""
    data = folder / "small.csv"
    if not data.exists():
        write_documents(data, max(20_000, 2 * n_labels))
    port, acknowledged, reviewers = free_port(), [], []
    began = time.perf_counter()

    def label(reviewer: Reviewer) -> None:
        with suppress(OSError, http.client.HTTPException, json.JSONDecodeError):
            reviewer.again()
            document = reviewer.card()
            while document is not None:
                answer = reviewer.label(document, document % 20 == 0)
                acknowledged.append((answer["event"], document))
                document = answer["document"]

    for moment in range(1, n_kills + 1):
        names = NAMES[:8] if moment == 1 else ()
        with serving(port, data, *where, reviewers=names) as (pid, tokens), ThreadPoolExecutor(8) as pool:
            if moment == 1:
                reviewers = [Reviewer(port, token) for token in tokens.values()]
                reviewers[0].form("/new-topic", **TOPIC)
            working = [pool.submit(label, reviewer) for reviewer in reviewers]
            while len(acknowledged) < moment * n_labels // n_kills and not all(run.done() for run in working):
                time.sleep(0.002)
            os.kill(pid, signal.SIGKILL)
    project = Project.open(where[1])
    stored = {(event.id, event.document) for event in project.history.since(1)}
    project.close()
    lost = set(acknowledged) - stored
    twice = len(stored) - len({document for _, document in stored})
    print(
        f"{where[0]}: {len(acknowledged)} labels of 8 reviewers acknowledged, {n_kills} kills, {len(lost)} lost; "
        f"{len(stored) - len(acknowledged)} saved but not acknowledged, {twice} labelled twice; "
        f"{time.perf_counter() - began:.0f} s",
        flush=True,
    )
    if lost:
        sys.exit(1)


SCENES = {"one": one, "twenty": twenty, "flood": flood}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.review.load", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"which to run: {', '.join([*SCENES, 'kills'])} (default: all)")
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--labels", type=int, default=10_000, help="of all reviewers together, for kills")
    parser.add_argument("--kills", type=int, default=20)
    arguments = parser.parse_args()
    names = arguments.names or [*SCENES, "kills"]
    if unknown := set(names) - {*SCENES, "kills"}:
        parser.error(f"unknown: {', '.join(unknown)}")
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        if set(names) & set(SCENES):
            data, port = folder / "news.csv", free_port()
            truth = write_documents(data, arguments.documents)
            with serving(port, data, reviewers=NAMES) as (pid, tokens):
                reviewers = [Reviewer(port, token) for token in tokens.values()]
                reviewers[0].form("/new-topic", **TOPIC)
                for name in SCENES:
                    if name in names:
                        SCENES[name](reviewers, truth, pid)
        if "kills" in names:
            kills(folder, arguments.labels, arguments.kills, ["--project", folder / "p.sqlite"])
            with temporary_server(fsync=True) as server:
                kills(folder, arguments.labels, arguments.kills, ["--database", new_database(server)])


if __name__ == "__main__":
    main()
