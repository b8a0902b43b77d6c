"""Each fit in a process of its own, so that its memory is its own."""

from __future__ import annotations

import hashlib
import json
import random
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import scipy.sparse as sp

from bayesift import shards
from benchmarks.measuring import peak_beyond_now, show
from benchmarks.shards.data import COLLECTIONS, SHARE, TOL, collection, leave_cache, made, target
from benchmarks.shards.process import in_own_process, kill_one, limit_memory, machine, processor_seconds

HEADER = ("", "seconds", "processor", "peak MB", "both / X", "gap", "not zero", "rounds", "bits")


def fit(setting: dict[str, Any]) -> dict[str, Any]:
    """Fit in this process; return what it took.

    The setting says the ``place`` of the shards, the ``engine`` and, if need be, the ``memory`` of the driver, a
    ``limit`` of all its memory in bytes, and whether files are to come from the disk (``cold``) and not from the
    system's cache, which counts for whoever read them first.
    """
    from bayesift.linear import BayesianLogisticRegression, regularization_path

    place, engine = Path(setting["place"]), setting["engine"]
    opened = shards.open(place, memory=setting.get("memory", "2G"))
    y, rate = target(place, opened)
    model = BayesianLogisticRegression(variance=2.0 / rate**2, tol=TOL)
    warm_up(opened)
    result: dict[str, Any] = {"entries": opened.n_entries, "rate": rate}
    X: Any = opened
    if engine == "memory":
        X, y = sp.vstack(list(opened), format="csr"), opened.labels if y is None else y
    if setting.get("cold"):
        leave_cache(place)
    if "limit" in setting:
        result["limited by"] = limit_memory(setting["limit"])
    rates = rate * np.geomspace(0.7 / SHARE, 1.0, 10)

    def work() -> Any:
        if engine == "path":
            return regularization_path(X, y, variances=2.0 / rates**2, tol=TOL)
        return model.fit(X, y)

    with ExitStack() as stack:
        enter_engine(engine, opened, stack)
        begin, used = time.perf_counter(), processor_seconds()
        rise, found = peak_beyond_now(work)
        result |= {"seconds": time.perf_counter() - begin, "processor": processor_seconds() - used}
    status = Path("/proc/self/status").read_text().split()
    result["peak"] = int(status[status.index("VmHWM:") + 1]) * 1024
    if engine == "memory":
        size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
        result["both / X"] = 1.0 + rise / size
    return result | (of_path(found) if engine == "path" else of_model(found))


def warm_up(opened: shards.Shards, client: Any = None) -> None:
    """Compile kernels, or read them from the cache, before the clock starts, in all workers of an engine."""
    from bayesift.linear import BayesianLogisticRegression

    head, y = next(iter(opened))[:300], np.arange(300) % 2
    small = Path(tempfile.mkdtemp()) / "small"
    shards.write_matrix(head, small, dtype=str(opened.dtype), rows=20)
    for source in (shards.open(small, memory=1, client=client), head):
        BayesianLogisticRegression(variance=0.1).fit(source, y)


def enter_engine(engine: str, opened: shards.Shards, stack: ExitStack) -> Any:
    """Start what runs the tasks, before the clock starts; the stack ends it. Return the client of a cluster."""
    if engine == "loky":
        from joblib import parallel_config

        stack.enter_context(parallel_config("loky", n_jobs=2))
        warm_up(opened)
    elif engine.startswith("dask"):
        from distributed import Client, LocalCluster

        cluster = LocalCluster(int(engine[4:]), threads_per_worker=1, dashboard_address=None, silence_logs=50)
        client = stack.enter_context(Client(stack.enter_context(cluster)))
        opened._client = client
        warm_up(opened, client)
        return client
    return None


def of_model(model: Any) -> dict[str, Any]:
    """Return the certificate of all categories together, and a hash of the coefficients."""
    return {
        "gap": float(model.certificate_.relative_gap.max()),
        "objective": float(model.certificate_.objective.sum()),
        "nonzero": int(model.n_nonzero_.sum()),
        "rounds": int(model.n_iter_.max()),
        "bits": hashlib.sha256(model.coef_.tobytes() + model.intercept_.tobytes()).hexdigest(),
    }


def of_path(path: Any) -> dict[str, Any]:
    """Return the largest gap of a path, its last number of coefficients, and a hash of all."""
    return {
        "gap": float(np.max(path.gap / path.objective)),
        "nonzero": int(path.coef[-1].nnz),
        "bits": hashlib.sha256(path.coef.data.tobytes() + path.intercept.tobytes()).hexdigest(),
    }


def measured(**setting: Any) -> dict[str, Any]:
    """Fit in a process of its own, and say what came of it at once."""
    found = in_own_process("benchmarks.shards.fits", setting)
    print(json.dumps({**setting, **found}, default=str), flush=True)
    return found


def row(name: str, found: dict[str, Any]) -> tuple[str, ...]:
    if "failed" in found:
        return name, f"failed: {found['failed'][:60]}", *[""] * (len(HEADER) - 2)
    return (
        name,
        f"{found['seconds']:.1f}",
        f"{found['processor']:.1f}",
        f"{found['peak'] / 2**20:,.0f}",
        f"{found['both / X']:.2f}" if "both / X" in found else "",
        f"{found['gap']:.1e}",
        f"{found['nonzero']:,}",
        f"{found.get('rounds', '')}",
        found["bits"][:8],
    )


def run_sizes(
    sizes: list[int], repeats: int = 1, n_columns: int = 359_000, memory: str = "500M", folder: str | None = None
) -> None:
    """Print a lasso in memory and from shards, for several numbers of rows; of several runs the middle one."""
    rows = []
    for n_rows in sizes:
        place = made(folder, n_rows, n_columns)
        for name, setting in (
            ("in memory", {"engine": "memory"}),
            (f"from shards, {memory}", {"engine": "threads", "memory": memory}),
        ):
            runs = [measured(place=str(place), **setting) for _ in range(repeats)]
            middle = sorted(runs, key=lambda run: run.get("processor", np.inf))[len(runs) // 2]
            rows.append(row(f"{n_rows:,} rows: {name}", middle))
    show(f"lasso to {TOL:g}, {n_columns:,} columns; {machine()}", HEADER, rows)


def run_engines(n_rows: int, n_columns: int = 359_000, memory: str = "500M", folder: str | None = None) -> None:
    """Print the same fit to a twin by every engine: the bits from shards must be the same."""
    _compare_engines(f"{n_rows:,} rows", made(folder, n_rows, n_columns), memory)


def run_collections(memory: str = "10M", folder: str | None = None) -> None:
    """Print fits of all categories of real collections by every engine."""
    for title, name in COLLECTIONS.items():
        _compare_engines(title, collection(folder, name), memory)


def _compare_engines(title: str, place: Path, memory: str) -> None:
    rows, bits = [], set()
    for engine in ("memory", "threads", "loky", "dask1", "dask2", "dask4"):
        found = measured(place=str(place), engine=engine, memory=memory)
        rows.append(row(engine, found))
        if engine != "memory":
            bits.add(found.get("bits"))
    same = "the same bytes from shards" if len(bits) == 1 else "DIFFERENT bytes from shards"
    show(f"engines, {title}, {memory}: {same}; {machine()}", HEADER, rows)


def run_path(
    sizes: list[int],
    n_columns: int = 359_000,
    memory: str = "500M",
    folder: str | None = None,
    *,
    cold: bool = False,
    limit: int = 2 * 10**9,
) -> None:
    """Print paths of ten rates, by a process that may have so many bytes of memory and no more."""
    rows, before = [], None
    for n_rows in sizes:
        place = made(folder, n_rows, n_columns)
        found = measured(place=str(place), engine="path", memory=memory, limit=limit, cold=cold)
        used, entries = found.get("processor"), found.get("entries", 0)
        growth = ""
        if used and before:
            growth = f"{(used / before[0]) ** (np.log(2.0) / np.log(entries / before[1])):.2f}"
        rows.append((*row(f"{n_rows:,} rows", found), f"{entries:,}", growth))
        before = (used, entries) if used else None
    header = (*HEADER, "entries", "processor for a doubling")
    where = "the disk" if cold else "the system's cache"
    show(f"ten rates from shards in {where}, {memory}, limit {limit:,} bytes; {machine()}", header, rows)


def fit_with_kills(place: Path, memory: str, kills: int) -> Iterator[tuple[float, bool]]:
    """Fit on a cluster, one of whose two workers is killed at a random moment of each fit; compare the bits."""
    from bayesift.linear import BayesianLogisticRegression

    opened = shards.open(place, memory=memory)
    y, rate = target(place, opened)

    def bits() -> str:
        return of_model(BayesianLogisticRegression(variance=2.0 / rate**2, tol=TOL).fit(opened, y))["bits"]

    def timed(client: Any = None, after: float = 0.0) -> tuple[float, bool, bool]:
        timer = None if client is None else kill_one(client, after)
        begin = time.perf_counter()
        same = bits() == wanted
        seconds = time.perf_counter() - begin
        if timer is None or not timer.is_alive():
            return seconds, same, True
        timer.cancel()
        return seconds, same, False

    wanted = bits()
    with ExitStack() as stack:
        enter_engine("dask2", opened, stack)
        usual, same, _ = min(timed(), timed())
        yield usual, same
    while kills:
        # A cluster for each of them: not always does Dask start a worker anew that was killed while it started.
        with ExitStack() as stack:
            client = enter_engine("dask2", opened, stack)
            seconds, same, in_time = timed(client, random.uniform(0.0, usual))
        # A fit that ended before its worker was killed does not count.
        if in_time:
            yield seconds, same
            kills -= 1


def run_kills(
    n_rows: int, n_columns: int = 359_000, memory: str = "500M", folder: str | None = None, kills: int = 20
) -> None:
    """Print what fits take in each of which a worker is killed, and whether their bits are those of one process."""
    found = []
    for seconds, same in fit_with_kills(made(folder, n_rows, n_columns), memory, kills):
        found.append((seconds, same))
        print(f"{len(found) - 1} kills, {seconds:.1f} s, {'the same bits' if same else 'OTHER BITS'}", flush=True)
    same = sum(one for _, one in found[1:])
    middle = median(seconds for seconds, _ in found[1:])
    print(f"{kills} kills, {same} times the same bits; {found[0][0]:.1f} s without, median {middle:.1f} s; {machine()}")
