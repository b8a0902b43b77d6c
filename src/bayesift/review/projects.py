"""Several projects on one machine: a list of them, and a server for each that is open."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from threading import Lock, Thread
from time import sleep
from typing import NamedTuple

import uvicorn

from bayesift.review.serve import Page, issue_tokens, open_page, project_file, server_of
from bayesift.review.storage import NotSavedError, Project, ProjectError
from bayesift.review.storage.summary import Summary, summary_of

#: The ending of project files.
ENDING = ".review.sqlite"


class Listed(NamedTuple):
    """A project in the list.

    Parameters
    ----------
    key : str
        Its name in addresses.
    path : Path
        Its file.
    summary : Summary or None
        What is in it; None if it cannot be read.
    problem : str
        Why it cannot be read.
    is_open : bool
        Whether it is open here.
    """

    key: str
    path: Path
    summary: Summary | None
    problem: str
    is_open: bool


class _Opened(NamedTuple):
    """A project that is served from a thread; the stack closes it."""

    page: Page
    server: uvicorn.Server
    thread: Thread
    stack: ExitStack


class Projects:
    """The project files of a folder, or named ones, and those of them that are open.

    Every open project has a server of its own, with its own port, claim, logins and roles, as if it had been started
    alone. Folders are searched whenever the list is made.

    Parameters
    ----------
    places : sequence of Path
        Folders that hold project files, and project files.
    host : str
        The host that the servers listen on.
    home : str
        Address of the page that lists the projects, for a link back to it.
    """

    def __init__(self, places: Sequence[Path], host: str = "127.0.0.1", home: str = "") -> None:
        self._places = tuple(places)
        self._host = host
        self._home = home
        self._open: dict[Path, _Opened] = {}
        self._lock = Lock()

    def paths(self) -> dict[str, Path]:
        """Return the present project files, by key."""
        found = (path for place in self._places for path in (project_files(place) if place.is_dir() else [place]))
        return {_key(path): path for path in dict.fromkeys(path.resolve() for path in found)}

    def listed(self) -> list[Listed]:
        """Look at all project files, without changing any."""
        rows = []
        for key, path in self.paths().items():
            summary, problem = None, ""
            try:
                summary = summary_of(path)
            except (ProjectError, NotSavedError) as error:
                problem = str(error)
            rows.append(Listed(key, path, summary, problem, path in self._open))
        return rows

    def open(self, key: str) -> str:
        """Serve a project, unless it is already served here.

        Parameters
        ----------
        key : str
            Which one.

        Returns
        -------
        str
            A link for its owner to log in with, valid for a day.

        Raises
        ------
        LookupError
            If there is no such project.
        ProjectError, OSError
            If it cannot be opened, for example because another program serves it.
        """
        path = self.paths().get(key)
        if path is None:
            raise LookupError("There is no such project any more.")
        with self._lock:
            opened = self._open.get(path)
            if opened is None:
                opened = self._open[path] = self._start(path)
                return next(iter(opened.page.links.values()))
            token = next(iter(issue_tokens(opened.page.service.project, ()).values()))
            return f"{opened.page.address}/login#{token}"

    def close(self, key: str) -> None:
        """End the server of a project, if it is open; everything is saved."""
        with self._lock:
            path = next((path for path in self._open if _key(path) == key), None)
            opened = None if path is None else self._open.pop(path)
            if opened is not None:
                _end(opened)

    def close_all(self) -> None:
        """End all servers."""
        with self._lock:
            while self._open:
                _end(self._open.popitem()[1])

    def _start(self, path: Path) -> _Opened:
        with ExitStack() as stack:
            page = stack.enter_context(open_page(project=path, host=self._host, port=0, home=self._home))
            server = server_of(page.service, page.settings)
            thread = Thread(target=server.run, kwargs={"sockets": [page.listening]}, daemon=True)
            thread.start()
            while not server.started and thread.is_alive():
                sleep(0.01)
            return _Opened(page, server, thread, stack.pop_all())


def _end(opened: _Opened) -> None:
    opened.server.should_exit = True
    opened.thread.join()
    opened.stack.close()


def _key(path: Path) -> str:
    return sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def project_files(folder: Path) -> list[Path]:
    """Return the project files in a folder, by name."""
    return sorted(path for path in folder.iterdir() if path.name.endswith(ENDING) and path.is_file())


def several_places(named: Sequence[Path]) -> list[Path]:
    """Return the places if several projects are meant, or an empty list if one is.

    Several are meant if several are named, if a folder is named that holds project files and has no project of its own
    beside it, or if nothing is named and the current folder holds some.

    Parameters
    ----------
    named : sequence of Path
        The files and folders that the user has named.

    Returns
    -------
    list of Path
        Folders and project files.
    """
    if len(named) > 1:
        return [place if place.is_dir() and project_files(place) else _existing(place) for place in named]
    folder = named[0] if named else Path.cwd()
    if not folder.is_dir() or not project_files(folder):
        return []
    if named and project_file(folder.resolve()).exists():
        return []
    return [folder]


def _existing(place: Path) -> Path:
    path = project_file(place.resolve())
    if not Project.exists(path):
        raise FileNotFoundError(f"there is no project at {path}; expected project files where several are named")
    return path
