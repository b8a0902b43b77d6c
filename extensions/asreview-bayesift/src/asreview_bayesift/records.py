"""The records of ASReview as Bayesift's review page reads documents."""

from __future__ import annotations

from typing import Any

from bayesift.review.engine import Corpus


def corpus_of(records: Any, title: str, abstract: str) -> Corpus:
    """Return the words of a table of records; what is missing is empty."""
    columns = (records[name].fillna("").astype(str) for name in (title, abstract))
    return Corpus.build([f"{' '.join(first.split())}\n\n{rest}" for first, rest in zip(*columns, strict=True)])
