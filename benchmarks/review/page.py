"""Measures the page at 100,000 documents, over HTTP: how long people wait, and how much memory it takes.

    python -m benchmarks.review.page [DOCUMENTS]

The collection is 20 Newsgroups (see BAYESIFT_DATA), repeated with a third of the words changed and the ends cut off.
"""

from __future__ import annotations

import csv
import random
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from bayesift.datasets import load


def write_documents(path: Path, n_documents: int) -> list[bool]:
    """Write the documents; tell which documents are about space flight."""
    news = load("20newsgroups")
    texts = [text for part in (news.train, news.test) for text in part.texts]
    groups = [labels[0] for part in (news.train, news.test) for labels in part.labels]
    choice = random.Random(1)
    words = sorted({word for text in texts[:3000] for word in text.split() if word.isalpha()})
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "title", "text"])
        for number in range(n_documents):
            parts = texts[number % len(texts)][:6000].split(" ")
            if number >= len(texts):
                parts = [choice.choice(words) if choice.random() < 0.33 else part for part in parts]
                parts = parts[: max(20, int(len(parts) * choice.uniform(0.4, 1)))]
            text = " ".join(parts)
            writer.writerow([f"d{number}", text[:70].replace("\n", " "), text])
    return [groups[number % len(groups)] == "sci.space" for number in range(n_documents)]


def processor_time(pid: int) -> float:
    """Return the seconds of all threads of a process together."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


class Server:
    """The command, and a client that is logged in."""

    def __init__(self, data: Path) -> None:
        begin = time.perf_counter()
        command = [sys.executable, "-m", "bayesift", "review", str(data), "--no-browser", "--port", "0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        link = next(line for line in self.process.stdout if "/login#" in line)
        self.seconds = time.perf_counter() - begin
        address, token = re.search(r"(http\S+)/login#(\S+)", link).groups()
        self.client = httpx.Client(base_url=address, follow_redirects=True, timeout=600)
        page = self.client.post("/login", data={"token": token}).text
        self.client.headers["X-CSRF-Token"] = re.search(r'csrf" content="(\w+)"', page)[1]

    def status(self, name: str) -> int:
        """Read a number of kB from the state of the process, in MB."""
        found = re.search(rf"{name}:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text())
        return int(found[1]) // 1024

    def timed(self, name: str, method: str, path: str, **options: object) -> httpx.Response:
        """Ask for something, and print how long the answer took, and how much of the processor."""
        begin, before = time.perf_counter(), processor_time(self.process.pid)
        answer = self.client.request(method, path, **options)
        seconds, spent = time.perf_counter() - begin, processor_time(self.process.pid) - before
        print(f"{name}: {1000 * seconds:.0f} ms, processor {1000 * spent:.0f} ms ({answer.status_code})", flush=True)
        return answer

    def close(self) -> None:
        """End the server, and wait until it has."""
        self.client.close()
        self.process.terminate()
        self.process.wait()


def label(server: Server, truth: list[bool], n_labels: int, pause: float) -> None:
    """Label and time every answer, which brings the next card."""
    times, before = [], processor_time(server.process.pid)
    document = server.client.get("/api/topics/1/card").json()["document"]
    for _ in range(n_labels):
        decision = "relevant" if truth[document] else "irrelevant"
        begin = time.perf_counter()
        answer = server.client.post("/api/topics/1/labels", json={"document": document, "decision": decision})
        times.append(1000 * (time.perf_counter() - begin))
        document = answer.json()["document"]
        time.sleep(pause)
    spent = 1000 * (processor_time(server.process.pid) - before) / n_labels
    print(
        f"label and next card, {pause} s apart: median {statistics.median(times):.0f} ms, "
        f"nine of ten below {sorted(times)[int(0.9 * n_labels)]:.0f} ms; processor {spent:.0f} ms each, fits included"
    )


def main() -> None:
    n_documents = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with TemporaryDirectory() as folder:
        data = Path(folder) / "news.csv"
        truth = write_documents(data, n_documents)
        print(f"{n_documents} documents, {data.stat().st_size / 1e6:.0f} MB")
        server = Server(data)
        print(f"import: {server.seconds:.1f} s; memory at most {server.status('VmHWM')} MB")
        topic = {
            "csrf": server.client.headers["X-CSRF-Token"],
            "name": "space",
            "description": "Space flight, rockets, satellites and orbits",
            "keywords_for": "space, orbit, nasa, shuttle",
        }
        server.timed("topic and first card", "POST", "/new-topic", data=topic)
        for pause in (0.3, 0.0):
            label(server, truth, 100, pause)
        server.timed("undo", "POST", "/api/topics/1/undo", json={})
        base = "/topics/1"
        for path in ("/", "/duplicates", base, f"{base}/full-text", f"{base}/report", f"{base}/prisma.svg",
                     f"{base}/agreement", f"{base}/data", f"{base}/settings", f"{base}/documents/7",
                     f"{base}/browse?show=empty", f"{base}/browse?show=unread", f"{base}/protocol"):  # fmt: skip
            server.timed(path, "GET", path)
        for name, path in (
            ("whether to stop", "/api/topics/1/stopping"),
            ("progress", "/topics/1/progress"),
            ("browse by score", "/topics/1/browse"),
            ("search", "/topics/1/browse?q=orbit+moon"),
            ("export as CSV", "/topics/1/export"),
        ):
            server.timed(name, "GET", path)
        print(f"memory at most {server.status('VmHWM')} MB")
        server.close()
        server = Server(data)
        print(f"opened again: {server.seconds:.1f} s")
        server.timed("first card", "GET", "/topics/1")
        server.close()


if __name__ == "__main__":
    main()
