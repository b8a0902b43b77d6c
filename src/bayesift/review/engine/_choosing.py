"""Which document is the most probable, and which tells most."""

from __future__ import annotations

import numpy as np

from bayesift._typing import BoolArray, FloatArray, Int64Array
from bayesift.online._moments import expected_information
from bayesift.review.engine.topic_model import NOISE

#: The expected information is computed exactly for so many documents whose probability is nearest to one half.
_CANDIDATES = 300


def most_probable(p: FloatArray, free: BoolArray) -> int:
    """Return the most probable of the free documents; the first of equals."""
    return int(np.argmax(np.where(free, p, -1.0)))


def most_informative(
    mean: FloatArray, variance: FloatArray, free: BoolArray, unjudged: BoolArray, groups: Int64Array
) -> int | None:
    """Return the free document, unlike any judged one, with the greatest expected information, if there is one."""
    seen = np.zeros(len(free), dtype=bool)
    seen[groups[~unjudged]] = True
    places = np.flatnonzero(free & ~seen[groups])
    if not len(places):
        return None
    doubt = np.abs(mean[places]) / np.sqrt(NOISE**2 + variance[places])
    if len(places) > _CANDIDATES:
        places = places[np.sort(np.argpartition(doubt, _CANDIDATES)[:_CANDIDATES])]
    return int(places[np.argmax(expected_information(mean[places], variance[places], NOISE, 0.0))])
