"""Which documents are whose: a share of the work for each reviewer, settled by chance and for good."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bayesift._typing import BoolArray


def assigned(shares: Mapping[int, float], n_documents: int, readers: int, seed: int) -> dict[int, BoolArray]:
    """Assign every document to as many reviewers as shall read it, in proportion to their shares.

    Every reviewer draws an exponential time for every document, with the share as its rate, and the earliest get it
    (weighted rendezvous hashing): when somebody joins or leaves, only the documents that come or go with them move.

    Parameters
    ----------
    shares : mapping
        The share of each reviewer, by number; in any unit.
    n_documents : int
        How many documents there are.
    readers : int
        How many reviewers read each document.
    seed : int
        Fixes the assignment.

    Returns
    -------
    dict
        For each reviewer which documents are theirs.

    Examples
    --------
    >>> from bayesift.review.workload import assigned
    >>> found = assigned({1: 3, 2: 1}, 10_000, 1, seed=0)
    >>> round(float(found[1].mean()), 2), bool((found[1] ^ found[2]).all())
    (0.75, True)
    """
    given = {reviewer: share for reviewer, share in shares.items() if share > 0}
    if not given:
        return {}
    times = np.array([
        np.random.default_rng([seed, reviewer]).exponential(1 / share, n_documents) for reviewer, share in given.items()
    ])  # fmt: skip
    first = np.argsort(times, axis=0, kind="stable")[: max(1, readers)]
    return {reviewer: (first == place).any(axis=0) for place, reviewer in enumerate(given)}
