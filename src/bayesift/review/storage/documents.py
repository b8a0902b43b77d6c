"""The documents of a project."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import Column, Connection, Engine, Select, func, select

from bayesift import progress
from bayesift.review.storage.audit import Actor, record
from bayesift.review.storage.connection import now, read_one, reading, writing
from bayesift.review.storage.search import (
    Found,
    add_to_index,
    complete_index,
    create_index,
    replace_in_index,
    search,
)
from bayesift.review.storage.tables import documents, mendings

_BATCH = 1000

_DOI = re.compile(r"10\.\d{4,9}/\S+")

#: What a source may call the DOI of a document.
_DOIS = ("doi", "do", "lid", "aid")


class Document(NamedTuple):
    """A document of a project.

    Parameters
    ----------
    key : str
        What the source calls it.
    title, text : str
        What is read; the title may be empty.
    extra : mapping
        Whatever else the source says, such as authors and year; strings and numbers.
    place : int
        Its place among the documents, counted from 0; set by the project.
    """

    key: str
    title: str
    text: str
    extra: Mapping[str, Any] = {}
    place: int = -1


class Documents:
    """The documents of a project; they are written once, when it is made, and only their texts can be edited."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        # How many texts were mended, and the documents without one after so many.
        self._n_mended = 0
        self._empty: tuple[int, list[int]] = (-1, [])

    def __len__(self) -> int:
        with reading(self._engine) as connection:
            return connection.scalar(select(func.count()).select_from(documents)) or 0

    def __iter__(self) -> Iterator[Document]:
        """Iterate over the documents without holding all of them in memory."""
        # Chunk by chunk, because an open transaction would keep SQLite's log growing.
        after = -1
        while rows := self._some(after):
            yield from map(document_of, rows)
            after = rows[-1].place

    def texts(self) -> list[str]:
        """Return title and text of every document as one text, as models read it."""
        return [reading_text(document.title, document.text) for document in self]

    def get(self, place: int) -> Document | None:
        """Return a document by its place."""
        return read_one(self._engine, select(documents).where(documents.c.place == place), document_of)

    def titles(self, places: Sequence[int]) -> dict[int, Document]:
        """Return some documents with only the beginning of their texts."""
        short = select(
            documents.c.place, documents.c.key, documents.c.title, func.substr(documents.c.text, 1, 300).label("text")
        ).where(documents.c.place.in_(list(places)))
        with reading(self._engine) as connection:
            return {
                row.place: Document(row.key, row.title, row.text, {}, row.place) for row in connection.execute(short)
            }

    def places(self, keys: Sequence[str]) -> dict[str, int]:
        """Find documents by their identifiers in the source; if several share one, the first."""
        found: dict[str, int] = {}
        with reading(self._engine) as connection:
            # Databases limit the number of values in a query.
            for begin in range(0, len(keys), _BATCH):
                some = list(keys[begin : begin + _BATCH])
                rows = select(documents.c.key, documents.c.place).where(documents.c.key.in_(some))
                for row in connection.execute(rows.order_by(documents.c.place.desc())):
                    found[row.key] = row.place
        return found

    def without_text(self) -> list[int]:
        """Return the places of the documents without text; all texts are read once, and again after an edit."""
        known, places = self._empty
        after = self._n_mended
        if known != after:
            with reading(self._engine) as connection:
                found = select(documents.c.place).where(documents.c.text == "").order_by(documents.c.place)
                places = list(connection.scalars(found))
            self._empty = after, places
        return places

    def mend(self, place: int, text: str, by: Actor) -> None:
        """Replace the text of a document; the previous one is kept, and searches find words in the new one."""
        with writing(self._engine) as connection:
            here = documents.c.place == place
            before = connection.execute(select(documents).where(here).with_for_update()).mappings().one()
            after = {**before, "text": storable(text)}
            connection.execute(documents.update().where(here).values(text=after["text"]))
            replace_in_index(connection, before, after)
            row = {"document": place, "reviewer": by.reviewer, "at": now()}
            connection.execute(mendings.insert().values(**row, before=before["text"], after=after["text"]))
            record(connection, "text mended", by, str(before["key"]))
        self._n_mended += 1

    def search(self, query: str) -> Found:
        """Find documents by their words; see :func:`bayesift.review.storage.search.search`."""
        return search(self._engine, query)

    def extra_names(self) -> list[str]:
        """Return the names of the other fields of the documents in the source, in order of appearance."""
        names: dict[str, None] = {}
        after = -1
        while rows := self._some(after, documents.c.place, documents.c.extra):
            for row in rows:
                names.update(dict.fromkeys(json.loads(row.extra)))
            after = rows[-1].place
        return list(names)

    def _some(self, after: int, *columns: Column[Any]) -> Sequence[Any]:
        with reading(self._engine) as connection:
            return connection.execute(_chunk(after, *columns)).all()


def _chunk(after: int, *columns: Column[Any]) -> Select[Any]:
    return select(*columns or (documents,)).where(documents.c.place > after).order_by(documents.c.place).limit(_BATCH)


def storable(text: str) -> str:
    """Replace what a database cannot hold as text: the null character, and halves of surrogate pairs."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def fill(connection: Connection, given: Iterable[Document], note: Callable[[int, Document], None]) -> int:
    """Write the documents and return their number; ``note`` is called with the place of each.

    :mod:`bayesift.progress` tells how many there are so far.
    """
    place, source = 0, iter(given)
    create_index(connection)
    while batch := list(islice(source, _BATCH)):
        rows: list[dict[str, Any]] = [
            {
                "place": place + step,
                "key": storable(document.key),
                "title": storable(" ".join(document.title.split())),
                "text": storable(document.text),
                "extra": storable(json.dumps(dict(document.extra), ensure_ascii=False)),
            }
            for step, document in enumerate(batch)
        ]
        connection.execute(documents.insert(), rows)
        add_to_index(connection, rows)
        for row, document in zip(rows, batch, strict=True):
            note(row["place"], document)
        place += len(rows)
        progress.report(place, 0)
    complete_index(connection)
    return place


def index_all(connection: Connection) -> None:
    """Make the index of a project that has none."""
    create_index(connection)
    after = -1
    while rows := connection.execute(_chunk(after)).mappings().all():
        add_to_index(connection, rows)
        after = rows[-1]["place"]
        progress.report(after + 1, 0)
    complete_index(connection)


def reading_text(title: str, text: str) -> str:
    """Join title and text as models read them: the first line is the title, and empty if there is none."""
    return f"{title}\n\n{text}"


def document_of(row: Any) -> Document:
    """Return the document of a row."""
    return Document(row.key, row.title, row.text, json.loads(row.extra), row.place)


def doi_of(extra: Mapping[str, Any]) -> str | None:
    """Return the DOI among whatever else a source says, in small letters, without what stands before it.

    Examples
    --------
    >>> from bayesift.review.storage import doi_of
    >>> doi_of({"DOI": "https://doi.org/10.1000/ABC."}), doi_of({"doi": "none"})
    ('10.1000/abc', None)
    """
    for value in values_of(extra, _DOIS):
        found = _DOI.search(value)
        if found:
            return found[0].rstrip(".,;)").lower()
    return None


def values_of(extra: Mapping[str, Any], names: tuple[str, ...]) -> list[str]:
    """Return what a source says under any of some names (in small letters), in the order of the names."""
    by_name = {str(name).strip().lower(): str(value).strip() for name, value in extra.items() if value is not None}
    return [by_name[name] for name in names if by_name.get(name)]
