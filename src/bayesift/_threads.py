"""Work on several threads; compiled kernels run without the interpreter's lock, so threads can share arrays."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")

#: With fewer multiplications than this, a thread costs more than it gains.
_WORTHWHILE = 2_000_000

#: The event that ends the work of each thread.
_own = threading.local()


class AbandonedError(Exception):
    """Raised in threads whose result nobody waits for any more."""


def stop_if_abandoned() -> None:
    """Raise an error if the call that this thread works for has been interrupted; long work calls this now and then."""
    event = getattr(_own, "abandoned", None)
    if event is not None and event.is_set():
        raise AbandonedError


def thread_count(n_jobs: int | None, most: int | None = None) -> int:
    """Return the number of threads that ``n_jobs`` means, as in scikit-learn, but at most one per piece of work."""
    # Asking joblib takes longer than a small piece of work; it refuses 0.
    if n_jobs == 1 or (most is not None and most <= 1 and n_jobs != 0):
        return 1
    count = int(effective_n_jobs(n_jobs))
    return count if most is None else max(min(count, most), 1)


def map_threads(work: Callable[[Item], Result], items: Sequence[Item], n_jobs: int | None) -> list[Result]:
    """Return ``work(item)`` for every item, in order, computed on several threads.

    After an error or an interrupt no more items are begun, and running ones end when they call
    :func:`stop_if_abandoned`.
    """
    n_threads = thread_count(n_jobs, len(items))
    if n_threads == 1:
        return list(map(work, items))
    abandoned = threading.Event()

    def work_in_thread(item: Item) -> Result:
        _own.abandoned = abandoned
        return work(item)

    with ThreadPoolExecutor(n_threads) as pool:
        try:
            return list(pool.map(work_in_thread, items))
        except BaseException:
            abandoned.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def in_blocks(work: Callable[[int, int], None], n_rows: int, cost: int, n_jobs: int | None) -> None:
    """Call ``work(first, last)`` for blocks of rows that together are all rows; ``cost`` counts multiplications."""
    n_threads = thread_count(n_jobs) if cost >= _WORTHWHILE else 1
    if n_threads == 1:
        work(0, n_rows)
        return
    n_blocks = 4 * n_threads
    ends = [n_rows * block // n_blocks for block in range(n_blocks + 1)]
    map_threads(lambda block: work(*block), list(pairwise(ends)), n_threads)


def one_blas_thread() -> AbstractContextManager[Any]:
    """Return a context in which linear algebra runs on one thread."""
    return _libraries().limit(limits=1, user_api="blas")


@cache
def _libraries() -> ThreadpoolController:
    """Find the libraries with threads of their own, only once, because that takes longer than a small fit."""
    # Brings its own BLAS beside numpy's.
    import scipy.linalg  # noqa: F401

    return ThreadpoolController()
