"""What the commands share: consoles, progress, JSON, cells that are safe to show, and a note about compiling."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table

#: Width, in columns, of output that does not go to a terminal.
WIDTH = 110

#: Control characters, which could make a terminal do things, are replaced by visible ones.
_VISIBLE = dict.fromkeys((*range(32), *range(127, 160)), "\N{REPLACEMENT CHARACTER}") | {10: " ", 9: " ", 13: " "}

#: For each group of models, the module of a kernel that all of them use.
_FIRST = {
    "text": "bayesift.text._scan",
    "logistic": "bayesift.linear._solvers.newton",
    "softmax": "bayesift.linear._solvers.softmax_newton",
    "generative": "bayesift.generative._kernels",
    "dcm": "bayesift.generative._dcm_kernels",
    "ard": "bayesift.ard.tagging._integrals",
    "online": "bayesift.online._moments",
}

_ROOMS = {
    "auto": "logistic",
    "lasso": "logistic",
    "ridge": "logistic",
    "probit": "logistic",
    "probit-ridge": "logistic",
    "jeffreys": "logistic",
    "polytomous": "softmax",
    "polytomous-ridge": "softmax",
    "nb": "generative",
    "bernoulli": "generative",
    "dcm": "dcm",
    "perceptron": "online",
    "process": "online",
}


class UserError(Exception):
    """Something that the user can put right: a sentence, and a hint about what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def console(*, stderr: bool = False) -> Console:
    """Make a console that does not interpret markup; without a terminal its width is fixed.

    If nobody reads on, as after ``| head``, it falls silent: the command continues and writes its files.
    """
    from rich.console import Console

    class Page(Console):
        def on_broken_pipe(self) -> None:
            # It gives what is still written to nobody, and would then end the process.
            with suppress(SystemExit):
                super().on_broken_pipe()

    stream = sys.stderr if stderr else sys.stdout
    columns = os.environ.get("COLUMNS")
    is_known = stream.isatty() if columns is None else columns.isdigit() and int(columns) > 0
    width = None if is_known else WIDTH
    return Page(stderr=stderr, markup=False, highlight=False, emoji=False, width=width)


def shown(text: Any, limit: int = 0) -> str:
    """Return a text as one line without control characters, cut if it is longer than the limit."""
    line = str(text).encode("utf-8", "replace").decode().translate(_VISIBLE)
    return line if not limit or len(line) <= limit else line[: limit - 1] + "…"


def list_of(names: Any) -> list[str]:
    """Return one name or several as a list."""
    return [str(name) for name in names] if isinstance(names, list | tuple) else [str(names)]


def table(*headers: str, title: str = "") -> Table:
    """Make a table without lines; a header that begins with ``>`` is of a column of numbers, to the right and unbroken.

    If it is too narrow for everything, names continue on the next line: nothing is cut.
    """
    from rich.table import Table

    found = Table(box=None, pad_edge=False, title=title or None, title_justify="left", title_style="bold")
    for header in headers:
        is_number = header.startswith(">")
        found.add_column(
            header.lstrip(">"), justify="right" if is_number else "left", no_wrap=is_number, overflow="fold"
        )
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
    """Shows what is being done; anything else must be printed while it is paused."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("starting", total=None)
        self._name = ""

    @property
    def is_shown(self) -> bool:
        """Whether steps are shown: there is a terminal, and they are wanted."""
        return not self._progress.disable

    def __call__(self, name: str, done: int = 0, total: int = 0, detail: str = "") -> None:
        """Show a step, and how many of its parts are done; 0 of 0 if that is not known."""
        if name != self._name:
            self._progress.remove_task(self._task)
            self._task = self._progress.add_task(name, total=total or None)
            self._name = name
        said = f"{name}: {detail}" if detail else name
        self._progress.update(self._task, description=said, completed=done, total=total or None)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Take the bar away while the block prints."""
        self._progress.stop()
        yield
        self._progress.start()


@contextmanager
def steps(quiet: bool) -> Iterator[Steps]:
    """Show on standard error what is being done, with the time left if that is known."""
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


def say_if_compiling(model: str | None = None, *, quiet: bool = False) -> None:
    """Say that the first use compiles, if the kernels that a command needs are not in a cache yet.

    Parameters
    ----------
    model : str, optional
        The model to be trained; without one, texts are only read.
    quiet : bool
        Say nothing.
    """
    wanted = ["text", _ROOMS[model]] if model in _ROOMS else ["text"]
    if quiet or all(map(is_compiled, (_FIRST[room] for room in wanted))):
        return
    what, seconds = ("reading texts and fitting models", 10) if len(wanted) > 1 else ("reading texts", 3)
    if kept_in(_FIRST["text"]) is not None:
        say(
            f"First use: compiling the loops for {what}, usually {seconds} to {3 * seconds} s. The result is kept; "
            f"'bayesift warm' compiles everything in advance."
        )
    else:
        say(
            f"Compiling the loops for {what}, usually {seconds} to {3 * seconds} s each time, as there is no folder to "
            f"keep the result in. Set NUMBA_CACHE_DIR to a folder that can be written."
        )


def is_compiled(module: str) -> bool:
    """Tell whether any kernel of a module is in the cache on disk."""
    return any(path.exists() for path in _indices(module))


def kept_in(module: str) -> Path | None:
    """Return the folder in which compiled kernels are kept, judging by those of one module; None if nothing is kept.

    Inside the package they lie beside their modules; elsewhere there is one folder for each folder of modules.
    """
    package = Path(__file__).parents[1]
    folder = next((path.parent for path in _indices(module)), None)
    return package if folder is not None and folder.is_relative_to(package) else folder and folder.parent


def _indices(module: str) -> list[Path]:
    """Return the index files that numba keeps for a module's kernels, whether they exist or not."""
    kernels = [value for value in vars(import_module(module)).values() if hasattr(value, "py_func")]
    return [path for path in map(_index, kernels) if path is not None]


def _index(kernel: Any) -> Path | None:
    """Return the index file that numba keeps for a kernel; None if nothing is kept."""
    stored = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    path = getattr(stored, "_index_path", None)
    return None if path is None else Path(path)
