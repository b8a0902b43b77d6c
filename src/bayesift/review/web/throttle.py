"""Slow down repeated attempts to log in."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable
from ipaddress import IPv6Address, ip_address
from time import monotonic
from typing import NamedTuple

#: How many keys are remembered; those seen longest ago are forgotten first.
_MOST_KEYS = 10_000


class Waiting(NamedTuple):
    """How often somebody failed to log in, and when last."""

    attempts: int
    last: float


class Throttle:
    """Delays that grow with every attempt: none for a few, then 1, 2, 4, … seconds.

    An attempt is delayed, and then made: somebody with the right token gets in, only later. Somebody who makes many
    attempts at once is refused while some of them are still delayed.

    Parameters
    ----------
    free : int
        How many attempts are not delayed.
    first, longest : float
        The first and the longest delay, in seconds.
    memory : float
        How many seconds after the last attempt everything is forgotten.
    most_held : int
        How many attempts of one key may be delayed at the same time; more are refused.
    clock : callable
        Returns the time in seconds.

    Examples
    --------
    >>> from bayesift.review.web.throttle import Throttle
    >>> throttle = Throttle(free=2)
    >>> [(throttle.delay("x"), throttle.count("x")) for _ in range(5)]
    [(0.0, 1), (0.0, 2), (1.0, 3), (2.0, 4), (4.0, 5)]
    """

    def __init__(
        self,
        free: int = 5,
        first: float = 1.0,
        longest: float = 30.0,
        memory: float = 900.0,
        most_held: int = 4,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._free = free
        self._first = first
        self._longest = longest
        self._memory = memory
        self._most_held = most_held
        self._clock = clock
        self._known: OrderedDict[Hashable, Waiting] = OrderedDict()
        self._held: dict[Hashable, int] = {}

    def delay(self, key: Hashable) -> float:
        """Return the delay of the next attempt, in seconds."""
        beyond = self._attempts(key) - self._free
        return 0.0 if beyond < 0 else min(self._longest, self._first * 2.0 ** min(beyond, 60))

    def count(self, key: Hashable) -> int:
        """Count an attempt; return how many there were."""
        attempts = self._attempts(key) + 1
        self._known[key] = Waiting(attempts, self._clock())
        self._known.move_to_end(key)
        while len(self._known) > _MOST_KEYS:
            self._known.popitem(last=False)
        return attempts

    async def wait(self, key: Hashable) -> bool:
        """Wait for the delay of an attempt; tell whether it may be made then."""
        delay = self.delay(key)
        if not delay:
            return True
        held = self._held.get(key, 0)
        if held >= self._most_held:
            return False
        self._held[key] = held + 1
        try:
            await asyncio.sleep(delay)
        except asyncio.CancelledError:
            # The server is ending: nothing is wrong, but nobody is let in any more.
            return False
        finally:
            self._held[key] -= 1
            if not self._held[key]:
                del self._held[key]
        return True

    def _attempts(self, key: Hashable) -> int:
        found = self._known.get(key)
        return 0 if found is None or self._clock() - found.last > self._memory else found.attempts


def network_of(address: str) -> str:
    """Return what to slow down for an address: for IPv6, the whole /64 network, which belongs to one household.

    Examples
    --------
    >>> from bayesift.review.web.throttle import network_of
    >>> network_of("192.0.2.7"), network_of("2001:db8::7:1"), network_of("::ffff:192.0.2.7")
    ('192.0.2.7', '2001:db8::/64', '192.0.2.7')
    """
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if isinstance(found, IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        if not found.is_loopback:
            return f"{IPv6Address(int(found) >> 64 << 64)}/64"
    return str(found)
