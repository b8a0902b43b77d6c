"""The features with the largest weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from bayesift._typing import AnyArray, FloatArray, Int64Array
from bayesift.plots.display import GREY, PALETTE, Display, axes_or_new


class WeightsDisplay(Display):
    """Draw the largest weights of features as bars (figures 3 to 5 of Molchanov et al. 2015).

    Parameters
    ----------
    weights : array of shape (n_features,)
        Weights, 0 for features that are not in the model.
    feature_names : array of str, optional
        Their names; numbers by default.
    label : str, default="weight"
        Name of the weights.
    frequency : array of shape (n_features,), optional
        How often the features occur; among equal weights, the more frequent comes first.

    Attributes
    ----------
    bars_
        The bars, from the top.

    Examples
    --------
    >>> from bayesift.plots import WeightsDisplay
    >>> display = WeightsDisplay([0.3, 0.0, -0.4], ["love", "the", "hate"])
    >>> display.feature_names[display.top(5)].tolist()
    ['love', 'hate']
    """

    def __init__(self, weights: Any, feature_names: Any = None, label: str = "weight", frequency: Any = None) -> None:
        self.weights: FloatArray = np.asarray(weights, dtype=np.float64)
        if self.weights.ndim != 1:
            raise ValueError(f"weights has shape {self.weights.shape}; expected one number for each feature")
        names = [str(j) for j in range(self.weights.size)] if feature_names is None else feature_names
        self.feature_names: AnyArray = np.asarray(names, dtype=object)
        if self.feature_names.shape != self.weights.shape:
            raise ValueError(f"feature_names has {len(names)} names; expected {self.weights.size}, one for each weight")
        self.label = label
        self.frequency: FloatArray = np.zeros(self.weights.size) if frequency is None else np.asarray(frequency)
        if self.frequency.shape != self.weights.shape:
            raise ValueError(f"frequency has shape {self.frequency.shape}; expected {self.weights.shape}")

    @classmethod
    def from_estimator(
        cls, estimator: Any, feature_names: Any = None, *, category: int = 0, frequency: Any = None
    ) -> Self:
        """Use the weights of a fitted model: q − ½ of a relevance tagging machine, else a row of ``coef_``.

        Parameters
        ----------
        estimator
            A fitted model with ``q_`` or ``coef_``.
        feature_names : array of str, optional
            Names of the features; by default, those of the data frame that it was fitted to.
        category : int, default=0
            Which row of ``coef_``.
        frequency : array of shape (n_features,), optional
            How often the features occur.

        Returns
        -------
        WeightsDisplay
        """
        names = getattr(estimator, "feature_names_in_", None) if feature_names is None else feature_names
        if hasattr(estimator, "q_"):
            return cls(estimator.q_ - 0.5, names, "q − ½", frequency)
        if not hasattr(estimator, "coef_"):
            raise ValueError(f"estimator is {estimator!r}; expected a fitted model with q_ or coef_")
        coef = estimator.coef_
        return cls(np.atleast_2d(coef.toarray() if sp.issparse(coef) else coef)[category], names, frequency=frequency)

    def top(self, largest: int) -> Int64Array:
        """Return the features with the largest absolute weights, from the most positive to the most negative."""
        size = np.abs(self.weights)
        # Weights at the same limit may differ in their last digits.
        order = np.lexsort((-self.frequency, -np.round(size, 9)))
        chosen = order[: min(largest, np.count_nonzero(size))]
        return chosen[np.argsort(-np.round(self.weights[chosen], 9), kind="stable")]

    def plot(self, ax: Any = None, *, largest: int = 30, **bar_options: Any) -> Self:
        """Draw the largest weights as horizontal bars, from the most positive to the most negative.

        Parameters
        ----------
        largest : int, default=30
            How many features to draw.
        """
        drawn = self.top(largest)
        ax = axes_or_new(ax, figsize=(5, 1 + 0.2 * max(drawn.size, 4)))
        weights, places = self.weights[drawn], np.arange(drawn.size)
        colors = np.where(weights > 0, PALETTE[0], PALETTE[1])
        self.bars_ = ax.barh(places, weights, **{"color": colors, **bar_options})
        ax.set_yticks(places, self.feature_names[drawn], fontsize="small")
        ax.set_ylim(max(drawn.size, 1) - 0.3, -0.7)
        ax.axvline(0, color=GREY, linewidth=0.8)
        ax.set_xlabel(self.label)
        return self._drawn(ax)

    def _columns(self) -> Mapping[str, Any]:
        order = self.top(self.weights.size)
        return {"feature": self.feature_names[order], "weight": self.weights[order]}
