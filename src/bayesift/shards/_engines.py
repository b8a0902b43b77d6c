"""Tasks on shards, run by existing engines: joblib with any backend, or the workers of a Dask cluster.

A task is a module-level function that takes something with a number, usually a :class:`ShardFile`, and further
arguments, and returns a tuple of arrays. It keeps no state, so it can run again elsewhere. Results come in the order of
the shards whatever the engine, and the caller sums them in that order: the bits do not depend on who computed what.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs, parallel_config

from bayesift._extras import require
from bayesift._typing import AnyArray
from bayesift.shards._layout import ShardError

#: What a task returns.
Result = tuple[AnyArray, ...]
Task = Callable[..., Result]


class Numbered(Protocol):
    """Something that a task works on; answers carry its number."""

    @property
    def number(self) -> int: ...


#: What a task is called with.
Call = tuple[Numbered, tuple[Any, ...]]

#: How often a task runs again after its worker died or sent something other than what it computed.
_TRIES = 4
#: Seconds that the scheduler of a cluster has to answer.
_PATIENCE = 10


class EngineError(OSError):
    """Workers died too often, or the scheduler is gone; nothing on disk is lost."""


def checked_call(task: Task, shard: Numbered, arguments: tuple[Any, ...]) -> tuple[int, int, Result]:
    """Run a task, and send the number of its shard and a checksum along."""
    result = task(shard, *arguments)
    return shard.number, _checksum(result), result


def _checksum(result: Result) -> int:
    total = 0
    for array in result:
        whole = np.ascontiguousarray(array)
        head = f"{whole.dtype.str}{array.shape}".encode()
        total = zlib.crc32(whole.data, zlib.crc32(head, total))
    return total


def _is_right(found: Any, shard: Numbered) -> bool:
    """Tell whether an answer belongs to the task and arrived as its worker computed it."""
    try:
        number, checksum, result = found
        return bool(number == shard.number and checksum == _checksum(result))
    except (TypeError, ValueError, AttributeError):
        return False


def run_tasks(
    task: Task,
    calls: Sequence[Call],
    *,
    client: Any = None,
    timeout: float | None = None,
    n_jobs: int | None = -1,
) -> Iterator[Result]:
    """Run a task on several numbered things, and return the results in their order.

    A call whose worker dies, hangs or sends garbage is run again elsewhere.

    Parameters
    ----------
    task : callable
        A module-level function without state that returns a tuple of arrays.
    calls : sequence of (Numbered, tuple)
        The arguments of the calls.
    client : distributed.Client, optional
        Run on the workers of this Dask cluster. Without it, the backend of ``joblib.parallel_config`` is used, or
        threads.
    timeout : float, optional
        Seconds after which a task that its Dask worker has not finished is given to another worker.
    n_jobs : int or None, default=-1
        Number of workers, unless ``joblib.parallel_config`` or a cluster sets it.
    """
    if client is not None:
        return run_with_dask(task, calls, client, timeout)
    return run_with_joblib(task, calls, n_jobs)


def run_with_joblib(task: Task, calls: Sequence[Call], n_jobs: int | None) -> Iterator[Result]:
    """Run tasks by joblib's backend: threads, unless ``joblib.parallel_config`` says otherwise.

    A number of workers set there takes precedence over ``n_jobs``.
    """
    own = None if effective_n_jobs(None) != 1 else n_jobs
    if effective_n_jobs(own) == 1:
        # A backend with one worker is still asked: it may be another process or machine.
        own = 1
    done = failures = 0
    while done < len(calls):
        before = done
        try:
            for found in _answers(task, calls[done:], own):
                if not _is_right(found, calls[done][0]):
                    break
                yield found[2]
                done += 1
        except BrokenExecutor as error:
            last: Exception | None = error
        else:
            last = None
        failures = 0 if done > before else failures + 1
        if failures >= _TRIES:
            raise EngineError(
                f"shard {calls[done][0].number} failed {failures} times: its worker died or sent what it had not "
                f"computed; are there enough memory and disk for a worker?"
            ) from last


def _answers(task: Task, calls: Sequence[Call], n_jobs: int | None) -> Iterator[Any]:
    """Yield what joblib's backend answers, in the order of the calls."""
    try:
        parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator", pre_dispatch="1.5*n_jobs")
    except ValueError:
        # Not every backend has generators (Ray's has none): a few tasks at a time, so that few results are held.
        parallel, step = Parallel(n_jobs=n_jobs, prefer="threads"), 2 * effective_n_jobs(n_jobs)
        for first in range(0, len(calls), step):
            yield from parallel(delayed(checked_call)(task, *call) for call in calls[first : first + step])
    else:
        yield from parallel(delayed(checked_call)(task, *call) for call in calls)


def run_with_dask(task: Task, calls: Sequence[Call], client: Any, timeout: float | None) -> Iterator[Result]:
    """Run tasks on the workers of a Dask cluster, which open the shards themselves: the folder must be theirs as well.

    A task whose worker dies, hangs for longer than ``timeout`` seconds or sends garbage is submitted again.
    """
    distributed = require("distributed", extra="dask", purpose="tasks on a Dask cluster")
    if client.status != "running":
        raise EngineError(f"the Dask scheduler does not answer: the client is {client.status}; nothing on disk is lost")
    try:
        n_workers = sum(client.nthreads().values())
        window = max(2, 2 * n_workers)
        waiting: dict[int, Any] = {}
        hung: set[str] = set()

        def submit(place: int) -> Any:
            # Those that hang get no more work, as long as there are others.
            others = [name for name in client.nthreads() if name not in hung] if hung else None
            return client.submit(checked_call, task, *calls[place], pure=False, retries=_TRIES, workers=others or None)

        for place in range(len(calls)):
            for ahead in range(place, min(place + window, len(calls))):
                if ahead not in waiting:
                    waiting[ahead] = submit(ahead)
            for attempt in range(_TRIES + 1):
                found = _answer(distributed, client, waiting[place], timeout)
                if _is_right(found, calls[place][0]):
                    break
                if attempt == _TRIES:
                    raise EngineError(f"shard {calls[place][0].number} failed {attempt + 1} times on the Dask cluster")
                if found is None:
                    hung |= _workers_of(client, waiting[place])
                waiting[place].release()
                waiting[place] = submit(place)
            del waiting[place]
            yield found[2]
    except EngineError:
        raise
    except (OSError, distributed.comm.CommClosedError) as error:
        raise EngineError(f"the Dask scheduler does not answer: {error}; nothing on disk is lost") from error


def _answer(distributed: Any, client: Any, future: Any, timeout: float | None) -> Any:
    """Wait for the answer of a task; None where there is none to be had."""
    begin = time.monotonic()
    while True:
        try:
            # Not the error of a task that was never asked for: a scheduler that is gone cancels all of them.
            return future.result(timeout=5.0 if timeout is None else min(5.0, timeout))
        except (TimeoutError, distributed.TimeoutError):
            if client.status != "running":
                raise OSError(f"the client is {client.status}") from None
            if timeout is not None and time.monotonic() - begin >= timeout:
                return None
        except distributed.KilledWorker:
            return None
        except (distributed.client.FutureCancelledError, distributed.CancelledError) as error:
            if client.status != "running":
                raise OSError(f"the client is {client.status}") from error
            return None


def _workers_of(client: Any, future: Any) -> set[str]:
    """Return the worker that has a task and does not finish it."""
    return {name for name, keys in client.processing().items() if future.key in keys}


@contextmanager
def engine(name: str, n_jobs: int | None = -1) -> Iterator[Any]:
    """Run the tasks inside the block with a named engine; yield the client to open shards with, if any.

    Parameters
    ----------
    name : str
        ``"threads"``, ``"loky"`` (processes), ``"ray"``, or ``"dask://HOST:PORT"``, the address of a Dask scheduler.
    n_jobs : int or None, default=-1
        Number of threads or processes; ignored for a cluster, which has its own workers.

    Examples
    --------
    >>> from bayesift import shards
    >>> with shards.engine("threads", 2) as client:
    ...     client is None
    True
    """
    kind, mark, address = name.partition("://")
    if kind == "dask" and mark and address:
        distributed = require("distributed", extra="dask", purpose="tasks on a Dask cluster")
        try:
            client = distributed.Client(f"tcp://{address}", timeout=_PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise EngineError(f"no Dask scheduler answers at {address}: {error}") from error
        with client:
            yield client
    elif name in ("threads", "loky", "ray"):
        if name == "ray":
            _register_ray()
        with parallel_config("threading" if name == "threads" else name, n_jobs=n_jobs):
            yield None
    else:
        raise ValueError(f"engine is {name!r}; expected 'threads', 'loky', 'ray' or 'dask://HOST:PORT'")


def _register_ray() -> None:
    """Make Ray known to joblib."""
    try:
        from ray.util.joblib import register_ray
    except ImportError as error:
        raise ImportError("ray is needed for this engine and is not installed; run: pip install ray") from error
    register_ray()


def refuse_unknown_client(client: Any) -> None:
    """Refuse what is no client of a Dask cluster."""
    if not (hasattr(client, "submit") and hasattr(client, "nthreads")):
        raise ShardError(f"client is {client!r}; expected a distributed.Client")
