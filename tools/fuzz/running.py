"""Workers that load forgeries, and who watches over them: crashes, hangs, memory, errors that are not clean."""

from __future__ import annotations

import io
import json
import os
import selectors
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bayesift import load
from bayesift.formats import ModelFileError
from bayesift.formats._container import write
from tools.fuzz.bases import Base, Members, bases
from tools.fuzz.calling import use
from tools.fuzz.forging import forge
from tools.fuzz.watching import CLOCK, SECONDS, limit_memory

_LONGEST_NAME = 60
#: Of so many forgeries one is also trained anew.
SLOWLY = 10


def work(seed: int, first: int, step: int, limit: int, diary: str) -> None:
    """Load and use the forgeries first, first + step, …; tell about each on standard output, line by line.

    What is called next stands in a file, the diary, for whoever finds the worker dead.
    """
    now = os.open(diary, os.O_WRONLY | os.O_CREAT)
    out = os.fdopen(os.dup(1), "w", buffering=1)
    # What the kernels print of indices that are out of bounds is not for whoever reads the results.
    os.dup2(2, 1)
    all_bases = bases()
    with TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        for base in all_bases:
            result = attempt(base.members, base, Path(folder), slowly=True, tell=lambda _: None)
            print(json.dumps({"base": base.name, **result}), file=out)
        # Beyond what all models together take.
        limit_memory()
        for number in range(first, limit, step):
            print(json.dumps({"number": number}), file=out)
            forgery = forge(all_bases, seed, number)

            slowly = number // len(all_bases) % SLOWLY == 0
            result = attempt(
                forgery.members,
                forgery.base,
                Path(folder),
                slowly=slowly,
                tell=lambda name: os.pwrite(now, name.encode().ljust(_LONGEST_NAME), 0),
            )
            told = {"changes": forgery.changes} if "failure" in result else {}
            print(json.dumps({"number": number, "base": forgery.base.name, **told, **result}), file=out)


def attempt(members: Members, base: Base, folder: Path, *, slowly: bool, tell: Callable[[str], None]) -> dict[str, Any]:
    """Load and use one file; says how that went."""
    path = folder / "forged.bayesift"
    path.write_bytes(_file_of(members))
    begin, name = time.process_time(), "load"

    def noted(calling: str) -> None:
        nonlocal name
        name = calling
        tell(calling)

    tell("load")
    try:
        try:
            model = load(path)
        except ModelFileError as error:
            if isinstance(error.__cause__, MemoryError):
                raise error.__cause__ from None
            return {"outcome": "refused", "seconds": time.process_time() - begin}
        complaints = list(use(model, takes_texts=base.takes_texts, slowly=slowly, folder=folder, tell=noted))
        outcome = "complained" if complaints else "answered"
        return {"outcome": outcome, "seconds": time.process_time() - begin}
    except Exception as error:
        lines = traceback.format_exc().splitlines()
        return {"outcome": "failed", "failure": f"{name}: {type(error).__name__}: {error}"[:300], "trace": lines[-12:]}


def _file_of(members: Members) -> bytes:
    header = json.loads(members["bayesift.json"])
    header.pop("members", None)
    file = io.BytesIO()
    write(file, header, {name: content for name, content in members.items() if name != "bayesift.json"})
    return file.getvalue()


@dataclass
class Results:
    """How the forgeries went."""

    outcomes: Counter[str] = field(default_factory=Counter)
    by_base: dict[str, Counter[str]] = field(default_factory=dict)
    failures: list[dict[str, Any]] = field(default_factory=list)
    slowest: float = 0.0

    def add(self, result: dict[str, Any]) -> None:
        """Take note of one; what is told before it is tried, and of the models themselves, counts only if it failed."""
        if "outcome" not in result:
            return
        if "number" not in result:
            self.failures += [result] if result["outcome"] == "failed" else []
            return
        self.outcomes[result["outcome"]] += 1
        self.by_base.setdefault(result.get("base", "?"), Counter())[result["outcome"]] += 1
        self.slowest = max(self.slowest, result.get("seconds", 0.0))
        if result["outcome"] not in ("refused", "answered", "complained"):
            self.failures.append(result)

    def table(self) -> str:
        """Return the numbers as a table in Markdown."""
        columns = ["refused", "answered", "complained", "failed", "crashed", "hung"]
        lines = ["| model | forgeries | " + " | ".join(columns) + " |", "|---|" + "---:|" * (len(columns) + 1)]
        for name, found in [*sorted(self.by_base.items()), ("all", self.outcomes)]:
            numbers = [sum(found.values()), *(found[column] for column in columns)]
            lines.append(f"| {name} | " + " | ".join(map(str, numbers)) + " |")
        return "\n".join(lines)


class _Watched:
    """A worker, what it is doing, and since when."""

    def __init__(self, seed: int, first: int, step: int, limit: int, diary: Path) -> None:
        self.diary = diary
        self.next, self.step, self.limit, self.seed = first, step, limit, seed
        self.since, self.used = time.monotonic(), 0.0
        self.at_work = False
        self.process = self._started()
        self.rest = b""

    def _started(self) -> subprocess.Popen[bytes]:
        arguments = [str(value) for value in (self.seed, self.next, self.step, self.limit, self.diary)]
        command = [sys.executable, "-m", "tools.fuzz", "--work", *arguments]
        self.at_work = False
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def lines(self) -> Iterator[dict[str, Any]]:
        """Return what it has told since the last time; empty at its end."""
        assert self.process.stdout is not None
        content = os.read(self.process.stdout.fileno(), 2**16)
        *complete, self.rest = (self.rest + content).split(b"\n")
        for line in complete:
            yield json.loads(line)

    def note(self, told: dict[str, Any]) -> None:
        """Remember what it is doing now."""
        if "number" in told:
            self.at_work = True
            self.since, self.used = time.monotonic(), self._processor_time()
            self.next = told["number"] + (self.step if "outcome" in told else 0)

    def is_stuck(self) -> bool:
        """Return whether a forgery takes too long."""
        if not self.at_work or time.monotonic() - self.since < SECONDS:
            return False
        return self._processor_time() - self.used > SECONDS or time.monotonic() - self.since > CLOCK

    def _processor_time(self) -> float:
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def renewed(self, outcome: str) -> dict[str, Any]:
        """Go on after a forgery that ended the worker; returns what is to be told of it."""
        calling = self.diary.read_text().strip()
        told = {"number": self.next, "base": "?", "outcome": outcome, "failure": f"{outcome} in {calling}"}
        self.process.kill()
        self.process.wait()
        self.next += self.step
        self.rest = b""
        self.process = self._started()
        return told


def run(seed: int, first: int, limit: int, jobs: int, tell: Callable[[str], None]) -> Results:
    """Try all forgeries from a number up to another on several workers."""
    with TemporaryDirectory() as folder:
        workers = [_Watched(seed, first + job, jobs, limit, Path(folder) / str(job)) for job in range(jobs)]
        return _watch(workers, limit - first, tell)


def _watch(workers: list[_Watched], n_forgeries: int, tell: Callable[[str], None]) -> Results:
    results, begin = Results(), time.monotonic()
    selector = selectors.DefaultSelector()
    for worker in workers:
        selector.register(worker.process.stdout, selectors.EVENT_READ, worker)  # type: ignore[arg-type]
    told_at, n_told = begin, 0
    while selector.get_map():
        for key, _ in selector.select(timeout=1.0):
            worker = key.data
            told = list(worker.lines())
            for line in told:
                worker.note(line)
                results.add(line)
            if not told and worker.process.poll() is not None:
                selector.unregister(key.fileobj)
                if worker.process.returncode != 0:
                    if not worker.at_work:
                        raise RuntimeError("a worker ended before its first forgery")
                    results.add(worker.renewed("crashed"))
                    selector.register(worker.process.stdout, selectors.EVENT_READ, worker)
        for worker in [key.data for key in selector.get_map().values()]:
            if worker.is_stuck():
                selector.unregister(worker.process.stdout)
                results.add(worker.renewed("hung"))
                selector.register(worker.process.stdout, selectors.EVENT_READ, worker)
        for failure in results.failures[n_told:]:
            tell(f"{failure.get('number')} {failure['base']}: {failure['failure']}")
        n_told = len(results.failures)
        if time.monotonic() - told_at > 30:
            told_at = time.monotonic()
            done = sum(results.outcomes.values())
            tell(f"{done} of {n_forgeries}, {dict(results.outcomes)}, {told_at - begin:.0f} s")
    return results
