"""``bayesift warm``: compile ahead what the other commands need."""

from __future__ import annotations

from typing import Annotated

import typer

from bayesift.cli._options import Json
from bayesift.cli._shell import UserError, kept_in, print_json, say, steps


def warm(
    models: Annotated[
        list[str] | None, typer.Argument(metavar="[MODEL]...", help="Models to be used (default: all).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compile ahead what training and classifying need, so that the first use is as fast as the next: for images."""
    from bayesift.workflow import warm as compile_ahead

    folder = kept_in("bayesift.text._scan")
    if folder is None:
        raise UserError(
            "there is no folder to keep compiled code in", "set NUMBA_CACHE_DIR to a folder that can be written"
        )
    with steps(quiet=as_json) as show:
        chosen = {} if not models else {"models": models}
        seconds = compile_ahead(**chosen, progress=lambda model, done, total: show(model, done, total))
    if as_json:
        print_json({"folder": str(folder), "seconds": {model: round(spent, 2) for model, spent in seconds.items()}})
        return
    say(f"Compiled in {sum(seconds.values()):.0f} s of processor time: {', '.join(seconds)}. Kept in {folder}.")
