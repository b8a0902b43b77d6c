"""Slow pages: they have threads of their own, so that the threads for cards are always free."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from anyio import CapacityLimiter, to_thread
from fastapi import HTTPException, Request

from bayesift.review.web.access import Session

#: How many such pages are made at once, and how many may be running or waiting for one reviewer.
_AT_ONCE, _OF_ONE = 2, 4


class SlowPages:
    """The pages that are being made or wait for their turn."""

    def __init__(self) -> None:
        self._limiter: CapacityLimiter | None = None
        self._of: Counter[int] = Counter()

    async def make(self, reviewer: int, page: Callable[[], Any]) -> Any:
        """Make a page when it is its turn; refuse too many of one reviewer."""
        if self._of[reviewer] >= _OF_ONE:
            raise HTTPException(429, "You have asked for several pages that take long; wait until they have loaded.")
        # Belongs to the event loop that serves the page.
        self._limiter = self._limiter or CapacityLimiter(_AT_ONCE)
        self._of[reviewer] += 1
        try:
            return await to_thread.run_sync(page, limiter=self._limiter)
        finally:
            self._of[reviewer] -= 1


def slow(endpoint: Callable[..., Any]) -> Callable[..., Any]:
    """Let an endpoint with parameters ``request`` and ``session`` wait for its turn among the slow pages."""

    @wraps(endpoint)
    async def in_turn(**arguments: Any) -> Any:
        request: Request = arguments["request"]
        session: Session = arguments["session"]
        pages: SlowPages = request.app.state.slow_pages
        return await pages.make(session.reviewer.id, partial(endpoint, **arguments))

    # FastAPI looks names up in the module of the function, which is not this one.
    in_turn.__signature__ = inspect.signature(endpoint, eval_str=True)  # type: ignore[attr-defined]
    return in_turn
