"""Whether probabilities mean what they say, and how much is found after reading how much."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse

from bayesift._typing import BoolArray, FloatArray
from bayesift.conjugate import BetaBinomial
from bayesift.evaluate import RecallCurve, ReliabilityCurve, recall_curve, reliability_curve
from bayesift.plots.display import Display, axes_or_new, diagonal, next_colour


class ProbabilitiesDisplay(Display):
    """A display made from the truth and the probabilities of one category."""

    #: A constructor from the truth and the probabilities, with options of its own.
    from_predictions: ClassVar[Any]

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, category: int = 0, **options: Any) -> Self:
        """Compute the probabilities with a fitted model.

        Parameters
        ----------
        estimator
            A fitted classifier with ``predict_proba``.
        X, y
            Documents and their labels, or an indicator.
        category : int, default=0
            Which of several categories.
        **options
            Other arguments of ``from_predictions``.

        Returns
        -------
        Display
        """
        return cls.from_predictions(*of_category(estimator, X, y, category, "predict_proba"), **options)


def of_category(estimator: Any, X: Any, y: Any, category: int, response: str) -> tuple[BoolArray, FloatArray]:
    """Return which documents are in a category, and the model's scores of it.

    Parameters
    ----------
    estimator
        A fitted classifier.
    X
        Documents.
    y : array of shape (n_documents,) or (n_documents, n_categories), or sparse matrix
        Their labels, or an indicator.
    category : int
        Column of the indicator, or position in ``classes_`` if y has labels; of two, the greater is the category.
    response : str
        Name of the method that returns the scores.

    Returns
    -------
    truth, scores : arrays of shape (n_documents,)
    """
    if not hasattr(estimator, response):
        raise ValueError(f"estimator is {estimator!r}; expected a fitted model with {response}")
    labels = y.toarray() if issparse(y) else np.asarray(y)
    scores = np.asarray(getattr(estimator, response)(X))
    if labels.ndim == 2:
        _check_category(category, labels.shape[1])
        return labels[:, category] == 1, scores[:, category]
    classes = np.asarray(estimator.classes_)
    if len(classes) == 2:
        return labels == classes[1], scores if scores.ndim == 1 else scores[:, 1]
    _check_category(category, len(classes))
    return labels == classes[category], scores[:, category]


def _check_category(category: Any, n_categories: int) -> None:
    if category not in range(n_categories):
        raise ValueError(f"category is {category!r}; expected a number from 0 to {n_categories - 1}")


class RecallEffortDisplay(ProbabilitiesDisplay):
    """Draw the share of the relevant documents found against the share of all documents read.

    Parameters
    ----------
    curve : RecallCurve
        Effort and recall.
    name : str, optional
        Name of the reading order, for the legend.

    Examples
    --------
    >>> from bayesift.plots import RecallEffortDisplay
    >>> RecallEffortDisplay.from_predictions([0, 1, 0, 1], [0.2, 0.9, 0.5, 0.4]).curve.recall
    array([0. , 0.5, 0.5, 1. , 1. ])
    """

    def __init__(self, curve: RecallCurve, name: str | None = None) -> None:
        self.curve = curve
        self.name = name

    @classmethod
    def from_predictions(cls, truth: Any, scores: Any = None, *, name: str | None = None) -> Self:
        """Compute the curve.

        Parameters
        ----------
        truth, scores
            As in :func:`bayesift.evaluate.recall_curve`.
        name : str, optional
            Name of the reading order.

        Returns
        -------
        RecallEffortDisplay
        """
        return cls(recall_curve(truth, scores), name)

    def plot(self, ax: Any = None, *, level: float | None = 0.95, color: str | None = None) -> Self:
        """Draw the curve, the diagonal of reading in random order, and where a level of recall is reached.

        Parameters
        ----------
        level : float, optional
            The level of recall; the horizontal distance to the diagonal there is the work saved.
        color : str, optional
            Colour of the curve; by default, the next one of the palette.
        """
        ax = axes_or_new(ax, figsize=(4.8, 3.6))
        effort, recall = self.curve
        color = next_colour(ax) if color is None else color
        diagonal(ax)
        ax.plot(effort, recall, color=color, linewidth=2, label=self.name)
        if level is not None:
            reached = effort[np.argmax(recall >= level - 1e-9)]
            ax.hlines(level, reached, level, color=color, linewidth=1, linestyle="dotted")
        ax.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="share of documents read", ylabel="recall")
        if self.name is not None:
            ax.legend(frameon=False, loc="lower right")
        return self._drawn(ax)

    def _columns(self) -> Mapping[str, Any]:
        return self.curve._asdict()


class ReliabilityDisplay(ProbabilitiesDisplay):
    """Draw the observed share of documents in the category against their probability.

    Bars show what the share of each group may be: the central 95 % of the posterior under a uniform prior.

    Parameters
    ----------
    curve : ReliabilityCurve
        Documents in groups of similar probability.
    name : str, optional
        Name of the system, for the legend.

    Examples
    --------
    >>> from bayesift.plots import ReliabilityDisplay
    >>> display = ReliabilityDisplay.from_predictions([1, 1, 0, 0], [0.8, 0.9, 0.3, 0.2], bins=2)
    >>> display.curve.observed
    array([0., 1.])
    """

    def __init__(self, curve: ReliabilityCurve, name: str | None = None) -> None:
        self.curve = curve
        self.name = name

    @classmethod
    def from_predictions(cls, truth: Any, probabilities: Any, *, name: str | None = None, **options: Any) -> Self:
        """Compute the curve.

        Parameters
        ----------
        truth, probabilities
            As in :func:`bayesift.evaluate.reliability_curve`.
        name : str, optional
            Name of the system.
        **options
            Other arguments of :func:`bayesift.evaluate.reliability_curve`.

        Returns
        -------
        ReliabilityDisplay
        """
        return cls(reliability_curve(truth, probabilities, **options), name)

    def plot(self, ax: Any = None, *, color: str | None = None) -> Self:
        """Draw the groups as points, and the diagonal on which they should lie.

        Parameters
        ----------
        color : str, optional
            Colour of points and bars; by default, the next one of the palette.
        """
        ax = axes_or_new(ax, figsize=(4.2, 4.2))
        _, predicted, observed = self.curve
        low, high = self._interval()
        color = next_colour(ax) if color is None else color
        diagonal(ax)
        ax.vlines(predicted, low, high, color=color, linewidth=1.2, alpha=0.6)
        ax.plot(predicted, observed, "o-", color=color, linewidth=1.5, markersize=5, label=self.name)
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel="probability", ylabel="share in the category")
        ax.set_aspect("equal")
        if self.name is not None:
            ax.legend(frameon=False, loc="lower right")
        return self._drawn(ax)

    def _columns(self) -> Mapping[str, Any]:
        low, high = self._interval()
        return {**self.curve._asdict(), "low": low, "high": high}

    def _interval(self) -> Any:
        number, _, observed = self.curve
        inside = np.rint(number * observed)
        return BetaBinomial(1, 1).update(inside, number - inside).interval()
