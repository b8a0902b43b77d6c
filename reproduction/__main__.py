"""``python -m reproduction``: published tables and figures done again, the printed numbers beside ours."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from reproduction import catalogue
from reproduction.catalogue import (
    Experiment,
    PieceCache,
    Result,
    Runner,
    every_experiment,
    joined,
    run,
    select,
    write_folder,
    write_page,
)

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def reproduce(
    names: Annotated[
        list[str] | None, typer.Argument(help="Experiments, such as genkin2007/table1, or whole papers: genkin2007.")
    ] = None,
    listing: Annotated[bool, typer.Option("--list", help="List the experiments and what they need.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Run all experiments.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Only the part that each experiment states.")] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="Write a report as Markdown and HTML, pictures, JSON; other experiments that it holds stay.",
        ),
    ] = None,
    cache: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where finished pieces are kept (default: the user's cache).")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Make everything anew, whatever the cache holds.")] = False,
    jobs: Annotated[int, typer.Option(help="Cores to use; -1 is all.")] = -1,
    page: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a page of documentation from the folder given by --output."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bars.")] = False,
) -> None:
    """Do published experiments again and show the printed numbers beside ours.

    Finished pieces are kept: a run that was interrupted goes on where it stopped.
    """
    console = Console()
    if page is not None and output is None:
        raise typer.BadParameter("needs --output, the folder that the page is made from", param_hint="--page")
    if listing:
        show_list(select(names) if names else list(every_experiment().values()), console)
        return
    chosen = list(every_experiment().values()) if everything else select(names or [])
    if not chosen and page is None:
        raise typer.BadParameter("name experiments, or give --all or --list", param_hint="NAMES")
    if chosen:
        results = run_all(chosen, console, quick=quick, output=output, cache=cache, fresh=fresh, jobs=jobs, quiet=quiet)
        show_verdicts(results, console)
    if page is not None and output is not None:
        if not chosen:
            write_folder(joined([], output), output)
        write_page(output, page)
        console.print(str(page))


def run_all(
    experiments: Sequence[Experiment],
    console: Console,
    *,
    quick: bool = False,
    output: Path | None = None,
    cache: Path | None = None,
    fresh: bool = False,
    jobs: int = -1,
    quiet: bool = False,
) -> list[Result]:
    """Run experiments one after the other; show each when it is done and bring the report up to date.

    Parameters
    ----------
    experiments : sequence of Experiment
        What to run.
    console : Console
        Where to show the tables.
    quick, output, cache, fresh, jobs, quiet
        As on the command line.

    Returns
    -------
    list of Result
    """
    results: list[Result] = []
    kept = PieceCache(cache, fresh=fresh)
    with _bars(len(experiments), quiet) as (watch, advance):
        for experiment in experiments:
            name = experiment.name
            watch(name, "", 0, 0)
            runner = Runner(kept, quick=quick, n_jobs=jobs, report=partial(watch, name))
            results.append(run(experiment, runner))
            if output is not None:
                files = {result.name: result for result in write_folder(joined(results, output), output)}
                results = [files[result.name] for result in results]
            show(results[-1], console)
            advance()
    return results


@contextmanager
def _bars(n_experiments: int, quiet: bool) -> Iterator[tuple[Callable[[str, str, int, int], None], Callable[[], None]]]:
    """Show a bar over experiments and one over the pieces of a stage, on standard error."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    errors = Console(stderr=True)
    with Progress(*columns, console=errors, transient=True, disable=quiet or not errors.is_terminal) as progress:
        outer = progress.add_task("experiments", total=n_experiments)
        inner = progress.add_task("", total=None)

        def watch(name: str, stage: str, done: int, total: int) -> None:
            progress.update(outer, description=name)
            progress.update(inner, description=stage, completed=done, total=total or None)

        yield watch, lambda: progress.advance(outer)


def show_list(experiments: Sequence[Experiment], console: Console) -> None:
    """List experiments: name, minutes whole and quick, what each shows, and which collections it lacks here."""
    table = Table(box=None, pad_edge=False)
    table.add_column("experiment", no_wrap=True)
    table.add_column("minutes", justify="right")
    table.add_column("quick", justify="right")
    table.add_column("shows")
    for experiment in experiments:
        lacks = experiment.lacks()
        told = "Cannot run here: no" if lacks else "Not here:"
        absent = ", ".join(lacks or experiment.missing())
        shows = f"{experiment.item}: {experiment.shows}{f' {told} {absent}.' if absent else ''}"
        table.add_row(experiment.name, f"{experiment.minutes:g}", f"{experiment.quick_minutes:g}", Text(shows))
    console.print(table)


def show(result: Result, console: Console) -> None:
    """Show the tables and conclusions of a result."""
    console.print(Text(f"\n{result.name}: {result.paper}, {result.item}", style="bold"))
    console.print(Text(result.shows))
    if result.skipped:
        console.print(Text(f"skipped: {result.skipped}"))
        return
    for table in result.tables:
        console.print(Text(f"\n{table.title}"))
        _show_table(table, console)
        if table.note:
            console.print(Text(table.note, style="italic"))
    for claim in result.claims:
        sign = {True: "holds", False: "does not hold", None: "cannot tell"}[claim.holds]
        console.print(Text(f"{sign}: {claim.text}{f' ({claim.detail})' if claim.detail else ''}"))
    for figure in result.figures:
        console.print(Text(f"figure: {figure.caption}{f' → {figure.file}' if figure.file else ''}"))
    console.print(Text(f"{result.verdict}: {result.summary}", style="bold"))


def _show_table(table: catalogue.Table, console: Console) -> None:
    """Show a table with names and numbers uncut: headers are broken at spaces, lines may be longer than the screen."""
    cells = table.texts()
    names = max(map(len, [table.corner, *table.rows]))
    widths = [max(map(len, [*column.split(), *texts])) for column, *texts in zip(table.columns, *cells, strict=True)]
    rich = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    rich.add_column(table.corner, width=names)
    for column, width in zip(table.columns, widths, strict=True):
        rich.add_column(column, justify="right", width=width)
    for name, row in zip(table.rows, cells, strict=True):
        rich.add_row(Text(name), *(Text(text, style="red" if text.endswith("✗") else "") for text in row))
    screen = console.width
    console.width = max(screen, names + sum(widths) + 2 * len(widths))
    console.print(rich, crop=False)
    console.width = screen


def show_verdicts(results: Sequence[Result], console: Console) -> None:
    """Show one line for each result, and the time."""
    table = Table(box=None, pad_edge=False)
    table.add_column("experiment", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("seconds", justify="right")
    table.add_column("cached", justify="right")
    table.add_column("in numbers")
    for result in results:
        times = (f"{result.seconds:.1f}", f"{result.seconds_kept:.1f}") if not result.skipped else ("", "")
        table.add_row(result.name, result.verdict, *times, Text(result.summary))
    console.print(Text("\npublished / ours; ✗ where they do not agree\n"))
    console.print(table)
    wall, cpu = (sum(getattr(result, name) for result in results) for name in ("seconds", "cpu_seconds"))
    kept = " with the pieces from the cache" if any(result.seconds_kept for result in results) else ""
    console.print(Text(f"{wall:.0f} seconds in all, {cpu:.0f} of processor time{kept}"))


def main() -> None:
    """Run the command; an error that the user can mend is told in one sentence."""
    try:
        app(prog_name="python -m reproduction")
    except (ImportError, OSError, ValueError) as error:
        typer.echo(f"reproduction: {error}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
