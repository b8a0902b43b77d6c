"""``bayesift review``: a person and the model sort a pile of documents together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

if TYPE_CHECKING:
    from bayesift.review.importing import Columns
    from bayesift.review.service import Service
    from bayesift.review.storage import Project

Advance = Callable[[int], None]

#: Gives a bar for a part of the work with a name and, if it is known, a number of steps.
Bars = Callable[[str, int | None], Advance]


class Opened(NamedTuple):
    """A project at work, and the token of each reviewer who was given one."""

    service: Service
    tokens: dict[str, str]


def project_file(data: Path) -> Path:
    """Name the project file of some data: beside it, with ``.review.sqlite`` for its ending.

    Examples
    --------
    >>> from pathlib import Path
    >>> from bayesift.cli.review import project_file
    >>> project_file(Path("papers.csv.gz")).name, project_file(Path("papers.review.sqlite")).name
    ('papers.review.sqlite', 'papers.review.sqlite')
    """
    if data.name.endswith(".review.sqlite"):
        return data
    name = data.name if data.is_dir() else data.name.partition(".")[0]
    return data.with_name(f"{name}.review.sqlite")


def open_or_create(data: Path | None, database: str | Path, columns: Columns, encoding: str, bars: Bars) -> Project:
    """Open the project of a database; if there is none, make it from the data.

    Parameters
    ----------
    data : Path, optional
        File or folder of documents; not read again if the project exists.
    database : str or Path
        Where the project is, or shall be.
    columns : Columns
        Which columns hold what.
    encoding : str
        Of the data.
    bars : callable
        Shows progress.

    Returns
    -------
    Project
        The open project.
    """
    from bayesift.review.importing import read_pile
    from bayesift.review.storage import Project

    if Project.exists(database):
        return Project.open(database)
    if data is None or data == database:
        raise FileNotFoundError(f"there is no project at {database}; expected DATA to make one from")
    pile = read_pile(data, columns, encoding)
    return Project.create(
        database, data.name.partition(".")[0] or data.name, pile, source=data.name, progress=bars("reading", None)
    )


def put_to_work(project: Project, reviewers: list[str], bars: Bars) -> Opened:
    """Vectorise the pile and let reviewers in.

    Parameters
    ----------
    project : Project
        The open project.
    reviewers : list of str
        Who is given a new token; those who are not known are added. The first of the project always is.
    bars : callable
        Shows progress.

    Returns
    -------
    Opened
    """
    from bayesift.review.engine import Pile
    from bayesift.review.service import Service

    known = project.reviewers.all()
    names = dict.fromkeys([*([known[0].name] if known else []), *reviewers] or [_own_name()])
    texts = project.documents.texts()
    bar, told = bars("reading words", len(texts)), 0

    def progress(done: int, _total: int) -> None:
        nonlocal told
        bar(done - told)
        told = done

    service = Service(project, Pile.build(texts, progress))
    people = [project.reviewers.named(name) or project.reviewers.add(name) for name in names]
    return Opened(service, {person.name: project.reviewers.issue_token(person) for person in people})


def _own_name() -> str:
    from getpass import getuser

    try:
        return getuser()
    except (OSError, KeyError, ImportError):
        return "reviewer"


def review(
    data: Annotated[
        Path | None,
        typer.Argument(metavar="[DATA]", help="CSV, TSV, JSONL, Parquet, RIS, a folder of texts, or a project file."),
    ] = None,
    project: Annotated[Path | None, typer.Option(help="The project file (default: beside DATA).")] = None,
    database: Annotated[str | None, typer.Option(help="postgresql://… instead of a project file.")] = None,
    reviewer: Annotated[list[str] | None, typer.Option(help="Give NAME a link to log in; may be repeated.")] = None,
    text: Annotated[str | None, typer.Option(help="Column of the texts.")] = None,
    title: Annotated[str | None, typer.Option(help="Column of the titles.")] = None,
    id: Annotated[str | None, typer.Option(help="Column of the identifiers.")] = None,
    delimiter: Annotated[str | None, typer.Option(help="Field separator of a CSV file.")] = None,
    encoding: Annotated[str, typer.Option(help="Encoding of the texts.")] = "utf-8",
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port (default: 8787, or any free one).")] = None,
    public_url: Annotated[
        str | None, typer.Option(help="How other machines reach the page; needed with any --host but this machine.")
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the browser.")] = True,
    simulate: Annotated[
        bool, typer.Option("--simulate", help="Replay the labels of DATA without a person, and report.")
    ] = False,
    label: Annotated[str | None, typer.Option(help="With --simulate: column of the labels.")] = None,
    description: Annotated[
        str, typer.Option(help="With --simulate: what is relevant; without it, two documents are known.")
    ] = "",
    seeds: Annotated[int, typer.Option(min=1, help="With --simulate: how often to replay.")] = 3,
) -> None:
    """Sort a pile of documents with the model: a page in the browser, on this machine."""
    from bayesift._extras import require

    for module in ("fastapi", "uvicorn", "jinja2", "python_multipart", "sqlalchemy"):
        require(module, extra="review", purpose="the review page")
    from bayesift.review.importing import Columns
    from bayesift.review.web import address_of, bind, serve, settings_for

    columns = Columns(text, title, id, delimiter)
    if simulate:
        from bayesift.cli._replay import replay, show

        if data is None:
            raise ValueError("there is no DATA; expected a file with labels to replay")
        show(replay(data, columns, encoding, label=label, description=description, seeds=seeds))
        return
    settings = settings_for(host, public_url)
    where = _where(data, project, database)
    with bind(host, port) as listening:
        with _bars() as bars:
            opened = put_to_work(open_or_create(data, where, columns, encoding, bars), reviewer or [], bars)
        base = (public_url or address_of(listening)).rstrip("/")
        links = {name: f"{base}/login#{token}" for name, token in opened.tokens.items()}
        if public_url is not None and not settings.https:
            typer.echo("Warning: without HTTPS, whoever listens on the network can read along and log in.", err=True)
        try:
            serve(opened.service, listening, settings, lambda: _tell(opened.service, where, links, browser))
        finally:
            opened.service.close()
            opened.service.project.close()


def _tell(service: Service, where: str | Path, links: dict[str, str], browser: bool) -> None:
    typer.echo(f"Project: {_without_password(where)}, {service.n_documents} documents")
    for name, link in links.items():
        typer.echo(f"{name}: {link}")
    typer.echo("Stop with Ctrl+C; everything is saved.")
    if browser:
        import webbrowser

        webbrowser.open(next(iter(links.values())))


def _where(data: Path | None, project: Path | None, database: str | None) -> str | Path:
    if database is not None and project is not None:
        raise ValueError("project and database are both given; expected one of them")
    if database is not None:
        return database
    if project is None and data is None:
        raise ValueError("there is neither DATA nor --project nor --database; expected one of them")
    return project if project is not None else project_file(data or Path())


def _without_password(where: str | Path) -> str:
    if isinstance(where, Path):
        return str(where)
    from sqlalchemy.engine import make_url

    return make_url(where).render_as_string(hide_password=True)


@contextmanager
def _bars() -> Iterator[Bars]:
    """Show bars on standard error; the links alone go to standard output."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    errors = Console(stderr=True)
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as progress:

        def bar(name: str, total: int | None) -> Advance:
            task = progress.add_task(name, total=total)
            return lambda steps: progress.advance(task, steps)

        yield bar
