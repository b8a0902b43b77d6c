"""What a naive Bayes classifier needs of a likelihood: sums to learn from, and log probabilities."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Literal

import numpy as np
from scipy.special import rel_entr

from bayesift._checks import POSITIVE, numbers
from bayesift._typing import FloatArray, Int64Array
from bayesift.generative._groups import Layout, Members

Estimate = Literal["posterior", "map", "mle"]


class Likelihood(ABC):
    """Sufficient statistics of some columns for all groups of documents, and the law of new documents.

    Parameters
    ----------
    n_features : int
        Number of columns.
    layout : Layout
        The groups.
    estimate : {"posterior", "map", "mle"}
        Whether the parameters are integrated out, or which point is plugged in.
    """

    def __init__(self, n_features: int, layout: Layout, estimate: Estimate) -> None:
        self.n_features = n_features
        self.layout = layout
        self.estimate = estimate

    @abstractmethod
    def add(self, X: Any, members: Members, weights: FloatArray) -> None:
        """Learn from documents."""

    @abstractmethod
    def extend(self, places: Int64Array, layout: Layout) -> None:
        """Make room for new classes; ``places`` says where the old ones go."""

    @abstractmethod
    def log_likelihood(self, X: Any) -> FloatArray:
        """Return ln p(document | group), documents × groups; a missing value (NaN) is integrated out."""

    @abstractmethod
    def log_evidence(self) -> FloatArray:
        """Return ln p(documents of the group), parameters integrated out, for each group."""

    @abstractmethod
    def mutual_information(self, shares: FloatArray) -> FloatArray:
        """Return that of each feature with the class, tasks × features; ``shares`` are p(class), tasks × classes."""

    @abstractmethod
    def draw(self, group: int, n: int, length: Any, rng: np.random.Generator) -> Any:
        """Draw documents of a group."""


def moved(sums: FloatArray, places: Int64Array, n: int, axis: int = -1) -> FloatArray:
    """Return the sums with room for ``n`` on an axis, the old ones at their new places."""
    shape = list(sums.shape)
    shape[axis] = n
    result = np.zeros(shape)
    target = np.moveaxis(result, axis, -1)
    target[..., places] = np.moveaxis(sums, axis, -1)
    return result


def event_information(theta: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the mutual information of an event and the class (3.76), in nats.

    Parameters
    ----------
    theta : array of shape (..., n_classes)
        Probability of the event in each class.
    shares : array of shape (..., n_classes)
        Probability of each class.
    """
    overall = (theta * shares).sum(axis=-1, keepdims=True)
    parts = rel_entr(theta, overall) + rel_entr(1.0 - theta, 1.0 - np.minimum(overall, 1.0))
    # Rounding may leave a class's 1 − θ where the mean has none.
    return np.where(np.isfinite(parts), shares * parts, 0.0).sum(axis=-1)


def pseudo_counts(name: str, value: Any, n_features: int) -> FloatArray:
    """Return the pseudo counts of a prior, one for each feature."""
    counts = numbers(name, value, POSITIVE)
    if counts.ndim and counts.shape != (n_features,):
        raise ValueError(f"{name} has shape {counts.shape}; expected a number or {n_features}, one for each feature")
    return np.array(np.broadcast_to(counts, (n_features,)))
