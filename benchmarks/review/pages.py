"""Times every page of a review of 100,000 records over HTTP, and the keypress that brings the next card.

    python -m benchmarks.review.pages [--records 100000] [--decisions 300] [--imported 20000] [--times 7]

The records are recombined from those of the collection `synergy` (see BAYESIFT_DATA): a title, and sentences of three
abstracts of the same review, about 150 words; a twentieth are copies of others with a letter changed. The server is the
command itself. There are three reviewers, a topic that all read, with the stage of full texts, and one that two read
blind, by shares. Before each page is asked for, a card is decided, so that nothing comes from before the decision; the
processor time is that of the whole server, with the fits in the background. All pages are timed once more after many
decisions were imported. Every GET of :mod:`bayesift.review.web.access` is asked for; a new one fails here until it is
given an address.
"""

from __future__ import annotations

import argparse
import csv
import random
import re
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bayesift.datasets import load
from bayesift.review.web.access import LEAST_ROLE
from benchmarks.measuring import show
from benchmarks.review.page import Server, processor_time

REVIEWS = ("Donners_2021", "Menon_2022", "Sep_2021", "van_der_Valk_2021", "Appenzeller-Herzog_2019")

#: What is looked for: the relevant records of this review.
WANTED = "Menon_2022"

TOPIC = {
    "name": "Reviews of reviews",
    "description": "Methods and reporting of systematic reviews in environmental health",
    "inclusion": "Systematic reviews of exposures and health outcomes",
    "exclusion": "Animal studies\nNarrative reviews",
    "reasons": "wrong exposure\nwrong outcome\nnot a systematic review",
    "tags": "to discuss\nbackground",
    "full_text": "yes",
}
BLIND = {"name": "Read twice", "description": TOPIC["description"], "queue": "double"}

#: The addresses of each route that takes more than the number of a topic, or has several faces.
FACES: dict[str, tuple[str, ...]] = {
    "/static/{name}": ("/static/card.js",),
    "/topics/{topic}/documents/{document}": ("/topics/{topic}/documents/7",),
    "/duplicates": ("/duplicates", "/duplicates?page=100"),
    "/topics/{topic}/browse": (
        "/topics/{topic}/browse",
        "/topics/{topic}/browse?page=3000",
        "/topics/{topic}/browse?order=place",
        "/topics/{topic}/browse?show=unread&order=recent",
        "/topics/{topic}/browse?show=relevant",
        "/topics/{topic}/browse?show=empty",
        "/topics/{topic}/browse?show=copies",
        "/topics/{topic}/browse?q=cohort",
        "/topics/{topic}/browse?q=the",
    ),
}

#: Files to take away, which are no pages.
FILES = ("/topics/{topic}/export", "/topics/{topic}/model", "/topics/{topic}/protocol")


class Timing(NamedTuple):
    """How long an address took, in seconds: by the clock and by the processor of the server."""

    clock: list[float]
    processor: list[float]

    def row(self) -> tuple[str, ...]:
        """Return median and longest of both, to be printed."""
        numbers = (
            statistics.median(self.clock), max(self.clock), statistics.median(self.processor), max(self.processor)
        )  # fmt: skip
        return tuple(f"{number:.2f}" for number in numbers)


def records(n: int) -> Iterator[tuple[list[object], bool]]:
    """Make records, and tell which are relevant."""
    choice = random.Random(1)
    known = []
    for name in REVIEWS:
        part = load("synergy", review=name).train
        split = [text.partition("\n") for text in part.texts]
        known.append([
            (title.strip(), re.split(r"(?<=[.?!])\s+", rest.strip()), name == WANTED and "included" in labels)
            for (title, _, rest), labels in zip(split, part.labels, strict=True)
        ])  # fmt: skip
    earlier: list[list[object]] = []
    for number in range(n):
        if number % 20 == 19:
            copied = list(earlier[choice.randrange(len(earlier))])
            copied[0], copied[1] = f"r{number}", f"{copied[1]}s"
            yield copied, False
            continue
        review = known[number % len(known)]
        title, own, relevant = choice.choice(review)
        other, more, _ = choice.choice(review)
        sentences = [*own[:4], *choice.sample(more, min(4, len(more))), *choice.choice(review)[1][-2:]]
        text = " ".join(" ".join(sentences).split()[:200]) if number % 30 else ""
        half = " ".join(other.split()[: len(other.split()) // 2])
        year = choice.randrange(1980, 2026)
        authors = f"{choice.choice(('Li', 'Ek', 'Roy', 'May'))}, {choice.choice('ABCDE')}."
        made: list[object] = [f"r{number}", f"{title} {half} {number}", text, authors, year, f"10.9999/r{number}"]
        if number < n // 2:
            earlier.append([*made[:5], ""])
        yield made, relevant


def write(path: Path, n: int) -> list[bool]:
    """Write the records as a CSV file; tell which are relevant."""
    truth = []
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "title", "abstract", "authors", "year", "doi"])
        for record, relevant in records(n):
            writer.writerow(record)
            truth.append(relevant)
    return truth


class Reader:
    """Who decides cards and asks for pages of the server, and measures both."""

    def __init__(self, server: Server, truth: Sequence[bool]) -> None:
        self.server = server
        self.truth = truth
        self.keypress = Timing([], [])

    def timed(self, method: str, path: str, timing: Timing, **options: object) -> object:
        """Ask for something, and note what it took."""
        begin, before = time.perf_counter(), processor_time(self.server.process.pid)
        answer = self.server.client.request(method, path, **options)
        timing.clock.append(time.perf_counter() - begin)
        timing.processor.append(processor_time(self.server.process.pid) - before)
        if answer.status_code != 200:
            raise RuntimeError(f"{method} {path} was answered with {answer.status_code}: {answer.text[:500]}")
        return answer

    def decide(self, n: int, topic: int = 1) -> None:
        """Answer the next cards."""
        document = self.server.client.get(f"/api/topics/{topic}/card").json()["document"]
        for _ in range(n):
            decision = "relevant" if self.truth[document] else "irrelevant"
            body = {"document": document, "decision": decision}
            answer = self.timed("POST", f"/api/topics/{topic}/labels", self.keypress, json=body)
            document = answer.json()["document"]  # type: ignore[attr-defined]

    def pages(self, topic: int, times: int) -> dict[str, Timing]:
        """Ask for every page so often, each time after a decision."""
        found = {}
        for address in addresses(topic):
            # What was decided before is learned, so that the page is not blamed for the fit.
            found[address] = Timing([], [])
            for _ in range(1 if any(address.startswith(file.format(topic=topic)) for file in FILES) else times):
                self.decide(1, topic)
                time.sleep(0.2)
                self.timed("GET", address, found[address])
        return found


def addresses(topic: int) -> list[str]:
    """List what is asked for: every route that answers a GET; those without a topic only with the first one."""
    paths = [name.removeprefix("GET ") for name in LEAST_ROLE if name.startswith("GET ")]
    found = [face.format(topic=topic) for path in paths for face in FACES.get(path, (path,))]
    return [address for address in found if topic == 1 or f"/{topic}" in address]


def labels(truth: Sequence[bool], n: int) -> bytes:
    """Make a file of decisions about the last records."""
    first = len(truth) - n
    rows = (f"r{number},{'relevant' if truth[number] else 'irrelevant'}" for number in range(first, len(truth)))
    return "\n".join(["id,decision", *rows]).encode()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--decisions", type=int, default=300)
    parser.add_argument("--imported", type=int, default=20_000)
    parser.add_argument("--times", type=int, default=7)
    parser.add_argument("--folder", type=Path, help="keep the project there, and go on with it the next time")
    given = parser.parse_args()
    with TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        measure(folder / "records.csv", given)


def measure(data: Path, given: argparse.Namespace) -> None:
    """Make the project, decide, and time everything."""
    truth = write(data, given.records)
    server = Server(data)
    try:
        print(f"{given.records} records, {data.stat().st_size / 1e6:.0f} MB; open after {server.seconds:.0f} s")
        reader, client = Reader(server, truth), server.client
        word = {"csrf": client.headers["X-CSRF-Token"]}
        if client.get("/topics/1/settings").status_code != 200:
            for name in ("Ben", "Carla"):
                client.post("/reviewers", data={**word, "name": name})
            everybody = re.findall(r"<p><strong>([^<]+)</strong>", client.get("/reviewers").text)
            client.post("/new-topic", data={**word, **TOPIC})
            shares = "\n".join(f"{name}: 1" for name in everybody)
            client.post("/new-topic", data={**word, **BLIND, "shares": shares})
        for topic in (1, 2):
            reader.decide(given.decisions, topic)
        tables = [tell(reader, f"after {given.decisions} decisions", given.times)]
        if given.imported:
            sent = client.post("/topics/1/labels/import", files={"file": ("x.csv", labels(truth, given.imported))})
            print(f"import of {given.imported} decisions: {sent.status_code}, {sent.elapsed.total_seconds():.1f} s")
            reader.keypress = Timing([], [])
            tables.append(tell(reader, f"after {given.imported} more", given.times))
        slowest = max(max(timing.clock) for table in tables for name, timing in table.items() if is_page(name))
        print(f"slowest page: {slowest:.2f} s; memory at most {server.status('VmHWM')} MB")
    finally:
        server.close()


def is_page(address: str) -> bool:
    """Tell whether an address is that of a page, and not of a file to take away."""
    return not any(address.startswith(file.format(topic=topic)) for file in FILES for topic in (1, 2))


def tell(reader: Reader, title: str, times: int) -> dict[str, Timing]:
    """Time all pages, and print them from the slowest on."""
    found = {**reader.pages(1, times), **reader.pages(2, times)}
    found["keypress"] = reader.keypress
    order = sorted(found.items(), key=lambda item: -max(item[1].clock))
    columns = ("page", "median s", "longest s", "processor: median s", "longest s")
    show(title, columns, [(name, *timing.row()) for name, timing in order])
    return found


if __name__ == "__main__":
    main()
