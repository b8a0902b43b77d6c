"""The people in a review: what each may do, how they prove who they are, and who is logged in."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, NamedTuple, get_args

from sqlalchemy import Connection, Engine, delete, func, select, update
from sqlalchemy.exc import IntegrityError

from bayesift.review.storage.audit import COMMAND_LINE, Actor, record
from bayesift.review.storage.connection import as_text, now, read_all, read_one, reading, writing
from bayesift.review.storage.tables import links, reviewers, sessions

#: After so long a reviewer has to log in again.
LIFETIME = timedelta(days=30)

#: So long a link that leaves the token as it is can be used.
LINK_LIFETIME = timedelta(days=1)

#: The most sessions of one reviewer; a further login ends the oldest.
MOST_SESSIONS = 20

#: The longest name of a reviewer.
LONGEST_NAME = 200

#: A reader sees everything and changes nothing; a reviewer also decides; an owner also says who may do what.
Role = Literal["reader", "reviewer", "owner"]

#: The roles; each may do what those before it may.
ROLES: tuple[Role, ...] = get_args(Role)


class Reviewer(NamedTuple):
    """A person who judges documents or reads along.

    Parameters
    ----------
    id : int
        Stands for the person in the history.
    name : str
        Unique among the reviewers of a project.
    role : {"reader", "reviewer", "owner"}
        What the person may do.
    removed : str, optional
        When the person was removed, in UTC.
    """

    id: int
    name: str
    role: Role = "reviewer"
    removed: str | None = None

    def may(self, role: Role) -> bool:
        """Tell whether the person may do what this role may."""
        return ROLES.index(self.role) >= ROLES.index(role)


class Reviewers:
    """The reviewers of a project; each has a name, a role and one token, of which only the SHA-256 is kept."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def all(self) -> list[Reviewer]:
        """Return the reviewers in the order in which they came, with those who were removed."""
        return read_all(self._engine, select(reviewers).order_by(reviewers.c.id), _reviewer)

    def names(self) -> dict[int, str]:
        """Return the names of all reviewers by their numbers."""
        return {reviewer.id: reviewer.name for reviewer in self.all()}

    def get(self, id: int) -> Reviewer | None:
        """Return a reviewer by number."""
        return read_one(self._engine, select(reviewers).where(reviewers.c.id == id), _reviewer)

    def named(self, name: str) -> Reviewer | None:
        """Return a reviewer by name."""
        return read_one(self._engine, select(reviewers).where(reviewers.c.name == name), _reviewer)

    def owner(self) -> Reviewer | None:
        """Return the first owner who has not been removed."""
        return next((person for person in self.all() if person.role == "owner" and person.removed is None), None)

    def add(self, name: str, role: Role | None = None, by: Actor = COMMAND_LINE) -> Reviewer:
        """Add a reviewer; the name must be new. Without a role the first becomes the owner, others reviewers."""
        _check_name(name)
        try:
            with writing(self._engine) as connection:
                return _add(connection, name, role, by)
        except IntegrityError as error:
            raise ValueError(f"there is already a reviewer {name!r}; expected another name") from error

    def invite(self, name: str, role: Role | None = None, by: Actor = COMMAND_LINE) -> tuple[Reviewer, str]:
        """Give a new token to the reviewer with a name; a new person is added, and a removed one comes back.

        Parameters
        ----------
        name : str
            Of the reviewer.
        role : {"reader", "reviewer", "owner"}, optional
            What the reviewer may do from now on; as before if not given.
        by : Actor
            Who invites.

        Returns
        -------
        reviewer : Reviewer
            As they are now.
        token : str
            It is known to nobody else. An older token, and all sessions begun with it, are no longer valid.
        """
        person = self.named(name) or self.add(name, role, by)
        if role is not None and role != person.role:
            self.change_role(person, role, by)
        token = self.issue_token(person, by)
        return person._replace(role=role or person.role, removed=None), token

    def issue_token(self, reviewer: Reviewer, by: Actor = COMMAND_LINE) -> str:
        """Return a new token for the reviewer; an older one, its links and its sessions are no longer valid."""
        token = secrets.token_urlsafe(32)
        with writing(self._engine) as connection:
            row = update(reviewers).where(reviewers.c.id == reviewer.id)
            connection.execute(row.values(token_hash=hashed(token), removed=None))
            _shut_out(connection, reviewer)
            record(connection, "token issued", by, reviewer.name)
        return token

    def issue_link(self, reviewer: Reviewer, by: Actor = COMMAND_LINE) -> str:
        """Return a token for a day; the reviewer's lasting token and sessions stay valid."""
        token = secrets.token_urlsafe(32)
        with writing(self._engine) as connection:
            connection.execute(delete(links).where(links.c.expires < now()))
            expires = as_text(datetime.now(UTC) + LINK_LIFETIME)
            row = {"token_hash": hashed(token), "reviewer": reviewer.id, "expires": expires}
            connection.execute(links.insert().values(row))
            record(connection, "link issued", by, reviewer.name)
        return token

    def change_role(self, reviewer: Reviewer, role: Role, by: Actor = COMMAND_LINE) -> None:
        """Change what a reviewer may do; a project keeps at least one owner."""
        if role not in ROLES:
            raise ValueError(f"role is {role!r}; expected {', '.join(ROLES)}")
        with writing(self._engine) as connection:
            if role != "owner":
                _check_that_an_owner_stays(connection, reviewer)
            connection.execute(update(reviewers).where(reviewers.c.id == reviewer.id).values(role=role))
            record(connection, "role changed", by, f"{reviewer.name}: {reviewer.role} to {role}")

    def remove(self, reviewer: Reviewer, by: Actor = COMMAND_LINE) -> None:
        """Stop a reviewer from logging in; their decisions stay, under their name."""
        with writing(self._engine) as connection:
            _check_that_an_owner_stays(connection, reviewer)
            row = update(reviewers).where(reviewers.c.id == reviewer.id)
            connection.execute(row.values(token_hash=None, removed=now()))
            _shut_out(connection, reviewer)
            record(connection, "reviewer removed", by, reviewer.name)

    def by_token(self, token: str) -> Reviewer | None:
        """Return the reviewer with a token, in a time that does not depend on how much of it is right."""
        with reading(self._engine) as connection:
            return _by_token(connection, token)


class Login(NamedTuple):
    """A session of a reviewer, as it is listed.

    Parameters
    ----------
    key : str
        Names the session; it cannot be used to act in it.
    reviewer : int
        Whose.
    since : str
        When it was begun, in UTC.
    address, browser : str
        From where, and with what, as the browser says.
    """

    key: str
    reviewer: int
    since: str
    address: str
    browser: str


class Sessions:
    """The sessions of a project; they outlive the program, so that a restart logs nobody out."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def begin(self, reviewer: Reviewer, address: str = "", browser: str = "", *, token: str | None = None) -> str:
        """Log a reviewer in.

        Sessions that are too old are forgotten; if the reviewer has more than :data:`MOST_SESSIONS`, the oldest end.

        Parameters
        ----------
        reviewer : Reviewer
            Who.
        address, browser : str
            From where, and with what.
        token : str, optional
            With which token; somebody may have replaced it, or removed the reviewer, since it was looked at.

        Returns
        -------
        str
            The secret of the session.

        Raises
        ------
        LookupError
            If the token is no longer valid.
        """
        secret = secrets.token_urlsafe(32)
        with writing(self._engine) as connection:
            # Who replaces the token waits for this, or this for them.
            connection.execute(select(reviewers.c.id).where(reviewers.c.id == reviewer.id).with_for_update())
            if token is not None and _by_token(connection, token) is None:
                raise LookupError("the token is no longer valid")
            connection.execute(delete(sessions).where(sessions.c.created < _oldest()))
            own = select(sessions.c.token_hash).where(sessions.c.reviewer == reviewer.id)
            kept = own.order_by(sessions.c.created.desc(), sessions.c.token_hash).limit(MOST_SESSIONS - 1)
            surplus = sessions.c.reviewer == reviewer.id, sessions.c.token_hash.not_in(kept)
            connection.execute(delete(sessions).where(*surplus))
            row = {
                "token_hash": hashed(secret),
                "reviewer": reviewer.id,
                "created": now(),
                "address": address,
                "browser": browser[:200],
            }
            connection.execute(sessions.insert().values(row))
            record(connection, "login", Actor(reviewer.id, address), browser[:200])
        return secret

    def reviewer(self, secret: str) -> Reviewer | None:
        """Tell whose session it is.

        The hash is looked up, not compared: how long that takes tells nothing about the secret behind it.
        """
        query = (
            select(reviewers)
            .join(sessions, sessions.c.reviewer == reviewers.c.id)
            .where(sessions.c.token_hash == hashed(secret), sessions.c.created >= _oldest())
            .where(reviewers.c.removed.is_(None))
        )
        return read_one(self._engine, query, _reviewer)

    def all(self) -> list[Login]:
        """List the valid sessions, the latest first."""
        query = select(sessions).where(sessions.c.created >= _oldest())
        return read_all(self._engine, query.order_by(sessions.c.created.desc(), sessions.c.token_hash), _login)

    def end(self, secret: str, by: Actor) -> None:
        """Log out."""
        with writing(self._engine) as connection:
            ended = connection.execute(delete(sessions).where(sessions.c.token_hash == hashed(secret)))
            if ended.rowcount:
                record(connection, "logout", by)

    def end_listed(self, logins: list[Login], by: Actor = COMMAND_LINE) -> int:
        """End sessions that were listed; return how many of them were still valid."""
        names = Reviewers(self._engine).names()
        ended = 0
        with writing(self._engine) as connection:
            for login in logins:
                row = sessions.c.token_hash.startswith(login.key, autoescape=True)
                if connection.execute(delete(sessions).where(row)).rowcount:
                    ended += 1
                    record(connection, "session ended", by, f"{names[login.reviewer]}, since {login.since}")
        return ended


def _by_token(connection: Connection, token: str) -> Reviewer | None:
    given, owner = hashed(token), None
    lasting = select(reviewers, reviewers.c.token_hash.label("known")).where(reviewers.c.token_hash.is_not(None))
    for_a_day = select(reviewers, links.c.token_hash.label("known")).join(links).where(links.c.expires >= now())
    for query in (lasting, for_a_day):
        for row in connection.execute(query.where(reviewers.c.removed.is_(None))):
            if hmac.compare_digest(row.known, given):
                owner = _reviewer(row)
    return owner


def key_of(secret: str) -> str:
    """Return the name under which the session of a secret is listed."""
    return hashed(secret)[:_KEY_LENGTH]


def hashed(secret: str) -> str:
    """Return what is kept of a secret that is long and random: no salt and no stretching are needed."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


#: So much of the hash of a session's secret names the session.
_KEY_LENGTH = 16


def _check_name(name: str) -> None:
    if not name.strip():
        raise ValueError(f"the name of a reviewer is {name!r}; expected at least one character")
    if not name.isprintable() or len(name) > LONGEST_NAME:
        expected = f"expected at most {LONGEST_NAME} characters, all of them printable"
        raise ValueError(f"the name of a reviewer is {name[:40]!r}; {expected}")


def _add(connection: Connection, name: str, role: Role | None, by: Actor) -> Reviewer:
    first = not connection.scalar(select(func.count()).select_from(reviewers))
    if first and role not in (None, "owner"):
        raise ValueError(f"role is {role!r} for {name}, the first reviewer of the project; expected 'owner'")
    role = role or ("owner" if first else "reviewer")
    made = connection.execute(reviewers.insert().values(name=name, created=now(), role=role))
    assert made.inserted_primary_key is not None
    record(connection, "reviewer added", by, f"{name}, {role}")
    return Reviewer(made.inserted_primary_key[0], name, role)


def _check_that_an_owner_stays(connection: Connection, leaving: Reviewer) -> None:
    """Refuse to remove the last owner; two owners who try to remove each other wait for one another."""
    present = select(reviewers).where(reviewers.c.role == "owner", reviewers.c.removed.is_(None))
    owners = {row.id for row in connection.execute(present.order_by(reviewers.c.id).with_for_update())}
    if owners == {leaving.id}:
        raise ValueError(f"{leaving.name} is the only owner; expected another owner first")


def _shut_out(connection: Connection, reviewer: Reviewer) -> None:
    """End all sessions and links of a reviewer."""
    for table in (sessions, links):
        connection.execute(delete(table).where(table.c.reviewer == reviewer.id))


def _reviewer(row: Any) -> Reviewer:
    return Reviewer(row.id, row.name, row.role, row.removed)


def _login(row: Any) -> Login:
    return Login(row.token_hash[:_KEY_LENGTH], row.reviewer, row.created, row.address, row.browser)


def _oldest() -> str:
    return as_text(datetime.now(UTC) - LIFETIME)
