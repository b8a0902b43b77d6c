"""What every request passes before any code of a page sees it, and what every answer carries."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bayesift.review.web.settings import Settings

_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")

_HEADERS = {
    # Nothing but own files; no script or style within the page itself.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # With "no-referrer" browsers would not say of forms which page they come from.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class Gates:
    """Refuse requests under a foreign name, from a foreign page, or with too long a body.

    Parameters
    ----------
    app : ASGI application
        What is behind the gates.
    settings : Settings
        Names and limits.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(scope["method"], headers)
        limit = self._settings.upload_limit if scope["path"].endswith("/labels/import") else self._settings.body_limit
        if refusal is None and _announced(headers) > limit:
            refusal = 413, _too_long(limit)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                _add_headers(message)
            await send(message)

        if refusal is not None:
            status, sentence = refusal
            await PlainTextResponse(sentence, status)(scope, receive, send_with_headers)
            return
        await self._app(scope, _counted(receive, limit), send_with_headers)

    def _refusal(self, method: str, headers: Headers) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if _name_of(host) not in self._settings.hosts:
            return 421, "This page is not served under that name."
        if method in _SAFE_METHODS:
            return None
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return 403, "The request comes from a page of another site."
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return 403, "The request comes from a page of another site."
        return None


def _counted(receive: Receive, limit: int) -> Receive:
    """Count the bytes of a body that does not say, or not truly, how long it is."""
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
    return f"The request is too long: at most {limit:,} bytes are taken."


def _announced(headers: Headers) -> int:
    length = headers.get("content-length", "0")
    # A server has refused a length that is no number long before.
    return int(length) if length.isascii() and length.isdecimal() else 0


def _name_of(host: str) -> str:
    """Cut the port off; the name is written as in an address, brackets around one with colons."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def _add_headers(message: Message) -> None:
    headers = MutableHeaders(scope=message)
    for name, value in _HEADERS.items():
        headers[name] = value
    # What stands on the pages is nobody else's; files of the page say otherwise themselves.
    headers.setdefault("Cache-Control", "no-store")
