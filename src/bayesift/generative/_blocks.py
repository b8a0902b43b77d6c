"""Blocks of documents on several threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from joblib import effective_n_jobs

#: Below so many multiplications a thread costs more than it brings.
_WORTHWHILE = 2_000_000


def in_blocks(work: Callable[[int, int], None], n_rows: int, cost: int, n_jobs: int | None) -> None:
    """Call ``work(first, last)`` for blocks of rows that together are all rows."""
    n_threads = int(effective_n_jobs(n_jobs)) if cost >= _WORTHWHILE else 1
    if n_threads == 1:
        work(0, n_rows)
        return
    n_blocks = 4 * n_threads
    ends = [n_rows * block // n_blocks for block in range(n_blocks + 1)]
    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(work, ends[:-1], ends[1:]))
