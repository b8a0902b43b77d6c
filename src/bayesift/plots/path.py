"""Coefficients against the strength of the prior."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from bayesift._typing import AnyArray, Int64Array
from bayesift.linear.path import RegularizationPath, regularization_path
from bayesift.plots.display import GREY, PALETTE, Display, axes_or_new, colour, name_ends, stacked


class RegularizationPathDisplay(Display):
    """Draw the coefficients of a regularisation path (figures 1 and 2 of Genkin, Lewis & Madigan 2007).

    Parameters
    ----------
    path : RegularizationPath
        The fits.
    feature_names : array of str, optional
        Names of the columns; those of the path, where it has some.

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
        largest : int, default=10
            How many coefficients to draw.
        """
        ax = axes_or_new(ax)
        drawn = self._by_size()[:largest]
        curves = self.path.coef[:, drawn].toarray().T
        self.lines_ = [
            ax.plot(self.path.variances, curve, **{"color": colour(k), "linestyle": _style(k), **line_options})[0]
            for k, curve in enumerate(curves)
        ]
        ax.set_xscale("log")
        ax.axhline(0, color=GREY, linewidth=0.8, zorder=0)
        ax.set_xlabel("prior variance")
        ax.set_ylabel("posterior mode")
        if self.feature_names is not None:
            colours = [line.get_color() for line in self.lines_]
            name_ends(ax, self.path.variances[-1], curves[:, -1], list(self.feature_names[drawn]), colours)
        return self._drawn(ax)

    def _columns(self) -> Mapping[str, Any]:
        used = self._by_size()
        names = used if self.feature_names is None else self.feature_names[used]
        curves = self.path.coef[:, used].toarray().T
        return stacked(("variance", self.path.variances), ("feature", names), ("coefficient", curves))

    def _by_size(self) -> Int64Array:
        """Return the columns that are ever used, by their largest absolute coefficient."""
        size = np.asarray(abs(self.path.coef).max(axis=0).todense()).ravel()
        return np.argsort(-size, kind="stable")[: np.count_nonzero(size)]


def _style(k: int) -> str:
    """Return a style of line that tells lines of the same colour apart."""
    return ("-", "--", ":")[k // len(PALETTE) % 3]
