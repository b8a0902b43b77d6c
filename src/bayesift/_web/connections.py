"""Connections that do not wait for ever: time limits for what clients send and take, and a limit on their number."""

from __future__ import annotations

import asyncio
from math import inf
from typing import Any, Literal, NamedTuple

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


def _too_many(kind: bytes, content: bytes) -> bytes:
    """Return the complete answer to clients for whom there is no room."""
    return (
        b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 10\r\n"
        b"Content-Type: %b\r\nContent-Length: %d\r\n\r\n%b"
    ) % (kind, len(content), content)


_IN_WORDS = _too_many(b"text/plain; charset=utf-8", b"There are too many requests.\n")
_IN_JSON = _too_many(b"application/json", b'{"detail":"There are too many requests."}')


class Limits(NamedTuple):
    """How long the server waits for a client, in seconds, and how many connections it holds.

    Parameters
    ----------
    head : float
        For the head of a request, from its first byte, from the connection, or from the answer before it.
    body : float
        For the body of a request, plus one second for each ``rate`` bytes received.
    answer : float
        For a client to take what was sent, plus one second for each ``rate`` bytes that it has taken.
    rate : float
        Bytes per second that a client must send or take in the long run.
    idle : int
        For another request on a connection that is kept alive.
    connections, of_one_address : int
        The most connections, and the most from one address.
    shared : tuple of str
        Addresses that many people may share, such as that of a proxy; they have no limit of their own.
    """

    head: float = 15.0
    body: float = 30.0
    answer: float = 30.0
    rate: float = 4096.0
    idle: int = 5
    connections: int = 256
    of_one_address: int = 64
    shared: tuple[str, ...] = ("127.0.0.1", "::1")


#: What a connection waits for: the head or the body of a request, the rest of a body that nobody wants any more, the
#: application, the client to take the answer, or to take the last bytes before the connection ends.
Phase = Literal["head", "body", "surplus", "work", "answer", "end"]


class LimitedProtocol(H11Protocol):
    """HTTP as uvicorn speaks it, with limits; made by :func:`protocol_with`."""

    limits = Limits()
    refusal = _IN_WORDS

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request; if there are too many connections, end one that has waited long."""
        super().connection_made(transport)
        self._phase: Phase = "head"
        self._since = self.loop.time()
        self._moved = self._unsent = 0
        self._has_asked = self._is_let_go = False
        self._timer: asyncio.TimerHandle | None = None
        self._make_room()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on."""
        super().data_received(data)
        self._look()
        if self._phase == "body":
            self._moved += len(data)

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._look()

    def pause_writing(self) -> None:
        """Wait until the client has taken some of the answer."""
        super().pause_writing()
        self._look()

    def resume_writing(self) -> None:
        """Continue the answer."""
        super().resume_writing()
        self._look()

    def _current_phase(self) -> Phase:
        if self.transport.is_closing():
            return "end"
        if self.flow.write_paused:
            return "answer"
        if self.conn.their_state is h11.IDLE:
            return "head"
        if self.conn.their_state is h11.SEND_BODY:
            return "surplus" if self.conn.our_state in (h11.DONE, h11.MUST_CLOSE, h11.CLOSED) else "body"
        return "work"

    def _look(self) -> None:
        """Note what the connection is waiting for, and when that must end."""
        phase = self._current_phase()
        self._has_asked = self._has_asked or phase != "head"
        if phase != self._phase:
            self._phase, self._since, self._moved = phase, self.loop.time(), 0
            self._unsent = self.transport.get_write_buffer_size()
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
        if self._timer is None and phase != "work":
            self._timer = self.loop.call_later(max(self._left(), 0.01), self._check)

    def _left(self) -> float:
        """Return how many more seconds to wait."""
        limits = self.limits
        allowed = {
            "head": limits.head,
            "body": limits.body + self._moved / limits.rate,
            "surplus": limits.head,
            "work": inf,
            "answer": limits.answer + self._taken() / limits.rate,
            "end": limits.answer + self._taken() / limits.rate,
        }
        return self._since + allowed[self._phase] - self.loop.time()

    def _taken(self) -> int:
        return max(self._unsent - self.transport.get_write_buffer_size(), 0)

    def _check(self) -> None:
        self._timer = None
        self._look()
        if self._phase == "body" and self.flow.read_paused:
            # It is the application that does not read on.
            self._since = self.loop.time()
        elif self._left() <= 0:
            self._give_up()
            return
        self._look()

    def _give_up(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            self.transport.close()

    def _make_room(self) -> None:
        here = self._address()
        others = (other for other in self.connections if isinstance(other, LimitedProtocol) and other is not self)
        # Who was let go a moment ago is still among them.
        open_now = [other for other in others if not other._is_let_go]
        same = [other for other in open_now if other._address() == here and here not in self.limits.shared]
        if len(same) >= self.limits.of_one_address:
            crowd = same
        elif len(open_now) >= self.limits.connections:
            crowd = open_now
        else:
            return
        waiting = [other for other in crowd if other._phase in ("head", "body", "surplus")]
        if waiting:
            longest = min(waiting, key=LimitedProtocol._worth)
            longest._is_let_go = True
            longest.transport.abort()
        else:
            self.transport.write(self.refusal)
            self.transport.close()

    def _worth(self) -> tuple[int, float]:
        """Order connections by which is ended first: one without a request, a slow one, an idle one."""
        if not self._has_asked:
            return 0, self._since
        return (2 if self._phase == "head" else 1), self._since

    def _address(self) -> str:
        return "" if self.client is None else self.client[0]


def protocol_with(limits: Limits, *, says_json: bool = False) -> type[LimitedProtocol]:
    """Return the protocol with these limits, for uvicorn's setting ``http``."""
    attributes: dict[str, Any] = {"limits": limits, "refusal": _IN_JSON if says_json else _IN_WORDS}
    return type("LimitedProtocol", (LimitedProtocol,), attributes)
