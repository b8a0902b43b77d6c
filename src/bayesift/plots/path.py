"""Coefficients against the strength of the prior."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from bayesift._extras import require
from bayesift._typing import AnyArray
from bayesift.linear.path import RegularizationPath, regularization_path


class RegularizationPathDisplay:
    """Draw the coefficients of a regularisation path (figures 1 and 2 of Genkin, Lewis & Madigan 2007).

    Parameters
    ----------
    path : RegularizationPath
        The fits.
    feature_names : array of str, optional
        Names of the columns; those of the path, where it has some.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    lines_ : list
        One line for each coefficient drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.plots import RegularizationPathDisplay
    >>> X = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.5]])
    >>> display = RegularizationPathDisplay.from_data(X, [1, 1, 0, 0], n_steps=5)
    >>> display.path.coef.shape
    (5, 2)
    """

    def __init__(self, path: RegularizationPath, feature_names: Any = None) -> None:
        self.path = path
        given = path.feature_names if feature_names is None else np.asarray(feature_names, dtype=object)
        n_features = path.coef.shape[1]
        if given is not None and len(given) != n_features:
            raise ValueError(f"feature_names has {len(given)} names; expected {n_features}, one for each column")
        self.feature_names: AnyArray | None = given

    @classmethod
    def from_data(cls, X: Any, y: Any, *, feature_names: Any = None, **options: Any) -> Self:
        """Compute the path and hold it for drawing.

        Parameters
        ----------
        X, y
            As in :func:`bayesift.linear.regularization_path`.
        feature_names : array of str, optional
            Names of the columns.
        **options
            Further arguments of :func:`bayesift.linear.regularization_path`.

        Returns
        -------
        RegularizationPathDisplay
        """
        return cls(regularization_path(X, y, feature_names=feature_names, **options))

    def plot(self, ax: Any = None, *, largest: int = 10, **line_options: Any) -> Self:
        """Draw the coefficients that grow largest, with their names at the right end.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        largest : int, default=10
            How many coefficients to draw.
        **line_options
            Passed on to matplotlib.

        Returns
        -------
        self
        """
        pyplot = require("matplotlib.pyplot", extra="plot", purpose="drawing")
        if ax is None:
            _, ax = pyplot.subplots(layout="constrained")
        size = np.asarray(abs(self.path.coef).max(axis=0).todense()).ravel()
        drawn = np.argsort(-size, kind="stable")[: min(largest, np.count_nonzero(size))]
        curves = self.path.coef[:, drawn].toarray().T
        self.lines_ = [ax.plot(self.path.variances, curve, **line_options)[0] for curve in curves]
        ax.set_xscale("log")
        ax.axhline(0, color="0.7", linewidth=0.8, zorder=0)
        ax.set_xlabel("prior variance")
        ax.set_ylabel("posterior mode")
        ax.spines[["top", "right"]].set_visible(False)
        if self.feature_names is not None:
            self._name_lines(ax, drawn, curves[:, -1])
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _name_lines(self, ax: Any, drawn: AnyArray, heights: AnyArray) -> None:
        """Write the names beside the ends of the lines, pushed apart where they would overlap."""
        names = self.feature_names if self.feature_names is not None else np.empty(0)
        low, high = ax.get_ylim()
        spacing = (high - low) / 24
        order = np.argsort(heights, kind="stable")
        place = -np.inf
        for k in order:
            place = max(heights[k], place + spacing)
            ax.annotate(
                str(names[drawn[k]]),
                (self.path.variances[-1], place),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                fontsize="small",
                color=self.lines_[k].get_color(),
                annotation_clip=False,
            )
