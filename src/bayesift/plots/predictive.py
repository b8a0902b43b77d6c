"""What comes next: averaged over the parameter, and with an estimate plugged in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np

from bayesift._typing import FloatArray
from bayesift.conjugate import Conjugate, DiscretePredictive
from bayesift.plots._axes import PALETTE, drawn_on, one_model
from bayesift.plots.display import Display


class PredictiveDisplay(Display):
    """Draw the posterior predictive distribution beside a plug-in approximation (figure 3.7 of Murphy 2012).

    Parameters
    ----------
    values : array of shape (n_values,)
        New data.
    averaged, plugged_in : array of shape (n_values,)
        Their probabilities or densities.
    discrete : bool
        Whether the values are counts, drawn as bars.
    estimate : str
        What was plugged in; for the legend.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from bayesift.conjugate import BetaBinomial
    >>> from bayesift.plots import PredictiveDisplay
    >>> display = PredictiveDisplay.from_model(BetaBinomial(5, 19), 10)
    >>> display.averaged[:3].round(3), display.plugged_in[:3].round(3)
    (array([0.142, 0.253, 0.253]), array([0.134, 0.299, 0.299]))
    """

    def __init__(
        self, values: FloatArray, averaged: FloatArray, plugged_in: FloatArray, *, discrete: bool, estimate: str
    ) -> None:
        self.values = values
        self.averaged = averaged
        self.plugged_in = plugged_in
        self.discrete = discrete
        self.estimate = estimate

    @classmethod
    def from_model(cls, model: Conjugate, *arguments: Any, estimate: Literal["mode", "mean"] = "mode") -> Self:
        """Compute both distributions.

        Parameters
        ----------
        model : Conjugate
            The belief: a single model whose data are numbers.
        *arguments
            Of its ``predictive``, such as the number of trials.
        estimate : {"mode", "mean"}, default="mode"
            Which value of the parameter to plug in.

        Returns
        -------
        PredictiveDisplay
        """
        one_model(model)
        if estimate not in ("mode", "mean"):
            raise ValueError(f"estimate is {estimate!r}; expected 'mode' or 'mean'")
        point = getattr(model, estimate)
        if not np.isfinite(point).all():
            raise ValueError(f"estimate is {estimate!r}, which the model does not have; expected the other one")
        laws: list[Any] = [model.predictive(*arguments), model.known(point).predictive(*arguments)]
        if laws[0].event_ndim:
            raise ValueError("the predictive distribution is one of vectors; expected one of numbers")
        discrete = isinstance(laws[0], DiscretePredictive)
        values = _counts(laws) if discrete else _numbers(laws)
        averaged, plugged_in = (law.pmf(values) if discrete else law.pdf(values) for law in laws)
        return cls(values, averaged, plugged_in, discrete=discrete, estimate=estimate)

    def plot(self, ax: Any = None) -> Self:
        """Draw counts as pairs of bars, numbers as two curves.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        self
        """
        ax = drawn_on(ax)
        labels = ("posterior predictive", f"plug-in ({self.estimate})")
        heights = (self.averaged, self.plugged_in)
        for label, height, colour, shift in zip(labels, heights, PALETTE[:2], (-0.2, 0.2), strict=True):
            if self.discrete:
                ax.bar(self.values + shift, height, width=0.4, color=colour, label=label)
            else:
                ax.plot(self.values, height, color=colour, linewidth=2, label=label)
        if self.discrete:
            ax.locator_params(axis="x", integer=True)
        ax.set_xlabel("new data")
        ax.set_ylabel("probability" if self.discrete else "density")
        ax.set_ylim(bottom=0)
        ax.legend(frameon=False)
        return self._drawn(ax)

    def _columns(self) -> Mapping[str, Any]:
        return {"value": self.values, "averaged": self.averaged, "plugged_in": self.plugged_in}


def _counts(laws: list[Any]) -> FloatArray:
    """Return the counts that have a visible probability under one of the laws."""
    top = max(law.mean + 8 * np.sqrt(law.variance) for law in laws)
    values = np.arange(np.ceil(top) + 1)
    visible = np.flatnonzero(np.max([law.pmf(values) for law in laws], axis=0) > 1e-4)
    return values[visible[0] : visible[-1] + 1]


def _numbers(laws: list[Any], n_points: int = 801) -> FloatArray:
    """Return numbers around the bulk of draws from the averaged law, whose moments need not exist."""
    low, high = np.quantile(laws[0].sample(4000, random_state=0), [0.01, 0.98])
    low = 0.0 if laws[0].pdf(-1e-9) == 0 else low - (high - low) / 4
    return np.linspace(low, high + (high - low) / 4, n_points)
