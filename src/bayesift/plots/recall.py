"""How much is found when how much is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from bayesift.evaluate import RecallCurve, recall_curve
from bayesift.plots._axes import diagonal, drawn_on, next_colour
from bayesift.plots._predictions import ProbabilitiesDisplay


class RecallEffortDisplay(ProbabilitiesDisplay):
    """Draw the share of the relevant documents found against the share of all documents read.

    Parameters
    ----------
    curve : RecallCurve
        Effort and recall.
    name : str, optional
        What to call the way of reading; for the legend.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from bayesift.plots import RecallEffortDisplay
    >>> RecallEffortDisplay.from_predictions([0, 1, 0, 1], [0.2, 0.9, 0.5, 0.4]).curve.recall
    array([0. , 0.5, 0.5, 1. , 1. ])
    """

    def __init__(self, curve: RecallCurve, name: str | None = None) -> None:
        self.curve = curve
        self.name = name

    @classmethod
    def from_predictions(cls, truth: Any, scores: Any = None, *, name: str | None = None) -> Self:
        """Compute the curve.

        Parameters
        ----------
        truth, scores
            As in :func:`bayesift.evaluate.recall_curve`.
        name : str, optional
            What to call the way of reading.

        Returns
        -------
        RecallEffortDisplay
        """
        return cls(recall_curve(truth, scores), name)

    def plot(self, ax: Any = None, *, level: float | None = 0.95, color: str | None = None) -> Self:
        """Draw the curve, the diagonal of reading in random order, and where a level of recall is reached.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        level : float, optional
            The level of recall; the horizontal distance to the diagonal there is the work saved.
        color : str, optional
            Of the curve; the next of the palette by default.

        Returns
        -------
        self
        """
        ax = drawn_on(ax, figsize=(4.8, 3.6))
        effort, recall = self.curve
        color = next_colour(ax) if color is None else color
        diagonal(ax)
        ax.plot(effort, recall, color=color, linewidth=2, label=self.name)
        if level is not None:
            reached = effort[np.argmax(recall >= level - 1e-9)]
            ax.hlines(level, reached, level, color=color, linewidth=1, linestyle="dotted")
        ax.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="share of documents read", ylabel="recall")
        if self.name is not None:
            ax.legend(frameon=False, loc="lower right")
        return self._drawn(ax)

    def _columns(self) -> Mapping[str, Any]:
        return self.curve._asdict()
