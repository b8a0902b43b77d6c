"""Access control: which requests are answered, who sends them, and what they may bring."""

from __future__ import annotations

import re
from collections.abc import Sequence
from ipaddress import ip_address
from typing import Annotated, NamedTuple
from urllib.parse import urlsplit

from fastapi import Depends, HTTPException, Path, Request
from pydantic import AfterValidator, StringConstraints
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bayesift.review.service import Service, TopicReview
from bayesift.review.web.connections import Limits

_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")


class Settings(NamedTuple):
    """By which names the page may be called, and how much it takes.

    Parameters
    ----------
    hosts : tuple of str
        Names in the header ``Host`` that are answered, without port: a page of another site whose name was
        made to point here is not.
    https : bool
        Whether browsers reach the page by HTTPS, through a proxy; cookies are then sent by HTTPS only.
    body_limit, upload_limit : int
        The most bytes that a request may bring, and the most for a file of labels.
    free_logins : int
        So many failed logins from one address, or logins of one reviewer, are not slowed down.
    first_delay, longest_delay : float
        The first and the longest time for which a login is held back, in seconds.
    limits : Limits
        How long a client may take, and how many connections there may be.
    proxies : tuple of str
        Addresses of proxies that are believed when they say for whom they ask.
    """

    hosts: tuple[str, ...] = _LOOPBACK_NAMES
    https: bool = False
    body_limit: int = 64 * 1024
    upload_limit: int = 20 * 1024 * 1024
    free_logins: int = 10
    first_delay: float = 1.0
    longest_delay: float = 30.0
    limits: Limits = Limits()
    proxies: tuple[str, ...] = ()


def is_loopback(host: str) -> bool:
    """Tell whether an address is heard on this machine only."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def settings_for(host: str, public_url: str | None, proxies: Sequence[str] = ()) -> Settings:
    """Settle by which names the page may be called, and who may say for whom they ask.

    Parameters
    ----------
    host : str
        The address to listen on.
    public_url : str, optional
        How the reviewers reach the page; needed where other machines can.
    proxies : sequence of str
        Addresses of proxies whose header ``X-Forwarded-For`` is believed.

    Returns
    -------
    Settings
        The names of this machine, and the public one.
    """
    for proxy in proxies:
        try:
            ip_address(proxy)
        except ValueError as error:
            raise ValueError(f"proxy is {proxy!r}; expected the address of a proxy, such as 127.0.0.1") from error
    usual = Settings(limits=Limits(shared=(*Limits().shared, *proxies)), proxies=tuple(proxies))
    if public_url is None:
        if not is_loopback(host):
            raise ValueError(
                f"host is {host!r}, which other machines can reach; expected 127.0.0.1, or also the address by which "
                "reviewers reach the page, such as --public-url https://review.example.org"
            )
        return usual
    parts = urlsplit(public_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"public_url is {public_url!r}; expected an address such as https://review.example.org")
    return usual._replace(hosts=(*_LOOPBACK_NAMES, parts.hostname.lower()), https=parts.scheme == "https")


#: Requests by these methods change nothing.
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")

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


class AccessControl:
    """Refuse requests under a foreign name, from a foreign page, or with too long a body.

    Parameters
    ----------
    app : ASGI application
        Gets the requests that are not refused.
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
        host = headers.get("host", "").lower()
        if _name_of(host) not in self._settings.hosts:
            return 421, "This page is not served under that name."
        if method in SAFE_METHODS:
            return None
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}"):
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
            raise StarletteHTTPException(413, _too_long(limit))
        return message

    return counted


def _too_long(limit: int) -> str:
    return f"The request is too long: at most {limit:,} bytes are accepted."


def _announced(headers: Headers) -> int:
    length = headers.get("content-length", "0")
    # A server has refused a length that is no number long before.
    return int(length) if length.isascii() and length.isdecimal() else 0


#: A name or an address, in brackets if it has colons, and perhaps a port; nothing else that an address may have.
_HOST = re.compile(r"(?:([a-z0-9._-]+)|\[([0-9a-f:.]+)\])(?::[0-9]{1,5})?", re.ASCII)


def _name_of(host: str) -> str:
    """Cut the port off, and the brackets; the name of what is no host at all is empty."""
    found = _HOST.fullmatch(host)
    return "" if found is None else found[1] or found[2]


def _add_headers(message: Message) -> None:
    headers = MutableHeaders(scope=message)
    for name, value in _HEADERS.items():
        headers[name] = value
    # What stands on the pages is nobody else's; files of the page say otherwise themselves.
    headers.setdefault("Cache-Control", "no-store")


def service_of(request: Request) -> Service:
    """Return the service of the application."""
    service: Service = request.app.state.service
    return service


CurrentService = Annotated[Service, Depends(service_of)]


_NOT_STORABLE = re.compile("[\0\ud800-\udfff]")


def _storable(text: str) -> str:
    if _NOT_STORABLE.search(text):
        raise ValueError("the text has a null character or half a surrogate pair; expected text")
    return text


ShortText = Annotated[str, StringConstraints(max_length=200), AfterValidator(_storable)]
LongText = Annotated[str, StringConstraints(max_length=20_000), AfterValidator(_storable)]

#: The numbers that both kinds of database can hold.
Number = Annotated[int, Path(ge=0, le=2**31 - 1)]


def topic_of(service: CurrentService, topic: Number) -> TopicReview:
    """Return the review of the topic in the path."""
    try:
        return service.topic(topic)
    except LookupError as error:
        raise HTTPException(404, "There is no such topic.") from error


def document_of(service: CurrentService, document: Number) -> int:
    """Return the document in the path, or of a body; refuse one that the project does not have."""
    if document >= service.n_documents:
        raise HTTPException(404, "There is no such document.")
    return document


CurrentTopic = Annotated[TopicReview, Depends(topic_of)]
CurrentDocument = Annotated[int, Depends(document_of)]
