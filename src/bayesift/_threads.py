"""Work on several threads; compiled kernels run without the interpreter's lock, so that threads share the arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

from joblib import effective_n_jobs

from bayesift import progress

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Below so many multiplications a thread costs more than it brings.
_WORTHWHILE = 2_000_000


def thread_count(n_jobs: int | None, most: int | None = None) -> int:
    """Return how many threads ``n_jobs`` stands for, as in scikit-learn, and no more than there is work for."""
    # Asking joblib takes longer than a small piece of work.
    count = 1 if n_jobs == 1 else int(effective_n_jobs(n_jobs))
    return count if most is None else max(min(count, most), 1)


def map_threads(
    work: Callable[[Item], Result], items: Sequence[Item], n_jobs: int | None, *, report: bool = False
) -> list[Result]:
    """Return ``work(item)`` of every item, in their order, computed on several threads.

    With ``report``, what watches the progress (see :mod:`bayesift.progress`) is told of every item, from this thread.
    """
    results: list[Result] = []

    def collect(found: Iterable[Result]) -> None:
        for result in found:
            results.append(result)
            if report:
                progress.report(len(results), len(items))

    n_threads = thread_count(n_jobs, len(items))
    if n_threads == 1:
        collect(map(work, items))
    else:
        with ThreadPoolExecutor(n_threads) as pool:
            collect(pool.map(work, items))
    return results


def in_blocks(work: Callable[[int, int], None], n_rows: int, cost: int, n_jobs: int | None) -> None:
    """Call ``work(first, last)`` for blocks of rows that together are all rows; ``cost`` counts multiplications."""
    n_threads = thread_count(n_jobs) if cost >= _WORTHWHILE else 1
    if n_threads == 1:
        work(0, n_rows)
        return
    n_blocks = 4 * n_threads
    ends = [n_rows * block // n_blocks for block in range(n_blocks + 1)]
    map_threads(lambda block: work(*block), list(pairwise(ends)), n_threads)
