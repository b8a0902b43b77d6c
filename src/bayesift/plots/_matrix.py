"""Counts of pairs of labels as coloured cells with numbers in them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from bayesift._typing import AnyArray, FloatArray
from bayesift.decide.utility import ratio
from bayesift.plots._axes import drawn_on
from bayesift.plots.display import Display


class Words(NamedTuple):
    """What stands at the axes and at the scale of colours, and names of the table's columns of labels."""

    row: str
    column: str
    share: str
    row_label: str
    column_label: str


class MatrixDisplay(Display):
    """Documents by two labels, as counts and as shares of the documents of the row."""

    def __init__(self, counts: Any, sizes: Any, names: Sequence[str], argument: str) -> None:
        self.counts: AnyArray = np.asarray(counts)
        self.sizes: AnyArray = np.asarray(sizes)
        self.names = [str(name) for name in names]
        n = len(self.names)
        if self.counts.shape != (n, n) or self.sizes.shape != (n,):
            found = f"{self.counts.shape} and sizes {self.sizes.shape}"
            raise ValueError(f"counts has shape {found}; expected {(n, n)} and {(n,)}, for the {argument}")
        self.shares: FloatArray = ratio(self.counts, np.broadcast_to(self.sizes[:, np.newaxis], (n, n)), 0.0)

    @abstractmethod
    def _words(self) -> Words:
        """Return what to write."""

    @abstractmethod
    def _importance(self) -> AnyArray:
        """Return a number for each label; those with the greatest are drawn."""

    def plot(self, ax: Any = None, *, most: int = 25, numbers: bool = True) -> Self:
        """Draw the matrix, with the numbers of documents in its cells.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        most : int, default=25
            How many labels to draw: all, or the most important where there are more (most errors, or most documents).
        numbers : bool, default=True
            Whether to write the numbers.

        Returns
        -------
        self
        """
        shown = np.sort(np.argsort(-self._importance(), kind="stable")[:most])
        ax = drawn_on(ax, figsize=(2.4 + 0.5 * len(shown), 1.5 + 0.42 * len(shown)))
        shares, counts = (matrix[np.ix_(shown, shown)] for matrix in (self.shares, self.counts))
        # Light to dark in one hue: the order is seen with any kind of colour vision, and in print.
        image = ax.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        if numbers:
            for i, j in np.argwhere(counts != 0):
                ink = "white" if shares[i, j] > 0.55 else "0.15"
                ax.text(j, i, f"{counts[i, j]:g}", ha="center", va="center", color=ink, fontsize="small")
        words, names = self._words(), [self.names[k] for k in shown]
        ax.set_xticks(np.arange(len(shown)), names, rotation=45, ha="right", rotation_mode="anchor")
        ax.set_yticks(np.arange(len(shown)), names)
        ax.tick_params(length=0)
        ax.set(xlabel=words.column, ylabel=words.row)
        bar = ax.figure.colorbar(image, ax=ax, shrink=0.8, label=words.share)
        bar.outline.set_visible(False)
        ax.spines[:].set_visible(False)
        return self._drawn(ax)

    def _columns(self) -> Mapping[str, Any]:
        n, words = len(self.names), self._words()
        return {
            words.row_label: np.repeat(self.names, n),
            words.column_label: np.tile(self.names, n),
            "documents": self.counts.ravel(),
            "share": self.shares.ravel(),
        }
