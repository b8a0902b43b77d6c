"""Each fit in a process of its own, so that its memory is its own; the twin is made once and kept in a folder."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import scipy.sparse as sp

from bayesift import shards
from benchmarks.measuring import show
from benchmarks.shards.twin import Twin

#: The rate of the lasso as a share of the largest one at which a coefficient is not zero.
SHARE = 0.02
TOL = 1e-5


def made(folder: str | None, n_rows: int, n_columns: int) -> Path:
    """Make a twin, with its labels beside it, unless it is there."""
    place = Path(folder or tempfile.gettempdir()) / f"twin-{n_rows}-{n_columns}"
    if not place.exists():
        begin, labels = time.process_time(), []

        def blocks() -> Any:
            for matrix, y in Twin(n_rows, n_columns).blocks():
                labels.append(y)
                yield matrix

        # Eight shards at least, so that the order of sums could matter.
        shards.write_matrix(blocks(), place, dtype="float32", rows=max(n_rows // 8, 1))
        np.save(place / "y.npy", np.concatenate(labels))
        print(f"{shards.open(place)} made in {time.process_time() - begin:.0f} s of processor time", flush=True)
    return place


def largest_rate(opened: shards.Shards, y: np.ndarray) -> float:
    """Return the rate from which on all coefficients are zero."""
    residual, first, c = y - y.mean(), 0, np.zeros(opened.shape[1])
    for block in opened:
        c += block.T @ residual[first : first + block.shape[0]]
        first += block.shape[0]
    return float(np.abs(c).max())


def fit(setting: dict[str, Any]) -> dict[str, Any]:
    """Fit in this process; return what it took."""
    from joblib import parallel_config

    from bayesift.linear import BayesianLogisticRegression, regularization_path

    place = Path(setting["place"])
    y = np.load(place / "y.npy")
    opened = shards.open(place, memory=setting.get("memory", "2G"))
    rate = SHARE * largest_rate(opened, y)
    model = BayesianLogisticRegression(setting.get("prior", "laplace"), variance=2.0 / rate**2, tol=TOL)
    engine, result = setting["engine"], {}
    X: Any = opened
    if engine == "memory":
        X = sp.vstack(list(opened), format="csr")
    # Kernels are compiled, or read from the cache, before the clock starts.
    small = Path(tempfile.mkdtemp()) / "small"
    shards.write_matrix(next(iter(opened))[:300], small, dtype="float32")
    for source in (shards.open(small, memory=1), next(iter(opened))[:300]):
        BayesianLogisticRegression(setting.get("prior", "laplace"), variance=0.1).fit(
            source, y[:300] * 0 + np.arange(300) % 2
        )
    if "limit" in setting:
        result["limited by"] = limit_memory(setting["limit"])
    begin, used = time.perf_counter(), time.process_time()
    if engine.startswith("dask"):
        from distributed import Client, LocalCluster

        with (
            LocalCluster(int(engine[4:]), threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
            Client(cluster) as client,
        ):
            opened._client = client
            begin = time.perf_counter()
            stop = threading.Event()
            if setting.get("kills"):
                threading.Thread(target=kill_now_and_then, args=(client, stop, result), daemon=True).start()
            model.fit(opened, y)
            stop.set()
            result["seconds"] = time.perf_counter() - begin
    elif engine == "loky":
        with parallel_config("loky", n_jobs=2):
            model.fit(X, y)
    elif engine == "path":
        rates = rate * np.geomspace(1.0 / SHARE * 0.7, 1.0, 10)
        path = regularization_path(X, y, variances=2.0 / rates**2, tol=TOL)
        result |= {"gap": float(np.max(path.gap / path.objective)), "bits": hashlib.sha256(path.coef.data).hexdigest()}
    else:
        model.fit(X, y)
    result.setdefault("seconds", time.perf_counter() - begin)
    status = Path("/proc/self/status").read_text().split()
    result |= {
        "processor": time.process_time() - used,
        "peak": int(status[status.index("VmHWM:") + 1]) * 1024,
        "entries": opened.n_entries,
        "rate": rate,
    }
    if hasattr(model, "coef_"):
        result |= {
            "gap": float(model.certificate_.relative_gap[0]),
            "objective": float(model.certificate_.objective[0]),
            "nonzero": int(model.n_nonzero_[0]),
            "rounds": int(model.n_iter_[0]),
            "bits": hashlib.sha256(model.coef_.tobytes() + model.intercept_.tobytes()).hexdigest(),
        }
    return result


def limit_memory(n_bytes: int) -> str:
    """Let this process have no more than so much resident memory; say who sees to it.

    In a control group files that are read count as well, and make room when it is needed. Where there are no such
    groups, the address space is limited instead, of which compiled code and mapped files take a good deal.
    """
    for folder, most, members in (
        ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "cgroup.procs"),
        ("/sys/fs/cgroup", "memory.max", "cgroup.procs"),
    ):
        group = Path(folder) / f"bayesift-shards-{os.getpid()}"
        try:
            if not (Path(folder) / members).exists():
                continue
            group.mkdir()
            (group / most).write_text(str(n_bytes))
            (group / members).write_text(str(os.getpid()))
        except OSError:
            continue
        return f"control group, {most}"
    resource.setrlimit(resource.RLIMIT_AS, (n_bytes, n_bytes))
    return "RLIMIT_AS"


def remove_group(pid: int) -> None:
    """Remove the control group of a process that has ended."""
    for folder in ("/sys/fs/cgroup/memory", "/sys/fs/cgroup"):
        with contextlib.suppress(OSError):
            (Path(folder) / f"bayesift-shards-{pid}").rmdir()


def kill_now_and_then(client: Any, stop: threading.Event, result: dict[str, Any]) -> None:
    """Kill a worker at random moments while a fit runs."""
    result["kills"] = 0
    while not stop.wait(random.uniform(0.5, 3.0)):
        pids = list(client.run(os.getpid).values())
        if pids and not stop.is_set():
            os.kill(random.choice(pids), signal.SIGKILL)
            result["kills"] += 1


def measured(**setting: Any) -> dict[str, Any]:
    """Fit in a process of its own."""
    # Processes that Dask starts import this again.
    code = (
        "import json, sys\nfrom benchmarks.shards.fits import fit\n"
        "if __name__ == '__main__':\n    print(json.dumps(fit(json.loads(sys.argv[1]))))"
    )
    command = [sys.executable, "-W", "ignore", "-c", code, json.dumps(setting, default=str)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        out, _ = process.communicate()
    remove_group(process.pid)
    if process.returncode:
        return {"failed": process.returncode}
    return json.loads(out.splitlines()[-1])


def row(name: str, found: dict[str, Any]) -> tuple[str, ...]:
    if "failed" in found:
        return name, f"failed ({found['failed']})", *[""] * 6
    return (
        name,
        f"{found['seconds']:.1f}",
        f"{found['processor']:.1f}",
        f"{found['peak'] / 2**20:,.0f}",
        f"{found.get('gap', np.nan):.1e}",
        f"{found.get('nonzero', '')}",
        f"{found.get('rounds', '')}",
        found.get("bits", "")[:8],
    )


HEADER = ("", "seconds", "processor", "peak MB", "gap", "not zero", "rounds", "bits")


def run_sizes(
    sizes: list[int], repeats: int = 1, n_columns: int = 359_000, memory: str = "500M", folder: str | None = None
) -> None:
    """Print lasso and ridge in memory and from shards, for several numbers of rows."""
    rows = []
    for n_rows in sizes:
        place = made(folder, n_rows, n_columns)
        for name, setting in (
            ("lasso in memory", {"engine": "memory"}),
            (f"lasso from shards, {memory}", {"engine": "threads", "memory": memory}),
        ):
            runs = [measured(place=str(place), **setting) for _ in range(repeats)]
            middle = sorted(runs, key=lambda run: run.get("seconds", np.inf))[len(runs) // 2]
            rows.append(row(f"{n_rows:,} rows: {name}", middle))
            print(json.dumps(middle), flush=True)
    show(f"lasso to {TOL:g}, {n_columns:,} columns", HEADER, rows)


def run_engines(n_rows: int, n_columns: int = 359_000, memory: str = "500M", folder: str | None = None) -> None:
    """Print the same fit by every engine: the bits must be the same."""
    place, rows = made(folder, n_rows, n_columns), []
    for engine in ("threads", "loky", "dask1", "dask2", "dask4"):
        found = measured(place=str(place), engine=engine, memory=memory)
        print(engine, json.dumps(found), flush=True)
        rows.append(row(engine, found))
    show(f"engines, {n_rows:,} rows", HEADER, rows)


def run_path(
    sizes: list[int],
    n_columns: int = 359_000,
    memory: str = "500M",
    folder: str | None = None,
    limit: int | None = 2 * 10**9,
) -> None:
    """Print paths of ten rates, by a process that may have so many bytes of memory and no more."""
    rows = []
    for n_rows in sizes:
        setting = {} if limit is None else {"limit": limit}
        found = measured(place=str(made(folder, n_rows, n_columns)), engine="path", memory=memory, **setting)
        print(json.dumps(found), flush=True)
        rows.append(row(f"{n_rows:,} rows", found))
    show("ten rates from shards", HEADER, rows)


def run_kills(n_rows: int, n_columns: int = 359_000, memory: str = "500M", folder: str | None = None) -> None:
    """Kill workers until twenty are dead; print how often the bits were those of one process."""
    place = made(folder, n_rows, n_columns)
    wanted, kills, fits, seconds = measured(place=str(place), engine="threads", memory=memory)["bits"], 0, 0, []
    while kills < 20:
        found = measured(place=str(place), engine="dask2", memory=memory, kills=True)
        if found.get("bits") != wanted:
            raise RuntimeError(f"another result after a kill: {found}")
        kills, fits = kills + found["kills"], fits + 1
        seconds.append(found["seconds"])
        print(f"{kills} kills in {fits} fits, all with the same bits", flush=True)
    print(f"{kills} kills, {fits} fits, the same bits; median {median(seconds):.1f} s")
