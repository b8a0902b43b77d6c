"""A fit in a process of its own: its memory, enforced or only measured, and the processor time of all its workers."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import random
import resource
import signal
import subprocess
import sys
import threading
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import psutil

_GROUPS = (
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
    ("/sys/fs/cgroup", "memory.max"),
)
_LIBRARIES = ("numpy", "numba", "scikit-learn", "distributed", "pyspark", "dask-glm", "vowpalwabbit")


def machine() -> str:
    """Return date, mean number of running processes of the last five minutes, and versions."""
    known = [f"Python {platform.python_version()}"]
    for name in _LIBRARIES:
        with contextlib.suppress(PackageNotFoundError):
            known.append(f"{name} {version(name)}")
    return (
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {os.cpu_count()} cores, load {os.getloadavg()[1]:.1f}; "
        f"{', '.join(known)}"
    )


def processor_seconds(pid: int | None = None) -> float:
    """Return the processor time of a process, this one by default, and of all below it that are still running."""
    process, total = psutil.Process(pid), 0.0
    for one in (process, *process.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):
            used = one.cpu_times()
            total += used.user + used.system
    return total


def limit_memory(n_bytes: int) -> str:
    """Let this process have no more than so much resident memory; say who sees to it.

    In a control group files that are read count as well, and make room when it is needed. Where there are no such
    groups, the address space is limited instead, of which compiled code and mapped files take a good deal.
    """
    for folder, most in _GROUPS:
        group = Path(folder) / f"bayesift-shards-{os.getpid()}"
        try:
            if not (Path(folder) / "cgroup.procs").exists():
                continue
            group.mkdir()
            (group / most).write_text(str(n_bytes))
            (group / "cgroup.procs").write_text(str(os.getpid()))
        except OSError:
            continue
        return f"control group, {most}"
    resource.setrlimit(resource.RLIMIT_AS, (n_bytes, n_bytes))
    return "RLIMIT_AS"


def remove_group(pid: int) -> None:
    """Remove the control group of a process that has ended."""
    for folder, _ in _GROUPS:
        with contextlib.suppress(OSError):
            (Path(folder) / f"bayesift-shards-{pid}").rmdir()


def kill_one(client: Any, after: float) -> threading.Timer:
    """Kill a worker of a Dask cluster in so many seconds."""
    pids = list(client.run(os.getpid).values())
    timer = threading.Timer(after, os.kill, (random.choice(pids), signal.SIGKILL))
    timer.start()
    return timer


def in_own_process(module: str, setting: dict[str, Any], patience: float | None = None) -> dict[str, Any]:
    """Return what the function ``fit`` of a module returns for a setting, or how it failed."""
    # Processes that Dask starts import this again.
    code = (
        f"import json, sys\nfrom {module} import fit\n"
        "if __name__ == '__main__':\n    print(json.dumps(fit(json.loads(sys.argv[1]))))"
    )
    command = [sys.executable, "-W", "ignore", "-c", code, json.dumps(setting, default=str)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as process:
        try:
            out, said = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            used = processor_seconds(process.pid)
            os.killpg(process.pid, signal.SIGKILL)
            return {"failed": f"not done after {patience:.0f} s, {used:.0f} of processor time"}
    remove_group(process.pid)
    if process.returncode:
        last = said.strip().splitlines()[-1:]
        return {"failed": f"ended with {process.returncode} {' '.join(last)[:200]}"}
    return json.loads(out.splitlines()[-1])
