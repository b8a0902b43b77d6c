"""``bayesift warm``: compile in advance what the other commands need."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from bayesift.cli._options import Json
from bayesift.cli._shell import UserError, kept_in, print_json, say, steps

#: The name for the page of ``bayesift review``.
_REVIEW = "review"


def warm(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODEL]...", help="Models that will be used; 'review' for the review page (default: all)."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compile in advance what the other commands need, so that the first use is fast; useful in container images."""
    from bayesift.workflow import MODELS
    from bayesift.workflow import warm as compile_ahead

    wanted = list(dict.fromkeys(models or ["auto", *MODELS, _REVIEW]))
    classifiers = [name for name in wanted if name != _REVIEW]
    folder = kept_in("bayesift.text._scan")
    if folder is None:
        raise UserError(
            "there is no folder to keep compiled code in", "set NUMBA_CACHE_DIR to a folder that can be written"
        )
    with steps(quiet=as_json) as show:
        seconds = compile_ahead(classifiers, progress=lambda model, done, total: show(model, done, len(wanted)))
        if _REVIEW in wanted:
            show(_REVIEW, len(classifiers), len(wanted))
            seconds[_REVIEW] = _prepare_review()
    if as_json:
        print_json({"folder": str(folder), "seconds": {model: round(spent, 2) for model, spent in seconds.items()}})
        return
    say(f"Compiled in {sum(seconds.values()):.0f} s of processor time: {', '.join(seconds)}. Kept in {folder}.")


def _prepare_review() -> float:
    """Compile what the cards of the review page need; return the seconds of processor time."""
    from bayesift.review.engine import Corpus, prepare

    begin = time.process_time()
    prepare(Corpus.build(["a text", "another text"]))
    return time.process_time() - begin
