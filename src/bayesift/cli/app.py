"""The ``bayesift`` command: registers the sub-commands and turns expected errors into one sentence."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated

import typer

from bayesift._version import __version__
from bayesift.cli import data
from bayesift.cli.demo import demo
from bayesift.cli.reproduce import reproduce

# What these modules import at their top is paid for by every command, so numpy and the rooms of the
# package are imported inside the commands.

app = typer.Typer(
    name="bayesift",
    help="Bayesian text classification and filtering.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)
app.add_typer(data.app, name="data")
app.command()(demo)
app.command()(reproduce)


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


def main() -> None:
    """Run the command line.

    The exit status is 0 when all went well, 1 after an error that the user can mend (one sentence says how)
    and 2 when the command was not understood.
    """
    try:
        # By any other way than the script, the name would be that of the program that runs.
        app(prog_name="bayesift")
    except (OSError, ValueError, ImportError) as error:
        if _settings.debug:
            raise
        typer.echo(f"bayesift: {_sentence(error)}", err=True)
        sys.exit(1)


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror is not None:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__
