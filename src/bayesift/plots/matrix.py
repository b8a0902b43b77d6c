"""Counts of pairs of labels as coloured cells: which classes are confused, and which labels occur together."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.metrics import confusion_matrix
from sklearn.utils.multiclass import unique_labels

from bayesift._typing import AnyArray, FloatArray
from bayesift.decide.utility import ratio
from bayesift.evaluate.outcomes import as_booleans, check_same_shape
from bayesift.plots.display import Display, axes_or_new


class AxisTexts(NamedTuple):
    """Labels of the axes and of the colour scale, and names of the table's label columns."""

    row: str
    column: str
    share: str
    row_label: str
    column_label: str


class MatrixDisplay(Display):
    """Documents by two labels, as counts and as shares of the documents of the row.

    Attributes
    ----------
    names : list of str
        The classes or categories.
    shares : array of shape (n_names, n_names)
        Counts divided by the size of their row; 0 for rows without documents.
    """

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
    def _texts(self) -> AxisTexts:
        """Return the labels."""

    @abstractmethod
    def _importance(self) -> AnyArray:
        """Return a number for each label; the labels with the largest are drawn."""

    def plot(self, ax: Any = None, *, most: int = 25, numbers: bool = True) -> Self:
        """Draw the matrix, with the numbers of documents in its cells.

        Parameters
        ----------
        most : int, default=25
            How many labels to draw: all, or the most important if there are more (most errors, or most documents).
        numbers : bool, default=True
            Whether to write the numbers.
        """
        shown = np.sort(np.argsort(-self._importance(), kind="stable")[:most])
        ax = axes_or_new(ax, figsize=(2.4 + 0.5 * len(shown), 1.5 + 0.42 * len(shown)))
        shares, counts = (matrix[np.ix_(shown, shown)] for matrix in (self.shares, self.counts))
        # Light to dark in one hue, whose order is visible with any kind of colour vision, and in print.
        image = ax.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        if numbers:
            for i, j in np.argwhere(counts != 0):
                ink = "white" if shares[i, j] > 0.55 else "0.15"
                ax.text(j, i, f"{counts[i, j]:,.12g}", ha="center", va="center", color=ink, fontsize="small")
        words, names = self._texts(), [self.names[k] for k in shown]
        ax.set_xticks(np.arange(len(shown)), names, rotation=45, ha="right", rotation_mode="anchor")
        ax.set_yticks(np.arange(len(shown)), names)
        ax.tick_params(length=0)
        ax.set(xlabel=words.column, ylabel=words.row)
        bar = ax.figure.colorbar(image, ax=ax, shrink=0.8, label=words.share)
        bar.outline.set_visible(False)
        ax.spines[:].set_visible(False)
        return self._drawn(ax)

    def _columns(self) -> Mapping[str, Any]:
        n, words = len(self.names), self._texts()
        return {
            words.row_label: np.repeat(self.names, n),
            words.column_label: np.tile(self.names, n),
            "documents": self.counts.ravel(),
            "share": self.shares.ravel(),
        }


class ConfusionDisplay(MatrixDisplay):
    """Draw how many documents of each class were assigned to each class, for documents with one label.

    Cells are coloured by their share of the row, that is, of the documents in the class.

    Parameters
    ----------
    counts : array of shape (n_classes, n_classes)
        Documents by true class (rows) and by decided class (columns).
    classes : sequence of str
        Names of the classes.

    See Also
    --------
    CooccurrenceDisplay : For documents with several labels.

    Examples
    --------
    >>> from bayesift.plots import ConfusionDisplay
    >>> display = ConfusionDisplay.from_predictions(["oil", "oil", "gold"], ["oil", "gold", "gold"])
    >>> display.names, display.counts.tolist()
    (['gold', 'oil'], [[1, 0], [1, 1]])
    """

    def __init__(self, counts: Any, classes: Sequence[str]) -> None:
        super().__init__(counts, np.sum(counts, axis=-1), classes, "classes")

    @classmethod
    def from_predictions(cls, truth: Any, decisions: Any) -> Self:
        """Count the pairs of true and decided class.

        Parameters
        ----------
        truth, decisions : arrays of shape (n_documents,)
            Labels of any type.

        Returns
        -------
        ConfusionDisplay
        """
        if np.ndim(truth) != 1 or np.ndim(decisions) != 1:
            shapes = f"{np.shape(truth)} and {np.shape(decisions)}"
            raise ValueError(f"truth and decisions have shapes {shapes}; expected one label per document")
        return cls(confusion_matrix(truth, decisions), unique_labels(truth, decisions))

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any) -> Self:
        """Count the decisions of a fitted model.

        Parameters
        ----------
        estimator
            A fitted classifier.
        X, y
            Documents and their labels.

        Returns
        -------
        ConfusionDisplay
        """
        return cls.from_predictions(y, estimator.predict(X))

    def _texts(self) -> AxisTexts:
        return AxisTexts("true class", "decided class", "share of the true class", "true", "decided")

    def _importance(self) -> AnyArray:
        """Return the number of errors that involve each class."""
        return self.counts.sum(axis=0) + self.counts.sum(axis=1) - 2 * np.diag(self.counts)


class CooccurrenceDisplay(MatrixDisplay):
    """Draw how many documents of each category are also in each other one, for documents with several labels.

    Parameters
    ----------
    counts : array of shape (n_categories, n_categories)
        Numbers of documents with the label of the row and that of the column.
    sizes : array of shape (n_categories,)
        Numbers of documents with the label of the row; cells are coloured by their share of these.
    categories : sequence of str
        Names of the categories.
    decided : bool, default=False
        Whether the columns are decisions instead of true labels.

    See Also
    --------
    ConfusionDisplay : For documents with one label.

    Examples
    --------
    >>> from bayesift.plots import CooccurrenceDisplay
    >>> labels = [[1, 1], [1, 0], [1, 1]]
    >>> CooccurrenceDisplay.from_labels(labels, ["grain", "wheat"]).counts.tolist()
    [[3, 2], [2, 2]]
    """

    def __init__(self, counts: Any, sizes: Any, categories: Sequence[str], *, decided: bool = False) -> None:
        super().__init__(counts, sizes, categories, "categories")
        self.decided = decided

    @classmethod
    def from_labels(cls, labels: Any, categories: Sequence[str] | None = None) -> Self:
        """Count the pairs of labels.

        Parameters
        ----------
        labels : array of shape (n_documents, n_categories), or sparse matrix
            Which documents have which labels.
        categories : sequence of str, optional
            Their names; numbers by default.

        Returns
        -------
        CooccurrenceDisplay
        """
        return cls._counted(as_booleans(labels, "labels"), None, categories)

    @classmethod
    def from_predictions(cls, truth: Any, decisions: Any, categories: Sequence[str] | None = None) -> Self:
        """Count the pairs of a true label and a decided one.

        Parameters
        ----------
        truth, decisions : arrays of shape (n_documents, n_categories), or sparse matrices
            Which documents have which labels, and which they were given.
        categories : sequence of str, optional
            Names of the categories; numbers by default.

        Returns
        -------
        CooccurrenceDisplay
        """
        return cls._counted(as_booleans(truth, "truth"), as_booleans(decisions, "decisions"), categories)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, categories: Sequence[str] | None = None) -> Self:
        """Count the decisions of a fitted model.

        Parameters
        ----------
        estimator
            A classifier fitted to an indicator.
        X, y
            Documents and the indicator of their labels.
        categories : sequence of str, optional
            Names of the categories; numbers by default.

        Returns
        -------
        CooccurrenceDisplay
        """
        return cls.from_predictions(y, estimator.predict(X), categories)

    @classmethod
    def _counted(cls, rows: Any, columns: Any, categories: Sequence[str] | None) -> Self:
        if rows.ndim != 2:
            raise ValueError(f"labels have shape {rows.shape}; expected one row per document with a value per category")
        if columns is not None:
            check_same_shape(rows, "truth", columns, "decisions")
        names = [str(j) for j in range(rows.shape[1])] if categories is None else categories
        counted = rows.T.astype(np.int64) @ (rows if columns is None else columns)
        return cls(counted, rows.sum(axis=0), names, decided=columns is not None)

    def _texts(self) -> AxisTexts:
        column, label = ("also decided", "decided") if self.decided else ("also in", "other")
        return AxisTexts("documents in", column, "share of the row's documents", "category", label)

    def _importance(self) -> AnyArray:
        return self.sizes
