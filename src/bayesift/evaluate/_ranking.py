"""What is found when documents are read by falling score; documents of one score come in random order."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesift._typing import BoolArray, FloatArray, Int64Array
from bayesift.decide.tuning import checked_scores
from bayesift.evaluate.outcomes import check_same_shape, marks

Columns = list[tuple[BoolArray, FloatArray | None]]


def ranked_columns(truth: Any, scores: Any, *, pooled: bool = False) -> tuple[Columns, bool]:
    """Return truth and scores of each category, and whether there is only one; pooled ones make one category.

    Without scores the documents were read in the order given.
    """
    positive = marks(truth, "truth")
    values = None if scores is None else checked_scores(scores)
    if values is not None:
        check_same_shape(positive, "truth", values, "scores")
    if positive.ndim == 1 or pooled:
        return [(positive.ravel(), None if values is None else values.ravel())], True
    return [(column, None if values is None else values[:, j]) for j, column in enumerate(positive.T)], False


def _groups(positive: BoolArray, scores: FloatArray | None) -> tuple[Int64Array, Int64Array]:
    """Return how many documents were read and found after each group of equal scores, beginning with 0."""
    n = len(positive)
    if scores is None:
        return np.arange(n + 1), np.append(0, np.cumsum(positive))
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    ends = np.append(np.flatnonzero(ranked[1:] != ranked[:-1]) + 1, n)
    return np.append(0, ends), np.append(0, np.cumsum(positive[order])[ends - 1])


def expected_found(positive: BoolArray, scores: FloatArray | None) -> FloatArray:
    """Return the expected number found after reading 0, 1, …, n documents."""
    read, found = _groups(positive, scores)
    return np.interp(np.arange(len(positive) + 1), read, found)


def discovery_places(positive: BoolArray, scores: FloatArray | None) -> FloatArray:
    """Return the expected places, counted from 1, of the first, second, … document found.

    The j-th of r among g documents in random order is expected at j(g+1)/(r+1).
    """
    read, found = _groups(positive, scores)
    size, hits = np.diff(read), np.diff(found)
    rank = np.arange(1, found[-1] + 1) - np.repeat(found[:-1], hits)
    return np.repeat(read[:-1], hits) + rank * np.repeat((size + 1) / (hits + 1), hits)
