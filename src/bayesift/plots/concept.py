"""Beliefs about concepts: prior, likelihood and posterior of each, and their joint prediction."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from bayesift._extras import require
from bayesift._typing import FloatArray, Int64Array
from bayesift.concepts import HypothesisSpace
from bayesift.plots.display import PALETTE, Display, axes_or_new, hide_frame, table


class ConceptDisplay(Display):
    """Draw what examples teach about concepts (figures 3.2 to 3.5 of Murphy 2012).

    Parameters
    ----------
    space : HypothesisSpace
        The concepts.
    data : iterable of items
        The examples.

    Attributes
    ----------
    prior, likelihood, posterior : array of shape (n_hypotheses,)
        Values for each concept; the likelihood is divided by its maximum.
    predictive : array of shape (n_items,)
        Probability that each item belongs to the intended concept.
    axes_, ax_, figure_
        Where it was drawn; ``ax_`` is the first of the axes.

    Examples
    --------
    >>> from bayesift.concepts import number_game
    >>> from bayesift.plots import ConceptDisplay
    >>> display = ConceptDisplay(number_game(), [16, 8, 2, 64])
    >>> float(display.posterior.max().round(3)), float(display.predictive[31].round(3))
    (0.974, 0.98)
    """

    def __init__(self, space: HypothesisSpace, data: Iterable[Hashable]) -> None:
        if not isinstance(space, HypothesisSpace):
            raise TypeError(f"space is {space!r}; expected a HypothesisSpace")
        self.space = space
        self.data = tuple(data)
        log_likelihood = space.log_likelihood(self.data)
        self.prior: FloatArray = space.prior
        self.likelihood: FloatArray = np.exp(log_likelihood - log_likelihood.max())
        self.posterior: FloatArray = space.posterior(self.data)
        self.predictive: FloatArray = space.predictive(self.data)

    def plot(self, axes: Sequence[Any] | None = None, *, most: int = 40) -> Self:
        """Draw prior, likelihood and posterior of the concepts side by side.

        Parameters
        ----------
        axes : three matplotlib axes, optional
            Where to draw; a new figure by default.
        most : int, default=40
            How many concepts to draw: all of them in order, or the most probable if there are more.
        """
        shown = self._shown(most)
        axes = axes_or_new(axes, ncols=3, sharey=True, figsize=(8, 1.2 + 0.18 * len(shown)))
        parts = (self.prior, self.likelihood, self.posterior)
        titles = ("prior", "likelihood / greatest", "posterior")
        place = np.arange(len(shown))
        for ax, part, title, colour in zip(axes, parts, titles, (PALETTE[1], PALETTE[2], PALETTE[0]), strict=True):
            ax.barh(place, part[shown], color=colour, height=0.75)
            ax.set_title(title, fontsize=10, loc="left")
            ax.set_xlim(left=0)
            hide_frame(ax)
            ax.spines["left"].set_visible(False)
            ax.tick_params(left=False, labelsize=8)
            ax.locator_params(axis="x", nbins=4)
        axes[0].set_yticks(place, [self.space.names[h] for h in shown])
        axes[0].set_ylim(len(shown) - 0.4, -0.6)
        return self._placed(axes)

    def plot_predictive(self, ax: Any = None, **bar_options: Any) -> Self:
        """Draw the probability of every item as a bar, with the examples in a second colour."""
        ax = axes_or_new(ax, figsize=(8, 2))
        self._bars(ax, **bar_options)
        return self._placed([ax])

    def plot_averaging(self, *, most: int = 16) -> Self:
        """Draw how concepts are averaged: a row of dots for the items of each, its weight, and on top the weighted sum.

        Parameters
        ----------
        most : int, default=16
            How many of the concepts to draw, the most probable first.
        """
        pyplot = require("matplotlib.pyplot", extra="plot", purpose="drawing")
        shown = np.argsort(-self.posterior, kind="stable")[:most]
        shown = shown[self.posterior[shown] > 0]
        figure = pyplot.figure(figsize=(9, 2 + 0.24 * len(shown)), layout="constrained")
        grid = figure.add_gridspec(2, 2, width_ratios=(5, 1), height_ratios=(1.4, max(0.24 * len(shown), 0.5)))
        bars = figure.add_subplot(grid[0, 0])
        dots = figure.add_subplot(grid[1, 0], sharex=bars)
        weights = figure.add_subplot(grid[1, 1], sharey=dots)
        self._bars(bars)
        bars.tick_params(labelbottom=False)
        bars.set_xlabel("")
        names = [self.space.names[h] for h in shown]
        row, column = np.nonzero(self.space.membership(names))
        examples = np.isin(column, [self.space.items.index(item) for item in self.data])
        colours = np.where(examples, PALETTE[1], PALETTE[0])
        dots.scatter(self._positions()[column], row, s=7, c=colours, linewidths=0)
        dots.set_yticks(range(len(shown)), names, fontsize=8)
        dots.set_ylim(len(shown) - 0.4, -0.6)
        weights.barh(range(len(shown)), self.posterior[shown], color=PALETTE[0], height=0.6)
        weights.set_xlabel("posterior")
        weights.tick_params(labelleft=False, left=False)
        for ax in (dots, weights):
            hide_frame(ax)
        return self._placed([bars, dots, weights])

    def predictive_data(self, *, as_frame: bool = False) -> Any:
        """Return what ``plot_predictive`` draws, as :meth:`plot_data` does for ``plot``.

        The columns are ``item``, ``probability`` and ``example``.
        """
        items = np.asarray(self.space.items)
        example = np.array([item in self.data for item in self.space.items])
        return table({"item": items, "probability": self.predictive, "example": example}, as_frame)

    def _columns(self) -> Mapping[str, Any]:
        names = ("prior", "likelihood", "posterior")
        return {"concept": self.space.names, **{name: getattr(self, name) for name in names}}

    def _placed(self, axes: Sequence[Any]) -> Self:
        self.axes_ = axes
        self.ax_, self.figure_ = axes[0], axes[0].figure
        return self

    def _shown(self, most: int) -> Int64Array:
        """Return the concepts to draw: all, or the most probable."""
        if len(self.space) <= most:
            return np.arange(len(self.space))
        return np.argsort(-self.posterior, kind="stable")[:most]

    def _positions(self) -> FloatArray:
        """Return the positions of the items: their values if they are numbers, else their order."""
        if all(isinstance(item, (int, float, np.number)) for item in self.space.items):
            return np.asarray(self.space.items, dtype=np.float64)
        return np.arange(len(self.space.items), dtype=np.float64)

    def _bars(self, ax: Any, **bar_options: Any) -> None:
        places = self._positions()
        bars = ax.bar(places, self.predictive, **{"width": 0.8, "color": PALETTE[0], **bar_options})
        for item in set(self.data):
            bars[self.space.items.index(item)].set_facecolor(PALETTE[1])
        ax.set_xlim(places.min() - 1, places.max() + 1)
        ax.set_ylim(0, 1.02)
        ax.set_ylabel("p(item | examples)")
        hide_frame(ax)
