"""``bayesift data``: list, describe and fetch the collections."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayesift.cli._guard import Written, guarded

if TYPE_CHECKING:
    from rich.progress import Progress

    from bayesift.datasets import ProgressBar

app = typer.Typer(help="List, describe and fetch the collections.", no_args_is_help=True)

DataHome = Annotated[
    Path | None,
    typer.Option(help="The data root (default: BAYESIFT_DATA, else a folder in the user's cache)."),
    Written(is_folder=True),
]
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the collection; 'smart' is the stop word list.")]


@app.command("list")
@guarded
def list_collections(data_home: DataHome = None) -> None:
    """List the collections and the stop word list, and which of them are available."""
    from rich.table import Table

    from bayesift.cli._shell import console
    from bayesift.datasets import data_root, describe, known, known_stop_words

    table = Table("name", "present", "description", box=None, pad_edge=False)
    for name in (*known(), *known_stop_words()):
        facts = describe(name, data_home)
        table.add_row(name, "yes" if facts.present else "no", facts.title)
    out = console()
    out.print(table)
    out.print(f"\nData root: {data_root(data_home)}", soft_wrap=True)


@app.command()
@guarded
def info(name: Name, data_home: DataHome = None) -> None:
    """Describe a collection: content, citation, terms of use, files and options."""
    from bayesift.datasets import describe

    typer.echo(str(describe(name, data_home)))


@app.command()
@guarded
def fetch(
    name: Name,
    data_home: DataHome = None,
    url: Annotated[str | None, typer.Option(help="Another address for the same file.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Fetch it even if it is already there.")] = False,
    unverified: Annotated[
        bool, typer.Option("--unverified", help="Allow plain HTTP, and files without a known checksum.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress bar.")] = False,
) -> None:
    """Download a collection from its public address into the data root."""
    from bayesift.datasets import fetch as fetch_collection

    fetching = partial(fetch_collection, name, data_home, url=url, force=force, unverified=unverified)
    if quiet:
        path = fetching()
    else:
        with _download_bar(name) as bar:
            path = fetching(progress=bar)
    typer.echo(path)


@app.command()
@guarded
def export(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of a collection with texts, such as newsroom.")],
    folder: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FOLDER", help="Where to write.", file_okay=False),
        Written(is_folder=True),
    ] = Path(),
    data_home: DataHome = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.")] = False,
) -> None:
    """Write the texts of a collection as NAME-train.csv and NAME-test.csv; several labels are separated by ';'."""
    import csv

    from bayesift._files import atomic_path
    from bayesift._same_files import check_distinct
    from bayesift.cli._shell import UserError
    from bayesift.datasets import dataset_files, load

    targets = {part: folder / f"{name}-{part}.csv" for part in ("train", "test")}
    files = dataset_files(name, data_home)
    present = files.info.find(files.root)
    sources = {} if present is None else {f"{name}, file {path.name}": path for path in present.paths}
    check_distinct(sources, targets)
    collection = load(name, data_home)
    for part, split in (("train", collection.train), ("test", collection.test)):
        if not split.has_texts:
            raise UserError(
                f"collection {name} has no texts", "'bayesift data info NAME' says what a collection contains"
            )
        target = targets[part]
        with atomic_path(target) as temporary, temporary.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(["id", "text", "labels"])
            rows = zip(split.ids, split.texts, split.labels, strict=True)
            writer.writerows([document, text, ";".join(labels)] for document, text, labels in rows)
        if not quiet:
            typer.echo(f"{target}: {len(split):,} texts")


class _Bar:
    """A progress bar of rich with the interface that pooch expects."""

    def __init__(self, progress: Progress, name: str) -> None:
        self._progress = progress
        self._task = progress.add_task(name, total=None)
        self._total = 0

    @property
    def total(self) -> int:
        return self._total

    @total.setter
    def total(self, size: int) -> None:
        # Set when the server has answered; before that there is nothing to show.
        self._total = size
        self._progress.update(self._task, total=size or None)
        self._progress.start()

    def update(self, size: int) -> None:
        self._progress.advance(self._task, size)

    def reset(self) -> None:
        self._progress.update(self._task, completed=0)

    def close(self) -> None:
        self._progress.stop()


@contextmanager
def _download_bar(name: str) -> Iterator[ProgressBar]:
    """Show a bar on standard error while the block runs; only the path goes to standard output."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    progress = Progress(*columns, console=Console(stderr=True))
    try:
        yield _Bar(progress, name)
    finally:
        # Stopping a bar that was never started would print an empty line.
        if progress.live.is_started:
            progress.stop()
