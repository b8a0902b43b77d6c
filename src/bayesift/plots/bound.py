"""The likelihood of tagged objects and its lower bounds, along the probability of one tag."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from bayesift._typing import FloatArray
from bayesift.ard import tagging_log_likelihood, tagging_log_likelihood_bound
from bayesift.plots.display import Display, axes_or_new, colour, stacked


class BoundDisplay(Display):
    """Draw a function of one tag's q and lower bounds that touch it (figures 1 and 2 of Molchanov et al. 2015).

    Parameters
    ----------
    q : array of shape (n_points,)
        Probabilities of the tag.
    values : array of shape (n_points,)
        The likelihood, or the evidence integrand.
    bounds : array of shape (n_bounds, n_points)
        Its lower bounds.
    touching : array of shape (n_bounds,)
        Where each bound touches.
    label : str, default="likelihood"
        What ``values`` are.

    Attributes
    ----------
    lines_ : list
        The line of the values, then those of the bounds.

    Examples
    --------
    >>> from bayesift.plots import BoundDisplay
    >>> display = BoundDisplay.from_objects([[1, 1]], [1], [0.7, 0.6], tag=0, touching=[0.3, 0.5])
    >>> bool((display.bounds <= display.values + 1e-12).all())
    True
    """

    def __init__(self, q: Any, values: Any, bounds: Any, touching: Any, label: str = "likelihood") -> None:
        self.q: FloatArray = np.asarray(q, dtype=np.float64)
        self.values: FloatArray = np.asarray(values, dtype=np.float64)
        self.bounds: FloatArray = np.atleast_2d(np.asarray(bounds, dtype=np.float64))
        self.touching: FloatArray = np.asarray(touching, dtype=np.float64)
        self.label = label
        expected = (self.touching.size, self.q.size)
        if self.values.shape != self.q.shape or self.bounds.shape != expected:
            raise ValueError(
                f"values has shape {self.values.shape} and bounds {self.bounds.shape}; "
                f"expected {self.q.shape} and {expected}, for the points q and the bounds' touching points"
            )

    @classmethod
    def from_objects(
        cls,
        X: Any,
        y: Any,
        q: Any,
        *,
        tag: int,
        touching: Sequence[float],
        alpha: Any = None,
        n_points: int = 400,
    ) -> Self:
        """Compute the likelihood of all objects together, or the evidence integrand, and its bounds.

        Parameters
        ----------
        X, y
            Tags and classes as in :func:`bayesift.ard.tagging_log_likelihood`.
        q : array of shape (n_tags,)
            The values of the other tags, at which η of the bounds is the same.
        tag : int
            The tag whose q moves.
        touching : sequence of float
            η of this tag, one for each bound.
        alpha : array of shape (n_tags,), optional
            If given, the values are multiplied by the priors Beta(α + 1, α + 1) and divided by their maximum.
        n_points : int, default=400
            Points on (0, 1).

        Returns
        -------
        BoundDisplay
        """
        grid = (np.arange(n_points) + 0.5) / n_points
        points = np.tile(np.asarray(q, dtype=np.float64), (n_points, 1))
        points[:, tag] = grid
        etas = np.tile(np.asarray(q, dtype=np.float64), (len(touching), 1))
        etas[:, tag] = touching
        values = tagging_log_likelihood(X, y, points).sum(axis=-1)
        bounds = np.array([tagging_log_likelihood_bound(X, y, points, eta).sum(axis=-1) for eta in etas])
        label = "likelihood"
        if alpha is not None:
            # Constants of the prior cancel with the maximum.
            prior = np.log(points * (1 - points)) @ np.asarray(alpha, dtype=np.float64)
            values, bounds = values + prior, bounds + prior
            top = values.max()
            values, bounds = values - top, bounds - top
            label = "evidence integrand"
        return cls(grid, np.exp(values), np.exp(bounds), touching, label)

    def plot(self, ax: Any = None, **line_options: Any) -> Self:
        """Draw the values as a thick line and the bounds below it, with dots where they touch."""
        ax = axes_or_new(ax)
        self.lines_ = ax.plot(self.q, self.values, color="0.25", linewidth=2.5, label=self.label)
        for k, (bound, place) in enumerate(zip(self.bounds, self.touching, strict=True)):
            options = {"color": colour(k), "label": f"bound, η = {place:.3g}", **line_options}
            self.lines_ += ax.plot(self.q, bound, **options)
            height = np.interp(place, self.q, self.values)
            ax.plot([place], [height], "o", color=self.lines_[-1].get_color(), markersize=5)
        ax.set(xlabel="q", ylabel=self.label, xlim=(0, 1), ylim=(0, None))
        ax.legend(frameon=False, fontsize="small")
        return self._drawn(ax)

    def _columns(self) -> Mapping[str, Any]:
        names = [self.label, *(f"bound, η = {place:.3g}" for place in self.touching)]
        return stacked(("q", self.q), ("curve", names), ("value", [self.values, *self.bounds]))
