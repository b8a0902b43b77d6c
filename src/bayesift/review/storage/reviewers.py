"""The people, and how they prove who they are."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Any, NamedTuple

from sqlalchemy import Engine, select, update
from sqlalchemy.exc import IntegrityError

from bayesift.review.storage._values import now
from bayesift.review.storage.connection import reading, writing
from bayesift.review.storage.tables import reviewers


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
        with reading(self._engine) as connection:
            return [_reviewer(row) for row in connection.execute(select(reviewers).order_by(reviewers.c.id))]

    def named(self, name: str) -> Reviewer | None:
        """Return a reviewer by name."""
        with reading(self._engine) as connection:
            row = connection.execute(select(reviewers).where(reviewers.c.name == name)).one_or_none()
        return None if row is None else _reviewer(row)

    def add(self, name: str) -> Reviewer:
        """Add a reviewer; the name must be new."""
        if not name.strip():
            raise ValueError(f"the name of a reviewer is {name!r}; expected a word")
        try:
            with writing(self._engine) as connection:
                made = connection.execute(reviewers.insert().values(name=name, created=now()))
        except IntegrityError as error:
            raise ValueError(f"there is a reviewer {name!r} already; expected another name") from error
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


def hashed(secret: str) -> str:
    """Return what is kept of a secret that is long and random: no salt and no stretching are needed."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _reviewer(row: Any) -> Reviewer:
    return Reviewer(row.id, row.name)
