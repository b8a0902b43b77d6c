"""The ``bayesift`` command: registers the sub-commands and turns expected errors into one sentence."""

from __future__ import annotations

import typer

app = typer.Typer(
    name="bayesift",
    help="Bayesian text classification and filtering.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command line."""
    app()
