"""What the reviewers look for, and when they stopped."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import Engine, select, update
from sqlalchemy.exc import IntegrityError

from bayesift.review.storage.audit import COMMAND_LINE, Actor, record
from bayesift.review.storage.connection import now, read_all, read_one, writing
from bayesift.review.storage.tables import stops, topics


class Topic(NamedTuple):
    """What is looked for, and what a person knows about it beforehand.

    Parameters
    ----------
    name, description : str
        In the words of the person.
    keywords_for, keywords_against : tuple of str
        Words that count for and against a document.
    informative, random : float
        Shares of the cards that are chosen because they are most informative, and at random; the others are the most
        probable.
    target_recall, confidence : float
        When the review may stop: this recall is reached with this confidence.
    shared : bool
        Whether all reviewers share one queue; otherwise each goes through all documents alone.
    inclusion, exclusion : str
        The criteria, as shown to reviewers beside each card.
    reasons, tags : tuple of str
        Reasons for excluding documents, and tags to mark them with.
    double : bool
        Whether each document is read by two reviewers, neither of whom sees what the other decides.
    full_text : bool
        Whether the full texts of documents that are relevant by title and abstract are judged too.
    shares : tuple of (int, float)
        Shares of the work, by reviewer number; without any, everybody takes the next document.
    at_most : int
        The review may also stop when at most this many relevant documents are left.
    earlier : tuple of int
        The earlier reviews of the project to learn from, by number.
    id : int
        Set by the project.
    """

    name: str
    description: str = ""
    keywords_for: tuple[str, ...] = ()
    keywords_against: tuple[str, ...] = ()
    informative: float = 0.10
    random: float = 0.05
    target_recall: float = 0.95
    confidence: float = 0.95
    shared: bool = True
    inclusion: str = ""
    exclusion: str = ""
    reasons: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    double: bool = False
    full_text: bool = False
    shares: tuple[tuple[int, float], ...] = ()
    at_most: int = 0
    earlier: tuple[int, ...] = ()
    id: int = 0

    @property
    def own_queues(self) -> bool:
        """Whether each reviewer has a queue, in which only the own decisions count."""
        return self.double or not self.shared


class Topics:
    """The topics of a project."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def all(self) -> list[Topic]:
        """Return the topics in the order in which they were made."""
        return read_all(self._engine, select(topics).order_by(topics.c.id), _topic)

    def get(self, id: int) -> Topic | None:
        """Return a topic by its number."""
        return read_one(self._engine, select(topics).where(topics.c.id == id), _topic)

    def add(self, topic: Topic, by: Actor = COMMAND_LINE) -> Topic:
        """Add a topic; its name must be new."""
        try:
            with writing(self._engine) as connection:
                made = connection.execute(topics.insert().values(**_row(topic), created=now()))
                record(connection, "topic added", by, topic.name)
        except IntegrityError as error:
            raise _taken(topic) from error
        assert made.inserted_primary_key is not None
        return topic._replace(id=made.inserted_primary_key[0])

    def change(self, topic: Topic, by: Actor = COMMAND_LINE) -> None:
        """Write a topic anew; what was decided about documents stays."""
        here = topics.c.id == topic.id
        try:
            with writing(self._engine) as connection:
                before = _topic(connection.execute(select(topics).where(here).with_for_update()).one())
                connection.execute(update(topics).where(here).values(**_row(topic)))
                record(connection, "settings changed", by, _differences(before, topic))
        except IntegrityError as error:
            raise _taken(topic) from error


def _differences(before: Topic, after: Topic) -> str:
    """Say which settings of a topic are other than before."""
    pairs = zip(Topic._fields, before, after, strict=True)
    changes = [f"{name} from {old!r} to {new!r}" for name, old, new in pairs if old != new]
    return f"{before.name}: {', '.join(changes) or 'nothing'}"


def _taken(topic: Topic) -> ValueError:
    return ValueError(f"there is a topic {topic.name!r} already; expected another name")


_LISTS = "keywords_for", "keywords_against", "reasons", "tags", "shares", "earlier"


def _row(topic: Topic) -> dict[str, Any]:
    row = topic._asdict() | {name: json.dumps(getattr(topic, name), ensure_ascii=False) for name in _LISTS}
    del row["id"]
    return row


def _topic(row: Any) -> Topic:
    values = {name: getattr(row, name) for name in Topic._fields}
    lists = {name: tuple(json.loads(values[name])) for name in _LISTS}
    return Topic(**values | lists | {"shares": tuple((int(who), float(share)) for who, share in lists["shares"])})


class Stop(NamedTuple):
    """When reviewing a topic was stopped, or taken up again, and on what grounds.

    Parameters
    ----------
    reviewer : int
        Who did it.
    at : str
        When, in UTC.
    stopped : bool
        Whether it was stopped; or else taken up again.
    statement : str
        What the page said about stopping at that moment.
    numbers : mapping
        The estimates at that moment.
    note : str
        What the reviewer added.
    """

    reviewer: int
    at: str
    stopped: bool
    statement: str
    numbers: Mapping[str, Any]
    note: str


class Stops:
    """When the topics of a project were stopped: rows that are only ever added."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def all(self, topic: int) -> list[Stop]:
        """Return the entries of a topic, the oldest first."""
        return read_all(self._engine, select(stops).where(stops.c.topic == topic).order_by(stops.c.id), _stop)

    def add(
        self, topic: int, reviewer: int, *, stopped: bool, statement: str, numbers: Mapping[str, Any], note: str = ""
    ) -> None:
        """Note that a topic was stopped, or taken up again."""
        row = {"topic": topic, "reviewer": reviewer, "at": now(), "stopped": stopped, "statement": statement}
        with writing(self._engine) as connection:
            connection.execute(stops.insert().values(**row, numbers=json.dumps(numbers), note=note))


def _stop(row: Any) -> Stop:
    values = {name: getattr(row, name) for name in Stop._fields}
    return Stop(**values | {"numbers": json.loads(row.numbers)})
