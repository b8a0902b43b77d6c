"""Which document to show next: for what reason, and which one for that reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

import numpy as np

from bayesift._typing import BoolArray, FloatArray, Int64Array
from bayesift.online import expected_information
from bayesift.review.engine.topic_model import NOISE

Reason = Literal["probable", "informative", "random"]
REASONS: tuple[Reason, ...] = get_args(Reason)

#: The expected information is computed exactly for this many documents whose probability is nearest to one half.
_CANDIDATES = 300


class Mix(NamedTuple):
    """Shares of the reasons for which documents are shown; they sum to 1.

    ``probable``: the most probable document. ``informative``: the one whose judgement is expected to say most about the
    weights, except near-duplicates of judged documents. ``random``: the next one in a random order of the corpus, which
    keeps the estimate of recall honest.

    Examples
    --------
    >>> from bayesift.review.engine import Mix
    >>> Mix().checked().due({"probable": 9, "informative": 1, "random": 0})
    'random'
    """

    probable: float = 0.85
    informative: float = 0.10
    random: float = 0.05

    def checked(self) -> Mix:
        """Return the mix, or raise an error if its shares are invalid."""
        if min(self) < 0 or abs(sum(self) - 1) > 1e-6:
            raise ValueError(f"mix is {tuple(self)}; expected three shares of at least 0 that sum to 1")
        return self

    def due(self, shown: Mapping[str, int]) -> Reason:
        """Return the reason whose share is furthest behind, given how many documents were shown for each."""
        total = sum(shown.get(reason, 0) for reason in REASONS) + 1
        lag = [share * total - shown.get(reason, 0) for reason, share in zip(REASONS, self, strict=True)]
        return REASONS[max(range(3), key=lambda place: (self[place] > 0, lag[place]))]


def most_probable(p: FloatArray, free: BoolArray) -> int:
    """Return the most probable of the free documents, or the first of several."""
    return int(np.argmax(np.where(free, p, -1.0)))


def most_informative(
    mean: FloatArray, variance: FloatArray, free: BoolArray, unjudged: BoolArray, groups: Int64Array
) -> int | None:
    """Return the free document with the greatest expected information that is unlike any judged one, if any."""
    seen = np.zeros(len(free), dtype=bool)
    seen[groups[~unjudged]] = True
    places = np.flatnonzero(free & ~seen[groups])
    if not len(places):
        return None
    doubt = np.abs(mean[places]) / np.sqrt(NOISE**2 + variance[places])
    if len(places) > _CANDIDATES:
        places = places[np.sort(np.argpartition(doubt, _CANDIDATES)[:_CANDIDATES])]
    return int(places[np.argmax(expected_information(mean[places], variance[places], NOISE, 0.0))])
