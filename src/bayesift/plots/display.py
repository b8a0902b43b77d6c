"""What all displays are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from bayesift._extras import require
from bayesift._typing import AnyArray
from bayesift.plots._axes import bare


class Display(ABC):
    """An object that holds the numbers of a picture, gives them as a table and draws them.

    Attributes
    ----------
    ax_, figure_
        Where ``plot`` drew last.
    """

    ax_: Any
    figure_: Any

    @abstractmethod
    def _columns(self) -> Mapping[str, Any]:
        """Return the columns of the table, of equal length."""

    def plot_data(self, *, as_frame: bool = False) -> Any:
        """Return what ``plot`` draws as a table, for those who draw themselves.

        Parameters
        ----------
        as_frame : bool, default=False
            A pandas data frame, instead of a dictionary.

        Returns
        -------
        dict of str to array, or DataFrame
            Columns of equal length.
        """
        return table(self._columns(), as_frame)

    def _drawn(self, ax: Any) -> Self:
        bare(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def table(columns: Mapping[str, Any], as_frame: bool) -> Any:
    """Return columns as a dictionary of arrays or as a data frame."""
    found: dict[str, AnyArray] = {name: np.asarray(column) for name, column in columns.items()}
    return require("pandas", extra="frames", purpose="as_frame=True").DataFrame(found) if as_frame else found


def stacked(x: tuple[str, Any], lines: tuple[str, Any], values: tuple[str, Any]) -> dict[str, Any]:
    """Put lines over the same x under each other: named columns of x, of the lines' names and of the values.

    The values are an array of shape (n_lines, n_x) or a sequence of such rows.
    """
    (x_name, places), (line_name, names), (value_name, rows) = x, lines, values
    return {
        x_name: np.tile(np.asarray(places), len(names)),
        line_name: np.repeat(np.asarray(names), len(places)),
        value_name: np.ravel(rows),
    }
