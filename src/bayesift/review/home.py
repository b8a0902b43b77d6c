"""From several project files to a page that lists them, each of which is opened from there."""

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

#: Where a list of projects may listen: it is the page of whoever started the program.
_HOSTS = ("127.0.0.1", "localhost")


class Home(NamedTuple):
    """A list of projects that is ready to be served.

    Parameters
    ----------
    projects : Projects
        What is listed.
    listening : socket
        Where requests come from.
    settings : Settings
        Names and limits.
    secrets : Secrets
        What the link brings.
    """

    projects: Projects
    listening: socket.socket
    settings: Settings
    secrets: Secrets

    @property
    def link(self) -> str:
        """The link by which the person who started the program reaches the list."""
        return f"{address_of(self.listening)}/login#{self.secrets.token}"

    def serve(self, when_ready: Callable[[], None] = lambda: None) -> None:
        """Answer requests until the process is told to stop.

        Parameters
        ----------
        when_ready : callable
            Called once, from another thread, when the first request would be answered.
        """
        app = create_home(self.projects, self.settings, self.secrets)
        serve(make_server(app, self.settings.limits), self.listening, when_ready)


@contextmanager
def open_home(places: Sequence[Path], *, host: str = "127.0.0.1", port: int | None = None) -> Iterator[Home]:
    """Prepare the page that lists projects; those that are opened from it are closed when the block ends.

    Parameters
    ----------
    places : sequence of Path
        Folders that hold project files, and project files.
    host : {"127.0.0.1", "localhost"}
        Where to listen: this machine only. Others are served one project at a time.
    port : int, optional
        The port; 8787 or any free one by default.

    Yields
    ------
    Home
        Closed when the block ends.
    """
    if host not in _HOSTS:
        raise ValueError(f"host is {host!r} for a list of projects; expected 127.0.0.1, or one project to serve there")
    with bind(host, port, USUAL_PORT) as listening:
        projects = Projects(places, host, address_of(listening))
        try:
            yield Home(projects, listening, settings_for(host, None), Secrets())
        finally:
            projects.close_all()
