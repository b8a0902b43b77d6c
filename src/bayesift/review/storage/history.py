"""What was decided, by whom, when and why it was shown: rows that are only ever added."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, Engine, select

from bayesift.review.storage.connection import now, reading, writing
from bayesift.review.storage.tables import events, topics

Action = Literal["label", "undo", "known", "import", "resolve"]
Decision = Literal["relevant", "irrelevant", "unsure", "skip"]


class Event(NamedTuple):
    """A row of the history.

    Parameters
    ----------
    document, reviewer : int
        Which document, and who.
    action : {"label", "undo", "known", "import", "resolve"}
        A decision on a card, taking one back, a document given with the topic, a decision from a file, or the
        resolution of a conflict.
    decision : {"relevant", "irrelevant", "unsure", "skip"}, optional
        What was decided; None for an undo.
    undoes : int, optional
        The event that an undo takes back.
    why, model, rank, probability : optional
        Why the document was shown, by which model, and what that thought of it.
    reason : str, optional
        Why the document was excluded, one of the topic's reasons.
    id : int
        Set by the history; later events of a topic have greater numbers.
    at : str
        When, in UTC; set by the history.
    """

    document: int
    reviewer: int
    action: Action
    decision: Decision | None = None
    undoes: int | None = None
    why: str | None = None
    model: str | None = None
    rank: int | None = None
    probability: float | None = None
    reason: str | None = None
    id: int = 0
    at: str = ""


class Turn:
    """One writer alone with the history of a topic."""

    def __init__(self, connection: Connection, topic: int) -> None:
        self._connection = connection
        self._topic = topic

    def since(self, last: int) -> list[Event]:
        """Return the events after the one with the number ``last``."""
        return _since(self._connection, self._topic, last)

    def add(self, event: Event) -> Event:
        """Write an event; it counts when the turn has ended well."""
        return self.add_all([event])[0]

    def add_all(self, new: Sequence[Event]) -> list[Event]:
        """Write many events at the same moment."""
        if not new:
            return []
        at = now()
        rows = [{**event._asdict(), "topic": self._topic, "at": at} for event in new]
        for row in rows:
            del row["id"]
        insert = events.insert().returning(events.c.id, sort_by_parameter_order=True)
        numbers = self._connection.scalars(insert, rows)
        return [event._replace(id=number, at=at) for event, number in zip(new, numbers, strict=True)]


class History:
    """The history of all topics of a project."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @contextmanager
    def turn(self, topic: int) -> Iterator[Turn]:
        """Wait until nobody else writes about the topic, then write; all is on the disk when the block has ended.

        Who reads the events of a topic after number n, now or later, therefore never misses one.
        """
        with writing(self._engine) as connection:
            # SQLite has one writer anyway; PostgreSQL has one for the row of this topic.
            connection.execute(select(topics.c.id).where(topics.c.id == topic).with_for_update())
            yield Turn(connection, topic)

    def since(self, topic: int, last: int = 0) -> list[Event]:
        """Return the events of a topic after the one with the number ``last``."""
        with reading(self._engine) as connection:
            return _since(connection, topic, last)


def _since(connection: Connection, topic: int, last: int) -> list[Event]:
    query = select(events).where(events.c.topic == topic, events.c.id > last).order_by(events.c.id)
    return [_event(row) for row in connection.execute(query)]


def _event(row: Any) -> Event:
    return Event(**{name: getattr(row, name) for name in Event._fields})
