"""What several pictures have in common."""

from __future__ import annotations

from typing import Any

from bayesift._extras import require
from bayesift.conjugate import Conjugate

PALETTE = ("#2b5c8a", "#c8553d", "#5f7d4f")
"""Dark blue, red and green that differ in lightness too."""


def drawn_on(ax: Any, **figure_options: Any) -> Any:
    """Return the given axes, or those of a new figure; complain where matplotlib is missing."""
    pyplot = require("matplotlib.pyplot", extra="plot", purpose="drawing")
    return pyplot.subplots(layout="constrained", **figure_options)[1] if ax is None else ax


def bare(ax: Any) -> None:
    """Take the frame away at the top and at the right."""
    ax.spines[["top", "right"]].set_visible(False)


def one_model(model: Any) -> None:
    """Complain about anything but a single conjugate model."""
    if not isinstance(model, Conjugate):
        raise TypeError(f"model is {model!r}; expected a conjugate model")
    if model.batch_shape:
        raise ValueError(f"model is a batch of shape {model.batch_shape}; expected a single model")
