"""Who logged in, who failed to, and what was done about tokens, roles, settings and exports: rows that only grow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, Engine, select, true

from bayesift.review.storage.connection import now, read_all, writing
from bayesift.review.storage.tables import audit

AuditAction = Literal[
    "login",
    "failed login",
    "logout",
    "session ended",
    "reviewer added",
    "reviewer removed",
    "role changed",
    "token issued",
    "link issued",
    "topic added",
    "settings changed",
    "decisions imported",
    "exported",
    "duplicates changed",
    "text mended",
    "earlier review added",
]

#: How many entries are read at once.
_BATCH = 1000


class Actor(NamedTuple):
    """Who does something, and from where.

    Parameters
    ----------
    reviewer : int, optional
        The reviewer who is logged in; None for a stranger and for whoever runs the program.
    address : str
        The address of the client; ``command line`` for whoever runs the program.
    """

    reviewer: int | None = None
    address: str = "command line"


#: Whoever runs the program.
COMMAND_LINE = Actor()

#: So much is kept of what an entry says.
_LONGEST_DETAIL = 2000


class AuditEntry(NamedTuple):
    """A row of the audit log.

    Parameters
    ----------
    id : int
        Later entries have greater numbers.
    at : str
        When, in UTC.
    action : str
        What was done.
    reviewer : int, optional
        By whom.
    address : str
        From where.
    detail : str
        About what.
    """

    id: int
    at: str
    action: AuditAction
    reviewer: int | None
    address: str
    detail: str


class Audit:
    """The audit log of a project."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def __iter__(self) -> Iterator[AuditEntry]:
        """Go through all entries, the oldest first."""
        last = 0
        while entries := self._some(audit.c.id > last, audit.c.id, _BATCH):
            yield from entries
            last = entries[-1].id

    def latest(self, n: int, before: int | None = None) -> list[AuditEntry]:
        """Return the last n entries, or the last n before the one given, the latest first."""
        return self._some(true() if before is None else audit.c.id < before, audit.c.id.desc(), n)

    def note(self, action: AuditAction, actor: Actor, detail: str = "") -> None:
        """Add an entry; it is on the disk when this returns."""
        with writing(self._engine) as connection:
            record(connection, action, actor, detail)

    def _some(self, condition: Any, order: Any, n: int) -> list[AuditEntry]:
        return read_all(self._engine, select(audit).where(condition).order_by(order).limit(n), _entry)


def record(connection: Connection, action: AuditAction, actor: Actor, detail: str = "") -> None:
    """Add an entry together with whatever else the connection writes."""
    about = detail if len(detail) <= _LONGEST_DETAIL else f"{detail[: _LONGEST_DETAIL - 1]}…"
    row = {"at": now(), "action": action, "reviewer": actor.reviewer, "address": actor.address, "detail": about}
    connection.execute(audit.insert().values(row))


def _entry(row: Any) -> AuditEntry:
    return AuditEntry(**{name: getattr(row, name) for name in AuditEntry._fields})
