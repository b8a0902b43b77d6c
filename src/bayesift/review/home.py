"""Serve a page that lists several project files and opens them."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from bayesift._web.listening import address_of, bind, make_server, serve
from bayesift.review.projects import Projects
from bayesift.review.serve import USUAL_PORT
from bayesift.review.web import Settings, settings_for
from bayesift.review.web.projects import Secrets, create_home

#: Where a list of projects may listen: it is only for the person who started the program.
_HOSTS = ("127.0.0.1", "localhost")


class Home(NamedTuple):
    """A list of projects that is ready to be served.

    Parameters
    ----------
    projects : Projects
        What is listed.
    listening : socket
        The socket that requests come in at.
    settings : Settings
        Names and limits.
    secrets : Secrets
        The secrets in the link.
    """

    projects: Projects
    listening: socket.socket
    settings: Settings
    secrets: Secrets

    @property
    def link(self) -> str:
        """The link to the list, for the person who started the program."""
        return f"{address_of(self.listening)}/login#{self.secrets.token}"

    def serve(self, when_ready: Callable[[], None] = lambda: None) -> None:
        """Answer requests until the process is told to stop.

        Parameters
        ----------
        when_ready : callable
            Called once, from another thread, when requests are answered.
        """
        app = create_home(self.projects, self.settings, self.secrets)
        serve(make_server(app, self.settings.limits), self.listening, when_ready)


@contextmanager
def open_home(places: Sequence[Path], *, host: str = "127.0.0.1", port: int | None = None) -> Iterator[Home]:
    """Prepare the page that lists projects; projects opened from it are closed when the block ends.

    Parameters
    ----------
    places : sequence of Path
        Folders that hold project files, and project files.
    host : {"127.0.0.1", "localhost"}
        Where to listen: on this machine only. To serve other machines, serve a single project.
    port : int, optional
        The port; 8787 or any free one by default.

    Yields
    ------
    Home
        Closed when the block ends.
    """
    if host not in _HOSTS:
        raise ValueError(
            f"host is {host!r}, but there are several projects; expected 127.0.0.1, or one project to serve there"
        )
    with bind(host, port, USUAL_PORT) as listening:
        projects = Projects(places, host, address_of(listening))
        try:
            yield Home(projects, listening, settings_for(host, None), Secrets())
        finally:
            projects.close_all()
