"""Documents that a project has several times: found by DOI, or by title and year, and judged once.

Titles are compared with their neighbours only, in the order of their letters from the front and from the back (the
sorted neighbourhood method of Hernández & Stolfo 1995), so that the work grows with the number of documents.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from hashlib import blake2b
from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, Engine, delete, select

from bayesift.review.storage.audit import Actor, record
from bayesift.review.storage.connection import reading, writing
from bayesift.review.storage.documents import Document, document_of, doi_of
from bayesift.review.storage.tables import documents, duplicates

How = Literal["doi", "title", "person", "apart"]

#: Titles that are at least this similar, by their share of common characters, may be the same.
SIMILAR = 0.95

#: Shorter titles, such as "Editorial", say nothing; longer ones are compared by their beginning.
_SHORTEST, _LONGEST = 20, 400

#: A title is compared with this many that follow it, if they begin with the same letters.
_NEIGHBOURS, _SAME_BEGINNING = 4, 8

_YEAR = re.compile(r"\b(1[89]|20)\d\d\b")
_DIGITS = re.compile(r"\d+")
_NO_LETTER = re.compile(r"[\W_]+")


class Copy(NamedTuple):
    """The original of a copy, and how that is known; a document that a person keeps apart is its own original."""

    original: int
    how: How


class _Entry(NamedTuple):
    place: int
    doi: str | None
    title: str
    year: str | None
    text: bytes


class DuplicateFinder:
    """Finds documents that are the same, as they are added.

    Two documents are the same if they have the same DOI; or if their titles are the same except for a few letters, with
    the same numbers in them, and they have the same year or, without a year, the same text. Documents with different
    DOIs are different.

    Examples
    --------
    >>> from bayesift.review.storage import Document
    >>> from bayesift.review.storage.duplicates import DuplicateFinder
    >>> finder = DuplicateFinder()
    >>> finder.add(0, Document("a", "Effects of tin on the price of cans", "", {"year": 1987}))
    >>> finder.add(1, Document("b", "Effects of Tin on the Price of Cans.", "An abstract.", {"year": "1987 Mar"}))
    >>> finder.add(2, Document("c", "Effects of tin on the price of cars, part 2", "", {"year": 1987}))
    >>> finder.found()
    {1: Copy(original=0, how='title')}
    """

    def __init__(self) -> None:
        self._entries: list[_Entry] = []

    def add(self, place: int, document: Document) -> None:
        """Take note of a document."""
        text, extra = document.text, document.extra
        folded = unicodedata.normalize("NFKD", document.title[: 2 * _LONGEST]).casefold()
        plain = "".join(letter for letter in folded if not unicodedata.combining(letter))
        key = _NO_LETTER.sub(" ", plain).strip()[:_LONGEST]
        content = blake2b(" ".join(text.split()).encode("utf-8", "replace"), digest_size=8).digest() if text else b""
        self._entries.append(_Entry(place, doi_of(extra), key, _year_of(extra), content))

    def found(self) -> dict[int, Copy]:
        """Return the copies; the first document of each group is the original."""
        groups = _Groups(self._entries)
        first: dict[str, int] = {}
        for number, entry in enumerate(self._entries):
            if entry.doi is not None:
                groups.join(first.setdefault(entry.doi, number), number, "doi")
        for one, other in self._neighbours():
            groups.join(one, other, "title")
        return groups.copies()

    def _neighbours(self) -> Iterator[tuple[int, int]]:
        """Return the numbers of entries whose titles are the same, or nearly."""
        titled = [number for number, entry in enumerate(self._entries) if len(entry.title) >= _SHORTEST]
        for step in (1, -1):
            keys = {number: self._entries[number].title[::step] for number in titled}
            order = sorted(titled, key=lambda number: (self._entries[number].year or "", keys[number], number))
            for place, number in enumerate(order):
                for other in order[place + 1 : place + 1 + _NEIGHBOURS]:
                    if keys[number][:_SAME_BEGINNING] == keys[other][:_SAME_BEGINNING] and _same(
                        self._entries[number], self._entries[other]
                    ):
                        yield number, other


def _same(one: _Entry, other: _Entry) -> bool:
    """Tell whether title, year and text speak for one document."""
    if one.year != other.year or (one.year is None and (not one.text or one.text != other.text)):
        return False
    if _DIGITS.findall(one.title) != _DIGITS.findall(other.title):
        return False
    if one.title == other.title:
        return True
    matcher = SequenceMatcher(None, one.title, other.title, autojunk=False)
    return matcher.real_quick_ratio() >= SIMILAR and matcher.quick_ratio() >= SIMILAR and matcher.ratio() >= SIMILAR


def _year_of(extra: Mapping[str, Any]) -> str | None:
    for name, value in extra.items():
        if str(name).strip().lower() in ("year", "publication_year", "py", "date", "dp", "publication date"):
            found = _YEAR.search(str(value))
            if found:
                return found[0]
    return None


class _Groups:
    """Groups of entries that are the same; none has two DOIs."""

    def __init__(self, entries: list[_Entry]) -> None:
        self._entries = entries
        self._parent = list(range(len(entries)))
        self._how: dict[int, How] = {}
        self._doi = [entry.doi for entry in entries]

    def join(self, one: int, other: int, how: How) -> None:
        """Join the groups of two entries, unless each has a DOI of its own."""
        low, high = sorted((self._root(one), self._root(other)))
        dois = {self._doi[low], self._doi[high]} - {None}
        if low != high and len(dois) < 2:
            self._parent[high], self._doi[low] = low, next(iter(dois), None)
            self._how[high] = how

    def _root(self, number: int) -> int:
        while self._parent[number] != number:
            self._parent[number] = self._parent[self._parent[number]]
            number = self._parent[number]
        return number

    def copies(self) -> dict[int, Copy]:
        roots = ((number, self._root(number)) for number in range(len(self._entries)))
        return {
            self._entries[number].place: Copy(self._entries[root].place, self._how[number])
            for number, root in roots
            if root != number
        }


class Duplicates:
    """Which documents of a project are copies of others."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def all(self) -> dict[int, Copy]:
        """Return the copies; those that a person keeps apart are not among them."""
        with reading(self._engine) as connection:
            rows = connection.execute(select(duplicates).order_by(duplicates.c.document))
            return {row.document: Copy(row.original, row.how) for row in rows if row.how != "apart"}

    def look(self, by: Actor) -> int:
        """Look for copies again; what people have joined or kept apart stays that way.

        Returns
        -------
        int
            How many copies are new.
        """
        finder = DuplicateFinder()
        with writing(self._engine) as connection:
            known = set(connection.scalars(select(duplicates.c.document)))
            known |= set(connection.scalars(select(duplicates.c.original)))
            for row in connection.execute(select(documents).order_by(documents.c.place)):
                if row.place not in known:
                    finder.add(row.place, document_of(row))
            found = finder.found()
            enter(connection, found)
            record(connection, "duplicates changed", by, f"{len(found)} found")
        return len(found)

    def separate(self, document: int, by: Actor) -> None:
        """Keep a document apart from its group, for good; the next copy takes the place of an original."""
        with writing(self._engine) as connection:
            rows = connection.execute(
                select(duplicates)
                .where((duplicates.c.document == document) | (duplicates.c.original == document))
                .where(duplicates.c.how != "apart")
                .order_by(duplicates.c.document)
            ).all()
            if not rows:
                raise ValueError(f"document {document} is not in a group; expected one that is")
            copies = [row.document for row in rows if row.original == document]
            connection.execute(delete(duplicates).where(duplicates.c.document == document))
            if copies:
                connection.execute(delete(duplicates).where(duplicates.c.document == copies[0]))
                change = duplicates.update().where(duplicates.c.original == document).values(original=copies[0])
                connection.execute(change)
            enter(connection, {document: Copy(document, "apart")})
            record(connection, "duplicates changed", by, f"document {document} kept apart")

    def join(self, document: int, original: int, by: Actor) -> None:
        """Make a document, with its copies, a copy of another one."""
        with writing(self._engine) as connection:
            held = {row.document: row.original for row in connection.execute(select(duplicates))}
            first, second = sorted((held.get(document, document), held.get(original, original)))
            if first == second:
                raise ValueError(f"documents {document} and {original} are already joined; expected two that are not")
            connection.execute(delete(duplicates).where(duplicates.c.document.in_([first, second])))
            change = duplicates.update().where(duplicates.c.original == second).values(original=first)
            connection.execute(change)
            enter(connection, {second: Copy(first, "person")})
            record(connection, "duplicates changed", by, f"documents {first} and {second} joined")


def enter(connection: Connection, found: Mapping[int, Copy]) -> None:
    """Write copies that were found."""
    rows = [{"document": document, "original": copy.original, "how": copy.how} for document, copy in found.items()]
    if rows:
        connection.execute(duplicates.insert(), rows)
