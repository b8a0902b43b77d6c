"""The stage after title and abstract: the full texts of what is relevant, judged one by one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from bayesift._typing import FloatArray
from bayesift.review.decisions import Decisions

#: The reason for excluding a document whose full text nobody could get.
NOT_RETRIEVED = "report not retrieved"


def waiting(sought: Iterable[int], full: Decisions, owner: int | None) -> list[int]:
    """Return the documents whose full text still has to be judged, by one reviewer or by anybody.

    Parameters
    ----------
    sought : iterable of int
        The documents that are relevant by title and abstract.
    full : Decisions
        The decisions about full texts.
    owner : int, optional
        Whose decisions count; everybody's by default.
    """
    return [
        place for place in sought if full.status(place, owner) in (None, "skip") and not full.is_elsewhere(place, owner)
    ]


def counts(sought: Sequence[int], full: Decisions, owner: int | None) -> tuple[int, int, int]:
    """Return how many full texts are decided, how many of these are relevant, and how many there are in all."""
    statuses = [full.status(place, owner) for place in sought]
    decided = sum(status not in (None, "skip") for status in statuses)
    return decided, statuses.count("relevant"), decided + len(waiting(sought, full, owner))


def choose(
    places: Sequence[int], first: Collection[int], skipped: Sequence[int], probabilities: FloatArray
) -> int | None:
    """Choose the next full text: first one that is open or was taken back, then the most probable, then skipped ones.

    Parameters
    ----------
    places : sequence of int
        The documents that are waiting.
    first : collection of int
        Those to show first, if they are waiting.
    skipped : sequence of int
        Those to show last, in this order.
    probabilities : array
        Of all documents.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.review.full_text import choose
    >>> choose([0, 1, 2], (), [2], np.array([0.2, 0.7, 0.9])), choose([2], (), [2], np.ones(3)), choose([], [1], [], [])
    (1, 2, None)
    """
    fresh = [place for place in places if place not in skipped]
    preferred = next((place for place in first if place in fresh), None)
    if preferred is not None:
        return preferred
    if fresh:
        return max(fresh, key=lambda place: float(probabilities[place]))
    return next((place for place in skipped if place in places), None)
