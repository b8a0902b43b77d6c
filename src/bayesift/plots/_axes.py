"""What several pictures have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.isotonic import isotonic_regression

from bayesift._extras import require
from bayesift.conjugate import Conjugate

PALETTE = ("#2b5c8a", "#dd7a2a", "#58ae8c", "#8c2f4b", "#a58ad6", "#7a7a3a")
"""Blue, orange, green, wine, lilac and olive: told apart with any kind of colour vision."""

QUIET = "0.72"
"""The grey of what stands behind: diagonals, zero lines, what is not pointed out."""


def colour(k: int) -> str:
    """Return the k-th colour, from the first again after the last."""
    return PALETTE[k % len(PALETTE)]


def next_colour(ax: Any) -> str:
    """Return the first colour that no line of the axes has yet."""
    return colour(sum(line.get_color() in PALETTE for line in ax.lines))


def drawn_on(ax: Any, **figure_options: Any) -> Any:
    """Return the given axes, or those of a new figure; complain where matplotlib is missing."""
    pyplot = require("matplotlib.pyplot", extra="plot", purpose="drawing")
    return pyplot.subplots(layout="constrained", **figure_options)[1] if ax is None else ax


def bare(ax: Any) -> None:
    """Take the frame away at the top and at the right."""
    ax.spines[["top", "right"]].set_visible(False)


def diagonal(ax: Any) -> None:
    """Draw the line on which both shares are equal, once for all curves that are compared with it."""
    if not ax.lines:
        ax.plot([0, 1], [0, 1], color=QUIET, linewidth=0.8, zorder=0)


def name_ends(ax: Any, x: float, heights: Any, names: Sequence[Any], colours: Sequence[Any]) -> None:
    """Write names beside the right ends of lines, pushed apart where they would overlap."""
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


def one_model(model: Any) -> None:
    """Complain about anything but a single conjugate model."""
    if not isinstance(model, Conjugate):
        raise TypeError(f"model is {model!r}; expected a conjugate model")
    if model.batch_shape:
        raise ValueError(f"model is a batch of shape {model.batch_shape}; expected a single model")
