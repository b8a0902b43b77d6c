"""What the commands share: consoles, progress, JSON, and cells that are safe to show."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table

#: Columns of a page that is no terminal.
WIDTH = 110

#: Control characters, which could make a terminal do things, become visible ones.
_VISIBLE = dict.fromkeys((*range(32), *range(127, 160)), "\N{REPLACEMENT CHARACTER}") | {10: " ", 9: " ", 13: " "}


class UserError(Exception):
    """Something that the user can put right: a sentence, and a hint at what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def check_output(*paths: Path | None) -> None:
    """Refuse files that cannot be written before any work is done."""
    for path in paths:
        if path is None:
            continue
        if path.is_dir():
            raise UserError(f"{path} is a folder", "name a file to write, such as -o news.bayesift")
        parent = next(folder for folder in path.absolute().parents if folder.exists())
        if not parent.is_dir() or not os.access(parent, os.W_OK):
            raise UserError(f"{path} cannot be written: {parent} is not a folder that you may write to")


def console(*, stderr: bool = False) -> Console:
    """Make a console that takes no text for markup, of a fixed width where there is no terminal."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else WIDTH
    return Console(stderr=stderr, markup=False, highlight=False, emoji=False, width=width)


def shown(text: Any, limit: int = 0) -> str:
    """Return a text in one line, without control characters, and cut if it is longer than the limit."""
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
    """Write a message to standard error."""
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


class Steps:
    """Shows what is being done; whatever else is printed goes into a pause."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("starting", total=None)
        self._name = ""

    def __call__(self, name: str, done: int = 0, total: int = 0) -> None:
        """Show a step, and how many of its parts are done; 0 of 0 where that is not known."""
        if name != self._name:
            self._progress.remove_task(self._task)
            self._task = self._progress.add_task(name, total=total or None)
            self._name = name
        self._progress.update(self._task, completed=done, total=total or None)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Take the bar away while the block prints."""
        self._progress.stop()
        yield
        self._progress.start()


@contextmanager
def steps(quiet: bool) -> Iterator[Steps]:
    """Show what is being done on standard error, with the time left where that is known."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
    from rich.text import Text

    class Times(ProgressColumn):
        def render(self, task: Task) -> Text:
            said = [str(timedelta(seconds=int(task.elapsed or 0)))]
            if task.total is None and task.completed:
                said.append(f"{int(task.completed):,} done")
            elif task.total is not None and task.time_remaining is not None:
                said.append(f"{timedelta(seconds=int(task.time_remaining))} left")
            return Text(", ".join(said))

    errors = Console(stderr=True, markup=False)
    columns = TextColumn("{task.description}", markup=False), BarColumn(), Times()
    with Progress(*columns, console=errors, transient=True, disable=quiet or not errors.is_terminal) as progress:
        yield Steps(progress)
