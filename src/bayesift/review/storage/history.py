"""What was decided and noted, by whom, when and why it was shown: rows that are only ever added."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, Engine, Select, select

from bayesift.review.storage.connection import now, reading, writing
from bayesift.review.storage.documents import storable
from bayesift.review.storage.tables import events, remarks, topics

Action = Literal["label", "undo", "known", "import", "resolve"]
Decision = Literal["relevant", "irrelevant", "unsure", "skip"]
Stage = Literal["abstract", "full text"]


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
        Why the document was shown, by which model, and its rank and probability then.
    reason : str, optional
        Why the document was excluded: one of the topic's reasons, or what an imported file says.
    stage : {"abstract", "full text"}
        What was read: title and abstract, or the full text.
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
    stage: Stage = "abstract"
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
        # Reasons may come from a file.
        new = [event._replace(reason=storable(event.reason)) if event.reason else event for event in new]
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
        """Wait until nobody else writes about the topic, then write; everything is on disk when the block has ended.

        So whoever reads the events of a topic after number n, now or later, never misses one.
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


class Remark(NamedTuple):
    """What a reviewer notes about a document.

    Parameters
    ----------
    note : str
        In free words.
    tags : tuple of str
        Marks from the topic's list.
    """

    note: str = ""
    tags: tuple[str, ...] = ()


class Remarks:
    """The notes and tags of all topics of a project."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def add(
        self, topic: int, document: int, reviewer: int, *, note: str | None = None, tags: Sequence[str] | None = None
    ) -> None:
        """Replace the note or the tags of a reviewer on a document; the previous ones stay in the table."""
        contents = {"note": note, "tags": None if tags is None else json.dumps(list(tags), ensure_ascii=False)}
        about = {"topic": topic, "document": document, "reviewer": reviewer, "at": now()}
        rows = [about | {"kind": kind, "content": text} for kind, text in contents.items() if text is not None]
        if rows:
            with writing(self._engine) as connection:
                connection.execute(remarks.insert(), rows)

    def of(self, topic: int, document: int) -> dict[int, Remark]:
        """Return the remark of each reviewer on a document."""
        found = self._read(select(remarks).where(remarks.c.topic == topic, remarks.c.document == document))
        return found.get(document, {})

    def all(self, topic: int) -> dict[int, dict[int, Remark]]:
        """Return the remarks of each reviewer on each document of a topic that has any."""
        return self._read(select(remarks).where(remarks.c.topic == topic))

    def _read(self, query: Select[Any]) -> dict[int, dict[int, Remark]]:
        found: dict[int, dict[int, Remark]] = {}
        with reading(self._engine) as connection:
            for row in connection.execute(query.order_by(remarks.c.id)):
                held = found.setdefault(row.document, {})
                before = held.get(row.reviewer, Remark())
                if row.kind == "note":
                    held[row.reviewer] = before._replace(note=row.content)
                else:
                    held[row.reviewer] = before._replace(tags=tuple(json.loads(row.content)))
        return {
            document: kept
            for document, held in found.items()
            if (kept := {who: remark for who, remark in held.items() if remark != Remark()})
        }
