"""The judgements that hold, in their order."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from bayesift._typing import BoolArray, Int64Array
from bayesift.review.engine.recall import Draws, draws_of


class Judgement(NamedTuple):
    """What a person said about a document (None: unsure), and why it was shown."""

    relevant: bool | None
    why: str


class Journal:
    """The judgements of a pile of n documents, with what is counted all the time.

    Parameters
    ----------
    n : int
        Documents of the pile.

    Attributes
    ----------
    open : array of shape (n,)
        Which documents have no judgement.
    shown : Counter
        How many were shown for each reason.
    found, irrelevant, unsure : int
        How many were judged so.

    Examples
    --------
    >>> from bayesift.review.engine.journal import Journal
    >>> journal = Journal(3)
    >>> journal.add(2, True, "random")
    >>> journal.found, journal.unjudged
    (1, 2)
    """

    def __init__(self, n: int) -> None:
        self._judgements: dict[int, Judgement] = {}
        self.open: BoolArray = np.ones(n, dtype=bool)
        self.shown: Counter[str] = Counter()
        self._outcomes: Counter[bool | None] = Counter()

    def __contains__(self, document: object) -> bool:
        return document in self._judgements

    @property
    def state(self) -> list[tuple[int, bool | None, str]]:
        """Document, judgement and reason, in their order."""
        return [(document, *judgement) for document, judgement in self._judgements.items()]

    @property
    def found(self) -> int:
        """Documents judged relevant."""
        return self._outcomes[True]

    @property
    def irrelevant(self) -> int:
        """Documents judged irrelevant."""
        return self._outcomes[False]

    @property
    def unsure(self) -> int:
        """Documents put aside."""
        return self._outcomes[None]

    @property
    def unjudged(self) -> int:
        """Documents without a judgement."""
        return len(self.open) - len(self._judgements)

    def add(self, document: int, relevant: bool | None, why: str) -> None:
        """Write a judgement down."""
        judgement = Judgement(None if relevant is None else bool(relevant), why)
        self._judgements[int(document)] = judgement
        self._count(document, judgement, 1)

    def remove(self, document: int) -> None:
        """Strike a judgement out."""
        self._count(document, self._judgements.pop(document), -1)

    def learnable(self) -> dict[int, bool]:
        """Return the documents judged relevant or irrelevant; safe while another thread writes."""
        kept = dict(self._judgements)
        return {document: judgement.relevant for document, judgement in kept.items() if judgement.relevant is not None}

    def draws(self) -> Draws:
        """Return the random draws; unsure documents are no part of the pile."""
        judged = [judgement for judgement in self._judgements.values() if judgement.relevant is not None]
        outcomes = ((bool(judgement.relevant), judgement.why == "random") for judgement in judged)
        return draws_of(outcomes, len(self.open) - self.unsure)

    def sample(self, order: Int64Array) -> tuple[int, int]:
        """Return size and relevant documents of the simple random sample: a random order up to the first unjudged."""
        size = relevant = 0
        for document in order:
            judgement = self._judgements.get(int(document))
            if judgement is None:
                break
            if judgement.relevant is not None:
                size, relevant = size + 1, relevant + judgement.relevant
        return size, relevant

    def _count(self, document: int, judgement: Judgement, change: int) -> None:
        self.open[document] = change < 0
        self.shown[judgement.why] += change
        self._outcomes[judgement.relevant] += change
