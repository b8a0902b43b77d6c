"""Report the progress of a long fit, without a parameter that a grid search would copy.

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

#: Takes the number of pieces of work that are done, and their total.
Callback = Callable[[int, int], None]

#: Into how many pieces work is divided that has several parts.
_WHOLE = 1000

_callback: ContextVar[Callback | None] = ContextVar("progress callback", default=None)


@contextmanager
def callback(function: Callback | None) -> Iterator[None]:
    """Have ``function(done, total)`` called during the fits inside the block; None calls nothing.

    It is called from the thread that fits, each time a piece of work (such as a category) is done. An exception that it
    raises ends the fit.
    """
    token = _callback.set(function)
    try:
        yield
    finally:
        _callback.reset(token)


@contextmanager
def part(first: float, last: float) -> Iterator[None]:
    """Let fits inside the block count as a part of the work, from the share ``first`` to the share ``last``.

    Each fit reports its own work from beginning to end; the function of the enclosing block is called with thousandths
    of the whole, and a last time when the part is done.
    """
    function = _callback.get()
    if function is None or (first, last) == (0.0, 1.0):
        yield
        return

    def tell(done: int, total: int) -> None:
        function(round(_WHOLE * (first + (last - first) * done / max(total, 1))), _WHOLE)

    with callback(tell):
        yield
    tell(1, 1)


def current() -> Callback | None:
    """Return the function to call, for a fit whose work is done on other threads, which do not see the block."""
    return _callback.get()


def report(done: int, total: int) -> None:
    """Call the function of the enclosing block, if there is one."""
    function = _callback.get()
    if function is not None:
        function(done, total)
