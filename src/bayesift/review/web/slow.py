"""Pages that take long: they have threads of their own, so that those of the cards are always free."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from anyio import CapacityLimiter, to_thread
from fastapi import HTTPException

from bayesift.review.web.roles import Session

#: So many such pages are made at once, and so many may be under way or waiting for one reviewer.
_AT_ONCE, _OF_ONE = 2, 4


class _Waiting:
    """Which pages are under way; one for each event loop would be more than are needed."""

    def __init__(self) -> None:
        self.limiter: CapacityLimiter | None = None
        self.by_reviewer: Counter[int] = Counter()


_waiting = _Waiting()


def slow(endpoint: Callable[..., Any]) -> Callable[..., Any]:
    """Let an endpoint with a parameter ``session`` wait for its turn, without a thread; refuse one reviewer's many."""

    @wraps(endpoint)
    async def in_turn(**arguments: Any) -> Any:
        session: Session = arguments["session"]
        reviewer = session.reviewer.id
        if _waiting.by_reviewer[reviewer] >= _OF_ONE:
            raise HTTPException(429, "You have asked for several pages that take long; wait until they are there.")
        _waiting.by_reviewer[reviewer] += 1
        try:
            if _waiting.limiter is None:
                _waiting.limiter = CapacityLimiter(_AT_ONCE)
            return await to_thread.run_sync(partial(endpoint, **arguments), limiter=_waiting.limiter)
        finally:
            _waiting.by_reviewer[reviewer] -= 1

    # With names that the other module knows.
    in_turn.__signature__ = inspect.signature(endpoint, eval_str=True)  # type: ignore[attr-defined]
    return in_turn
