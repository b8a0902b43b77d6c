"""The next card."""

from __future__ import annotations

from typing import NamedTuple


class Suggestion(NamedTuple):
    """A document to judge, and why.

    ``document`` is its place in the pile. ``why`` is "probable", "informative" or "random", or "chosen" for a document
    that was asked for. ``interval`` holds the probability with a credibility of 90 % under the belief. ``rank`` is its
    place among the documents without a judgement, 1 the most probable. ``model`` says which model spoke: "prior",
    "refit 40" (fitted to 40 judgements) or "online 43" (three more learnt since).
    """

    document: int
    why: str
    probability: float
    interval: tuple[float, float]
    rank: int
    model: str


class Highlight(NamedTuple):
    """Characters ``start`` to ``end`` of a text, and what they add to the document's field: positive speaks for it."""

    start: int
    end: int
    weight: float
