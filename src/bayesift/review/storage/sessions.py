"""Who is logged in."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime, timedelta

from sqlalchemy import Engine, delete, select

from bayesift.review.storage._values import as_text, now
from bayesift.review.storage.connection import reading, writing
from bayesift.review.storage.reviewers import Reviewer, hashed
from bayesift.review.storage.tables import reviewers, sessions

#: After so long a reviewer has to log in again.
LIFETIME = timedelta(days=30)


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
        with reading(self._engine) as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else Reviewer(row.id, row.name)

    def end(self, secret: str) -> None:
        """Log out."""
        with writing(self._engine) as connection:
            connection.execute(delete(sessions).where(sessions.c.token_hash == hashed(secret)))


def _oldest() -> str:
    return as_text(datetime.now(UTC) - LIFETIME)
