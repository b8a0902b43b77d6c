"""The guard before an application: which requests reach it, how large they may be, and headers of answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Requests by these methods change nothing.
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")

#: A name or an address, in brackets if it has colons, and perhaps a port; nothing else that an address may have.
_HOST = re.compile(r"(?:([a-z0-9._-]+)|\[([0-9a-f:.]+)\])(?::[0-9]{1,5})?", re.ASCII)


class RequestGuard:
    """Refuse requests under a foreign name, from a foreign page, or with too long a body.

    Parameters
    ----------
    app : ASGI application
        Gets the requests that are not refused.
    hosts : collection of str or None
        Names in the header ``Host`` that are answered; all if None.
    body_limit : callable
        Called with the path of a request; returns the most bytes that its body may have.
    headers : mapping of str to str
        Added to every answer.
    response : callable
        Makes the answer for a refusal from a sentence and a status.
    """

    def __init__(
        self,
        app: ASGIApp,
        hosts: Collection[str] | None,
        body_limit: Callable[[str], int],
        headers: Mapping[str, str],
        response: Callable[[str, int], Any] = PlainTextResponse,
    ) -> None:
        self._app = app
        self._hosts = hosts
        self._body_limit = body_limit
        self._headers = headers
        self._response = response

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(scope["method"], headers)
        limit = self._body_limit(scope["path"])
        if refusal is None and _announced(headers) > limit:
            refusal = 413, _too_long(limit)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._add_headers(message)
            await send(message)

        if refusal is not None:
            status, sentence = refusal
            await self._response(sentence, status)(scope, receive, send_with_headers)
            return
        await self._app(scope, _counted(receive, limit), send_with_headers)

    def _refusal(self, method: str, headers: Headers) -> tuple[int, str] | None:
        host = headers.get("host", "").lower()
        if self._hosts is not None and _name_of(host) not in self._hosts:
            return 421, "This page is not served under that name."
        if method in SAFE_METHODS:
            return None
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}"):
            return 403, "The request comes from a page of another site."
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return 403, "The request comes from a page of another site."
        return None

    def _add_headers(self, message: Message) -> None:
        headers = MutableHeaders(scope=message)
        for name, value in self._headers.items():
            headers[name] = value
        # What an answer holds is nobody else's; files of a page say otherwise themselves.
        headers.setdefault("Cache-Control", "no-store")


def _counted(receive: Receive, limit: int) -> Receive:
    """Count the bytes of a body that does not give its length, or gives a wrong one."""
    left = limit

    async def counted() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise HTTPException(413, _too_long(limit))
        return message

    return counted


def _too_long(limit: int) -> str:
    return f"The request is too long: at most {limit:,} bytes are accepted."


def _announced(headers: Headers) -> int:
    length = headers.get("content-length", "0")
    # A server has refused a length that is no number long before.
    return int(length) if length.isascii() and length.isdecimal() else 0


def _name_of(host: str) -> str:
    """Remove port and brackets; return an empty name for anything that is not a host."""
    found = _HOST.fullmatch(host)
    return "" if found is None else found[1] or found[2]
