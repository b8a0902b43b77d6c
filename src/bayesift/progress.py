"""Telling how far a long fit has come, without a parameter that a grid search would copy.

Examples
--------
>>> from bayesift import progress
>>> def show(done, total):
...     print(f"{done} of {total} categories")
>>> with progress.callback(show):
...     progress.report(1, 2)  # what a fit does
1 of 2 categories
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

#: Takes the number of pieces of work that are done, and of all of them.
Callback = Callable[[int, int], None]

_callback: ContextVar[Callback | None] = ContextVar("progress callback", default=None)


@contextmanager
def callback(function: Callback | None) -> Iterator[None]:
    """Have ``function(done, total)`` called during the fits inside the block; None calls nothing.

    It is called from the thread that fits, as often as a piece of work (a category, say) is done. What it raises ends
    the fit.
    """
    token = _callback.set(function)
    try:
        yield
    finally:
        _callback.reset(token)


def current() -> Callback | None:
    """Return the function to call now, for a fit whose work is done on other threads: these do not see the block."""
    return _callback.get()


def report(done: int, total: int) -> None:
    """Call the function of the block around this, if there is one."""
    function = _callback.get()
    if function is not None:
        function(done, total)
