"""What the commands share: consoles, progress, JSON, and cells that are safe to show."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from bayesift.datasets import Split
    from bayesift.workflow.training import Step

#: Columns of a page that is no terminal.
WIDTH = 110

#: Control characters, which could make a terminal do things, become visible ones.
_VISIBLE = dict.fromkeys((*range(32), *range(127, 160)), "\N{REPLACEMENT CHARACTER}") | {10: " ", 9: " ", 13: " "}


class UserError(Exception):
    """Something that the user can mend: a sentence, and a hint at what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def console(*, stderr: bool = False) -> Console:
    """Make a console that takes no text for markup, of a fixed width where there is no terminal."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else WIDTH
    return Console(stderr=stderr, markup=False, highlight=False, emoji=False, width=width)


def shown(text: Any, limit: int = 0) -> str:
    """Give a text in one line, without control characters, and cut if it is longer than the limit."""
    line = str(text).encode("utf-8", "replace").decode().translate(_VISIBLE)
    return line if not limit or len(line) <= limit else line[: limit - 1] + "…"


def table(*headers: str, title: str = "") -> Table:
    """Make a table without lines; headers that begin with ``>`` are of numbers, to the right."""
    from rich.table import Table

    found = Table(box=None, pad_edge=False, title=title or None, title_justify="left", title_style="bold")
    for header in headers:
        found.add_column(header.lstrip(">"), justify="right" if header.startswith(">") else "left")
    return found


def say(message: str, quiet: bool = False) -> None:
    """Write a remark to standard error."""
    if not quiet:
        typer.echo(message, err=True)


def print_json(found: Any) -> None:
    """Write a value as JSON to standard output."""
    text = json.dumps(found, ensure_ascii=False, indent=2, default=str)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(found, indent=2, default=str)
    typer.echo(text)


def bar(share: float, width: int = 24) -> str:
    """Draw a share as a bar of blocks."""
    eighths = round(max(0.0, min(share, 1.0)) * width * 8)
    whole, part = divmod(eighths, 8)
    return "█" * whole + ("▏▎▍▌▋▊▉"[part - 1] if part else "")


@contextmanager
def steps(quiet: bool) -> Iterator[Step]:
    """Show what is being done on standard error, with the time left where that is known."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    errors = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=errors, transient=True, disable=quiet or not errors.is_terminal) as progress:
        task = progress.add_task("starting", total=None)
        last = ""

        def step(name: str, done: int, total: int) -> None:
            nonlocal task, last
            if name != last:
                progress.remove_task(task)
                task = progress.add_task(name, total=total or None)
                last = name
            progress.update(task, completed=done, total=total or None)

        yield step


def reading(
    data: Path,
    text: str | None,
    label: str | None,
    label_separator: str | None,
    delimiter: str | None,
    encoding: str,
    format: str | None,
    origin: dict[str, Any] | None = None,
) -> Split:
    """Read labelled texts by the options of a command, and, where they say nothing, like what a model learned from."""
    from bayesift.workflow import read_texts

    before = origin or {}
    return read_texts(
        data,
        text,
        label,
        prefer=(before.get("text"), before.get("labels")),
        label_separator=before.get("label_separator") if label_separator is None else label_separator,
        delimiter=delimiter,
        encoding=encoding,
        format=None if format is None else str(format),
    )
