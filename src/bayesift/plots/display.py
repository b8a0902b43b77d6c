"""The base class of all displays, and helpers that several plots share."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.isotonic import isotonic_regression

from bayesift._extras import require
from bayesift._files import atomic_path
from bayesift._typing import AnyArray

PALETTE = ("#2b5c8a", "#dd7a2a", "#58ae8c", "#8c2f4b", "#a58ad6", "#7a7a3a")
"""Blue, orange, green, wine, lilac and olive, which can be told apart with any kind of colour vision."""

GREY = "0.72"
"""The grey of the background: diagonals, zero lines, anything not highlighted."""


def colour(k: int) -> str:
    """Return the k-th colour, starting again after the last."""
    return PALETTE[k % len(PALETTE)]


def next_colour(ax: Any) -> str:
    """Return the first colour that no line in the axes has yet."""
    return colour(sum(line.get_color() in PALETTE for line in ax.lines))


def axes_or_new(ax: Any, **figure_options: Any) -> Any:
    """Return the given axes, or those of a new figure; raise an error if matplotlib is missing."""
    pyplot = require("matplotlib.pyplot", extra="plot", purpose="drawing")
    return pyplot.subplots(layout="constrained", **figure_options)[1] if ax is None else ax


def save_plot(plot: Callable[[Any], Any], path: str | os.PathLike[str], **figure_options: Any) -> None:
    """Draw to a file.

    Parameters
    ----------
    plot : callable
        Draws on the given axes, like the method ``plot`` of a display.
    path : path
        Where to write; the ending decides the format: ``.png``, ``.svg`` or ``.pdf``.
    **figure_options
        Passed on to matplotlib's ``Figure``.
    """
    figure = require("matplotlib.figure", extra="plot", purpose="drawing").Figure(
        layout="constrained", **figure_options
    )
    plot(figure.subplots())
    content = BytesIO()
    figure.savefig(content, format=Path(path).suffix[1:].lower(), dpi=150)
    # Not by savefig itself, which hides the error of a full disk behind another one.
    with atomic_path(path) as temporary:
        temporary.write_bytes(content.getvalue())


def hide_frame(ax: Any) -> None:
    """Remove the frame at the top and on the right."""
    ax.spines[["top", "right"]].set_visible(False)


def diagonal(ax: Any) -> None:
    """Draw the line on which both shares are equal, only once for all curves."""
    if not ax.lines:
        ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, zorder=0)


def name_ends(ax: Any, x: float, heights: Any, names: Sequence[Any], colours: Sequence[Any]) -> None:
    """Write names at the right ends of lines, pushed apart if they would overlap."""
    low, high = ax.get_ylim()
    # A line of small print, in points, as a share of the height of the axes.
    spacing = (high - low) * 11 / (72 * ax.get_window_extent().height / ax.figure.dpi)
    heights = np.asarray(heights, dtype=np.float64)
    order = np.argsort(heights, kind="stable")
    steps = spacing * np.arange(len(order))
    # Places at least one step apart and nearest to the ends of the lines, in least squares.
    places = isotonic_regression(heights[order] - steps) + steps if len(order) else steps
    for k, place in zip(order, places, strict=True):
        ax.annotate(
            str(names[k]),
            (x, place),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize="small",
            color=colours[k],
            annotation_clip=False,
        )


class Display(ABC):
    """An object that holds the numbers of a plot, returns them as a table and draws them.

    ``plot(ax)`` draws on the given matplotlib axes, or on those of a new figure, and returns the display. Any
    ``line_options`` or ``bar_options`` are passed on to matplotlib.

    Attributes
    ----------
    ax_, figure_
        Where ``plot`` last drew.
    lines_ : list
        The lines it drew, if the display draws lines.
    """

    ax_: Any
    figure_: Any

    @abstractmethod
    def _columns(self) -> Mapping[str, Any]:
        """Return the columns of the table, of equal length."""

    def plot_data(self, *, as_frame: bool = False) -> Any:
        """Return what ``plot`` draws as a table, for plots of your own.

        Parameters
        ----------
        as_frame : bool, default=False
            Return a pandas data frame instead of a dictionary.

        Returns
        -------
        dict of str to array, or DataFrame
            Columns of equal length.
        """
        return table(self._columns(), as_frame)

    def _drawn(self, ax: Any) -> Self:
        hide_frame(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def table(columns: Mapping[str, Any], as_frame: bool) -> Any:
    """Return columns as a dictionary of arrays or as a data frame."""
    found: dict[str, AnyArray] = {name: np.asarray(column) for name, column in columns.items()}
    return require("pandas", extra="frames", purpose="as_frame=True").DataFrame(found) if as_frame else found


def stacked(x: tuple[str, Any], lines: tuple[str, Any], values: tuple[str, Any]) -> dict[str, Any]:
    """Stack lines over the same x in long form: named columns of x, of the lines' names and of the values.

    The values are an array of shape (n_lines, n_x) or a sequence of such rows.
    """
    (x_name, places), (line_name, names), (value_name, rows) = x, lines, values
    return {
        x_name: np.tile(np.asarray(places), len(names)),
        line_name: np.repeat(np.asarray(names), len(places)),
        value_name: np.ravel(rows),
    }
