"""The people, how they prove who they are, and who is logged in."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Engine, delete, select, update
from sqlalchemy.exc import IntegrityError

from bayesift.review.storage.connection import as_text, now, read_all, read_one, reading, writing
from bayesift.review.storage.tables import reviewers, sessions

#: After so long a reviewer has to log in again.
LIFETIME = timedelta(days=30)


class Reviewer(NamedTuple):
    """A person who judges documents."""

    id: int
    name: str


class Reviewers:
    """The reviewers of a project; each has a name and one token, of which only the SHA-256 is kept."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def all(self) -> list[Reviewer]:
        """Return the reviewers in the order in which they came."""
        return read_all(self._engine, select(reviewers).order_by(reviewers.c.id), _reviewer)

    def names(self) -> dict[int, str]:
        """Return the names of all reviewers by their numbers."""
        return {reviewer.id: reviewer.name for reviewer in self.all()}

    def named(self, name: str) -> Reviewer | None:
        """Return a reviewer by name."""
        return read_one(self._engine, select(reviewers).where(reviewers.c.name == name), _reviewer)

    def add(self, name: str) -> Reviewer:
        """Add a reviewer; the name must be new."""
        if not name.strip():
            raise ValueError(f"the name of a reviewer is {name!r}; expected a word")
        try:
            with writing(self._engine) as connection:
                made = connection.execute(reviewers.insert().values(name=name, created=now()))
        except IntegrityError as error:
            raise ValueError(f"there is already a reviewer {name!r}; expected another name") from error
        assert made.inserted_primary_key is not None
        return Reviewer(made.inserted_primary_key[0], name)

    def issue_token(self, reviewer: Reviewer) -> str:
        """Return the reviewer a new token; an older one is good no longer."""
        token = secrets.token_urlsafe(32)
        with writing(self._engine) as connection:
            row = update(reviewers).where(reviewers.c.id == reviewer.id)
            connection.execute(row.values(token_hash=hashed(token)))
        return token

    def by_token(self, token: str) -> Reviewer | None:
        """Tell whose token it is, in a time that does not depend on how much of it is right."""
        given, owner = hashed(token), None
        with reading(self._engine) as connection:
            for row in connection.execute(select(reviewers).where(reviewers.c.token_hash.is_not(None))):
                if hmac.compare_digest(row.token_hash, given):
                    owner = _reviewer(row)
        return owner


class Sessions:
    """The sessions of a project; they outlive the program, so that a restart logs nobody out."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def begin(self, reviewer: Reviewer) -> str:
        """Log a reviewer in and give the secret of the session; sessions that are too old are forgotten."""
        secret = secrets.token_urlsafe(32)
        with writing(self._engine) as connection:
            connection.execute(delete(sessions).where(sessions.c.created < _oldest()))
            row = {"token_hash": hashed(secret), "reviewer": reviewer.id, "created": now()}
            connection.execute(sessions.insert().values(row))
        return secret

    def owner(self, secret: str) -> Reviewer | None:
        """Tell whose session it is.

        The hash is looked up, not compared: how long that takes tells nothing about the secret behind it.
        """
        query = (
            select(reviewers.c.id, reviewers.c.name)
            .join(sessions, sessions.c.reviewer == reviewers.c.id)
            .where(sessions.c.token_hash == hashed(secret), sessions.c.created >= _oldest())
        )
        return read_one(self._engine, query, _reviewer)

    def end(self, secret: str) -> None:
        """Log out."""
        with writing(self._engine) as connection:
            connection.execute(delete(sessions).where(sessions.c.token_hash == hashed(secret)))


def hashed(secret: str) -> str:
    """Return what is kept of a secret that is long and random: no salt and no stretching are needed."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _reviewer(row: Any) -> Reviewer:
    return Reviewer(row.id, row.name)


def _oldest() -> str:
    return as_text(datetime.now(UTC) - LIFETIME)
