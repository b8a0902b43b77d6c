"""The one kind of table that all experiments give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from bayesift.experiments.catalogue.cell import Cell
from bayesift.experiments.catalogue.grid import Grid
from bayesift.experiments.catalogue.rules import Rule


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
    >>> from bayesift.experiments.catalogue import Table, Within
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
        """Say of every cell with both numbers whether they agree, by one rule or by that of its column or row."""
        if rule is None or not self.comparable:
            return self

        def judge(cell: Cell, row: str, column: str) -> Cell:
            found = rule.get(column, rule.get(row)) if isinstance(rule, Mapping) else rule
            if cell.published is None or cell.ours is None or found is None:
                return cell
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
