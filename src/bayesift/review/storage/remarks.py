"""Notes and tags on documents: rows that are only ever added, of which each reviewer's last ones hold."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Engine, Select, select

from bayesift.review.storage.connection import now, reading, writing
from bayesift.review.storage.tables import remarks


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
        """Replace the note or the tags of a reviewer on a document; what was there before stays in the table."""
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
