"""One place of a table: the printed number, ours, and whether they agree."""

from __future__ import annotations

from math import isfinite
from typing import Any, NamedTuple


class Cell(NamedTuple):
    """A printed number beside ours.

    Parameters
    ----------
    published, ours : float or None
        The numbers; None where there is none.
    error : float or None
        Standard error of ours.
    mark : str
        A word or sign that goes with ours, such as stars of significance.
    agrees : bool or None
        Whether the rule of the experiment is kept; None where it does not apply.

    Examples
    --------
    >>> from bayesift.experiments.catalogue import Cell
    >>> Cell(48.64, 50.0).text(2)
    '48.64 / 50.00'
    >>> Cell(ours=0.95, error=0.003, mark="*").text(3)
    '0.950 ± 0.003 *'
    """

    published: float | None = None
    ours: float | None = None
    error: float | None = None
    mark: str = ""
    agrees: bool | None = None

    @classmethod
    def of(cls, value: Any, published: Any = None, error: Any = None) -> Cell:
        """Make a cell of a number, a mark or another cell; what is not finite counts as absent."""
        printed = _number(published)
        if isinstance(value, Cell):
            return value if printed is None else value._replace(published=printed)
        if isinstance(value, str):
            return cls(printed, mark=value)
        return cls(printed, _number(value), _number(error))

    def text(self, decimals: int) -> str:
        """Write *published / ours*; a cross where they ought to agree and do not."""
        ours = "" if self.ours is None else f"{self.ours:,.{decimals}f}"
        if self.error is not None:
            ours += f" ± {self.error:,.{decimals}f}"
        if self.mark:
            ours += f" {self.mark}" if ours else self.mark
        if self.agrees is False:
            ours += " ✗"
        if self.published is None:
            return ours
        printed = f"{self.published:,.{decimals}f}"
        return f"{printed} / {ours}" if ours else f"{printed} / –"


def _number(value: Any) -> float | None:
    if value is None:
        return None
    number = float(value)
    return number if isfinite(number) else None
