"""What one system decided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bayesift.decide.expected import checked_probabilities
from bayesift.evaluate.outcomes import Outcomes, check_same_shape, marks


class Results:
    """Truth and decisions of one system on test documents, and its probabilities if it has some.

    Parameters
    ----------
    truth : array of shape (n_documents,) or (n_documents, n_categories), or sparse matrix
        Which documents are in the category.
    decisions : array of the same shape
        Which documents the system accepted.
    probabilities : array of the same shape, optional
        How probable it held that.
    name : str, default="system"
        What to call it.
    categories : sequence of str, optional
        Names of the categories.

    Attributes
    ----------
    outcomes : Outcomes
        Counts for each category.

    Examples
    --------
    >>> from bayesift.evaluate import Results
    >>> Results([1, 1, 0, 0], [1, 0, 0, 1], name="coin").outcomes
    Outcomes(tp=1, fp=1, fn=1, tn=1)
    """

    def __init__(
        self,
        truth: Any,
        decisions: Any,
        probabilities: Any = None,
        *,
        name: str = "system",
        categories: Sequence[str] | None = None,
    ) -> None:
        self.truth = marks(truth, "truth")
        self.decisions = marks(decisions, "decisions")
        self.outcomes = Outcomes.of(self.truth, self.decisions)
        self.probabilities = None if probabilities is None else checked_probabilities(probabilities, "probabilities")
        if self.probabilities is not None:
            check_same_shape(self.truth, "truth", self.probabilities, "probabilities")
        self.name = name
        self.categories = None if categories is None else [str(category) for category in categories]
        if self.categories is not None and len(self.categories) != self.n_categories:
            raise ValueError(
                f"categories has {len(self.categories)} names; expected {self.n_categories}, one for each column"
            )

    @property
    def n_categories(self) -> int:
        """Number of categories."""
        return 1 if self.truth.ndim == 1 else self.truth.shape[1]
