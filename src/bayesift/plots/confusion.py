"""Which classes are taken for which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.metrics import confusion_matrix
from sklearn.utils.multiclass import unique_labels

from bayesift._typing import AnyArray
from bayesift.plots._matrix import MatrixDisplay, Words


class ConfusionDisplay(MatrixDisplay):
    """Draw how many documents of each class were given to each class, for documents with one label.

    Cells are coloured by their share of the row: of the documents that are in the class.

    Parameters
    ----------
    counts : array of shape (n_classes, n_classes)
        Documents by true class (rows) and by decided class (columns).
    classes : sequence of str
        Names of the classes.

    Attributes
    ----------
    names : list of str
        The classes.
    shares : array of shape (n_classes, n_classes)
        Counts divided by the sum of their row; 0 for classes without documents.
    ax_, figure_
        Where it was drawn.

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
        """Let a fitted model decide, and count.

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

    def _words(self) -> Words:
        return Words("true class", "decided class", "share of the true class", "true", "decided")

    def _importance(self) -> AnyArray:
        """Return the errors in which each class is involved."""
        return self.counts.sum(axis=0) + self.counts.sum(axis=1) - 2 * np.diag(self.counts)
