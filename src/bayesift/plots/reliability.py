"""Whether probabilities mean what they say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from bayesift.conjugate import BetaBinomial
from bayesift.evaluate import ReliabilityCurve, reliability_curve
from bayesift.plots._axes import diagonal, drawn_on, next_colour
from bayesift.plots._predictions import ProbabilitiesDisplay


class ReliabilityDisplay(ProbabilitiesDisplay):
    """Draw the observed share of documents in the category against their probability.

    Bars show what the share of each group may be: the middle 95 % of a belief that held all shares equally possible
    before.

    Parameters
    ----------
    curve : ReliabilityCurve
        Documents in groups of similar probability.
    name : str, optional
        What to call the system; for the legend.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from bayesift.plots import ReliabilityDisplay
    >>> display = ReliabilityDisplay.from_predictions([1, 1, 0, 0], [0.8, 0.9, 0.3, 0.2], bins=2)
    >>> display.curve.observed
    array([0., 1.])
    """

    def __init__(self, curve: ReliabilityCurve, name: str | None = None) -> None:
        self.curve = curve
        self.name = name

    @classmethod
    def from_predictions(cls, truth: Any, probabilities: Any, *, name: str | None = None, **options: Any) -> Self:
        """Compute the curve.

        Parameters
        ----------
        truth, probabilities
            As in :func:`bayesift.evaluate.reliability_curve`.
        name : str, optional
            What to call the system.
        **options
            Further arguments of :func:`bayesift.evaluate.reliability_curve`.

        Returns
        -------
        ReliabilityDisplay
        """
        return cls(reliability_curve(truth, probabilities, **options), name)

    def plot(self, ax: Any = None, *, color: str | None = None) -> Self:
        """Draw the groups as points, and the diagonal on which they should lie.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        color : str, optional
            Of points and bars; the next of the palette by default.

        Returns
        -------
        self
        """
        ax = drawn_on(ax, figsize=(4.2, 4.2))
        _, predicted, observed = self.curve
        low, high = self._interval()
        color = next_colour(ax) if color is None else color
        diagonal(ax)
        ax.vlines(predicted, low, high, color=color, linewidth=1.2, alpha=0.6)
        ax.plot(predicted, observed, "o-", color=color, linewidth=1.5, markersize=5, label=self.name)
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel="probability", ylabel="share in the category")
        ax.set_aspect("equal")
        if self.name is not None:
            ax.legend(frameon=False, loc="lower right")
        return self._drawn(ax)

    def _columns(self) -> Mapping[str, Any]:
        low, high = self._interval()
        return {**self.curve._asdict(), "low": low, "high": high}

    def _interval(self) -> Any:
        number, _, observed = self.curve
        inside = np.rint(number * observed)
        return BetaBinomial(1, 1).update(inside, number - inside).interval()
