"""Printed numbers, read from the file ``published.toml`` of each paper."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import isnan
from typing import Any


@dataclass(frozen=True)
class Grid:
    """The numbers of a printed table.

    Parameters
    ----------
    place : str
        Where they stand in print.
    rows, columns : tuple of str
        Names in the order of print.
    values : tuple of tuples of float
        One tuple for each row; NaN where nothing is printed.
    """

    place: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        shape = [len(row) for row in self.values]
        if shape != [len(self.columns)] * len(self.rows):
            expected = f"{len(self.rows)} rows of {len(self.columns)}"
            raise ValueError(f"values of {self.place!r} have rows of {shape} numbers; expected {expected}")

    def value(self, row: str, column: str) -> float | None:
        """Return the number at a place; None where nothing is printed, or no such row or column."""
        if row not in self.rows or column not in self.columns:
            return None
        number = self.values[self.rows.index(row)][self.columns.index(column)]
        return None if isnan(number) else number

    def row(self, name: str) -> tuple[float, ...]:
        """Return all numbers of a row."""
        return self.values[self.rows.index(name)]

    def column(self, name: str) -> tuple[float, ...]:
        """Return all numbers of a column."""
        place = self.columns.index(name)
        return tuple(row[place] for row in self.values)


@dataclass(frozen=True)
class Published:
    """The printed numbers of one paper, and the paper."""

    source: str
    grids: Mapping[str, Grid]

    def __getitem__(self, name: str) -> Grid:
        return self.grids[name]


@cache
def published(paper: str) -> Published:
    """Read the printed numbers of a paper.

    Parameters
    ----------
    paper : str
        Name of the paper, which is that of its folder.

    Returns
    -------
    Published

    Examples
    --------
    >>> from reproduction.catalogue import published
    >>> published("genkin2007")["table1"].value("Lasso, default", "ModApte")
    48.64
    """
    text = (files("reproduction") / paper / "published.toml").read_text(encoding="utf-8")
    content: dict[str, Any] = tomllib.loads(text)
    source = content.pop("source")
    return Published(source, {name: _grid(entry) for name, entry in content.items()})


def _grid(entry: Mapping[str, Any]) -> Grid:
    values = tuple(tuple(float(number) for number in row) for row in entry["values"])
    return Grid(entry["place"], tuple(entry["rows"]), tuple(entry["columns"]), values)
