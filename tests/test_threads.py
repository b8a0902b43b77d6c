"""Work on several threads: results in order, and an end where an item fails."""

from __future__ import annotations

import threading

import pytest
import scipy.linalg  # noqa: F401  it brings a BLAS of its own beside numpy's
from threadpoolctl import threadpool_info, threadpool_limits

from bayesift._threads import map_threads, one_blas_thread, stop_if_abandoned, thread_count


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_results_keep_the_order_of_the_items(n_jobs):
    assert map_threads(lambda item: item**2, range(20), n_jobs) == [item**2 for item in range(20)]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_ends_the_other_threads_and_the_work(error):
    begun, waiting = [], threading.Event()

    def work(item):
        begun.append(item)
        if item == 0:
            assert waiting.wait(60)
            raise error
        while True:
            waiting.set()
            stop_if_abandoned()

    with pytest.raises(error):
        map_threads(work, range(50), 2)
    # The thread of the first may have begun another before the error was seen.
    assert {0, 1} <= set(begun) <= {0, 1, 2}


def test_work_on_no_other_thread_is_never_abandoned():
    stop_if_abandoned()


def test_no_more_threads_than_there_is_work_for():
    assert [thread_count(4, most) for most in (0, 1, 3, 9, None)] == [1, 1, 3, 4, 4]
    with pytest.raises(ValueError, match="n_jobs == 0"):
        thread_count(0, 1)


def test_linear_algebra_is_on_one_thread_for_a_while():
    def threads():
        return {found["filepath"]: found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"}

    with threadpool_limits(2, "blas"):
        before = threads()
        # The libraries are looked for once, and limited each time.
        for _ in range(2):
            with one_blas_thread():
                assert set(threads().values()) == {1}
            assert threads() == before
