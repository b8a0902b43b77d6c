"""A worker that tries one thing after the other, and who watches over it: crashes, hangs, memory."""

from __future__ import annotations

import json
import os
import resource
import selectors
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: Most bytes that a try may take beyond what the worker takes when it begins.
MEMORY = 10**9
#: Most seconds of processor time that a try may take; of the clock many more, as the machine may be busy.
SECONDS, CLOCK = 10.0, 120.0

GOOD = ("answered", "refused")
BAD = ("failed", "warned", "crashed", "hung")


def limit_memory() -> None:
    """Let this process take no more than ``MEMORY`` beyond what it has."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    size = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


@dataclass
class Report:
    """How the tries went, by the name of what was tried."""

    names: list[str]
    outcomes: dict[str, Counter[str]] = field(default_factory=dict)
    failures: list[dict[str, Any]] = field(default_factory=list)
    seconds: dict[str, list[float]] = field(default_factory=dict)

    def add(self, told: dict[str, Any]) -> None:
        """Take note of one."""
        name = self.names[told["which"]]
        self.outcomes.setdefault(name, Counter())[told["outcome"]] += 1
        self.seconds.setdefault(name, []).append(told.get("seconds", 0.0))
        if told["outcome"] in BAD:
            self.failures.append({**told, "name": name})

    def text(self) -> str:
        """Return a table in Markdown, and the kinds of failures with an example of each."""
        columns = [*GOOD, *BAD]
        lines = [f"| estimator | tries | {' | '.join(columns)} | slowest, s |", "|---|" + "---:|" * (len(columns) + 2)]
        total = sum(self.outcomes.values(), Counter())
        every = [second for own in self.seconds.values() for second in own]
        for name, found in [*sorted(self.outcomes.items()), ("all", total)]:
            numbers = [sum(found.values()), *(found[column] for column in columns)]
            slowest = max(self.seconds.get(name, every), default=0.0)
            lines.append(f"| {name} | {' | '.join(f'{number:,}' for number in numbers)} | {slowest:.1f} |")
        lines.append("")
        kinds: dict[str, list[int]] = {}
        for failure in self.failures:
            kinds.setdefault(f"{failure['name']}: {failure['outcome']}: {failure['what'][:110]}", []).append(
                failure["number"]
            )
        for kind, numbers in sorted(kinds.items(), key=lambda item: -len(item[1])):
            lines.append(f"{len(numbers)} × {kind} (--only {numbers[0]})".replace("\n", " "))
        return "\n".join(lines)


def joined(reports: list[Report]) -> Report:
    """Return the reports of several workers as one."""
    whole = Report(reports[0].names)
    for report in reports:
        for name, found in report.outcomes.items():
            whole.outcomes[name] = whole.outcomes.get(name, Counter()) + found
            whole.seconds[name] = whole.seconds.get(name, []) + report.seconds[name]
        whole.failures += report.failures
    return whole


class _Worker:
    """A process that tells what it does, line by line."""

    def __init__(self, command: list[str]) -> None:
        # Threads that wait for each other on a busy machine would look like a hang.
        settings = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=settings)
        self.place: dict[str, Any] = {}
        self.since, self.used, self._rest = time.monotonic(), 0.0, b""

    def told(self) -> list[dict[str, Any]]:
        """Return what it has told since the last time; nothing at its end."""
        assert self.process.stdout is not None
        *complete, self._rest = (self._rest + os.read(self.process.stdout.fileno(), 2**16)).split(b"\n")
        lines = [json.loads(line) for line in complete]
        if lines:
            self.place, self.since, self.used = lines[-1], time.monotonic(), self.processor_time()
        return lines

    def is_stuck(self) -> bool:
        """Return whether a try takes too long."""
        waited = time.monotonic() - self.since
        if not self.place or "outcome" in self.place or waited < SECONDS:
            return False
        return waited > CLOCK or self.processor_time() - self.used > SECONDS

    def processor_time(self) -> float:
        """Return the seconds that the process has worked."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def watch(
    command: Callable[[int, int], list[str]], names: list[str], first: int, limit: int, tell: Callable[[str], None]
) -> Report:
    """Try everything from a number up to another; after a crash or a hang a new worker goes on with the next try.

    ``command`` gives the command of a worker that begins at a number with one of the names.
    """
    report, begin, told_at = Report(names), time.monotonic(), time.monotonic()
    worker = _Worker(command(first, 0))
    while True:
        with selectors.DefaultSelector() as selector:
            selector.register(worker.process.stdout, selectors.EVENT_READ)  # type: ignore[arg-type]
            ready = bool(selector.select(timeout=1.0))
        lines = worker.told() if ready else []
        for line in lines:
            if "outcome" in line:
                report.add(line)
            if line.get("outcome") in BAD:
                tell(f"{names[line['which']]} {line['outcome']} at matrix {line['number']}: {line['what']}")
        ended = ready and not lines and worker.process.poll() is not None
        if ended and worker.process.returncode == 0:
            return report
        if ended and not worker.place:
            raise RuntimeError("the worker ended before its first try")
        if ended or worker.is_stuck():
            outcome, place = "crashed" if ended else "hung", worker.place
            used = f"{worker.processor_time() - worker.used:.0f} s of processor time"
            tell(f"{names[place['which']]} {outcome} at matrix {place['number']} after {used}")
            worker.process.kill()
            worker.process.wait()
            report.add({**place, "outcome": outcome, "what": f"the worker has {outcome}"})
            which = place["which"] + 1
            worker = _Worker(command(place["number"] + which // len(names), which % len(names)))
        if time.monotonic() - told_at > 30:
            told_at = time.monotonic()
            tell(
                f"matrix {worker.place.get('number', first)} of {limit}, {len(report.failures)} failures, "
                f"{told_at - begin:.0f} s"
            )
