"""What the function of an experiment returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from bayesift.experiments.catalogue.table import Table


class NotPossibleError(Exception):
    """Raised by an experiment that cannot be done here; the message is the sentence to tell."""


class Claim(NamedTuple):
    """A conclusion of the paper, and whether our numbers support it (None: cannot tell)."""

    text: str
    holds: bool | None
    detail: str = ""

    def plain(self) -> Claim:
        """Return the claim with Python's own truth value, where a comparison of arrays gave numpy's."""
        return self._replace(holds=None if self.holds is None else bool(self.holds))


class Figure(NamedTuple):
    """A picture: a function that returns a matplotlib figure, or the file that it was drawn into."""

    name: str
    caption: str
    draw: Callable[[], Any] | None = None
    file: str = ""


@dataclass(frozen=True)
class Outcome:
    """Our numbers: tables, conclusions and pictures, and notes on what happened in this run."""

    tables: tuple[Table, ...] = ()
    claims: tuple[Claim, ...] = ()
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()
