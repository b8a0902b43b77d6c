"""Turn a file of documents into a page in the browser: the project, its reviewers, and the server."""

from __future__ import annotations

import gc
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from getpass import getuser
from pathlib import Path
from typing import NamedTuple

import uvicorn
from sqlalchemy.engine import make_url

from bayesift._web.listening import address_of, bind, make_server, serve
from bayesift.review.earlier import read_all_earlier
from bayesift.review.engine import Corpus, prepare
from bayesift.review.importing import Columns, import_documents
from bayesift.review.service import Service
from bayesift.review.storage import Project, claim_project
from bayesift.review.web import Settings, create_app, settings_for

#: The port that is tried first.
USUAL_PORT = 8787


class Page(NamedTuple):
    """A project that is ready to be served.

    Parameters
    ----------
    service : Service
        The project at work.
    listening : socket
        The socket that requests come in at.
    settings : Settings
        Names and limits.
    database : str
        Where the project is, without a password.
    links : dict
        The login link of each reviewer who was given a token, by name.
    """

    service: Service
    listening: socket.socket
    settings: Settings
    database: str
    links: dict[str, str]

    @property
    def address(self) -> str:
        """The address of the page on this machine."""
        return address_of(self.listening)

    def serve(self, when_ready: Callable[[], None] = lambda: None) -> None:
        """Answer requests until the process is told to stop.

        Parameters
        ----------
        when_ready : callable
            Called once, from another thread, when requests are answered.
        """
        serve(server_of(self.service, self.settings), self.listening, when_ready)


def server_of(service: Service, settings: Settings) -> uvicorn.Server:
    """Return a server for a project, with limits on how long clients may take and how many there may be.

    Parameters
    ----------
    service : Service
        The project at work.
    settings : Settings
        Names and limits.

    Returns
    -------
    uvicorn.Server
        To be run with a listening socket.
    """
    return make_server(create_app(service, settings), settings.limits, settings.proxies)


@contextmanager
def open_page(
    data: Path | None = None,
    *,
    project: Path | None = None,
    database: str | None = None,
    columns: Columns = Columns(),  # noqa: B008
    encoding: str | None = None,
    tell: Callable[[str], None] = lambda note: None,
    reviewers: Sequence[str] = (),
    host: str = "127.0.0.1",
    port: int | None = None,
    public_url: str | None = None,
    proxies: Sequence[str] = (),
    home: str = "",
    earlier: Sequence[Path] = (),
    earlier_topic: str | None = None,
) -> Iterator[Page]:
    """Open a project, or make one, and prepare its page; :mod:`bayesift.progress` reports progress.

    Parameters
    ----------
    data : Path, optional
        File or folder of documents, or a project file; not read again if the project exists.
    project : Path, optional
        The project file; by default next to the data.
    database : str, optional
        Address of a database, ``postgresql://…``, instead of a project file.
    columns : Columns
        Which columns of the data hold what.
    encoding : str, optional
        Encoding of the data; detected by default.
    tell : callable, optional
        Called, when all documents have been read, with each sentence about what was detected, such as the encoding.
    reviewers : sequence of str
        Names of people who get a new token; unknown ones are added. The owner always gets a link, which is valid for a
        day unless the owner is named here.
    host, port
        Where to listen: by default on this machine only, at 8787 or at any free port.
    public_url : str, optional
        Address at which reviewers reach the page; required if other machines can reach it.
    proxies : sequence of str
        Addresses of proxies whose header ``X-Forwarded-For`` is trusted.
    home : str
        Address of a page that lists this project among others.
    earlier : sequence of Path
        Files or projects of earlier reviews, which are kept with the project for its topics to learn from.
    earlier_topic : str, optional
        Which topic of such a project; required if it has several.

    Yields
    ------
    Page
        Closed when the block ends.
    """
    settings = settings_for(host, public_url, proxies)._replace(home=home)
    where = project_location(data, project, database)
    if isinstance(where, Path) and where.resolve() in [path.resolve() for path in earlier]:
        raise ValueError(f"earlier is {where}, the project itself; expected another review")
    # Before anything is made.
    known = read_all_earlier(earlier, earlier_topic, tell)
    with (
        ExitStack() as stack,
        bind(host, port, USUAL_PORT) as listening,
        closing(claim_project(where, public_url or address_of(listening))) as claim,
        closing(open_project(data, where, columns, encoding, tell)) as opened,
        closing(Service(opened, Corpus.build(opened.documents.texts()))) as service,
    ):
        opened.served_under(claim)
        for source, records in known:
            opened.earlier.add(source, records)
        prepare(service.corpus)
        # What exists now stays, so the garbage collector need not go through all documents while pages are made.
        stack.enter_context(_kept_from_collection())
        base = (public_url or address_of(listening)).rstrip("/")
        tokens = issue_tokens(opened, reviewers)
        links = {name: f"{base}/login#{token}" for name, token in tokens.items()}
        yield Page(service, listening, settings, without_password(where), links)


@contextmanager
def _kept_from_collection() -> Iterator[None]:
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def project_file(data: Path) -> Path:
    """Return the project file of some data: next to the data, with the ending ``.review.sqlite``.

    Examples
    --------
    >>> from pathlib import Path
    >>> from bayesift.review.serve import project_file
    >>> project_file(Path("papers.csv.gz")).name, project_file(Path("papers.review.sqlite")).name
    ('papers.review.sqlite', 'papers.review.sqlite')
    """
    if data.name.endswith(".review.sqlite"):
        return data
    name = data.name if data.is_dir() else data.name.partition(".")[0]
    return data.with_name(f"{name}.review.sqlite")


def project_location(data: Path | None, project: Path | None, database: str | None) -> str | Path:
    """Return where the project is, or will be: the given database or file, or a file next to the data."""
    if database is not None and project is not None:
        raise ValueError("project and database are both given; expected one of them")
    if database is not None:
        return database
    if project is not None:
        return project
    if data is None:
        raise ValueError(
            "DATA, --project and --database are all missing; expected one of them, or a current folder that has "
            "projects (*.review.sqlite)"
        )
    return project_file(data)


def open_project(
    data: Path | None,
    database: str | Path,
    columns: Columns = Columns(),  # noqa: B008
    encoding: str | None = None,
    tell: Callable[[str], None] = lambda note: None,
) -> Project:
    """Open the project of a database; if there is none, make it from the data.

    Parameters
    ----------
    data : Path, optional
        File or folder of documents; not read again if the project exists.
    database : str or Path
        Where the project is, or shall be.
    columns : Columns
        Which columns hold what.
    encoding : str, optional
        Of the data; recognised by default.
    tell : callable, optional
        Called with what was recognised, such as the encoding, a sentence each, when all documents are read.

    Returns
    -------
    Project
        The open project.
    """
    if Project.exists(database):
        return Project.open(database)
    if data is None or data == database:
        raise FileNotFoundError(f"there is no project at {without_password(database)}; expected DATA to make one from")
    name = data.name.partition(".")[0] or data.name
    return Project.create(database, name, import_documents(data, columns, encoding, tell), source=data.name)


def issue_tokens(project: Project, reviewers: Sequence[str]) -> dict[str, str]:
    """Give a lasting token to the named people, adding new ones, and the owner one for a day at least.

    A token for a day leaves the owner's lasting token and sessions as they are: starting the program logs nobody out.
    """
    tokens = {name: project.reviewers.invite(name)[1] for name in dict.fromkeys(reviewers)}
    owner = project.reviewers.owner() or project.reviewers.add(_own_name())
    token = tokens.pop(owner.name, None) or project.reviewers.issue_link(owner)
    return {owner.name: token, **tokens}


def _own_name() -> str:
    try:
        return getuser()
    except (OSError, KeyError, ImportError):
        return "reviewer"


def without_password(where: str | Path) -> str:
    """Return where a project is, in a form to show to people.

    Examples
    --------
    >>> from bayesift.review.serve import without_password
    >>> without_password("postgresql://anna:secret@db.example.org/papers")
    'postgresql://anna:***@db.example.org/papers'
    """
    return str(where) if isinstance(where, Path) else make_url(where).render_as_string(hide_password=True)
