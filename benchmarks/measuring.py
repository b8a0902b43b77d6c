"""Seconds that survive a noisy machine (candidates take turns, medians and ratios are reported), memory, tables."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import track
from rich.table import Table

#: A turn lasts at least this long, so that quick candidates are not timed while the machine is still waking up.
SHORTEST_TURN = 0.5

#: What the numbers depend on, beside the machine.
LIBRARIES = ("bayesift", "numpy", "scipy", "scikit-learn", "numba")


#: Where tables are kept; ``benchmarks.pages`` writes them into the README and the documentation.
RESULTS = Path(__file__).parent / "results"


class Shown(NamedTuple):
    """A table that was printed."""

    title: str
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]


#: All tables that were printed since the program began.
SHOWN: list[Shown] = []


def take_turns(candidates: dict[str, Callable[[], Any]], repeats: int, title: str = "") -> dict[str, list[float]]:
    """Time every candidate in ``repeats`` rounds, one after the other in each, after one run that is not timed.

    Returns the mean seconds of a run for each turn.
    """
    for candidate in candidates.values():
        candidate()
    seconds: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in track(range(repeats), description=title, transient=True, console=Console(stderr=True)):
        for name, candidate in candidates.items():
            start, runs = time.perf_counter(), 0
            while runs == 0 or time.perf_counter() - start < SHORTEST_TURN:
                candidate()
                runs += 1
            seconds[name].append((time.perf_counter() - start) / runs)
    return seconds


def ratio(seconds: dict[str, list[float]], peer: str, ours: str) -> float:
    """Return how many times as fast as the peer: the median of the ratios within the rounds."""
    return median(theirs / mine for theirs, mine in zip(seconds[peer], seconds[ours], strict=True))


def show(title: str, header: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    """Print a table; it is also added to ``SHOWN``."""
    SHOWN.append(Shown(title, header, rows))
    table = Table(title=title, title_justify="left")
    for place, name in enumerate(header):
        table.add_column(name, justify="left" if place == 0 else "right", no_wrap=place == 0)
    for row in rows:
        table.add_row(*row)
    console = Console()
    # Numbers are not broken where the output goes into a file.
    console.width = max(console.width, 120)
    console.print(table)


@contextmanager
def kept(name: str | None, command: str) -> Iterator[None]:
    """Write the tables that are shown within to the results, with what they depend on; without a name, do not.

    That is their command, the date, the versions, the minutes they took and the machine's load.
    """
    before, start = len(SHOWN), time.monotonic()
    yield
    if name is None:
        return
    found = {
        "command": command,
        "date": datetime.now(UTC).date().isoformat(),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}},
        "cores": os.cpu_count(),
        "minutes": round((time.monotonic() - start) / 60, 1),
        # Mean number of running processes in the last five minutes, this one included.
        "load": round(os.getloadavg()[1], 1),
        "tables": [table._asdict() for table in SHOWN[before:]],
    }
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    beside = path.with_suffix(".new")
    beside.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    beside.replace(path)


def peak_beyond_now(work: Callable[[], Any]) -> tuple[int, Any]:
    """Run the work; return how far, in bytes, resident memory rose above what was used before, and the result."""
    gc.collect()
    # Memory freed earlier goes back to the system: reused, it would not count.
    ctypes.CDLL(None).malloc_trim(0)
    # Writing 5 here sets the high-water mark back to what is used now.
    Path("/proc/self/clear_refs").write_text("5")
    before = _status("VmRSS")
    result = work()
    return _status("VmHWM") - before, result


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"{field} is not in /proc/self/status")
