"""When a number of ours agrees with the printed one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class Rule(Protocol):
    """Judges a pair of numbers; as a string, it says what it asks for."""

    def __call__(self, published: float, ours: float) -> bool:
        """Tell whether the numbers agree."""
        ...


@dataclass(frozen=True)
class Within:
    """The numbers differ by no more than a distance, or than a share of the printed one.

    Parameters
    ----------
    distance : float
        In units of the table, or a share where ``relative``.
    relative : bool, default=False
        Whether the distance is a share.
    least : float, default=0
        A distance that is always allowed, for small numbers beside large ones.

    Examples
    --------
    >>> from bayesift.experiments.catalogue import Within
    >>> Within(3)(48.64, 50.0), Within(0.15, relative=True)(100, 120)
    (True, False)
    """

    distance: float
    relative: bool = False
    least: float = 0.0

    def __post_init__(self) -> None:
        if not self.distance >= 0:
            raise ValueError(f"distance is {self.distance!r}; expected a number of at least 0")

    def __call__(self, published: float, ours: float) -> bool:
        """Tell whether the numbers agree; the last digit of decimal fractions is forgiven."""
        allowed = self.distance * (abs(published) if self.relative else 1.0)
        return abs(ours - published) <= max(allowed, self.least) + 1e-9

    def __str__(self) -> str:
        or_least = f" or {self.least:g}" if self.least else ""
        return f"within {100 * self.distance:g} %{or_least}" if self.relative else f"within {self.distance:g}"


@dataclass(frozen=True)
class SameDecision:
    """Both numbers lie on the same side of a level, as p-values do when they lead to the same decision."""

    level: float = 0.05

    def __call__(self, published: float, ours: float) -> bool:
        """Tell whether the numbers lie on the same side."""
        return (published <= self.level) == (ours <= self.level)

    def __str__(self) -> str:
        return f"on the same side of {self.level:g}"
