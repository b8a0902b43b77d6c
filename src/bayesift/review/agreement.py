"""How far reviewers agree."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import NamedTuple

from bayesift.review.ledger import Ledger


class Agreement(NamedTuple):
    """Two reviewers and the documents that both called relevant or irrelevant.

    Parameters
    ----------
    first, second : int
        The reviewers.
    n_documents : int
        How many documents both have decided.
    share : float
        On how many of them they agree, as a share.
    kappa : float or None
        Cohen's κ; None where both gave one and the same answer throughout, or there is no document.
    """

    first: int
    second: int
    n_documents: int
    share: float
    kappa: float | None


def agreements(ledger: Ledger, reviewers: Iterable[int]) -> list[Agreement]:
    """Compare every two reviewers who have decided about a document in common; settlements do not count."""
    pairs: dict[tuple[int, int], list[tuple[bool, bool]]] = {}
    for document in ledger.decided():
        given = {
            reviewer: event.decision == "relevant"
            for reviewer, event in ledger.held(document).items()
            if event.decision in ("relevant", "irrelevant")
        }
        for first, second in combinations(sorted(given), 2):
            pairs.setdefault((first, second), []).append((given[first], given[second]))
    found = []
    for first, second in combinations(sorted(reviewers), 2):
        answers = pairs.get((first, second))
        if answers:
            share = sum(one == other for one, other in answers) / len(answers)
            found.append(Agreement(first, second, len(answers), share, kappa(answers)))
    return found


def kappa(answers: list[tuple[bool, bool]]) -> float | None:
    r"""Compute Cohen's κ of pairs of answers.

    κ = (p − e)/(1 − e), p the share of equal answers and e what it would be if each gave as many of either at random.

    Examples
    --------
    >>> from bayesift.review.agreement import kappa
    >>> kappa([(True, True), (True, False), (False, False), (False, False)])
    0.5
    """
    if not answers:
        return None
    n = len(answers)
    share = sum(first == second for first, second in answers) / n
    yes = sum(first for first, _ in answers) / n, sum(second for _, second in answers) / n
    by_chance = yes[0] * yes[1] + (1 - yes[0]) * (1 - yes[1])
    return None if by_chance == 1 else (share - by_chance) / (1 - by_chance)
