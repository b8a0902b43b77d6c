"""Tables of printed numbers beside ours, and the rules by which they agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, NamedTuple, Protocol, Self

from reproduction.catalogue.published import Grid


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
    >>> from reproduction.catalogue import Cell
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
    whole : float, optional
        What shares are shares of, such as 100 for per cents: a relative distance is then one of the share or of what is
        left of the whole, whichever is smaller. That 99 % are removed says little; that 1 % stays says it.

    Examples
    --------
    >>> from reproduction.catalogue import Within
    >>> Within(3)(48.64, 50.0), Within(0.15, relative=True)(100, 120)
    (True, False)
    >>> Within(0.25, relative=True, whole=100)(98.0, 97.6), Within(0.25, relative=True, whole=100)(98.0, 96.0)
    (True, False)
    """

    distance: float
    relative: bool = False
    least: float = 0.0
    whole: float | None = None

    def __post_init__(self) -> None:
        if not self.distance >= 0:
            raise ValueError(f"distance is {self.distance!r}; expected a number of at least 0")

    def __call__(self, published: float, ours: float) -> bool:
        """Tell whether the numbers agree; the last digit of decimal fractions is forgiven."""
        size = abs(published) if self.whole is None else min(abs(published), abs(self.whole - published))
        allowed = self.distance * (size if self.relative else 1.0)
        return abs(ours - published) <= max(allowed, self.least) + 1e-9

    def __str__(self) -> str:
        or_least = f" or {self.least:g}" if self.least else ""
        of = "" if self.whole is None else " of the share or the rest"
        return f"within {100 * self.distance:g} %{of}{or_least}" if self.relative else f"within {self.distance:g}"


@dataclass(frozen=True)
class SameDecision:
    """Both numbers lie on the same side of a level, as p-values do when they lead to the same decision."""

    level: float = 0.05

    def __call__(self, published: float, ours: float) -> bool:
        """Tell whether the numbers lie on the same side."""
        return (published <= self.level) == (ours <= self.level)

    def __str__(self) -> str:
        return f"on the same side of {self.level:g}"


@dataclass(frozen=True)
class Table:
    """Rows and columns of printed numbers beside ours.

    Parameters
    ----------
    title : str
        What the numbers are, with their unit.
    rows, columns : tuple of str
        Names.
    cells : tuple of tuples of Cell
        One tuple for each row.
    decimals : tuple of int
        Digits after the point, for each column.
    corner : str
        What the rows are.
    note : str
        What a reader must know of these numbers.
    comparable : bool
        Whether ours were measured on what the paper measured; if not, they are shown and not judged.

    Examples
    --------
    >>> from reproduction.catalogue import Table, Within
    >>> table = Table.of("F1", {"lasso": {"ModApte": 50.0}, "ridge": {"ModApte": 38.8}}, decimals=1)
    >>> table.cell("lasso", "ModApte").ours
    50.0
    """

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]
    decimals: tuple[int, ...]
    corner: str = ""
    note: str = ""
    comparable: bool = True

    @classmethod
    def of(
        cls,
        title: str,
        ours: Mapping[str, Mapping[str, Any]],
        published: Grid | None = None,
        *,
        errors: Mapping[str, Mapping[str, float]] | None = None,
        rows: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        decimals: int | Mapping[str, int] = 2,
        corner: str = "",
        note: str = "",
        comparable: bool = True,
    ) -> Self:
        """Put our numbers beside the printed ones.

        Parameters
        ----------
        title : str
            What the numbers are.
        ours : mapping of row to mapping of column to value
            Our numbers; a string is shown as a mark, a :class:`Cell` as it is. Places may be missing.
        published : Grid, optional
            The printed numbers.
        errors : mapping of row to mapping of column to float, optional
            Standard errors of ours.
        rows, columns : sequences of str, optional
            Which and in what order; by default the printed ones, then those that only we have.
        decimals : int or mapping of column to int
            Digits after the point (2 for columns not named).
        corner, note, comparable
            As in the class.

        Returns
        -------
        Table
        """
        rows = tuple(rows or _names(published.rows if published else (), ours))
        found = [column for row in ours.values() for column in row]
        columns = tuple(columns or _names(published.columns if published else (), found))
        digits = decimals if isinstance(decimals, Mapping) else dict.fromkeys(columns, decimals)

        def cell(row: str, column: str) -> Cell:
            printed = None if published is None else published.value(row, column)
            error = (errors or {}).get(row, {}).get(column)
            return Cell.of(ours.get(row, {}).get(column), printed, error)

        cells = tuple(tuple(cell(row, column) for column in columns) for row in rows)
        places = tuple(digits.get(column, 2) for column in columns)
        return cls(title, rows, columns, cells, places, corner, note, comparable)

    def cell(self, row: str, column: str) -> Cell:
        """Return the cell at a place."""
        return self.cells[self.rows.index(row)][self.columns.index(column)]

    def ours(self, row: str, column: str) -> float | None:
        """Return our number at a place."""
        return self.cell(row, column).ours

    def judged(self, rule: Rule | Mapping[str, Rule] | None) -> Self:
        """Say of every cell with both numbers whether they agree, by one rule or by that of its column or row.

        A printed number that can be compared and has no rule is an error: no cell is passed over in silence.
        """
        if not self.comparable:
            return self

        def judge(cell: Cell, row: str, column: str) -> Cell:
            if cell.published is None or cell.ours is None:
                return cell
            found = rule.get(column, rule.get(row)) if isinstance(rule, Mapping) else rule
            if found is None:
                raise ValueError(
                    f"{self.title!r} has no rule for {row}, {column}; expected one for every printed number"
                )
            return cell._replace(agrees=found(cell.published, cell.ours))

        cells = tuple(
            tuple(judge(cell, row, column) for cell, column in zip(line, self.columns, strict=True))
            for line, row in zip(self.cells, self.rows, strict=True)
        )
        return replace(self, cells=cells)

    def texts(self) -> list[list[str]]:
        """Return the cells as they are shown."""
        return [[cell.text(d) for cell, d in zip(row, self.decimals, strict=True)] for row in self.cells]

    def as_dict(self) -> dict[str, Any]:
        """Return the table as plain values for JSON."""
        cells = [[_sparse(cell) for cell in row] for row in self.cells]
        plain = {name: getattr(self, name) for name in ("title", "corner", "note", "comparable")}
        return plain | {"rows": [*self.rows], "columns": [*self.columns], "decimals": [*self.decimals], "cells": cells}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Make the table of what :meth:`as_dict` gave."""
        cells = tuple(tuple(Cell(**cell) for cell in row) for row in values["cells"])
        names = {name: tuple(values[name]) for name in ("rows", "columns", "decimals")}
        return cls(**{**values, **names, "cells": cells})


def _names(first: Sequence[str], then: Any) -> list[str]:
    return list(dict.fromkeys([*first, *then]))


def _sparse(cell: Cell) -> dict[str, Any]:
    return {name: value for name, value in cell._asdict().items() if value not in (None, "")}
