"""Peak resident memory of a piece of work (Linux)."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any


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
