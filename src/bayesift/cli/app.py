"""The ``bayesift`` command: registers the sub-commands and turns errors into one sentence and a hint."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

import typer
from typer.main import get_command

from bayesift._ending import ending_when_asked
from bayesift._version import __version__
from bayesift.cli import data, review
from bayesift.cli._guard import guarded
from bayesift.cli._hints import hint_for
from bayesift.cli._shell import UserError
from bayesift.cli.bench import bench
from bayesift.cli.classify import classify
from bayesift.cli.compare import compare
from bayesift.cli.convert import convert
from bayesift.cli.demo import demo
from bayesift.cli.evaluate import evaluate
from bayesift.cli.explain import explain
from bayesift.cli.filter import filter_command
from bayesift.cli.info import info
from bayesift.cli.path import path
from bayesift.cli.serve import serve
from bayesift.cli.train import train
from bayesift.cli.update import update
from bayesift.cli.warm import warm

# Whatever these modules import at their top slows down every command, so numpy and the rooms of the
# package are imported inside the commands.

app = typer.Typer(
    name="bayesift",
    help="Bayesian text classification and filtering.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)
app.command()(guarded(train))
app.command()(guarded(classify))
app.command()(guarded(evaluate))
app.command()(guarded(explain))
app.command()(guarded(compare))
app.command()(guarded(info))
app.command()(guarded(update))
app.command("filter")(guarded(filter_command))
app.command()(guarded(convert))
app.command()(guarded(path))
app.command()(guarded(bench))
app.command()(guarded(demo))
app.command()(guarded(warm))
app.command()(guarded(serve))
app.add_typer(review.app, name="review")
app.add_typer(data.app, name="data")


@dataclass
class _Settings:
    debug: bool = False


_settings = _Settings()


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"bayesift {__version__}")
        raise typer.Exit


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Bayesian text classification and filtering."""
    _settings.debug = debug


@cache
def _command() -> Callable[..., Any]:
    """Make all sub-commands with their options, once: this takes longer than many of the commands themselves."""
    return get_command(app)


def main() -> None:
    """Run the command line.

    The exit status is 0 if all went well, 1 after an error that the user can mend (one sentence says how), 2 if
    the command was not understood, 130 after Ctrl-C and 143 if the process was asked to end. In the last two cases
    it ends within a second and leaves nothing half-written.
    """
    _settings.debug = False
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        # Closed by whoever started the command: nothing comes from there, and nobody reads.
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # A character that a terminal cannot show is no reason to fail.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        # Started in any way other than by its script, it would show the name of the program that runs it.
        with ending_when_asked("bayesift"):
            _command()(prog_name="bayesift")
    except Exception as error:
        if _settings.debug:
            raise
        typer.echo(f"bayesift: {_sentence(error)}", err=True)
        hint = error.hint if isinstance(error, UserError) else hint_for(error)
        if hint:
            typer.echo(f"hint: {hint}", err=True)
        sys.exit(1)


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror is not None:
        # Without a name it is standard output, or another stream.
        return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    # Some errors have a sentence without the names of Python parameters, which mean nothing on a command line.
    said = " ".join(str(getattr(error, "sentence", error)).split())
    if isinstance(error, OSError | ValueError | ImportError | UserError) and said:
        return said
    if isinstance(error, MemoryError):
        return "there is not enough memory"
    return f"something went wrong that should not: {type(error).__name__}: {said}"
