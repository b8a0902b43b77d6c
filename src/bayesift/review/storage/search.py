"""Find documents by their words, with the full-text index of the database: SQLite's FTS5, or PostgreSQL's.

Both get words that are cut here, so that both find the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any, NamedTuple

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from bayesift.review.storage.connection import reading

#: A search has at most so many words, finds at most so many documents, and takes at most so many seconds.
MAX_WORDS, MAX_FOUND, MAX_SECONDS = 12, 20_000, 2.0

#: So many characters of a text, and of a title or a key, can be searched.
_SEARCHED, _SEARCHED_NAME = 200_000, 10_000

#: Longer words are cut off; PostgreSQL holds no longer ones.
_LONGEST = 255

# A character of a script that is written without spaces is a word.
_ALONE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(f"[{_ALONE}]|[^\\W_{_ALONE}]+")

#: What stands between quotation marks, or else between spaces.
_CHUNK = re.compile(r'"([^"]*)"|([^\s"]+)')


class SearchError(ValueError):
    """A search that is refused; the message says what to do about it."""


class Found(NamedTuple):
    """The places of the documents found, in order, and whether there are more."""

    places: list[int]
    more: bool


class Phrase(NamedTuple):
    """Consecutive words; if ``open``, the last is only the beginning of a word."""

    words: tuple[str, ...]
    open: bool


def words_of(given: str) -> list[str]:
    """Cut a text into words: letters and digits; case and the width of letters do not count.

    Examples
    --------
    >>> from bayesift.review.storage.search import words_of
    >>> words_of("Tin-plated ＣＡＮＳ, 3.5 %")
    ['tin', 'plated', 'cans', '3', '5']
    """
    return [word[:_LONGEST] for word in _WORD.findall(_folded(given))]


def phrases_of(query: str) -> list[Phrase]:
    """Read a query: words, beginnings of words with ``*``, phrases in quotation marks. No other character is special.

    Raises
    ------
    SearchError
        If it has too many words.

    Examples
    --------
    >>> from bayesift.review.storage.search import phrases_of
    >>> phrases_of('"metal exchange" min*')
    [Phrase(words=('metal', 'exchange'), open=False), Phrase(words=('min',), open=True)]
    """
    found = []
    for quoted, plain in _CHUNK.findall(query):
        chunk = quoted or plain
        words = tuple(words_of(chunk))
        if words:
            found.append(Phrase(words, chunk.rstrip().endswith("*")))
    n = sum(len(phrase.words) for phrase in found)
    if n > MAX_WORDS:
        raise SearchError(f"the search has {n} words; expected at most {MAX_WORDS}")
    return found


def search(engine: Engine, query: str) -> Found:
    """Find the documents whose key, title or text have every word and phrase of a query.

    Parameters
    ----------
    engine : Engine
        The database.
    query : str
        See :func:`phrases_of`.

    Returns
    -------
    Found
        None for a query without words.

    Raises
    ------
    SearchError
        If the query has too many words, or takes too long.
    """
    phrases = phrases_of(query)
    if not phrases:
        return Found([], False)
    with reading(engine) as connection, _hurried(connection):
        of_sqlite = connection.dialect.name == "sqlite"
        matching = "rowid FROM search_index WHERE search_index MATCH :query ORDER BY rowid"
        if not of_sqlite:
            matching = "place FROM search_index WHERE words @@ CAST(:query AS tsquery) ORDER BY place"
        asked = _for_sqlite(phrases) if of_sqlite else _for_postgresql(phrases)
        rows = connection.execute(
            text(f"SELECT {matching} LIMIT :limit"),
            {"query": asked, "limit": MAX_FOUND + 1},
        )
        places = list(rows.scalars())
    return Found(places[:MAX_FOUND], len(places) > MAX_FOUND)


def create_index(connection: Connection) -> None:
    """Make the index of the words, empty."""
    if connection.dialect.name == "sqlite":
        # It gets words as they are, and keeps where they stand but not the texts.
        options = "content='', tokenize='ascii', columnsize=0"
        connection.exec_driver_sql(f'CREATE VIRTUAL TABLE search_index USING fts5("key", title, text, {options})')
    else:
        connection.exec_driver_sql(
            "CREATE TABLE search_index (place INTEGER NOT NULL PRIMARY KEY, words TSVECTOR NOT NULL)"
        )


def add_to_index(connection: Connection, rows: Sequence[Any]) -> None:
    """Enter documents by place, key, title and text."""
    if connection.dialect.name == "sqlite":
        insert = 'INSERT INTO search_index (rowid, "key", title, text) VALUES (:place, :key, :title, :text)'
        values = [_fields(row) for row in rows]
    else:
        insert = "INSERT INTO search_index (place, words) VALUES (:place, CAST(:words AS tsvector))"
        values = [{"place": row["place"], "words": _positions(row)} for row in rows]
    connection.execute(text(insert), values)


def replace_in_index(connection: Connection, before: Any, after: Any) -> None:
    """Replace the entry of a document; ``before`` is the old entry."""
    if connection.dialect.name == "sqlite":
        # An index that keeps no texts has to be told what it forgets.
        forget = (
            'INSERT INTO search_index (search_index, rowid, "key", title, text) '
            "VALUES ('delete', :place, :key, :title, :text)"
        )
        connection.execute(text(forget), _fields(before))
    else:
        connection.execute(text("DELETE FROM search_index WHERE place = :place"), {"place": before["place"]})
    add_to_index(connection, [after])


def complete_index(connection: Connection) -> None:
    """Make the index fast when all documents are entered."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("CREATE INDEX search_words ON search_index USING gin (words)")


def _folded(given: str) -> str:
    if given.isascii():
        return given.lower()
    # Folding may bring forth characters that are not in their usual form.
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", given).casefold())


def _fields(row: Any) -> dict[str, Any]:
    """Return a document as SQLite is given it."""
    return {
        "place": row["place"],
        "key": _spaced(row["key"], _SEARCHED_NAME),
        "title": _spaced(row["title"], _SEARCHED_NAME),
        "text": _spaced(row["text"], _SEARCHED),
    }


def _spaced(given: str, limit: int) -> str:
    """Return a text as the tokenizer of SQLite cuts it into our words; it knows the letters of ASCII itself."""
    given = given[:limit]
    return given if given.isascii() else " ".join(words_of(given)[:limit])


def _positions(row: Any) -> str:
    """Return the words of a document with their numbers, as PostgreSQL writes them; no phrase spans two fields."""
    numbered, place = [], 0
    for field, limit in (("key", _SEARCHED_NAME), ("title", _SEARCHED_NAME), ("text", _SEARCHED)):
        for place, word in enumerate(words_of(row[field][:limit]), place + 2):  # noqa: B020
            numbered.append(f"{word}:{place}")
    return " ".join(numbered)


def _for_sqlite(phrases: Sequence[Phrase]) -> str:
    return " ".join(f'"{" ".join(words)}"{"*" if open_ else ""}' for words, open_ in phrases)


def _for_postgresql(phrases: Sequence[Phrase]) -> str:
    return " & ".join(f"({' <-> '.join(words)}{':*' if open_ else ''})" for words, open_ in phrases)


@contextmanager
def _hurried(connection: Connection) -> Iterator[None]:
    """Limit how long a statement in the block may take."""
    driver = connection.connection.driver_connection
    assert driver is not None
    end = monotonic() + MAX_SECONDS
    if connection.dialect.name == "sqlite":
        driver.set_progress_handler(lambda: monotonic() > end, 10_000)
    else:
        connection.exec_driver_sql(f"SET LOCAL statement_timeout TO {round(1000 * MAX_SECONDS)}")
    try:
        yield
    except DBAPIError as error:
        if monotonic() < end:
            raise
        raise SearchError(
            f"the search took more than {MAX_SECONDS:g} seconds; expected longer or rarer words"
        ) from error
    finally:
        if connection.dialect.name == "sqlite":
            driver.set_progress_handler(None, 0)
