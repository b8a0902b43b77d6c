"""Listen for requests: the port, the names that a server answers to, and the server itself."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from ipaddress import IPv6Address, ip_address
from threading import Thread
from time import sleep
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import uvicorn

from bayesift._web.connections import Limits, protocol_with

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")

#: The most connections that wait to be accepted.
_BACKLOG = 64


class Names(NamedTuple):
    """The names under which requests are answered, and whether they come by HTTPS."""

    hosts: tuple[str, ...]
    https: bool


def is_loopback(host: str) -> bool:
    """Tell whether an address can be reached only from this machine."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def names_for(host: str, public_url: str | None, needed: str) -> Names:
    """Return the names that a server answers to: those of this machine, and the public one.

    Parameters
    ----------
    host : str
        The address to listen on.
    public_url : str, optional
        Address at which other machines reach the server; required if they can reach it.
    needed : str
        What is required if other machines can reach the server, for the message.

    Returns
    -------
    Names
        The names, in lower case and without port.
    """
    if public_url is None:
        if not is_loopback(host):
            raise ValueError(
                f"host is {host!r}, which other machines can reach; expected 127.0.0.1, or also {needed}, such "
                "as --public-url https://bayesift.example.org"
            )
        return Names(LOOPBACK_NAMES, False)
    try:
        parts = urlsplit(public_url)
        name = parts.hostname if parts.scheme in ("http", "https") else None
    except ValueError:
        name = None
    if not name:
        raise ValueError(f"public_url is {public_url!r}; expected an address such as https://bayesift.example.org")
    return Names((*LOOPBACK_NAMES, name.lower()), parts.scheme == "https")


def limits_behind(proxies: Sequence[str], limits: Limits = Limits()) -> Limits:  # noqa: B008
    """Return limits that let many people come through proxies; the addresses of the proxies are checked."""
    for proxy in proxies:
        try:
            ip_address(proxy)
        except ValueError as error:
            raise ValueError(f"proxy is {proxy!r}; expected the address of a proxy, such as 127.0.0.1") from error
    return limits._replace(shared=(*limits.shared, *proxies))


def make_server(app: Any, limits: Limits, proxies: Sequence[str] = (), *, says_json: bool = False) -> uvicorn.Server:
    """Return a server with limits on how long clients may take and how many there may be.

    Parameters
    ----------
    app : ASGI application
        Answers the requests.
    limits : Limits
        How long a client may take, and how many connections there may be.
    proxies : sequence of str
        Addresses of trusted proxies, which say whom they forward requests for.
    says_json : bool
        Whether clients for whom there is no room get an answer in JSON.

    Returns
    -------
    uvicorn.Server
        To be run with a listening socket.
    """
    config = uvicorn.Config(
        app,
        http=protocol_with(limits, says_json=says_json),
        # There is nothing to be spoken to by web sockets, to which the limits would not apply.
        ws="none",
        log_level="warning",
        # What a client says about where it comes from is trusted only if it is one of the given proxies.
        proxy_headers=bool(proxies),
        forwarded_allow_ips=list(proxies),
        server_header=False,
        lifespan="off",
        # This many are accepted before the first of them can be ended: a crowd must not take all file descriptors.
        backlog=_BACKLOG,
        timeout_keep_alive=limits.idle,
        timeout_graceful_shutdown=5,
    )
    return uvicorn.Server(config)


def serve(server: uvicorn.Server, listening: socket.socket, when_ready: Callable[[], None]) -> None:
    """Answer requests until the process is told to stop.

    Parameters
    ----------
    server : uvicorn.Server
        As :func:`make_server` returns it.
    listening : socket
        As :func:`bind` returns it.
    when_ready : callable
        Called once, from another thread, when requests are answered.
    """
    # A computing thread gives way to answering ones after this many seconds; 0.005 by default.
    sys.setswitchinterval(0.001)

    def wait() -> None:
        while not server.started and not server.should_exit:
            sleep(0.02)
        if server.started:
            when_ready()

    Thread(target=wait, daemon=True).start()
    server.run(sockets=[listening])


def bind(host: str, port: int | None, usual: int) -> socket.socket:
    """Take a port: the one given (0 for any), or the usual one if it is free, or else any.

    Parameters
    ----------
    host : str
        The address to listen on.
    port : int, optional
        The port.
    usual : int
        The port that is tried first if none is given.

    Returns
    -------
    socket
        Bound and listening.
    """
    family = socket.AF_INET6 if _is_ipv6(host) else socket.AF_INET
    if port is None:
        with suppress(OSError):
            return _listening((host, usual), family)
    try:
        return _listening((host, port or 0), family)
    except OSError as error:
        raise OSError(f"cannot listen on {host}, port {port or 0}: {error.strerror or error}") from error


def address_of(listening: socket.socket) -> str:
    """Return the address of a socket as a browser writes it."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _listening(address: tuple[str, int], family: socket.AddressFamily) -> socket.socket:
    """Return a socket that knows its protocol: only then answers are sent at once, with TCP_NODELAY."""
    made = socket.create_server(address, family=family)
    return socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP, fileno=made.detach())


def _is_ipv6(host: str) -> bool:
    try:
        return isinstance(ip_address(host), IPv6Address)
    except ValueError:
        return False
