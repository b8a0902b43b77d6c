"""``bayesift bench``: speed compared with other programs, from a copy of the repository."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Annotated

import typer

from bayesift.cli._shell import UserError


def bench(
    names: Annotated[list[str] | None, typer.Argument(help="Benchmarks to run (default: all).")] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Timed runs of each candidate; medians are reported.")] = 7,
    listing: Annotated[bool, typer.Option("--list", help="List the benchmarks.")] = False,
) -> None:
    """Compare the speed with other programs; needs the folder 'benchmarks' of the repository."""
    import sys

    # A script does not look for modules in the current folder; python -m does.
    sys.path.insert(0, "")
    if find_spec("benchmarks") is None or find_spec("benchmarks.measuring") is None:
        raise UserError(
            "the benchmarks are not part of the installed package",
            "run this, or make bench, in a copy of the repository",
        )
    known = import_module("benchmarks.__main__").BENCHMARKS
    unknown = [name for name in names or [] if name not in known]
    if unknown:
        raise UserError(f"there is no benchmark {unknown[0]!r}", f"there are {', '.join(known)}")
    for name in known if listing else names or known:
        if listing:
            typer.echo(name)
        else:
            import_module(f"benchmarks.{name}").run(repeats)
