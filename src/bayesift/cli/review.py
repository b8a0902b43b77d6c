"""``bayesift review``: a person and the model sort a collection of documents together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from bayesift import progress
from bayesift._same_files import check_distinct
from bayesift.cli import review_people
from bayesift.cli._guard import Written, guarded
from bayesift.cli._shell import console, say, shown, steps, table

if TYPE_CHECKING:
    from bayesift.review.importing import Columns
    from bayesift.review.serve import Page
    from bayesift.review.simulate import Replays

#: What ``bayesift review papers.csv`` means.
_DEFAULT = "open"


class _WithDefault(TyperGroup):
    """Commands, one of which is the default and need not be named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the name of the default before arguments that do not begin with a command."""
        if not args or args[0] not in self.commands:
            args = [_DEFAULT, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(cls=_WithDefault, help="Sort documents in the browser, with a model that learns from every decision.")


def review(
    data: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[DATA]",
            help="CSV, TSV, JSONL, Parquet, Excel, RIS, PubMed, BibTeX, EndNote XML, an ASReview project, a folder of "
            "texts, or a project file; to choose among several projects, their files or the folder that holds them.",
        ),
    ] = None,
    project: Annotated[
        Path | None, typer.Option(help="The project file (default: next to DATA)."), Written(in_place_of="data")
    ] = None,
    database: Annotated[str | None, typer.Option(help="postgresql://… instead of a project file.")] = None,
    reviewer: Annotated[
        list[str] | None, typer.Option(help="Create a login link for this person; may be repeated.")
    ] = None,
    earlier: Annotated[
        list[Path] | None,
        typer.Option(
            help="An earlier review to learn from, which is kept with the project: its project, or a file with "
            "decisions; may be repeated."
        ),
    ] = None,
    earlier_topic: Annotated[
        str | None, typer.Option(help="Which topic of an earlier review to learn from, if its project has several.")
    ] = None,
    text: Annotated[str | None, typer.Option(help="Column of the texts.")] = None,
    title: Annotated[str | None, typer.Option(help="Column of the titles.")] = None,
    id: Annotated[str | None, typer.Option(help="Column of the identifiers.")] = None,
    delimiter: Annotated[str | None, typer.Option(help="Field separator of a CSV file (default: detected).")] = None,
    encoding: Annotated[str | None, typer.Option(help="Encoding of the texts (default: UTF-8, or detected).")] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port (default: 8787, or any free one).")] = None,
    public_url: Annotated[
        str | None,
        typer.Option(help="Address at which other machines reach the page; needed if --host is not this machine."),
    ] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            help="Address of a trusted proxy in front of the page, which forwards client addresses; may be repeated."
        ),
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the browser.")] = True,
    simulate: Annotated[
        bool, typer.Option("--simulate", help="Replay the labels of DATA without a person, and report.")
    ] = False,
    label: Annotated[str | None, typer.Option(help="With --simulate: column of the labels.")] = None,
    description: Annotated[
        str,
        typer.Option(help="With --simulate: what is relevant; without it, a replay starts from two known documents."),
    ] = "",
    seeds: Annotated[int, typer.Option(min=1, help="With --simulate: how often to replay.")] = 3,
) -> None:
    """Sort documents in the browser, with a model that learns from every decision."""
    review_people.require_review()
    from bayesift.review.importing import Columns
    from bayesift.review.serve import open_page

    columns = Columns(text, title, id, delimiter)
    named = data or []
    if len(named) > 1 or not (simulate or project or database):
        for_one = {
            "--project": project, "--database": database, "--simulate": simulate, "--reviewer": reviewer,
            "--text": text, "--title": title, "--id": id, "--delimiter": delimiter, "--encoding": encoding,
            "--public-url": public_url, "--proxy": proxy, "--earlier": earlier, "--earlier-topic": earlier_topic,
        }  # fmt: skip
        if _home(named, host, port, browser, [name for name, given in for_one.items() if given]):
            return
    one = named[0] if named else None
    if simulate:
        if one is None:
            raise ValueError("DATA is missing; expected a file with labels to replay")
        _simulate(one, columns, encoding, label, description, seeds, (earlier or [], earlier_topic))
        return
    with ExitStack() as stack:
        with _bars("reading words"):
            page = stack.enter_context(
                open_page(
                    one,
                    project=project,
                    database=database,
                    columns=columns,
                    encoding=encoding,
                    tell=partial(_say, one),
                    reviewers=reviewer or [],
                    host=host,
                    port=port,
                    public_url=public_url,
                    proxies=proxy or [],
                    earlier=earlier or [],
                    earlier_topic=earlier_topic,
                )
            )
        if public_url is not None and not page.settings.https:
            typer.echo("Warning: without HTTPS, anyone on the network can read the traffic and log in.", err=True)
        elif public_url is not None and not proxy:
            typer.echo("Note: without --proxy, the audit log and the limits see only the proxy's address.", err=True)
        page.serve(lambda: _announce(page, browser))


def _home(named: list[Path], host: str, port: int | None, browser: bool, given: list[str]) -> bool:
    """Serve the list of projects, if several are meant; refuse options that apply to a single one."""
    from bayesift.review.home import open_home
    from bayesift.review.projects import several_places

    places = several_places(named)
    if not places:
        return False
    if given:
        where = ", ".join(shown(str(place)) for place in places)
        raise ValueError(f"{given[0]} is given with several projects ({where}); it needs a single project")
    with open_home(places, host=host, port=port) as home:

        def announce() -> None:
            found = len(home.projects.paths())
            typer.echo(f"{found} {'project' if found == 1 else 'projects'}")
            typer.echo(f"Open one at: {home.link}")
            typer.echo("Stop with Ctrl+C; everything is saved.")
            if browser:
                import webbrowser

                webbrowser.open(home.link)

        home.serve(announce)
    return True


def backup(
    project: review_people.ProjectPlace,
    output: Annotated[Path, typer.Option("--output", "-o", help="The project file to write."), Written()],
) -> None:
    """Copy a project to a file and check the copy; a server may be using the project meanwhile."""
    review_people.require_review()
    from bayesift.review.serve import project_file
    from bayesift.review.storage import back_up

    place = project if "://" in project else project_file(Path(project))
    if isinstance(place, Path):
        check_distinct({"PROJECT": place}, {"--output": output})
    back_up(place, output)


app.command(
    _DEFAULT,
    epilog="Further commands: backup, reviewers, token, role, remove, sessions and audit, each with its own --help.",
)(guarded(review))
for _command in (
    backup,
    review_people.reviewers,
    review_people.token,
    review_people.role,
    review_people.remove,
    review_people.sessions,
    review_people.audit,
):
    app.command()(guarded(_command))


def _announce(page: Page, browser: bool) -> None:
    """Write the links to standard output, and open the first one."""
    typer.echo(f"Project: {page.database}, {page.service.n_documents} documents")
    for name, link in page.links.items():
        typer.echo(f"{name}: {link}")
    for review in page.service.project.earlier.all():
        counts = f"{review.relevant} relevant and {review.irrelevant} irrelevant records"
        typer.echo(f"Earlier review: {shown(review.source)}, {counts}, which new topics learn from")
    typer.echo("Stop with Ctrl+C; everything is saved.")
    if browser:
        import webbrowser

        webbrowser.open(next(iter(page.links.values())))


@contextmanager
def _bars(name: str) -> Iterator[None]:
    """Show progress on standard error; while the number of documents is unknown, the file is being read."""
    with (
        steps(quiet=False) as step,
        progress.callback(lambda done, total: step(name if total else "reading", done, total)),
    ):
        yield


def _say(data: Path | None, note: str) -> None:
    """Say what was detected in a file."""
    say(f"{'' if data is None else shown(data.name)}: {shown(note)}")


def _simulate(
    data: Path,
    columns: Columns,
    encoding: str | None,
    label: str | None,
    description: str,
    seeds: int,
    earlier: tuple[list[Path], str | None],
) -> None:
    """Replay the labels of a file, and write the means over the replays to standard output."""
    from bayesift.review.earlier import examples_of_files
    from bayesift.review.simulate import read_review, replay

    with _bars("reading words"):
        corpus, relevant = read_review(data, columns, encoding, label, partial(_say, data))
        known = examples_of_files(corpus, *earlier)
    with _bars("replaying"):
        found = replay(corpus, relevant, description=description, seeds=seeds, earlier=known)
    show_replays(found)


def show_replays(found: Replays) -> None:
    """Write the means over replays to standard output."""
    from statistics import fmean

    screen = console()
    runs = found.runs
    screen.print(f"{found.n_documents} documents, {found.n_relevant} relevant; means over {len(runs)} replays\n")
    measures = table("measure", ">value")
    measures.add_row("recall after reading 10 %", f"{fmean(run.recall_at(0.1) for run in runs):.1%}")
    measures.add_row("work saved over sampling at 95 % recall", f"{fmean(run.wss95 for run in runs):.1%}")
    discovery = fmean(run.average_time_to_discovery for run in runs)
    measures.add_row("average time to discovery, share of all documents", f"{discovery:.1%}")
    screen.print(measures)
    stops = table("rule", ">read", ">recall reached", ">target missed", title="\nWhere each rule would have stopped")
    for name in runs[0].stops:
        ends = [run.stops[name] for run in runs]
        missed = sum(end.recall < 0.95 for end in ends)
        effort, recall = fmean(end.effort for end in ends), fmean(end.recall for end in ends)
        stops.add_row(name, f"{effort:.1%}", f"{recall:.1%}", f"{missed} of {len(ends)}")
    screen.print(stops)
