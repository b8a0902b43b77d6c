"""Options of commands that work on more than fits in memory, and the progress of such work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesift.cli._guard import Written
from bayesift.cli._shell import Steps, say

if TYPE_CHECKING:
    from bayesift.cli import _options
    from bayesift.datasets import Split
    from bayesift.shards import Reading
    from bayesift.workflow import DataSummary, TextClassifier, Trained

_SHARDS = "More than memory holds"

#: The model that is fitted if none is named: few words, and few rounds over the shards.
_DEFAULT = "lasso"

Engine = Annotated[
    str | None,
    typer.Option(
        metavar="threads|loky|dask://HOST:PORT",
        help="Who does the work: threads, processes, or the workers of a Dask cluster.",
        rich_help_panel=_SHARDS,
    ),
]


@dataclass(frozen=True)
class ShardOptions:
    """Where shards are, how much memory a fit may take, and who works on them."""

    shards: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Keep the texts as rows on disk, in this folder, and learn from there; can be killed and resumed.",
            rich_help_panel=_SHARDS,
        ),
        Written(is_folder=True),
    ] = None
    memory: Annotated[
        str,
        typer.Option(
            metavar="SIZE", help="Roughly how much of them to hold in memory at a time.", rich_help_panel=_SHARDS
        ),
    ] = "2G"
    engine: Engine = None

    def refuse_without_folder(self, more: list[Path]) -> None:
        """Refuse what makes no sense if all texts are in memory."""
        if more:
            raise typer.BadParameter("to learn from several files, give --shards FOLDER", param_hint="DATA")
        if self.engine is not None:
            raise typer.BadParameter("it needs --shards FOLDER", param_hint="--engine")

    def refuse_others(self, options: dict[str, Any]) -> None:
        """Refuse options, given by name, that need all texts in memory."""
        from bayesift.shards import bytes_of

        for name, value in options.items():
            if value:
                raise typer.BadParameter(
                    "it needs all texts in memory and cannot be combined with --shards", param_hint=name
                )
        try:
            bytes_of(self.memory)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--memory") from None

    def model_for(self, name: str) -> str:
        """Return the name of the model to fit: ``auto``, which compares models, would need all texts in memory."""
        return _DEFAULT if self.shards is not None and name == "auto" else name

    def notes(self, name: str) -> list[str]:
        """Say which of the options could not be followed."""
        if self.model_for(name) == name:
            return []
        return [f"--shards: models were not compared; {_DEFAULT} was used (choose another with --model)"]

    def train(
        self,
        files: list[Path],
        classifier: TextClassifier,
        reading: _options.Reading,
        test: Split | None,
        step: Steps,
        show: Callable[[DataSummary], None],
        quiet: bool,
    ) -> Trained:
        """Train by way of the folder."""
        from bayesift.workflow import train_shards

        assert self.shards is not None
        return train_shards(
            files,
            classifier,
            self.shards,
            memory=self.memory,
            engine=self.engine or "threads",
            reading=reading.for_shards(),
            test=test,
            step=step,
            on_summary=show,
            watch=RoundWatcher(step, quiet),
        )


class RoundWatcher:
    """Shows bytes, rounds and the gap so far: as a step on a terminal, otherwise as a line for each round.

    Parameters
    ----------
    step : Steps
    quiet : bool
        Say nothing.
    """

    def __init__(self, step: Steps, quiet: bool) -> None:
        self._step, self._quiet = step, quiet

    def __call__(self, reading: Reading) -> None:
        """Tell how far a round has come."""
        gap = "" if reading.gap is None else f", gap so far {reading.gap:.1e}"
        done, total = _size(reading.done), _size(reading.total)
        self._step("learning", reading.done, reading.total, f"round {reading.round}, {done} of {total}{gap}")
        if reading.done == reading.total and not self._step.is_shown:
            say(f"round {reading.round}: {total} read{gap}", self._quiet)


def _size(n_bytes: int) -> str:
    """Return a number of bytes in the unit that suits it."""
    size = float(n_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if size >= 10 or unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"
