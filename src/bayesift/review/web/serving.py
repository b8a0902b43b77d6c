"""Running the page."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from ipaddress import IPv6Address, ip_address
from threading import Thread
from time import sleep

import uvicorn

from bayesift.review.service import Service
from bayesift.review.web.app import create_app
from bayesift.review.web.settings import Settings

#: The port that is tried first.
USUAL_PORT = 8787


def bind(host: str, port: int | None) -> socket.socket:
    """Take a port: the one given (0 for any), or the usual one if it is free, or else any.

    Parameters
    ----------
    host : str
        The address to listen on.
    port : int, optional
        The port.

    Returns
    -------
    socket
        Bound and listening.
    """
    family = socket.AF_INET6 if _is_ipv6(host) else socket.AF_INET
    if port is None:
        with suppress(OSError):
            return socket.create_server((host, USUAL_PORT), family=family)
    try:
        return socket.create_server((host, port or 0), family=family)
    except OSError as error:
        raise OSError(f"cannot listen on {host}, port {port or 0}: {error.strerror or error}") from error


def address_of(listening: socket.socket) -> str:
    """Return the address of a socket as a browser writes it."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(
    service: Service,
    listening: socket.socket,
    settings: Settings,
    when_ready: Callable[[], None] = lambda: None,
) -> None:
    """Answer requests until the process is told to stop.

    Parameters
    ----------
    service : Service
        The project at work.
    listening : socket
        Where requests come from.
    settings : Settings
        Names and limits.
    when_ready : callable
        Called once, from another thread, when the first request would be answered.
    """
    config = uvicorn.Config(
        create_app(service, settings),
        log_level="warning",
        # Nothing that a client says about where it comes from is believed.
        proxy_headers=False,
        server_header=False,
        lifespan="off",
        timeout_graceful_shutdown=5,
    )
    server = uvicorn.Server(config)

    def wait() -> None:
        while not server.started and not server.should_exit:
            sleep(0.02)
        if server.started:
            when_ready()

    Thread(target=wait, daemon=True).start()
    server.run(sockets=[listening])


def _is_ipv6(host: str) -> bool:
    try:
        return isinstance(ip_address(host), IPv6Address)
    except ValueError:
        return False
