"""Which labels come together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from bayesift._typing import AnyArray
from bayesift.evaluate.outcomes import as_booleans, check_same_shape
from bayesift.plots._matrix import MatrixDisplay, Words


class CooccurrenceDisplay(MatrixDisplay):
    """Draw how many documents of each category are in each other one, for documents with several labels.

    Parameters
    ----------
    counts : array of shape (n_categories, n_categories)
        Documents that have the label of the row and that of the column.
    sizes : array of shape (n_categories,)
        Documents that have the label of the row; cells are coloured by their share of these.
    categories : sequence of str
        Names of the categories.
    decided : bool, default=False
        Whether the columns are decisions instead of true labels.

    Attributes
    ----------
    names : list of str
        The categories.
    shares : array of shape (n_categories, n_categories)
        Counts divided by the size of their row; 0 for categories without documents.
    ax_, figure_
        Where it was drawn.

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
        """Count the pairs of a true label and one that was decided.

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
        """Let a fitted model decide, and count.

        Parameters
        ----------
        estimator
            A classifier fitted on an indicator.
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
            raise ValueError(f"labels have shape {rows.shape}; expected a row of one mark per category")
        if columns is not None:
            check_same_shape(rows, "truth", columns, "decisions")
        names = [str(j) for j in range(rows.shape[1])] if categories is None else categories
        counted = rows.T.astype(np.int64) @ (rows if columns is None else columns)
        return cls(counted, rows.sum(axis=0), names, decided=columns is not None)

    def _words(self) -> Words:
        column, label = ("also decided", "decided") if self.decided else ("also in", "other")
        return Words("documents in", column, "share of the row's documents", "category", label)

    def _importance(self) -> AnyArray:
        return self.sizes
