"""Earlier reviews whose decisions a new one learns from; their records are not documents of the project."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import NamedTuple

from sqlalchemy import Engine, select

from bayesift.review.storage.audit import COMMAND_LINE, Actor, record
from bayesift.review.storage.connection import now, read_all, writing
from bayesift.review.storage.documents import storable
from bayesift.review.storage.tables import documents, earlier_records, earlier_reviews

_BATCH = 1000


class EarlierRecord(NamedTuple):
    """A record of an earlier review, and what was decided about it."""

    title: str
    text: str
    relevant: bool


class EarlierReview(NamedTuple):
    """An earlier review that is kept with a project.

    Parameters
    ----------
    id : int
        Set by the project.
    source : str
        The file that it came from.
    at : str
        When it was added, in UTC.
    reviewer : int, optional
        Who added it; nobody where the command line did.
    relevant, irrelevant : int
        How many of its records were judged so.
    in_project : int
        How many of them have the title of a document of the project.
    """

    id: int
    source: str
    at: str
    reviewer: int | None
    relevant: int
    irrelevant: int
    in_project: int


class EarlierReviews:
    """The earlier reviews of a project; they are added, and never changed."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def all(self) -> list[EarlierReview]:
        """Return the earlier reviews in the order in which they were added."""
        columns = [getattr(earlier_reviews.c, name) for name in EarlierReview._fields]
        wanted = select(*columns).order_by(earlier_reviews.c.id)
        return read_all(self._engine, wanted, lambda row: EarlierReview(*row))

    def add(self, source: str, records: Sequence[EarlierRecord], by: Actor = COMMAND_LINE) -> EarlierReview:
        """Keep the records of an earlier review; the same ones are kept once.

        Parameters
        ----------
        source : str
            The file that they came from.
        records : sequence of EarlierRecord
            At least one of them relevant.
        by : Actor
            Who adds them.

        Returns
        -------
        EarlierReview
        """
        found = sum(each.relevant for each in records)
        if not found:
            raise ValueError(f"{source} has no record that was decided relevant; expected at least one")
        source, digest = storable(source), _digest(records)
        values = {"source": source, "digest": digest, "at": now(), "reviewer": by.reviewer}
        with writing(self._engine) as connection:
            id = connection.scalar(select(earlier_reviews.c.id).where(earlier_reviews.c.digest == digest))
            if id is None:
                here = {_same(title) for title in connection.scalars(select(documents.c.title))} - {""}
                values |= {"relevant": found, "irrelevant": len(records) - found}
                values["in_project"] = sum(_same(each.title) in here for each in records)
                made = connection.execute(earlier_reviews.insert().values(**values))
                assert made.inserted_primary_key is not None
                id = made.inserted_primary_key[0]
                for begin in range(0, len(records), _BATCH):
                    some = records[begin : begin + _BATCH]
                    rows = [
                        {"review": id, "title": storable(title), "text": storable(text), "relevant": relevant}
                        for title, text, relevant in some
                    ]
                    connection.execute(earlier_records.insert(), rows)
                record(connection, "earlier review added", by, f"{source}: {found} of {len(records)} relevant")
        return next(review for review in self.all() if review.id == id)

    def records(self, ids: Iterable[int]) -> list[EarlierRecord]:
        """Return the records of some earlier reviews, in their order."""
        columns = [getattr(earlier_records.c, name) for name in EarlierRecord._fields]
        wanted = select(*columns).where(earlier_records.c.review.in_(list(ids))).order_by(earlier_records.c.id)
        return read_all(self._engine, wanted, lambda row: EarlierRecord(*row))


def _same(title: str) -> str:
    """Return a title without case, punctuation and spaces."""
    return re.sub(r"[\W_]+", " ", title.lower()).strip()


def _digest(records: Iterable[EarlierRecord]) -> str:
    """Return a digest that identifies these records."""
    found = sha256()
    for each in records:
        for part in (each.title, each.text, str(each.relevant)):
            # With its length, so that no two lists of records are the same bytes.
            content = storable(part).encode()
            found.update(f"{len(content)}:".encode() + content)
    return found.hexdigest()
