"""Seconds that survive a noisy machine (candidates take turns, medians and ratios are reported), and peak memory."""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

#: A turn lasts at least this long, so that quick candidates are not timed while the machine is still waking up.
SHORTEST_TURN = 0.5


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
    """Print a table."""
    table = Table(title=title, title_justify="left")
    for place, name in enumerate(header):
        table.add_column(name, justify="left" if place == 0 else "right", no_wrap=place == 0)
    for row in rows:
        table.add_row(*row)
    console = Console()
    # Numbers are not broken where the output goes into a file.
    console.width = max(console.width, 120)
    console.print(table)


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
