"""One server for a project: a claim that ends with the process that holds it, however that ends."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from typing import Protocol

from sqlalchemy import Connection, Engine, func, inspect, select
from sqlalchemy.exc import DBAPIError

from bayesift._files import claim
from bayesift.review.storage.connection import NotSavedError, ProjectError, file_of, open_database, writing
from bayesift.review.storage.tables import facts

#: Held in PostgreSQL by the server of the project.
_SERVING = 0x6261796573696675

#: The fact by which a server knows that the project is still its own.
_FACT = "server"

#: How many seconds a new server waits for one that has just ended, as the database may learn of that a little later.
PATIENCE = 2.0

#: The connection that holds the claim is checked again after this many seconds.
TRUST = 1.0


class InUseError(ProjectError):
    """Another server is using the project."""


class Claim(Protocol):
    """Nobody else can serve the project until this is closed."""

    def guard(self, engine: Engine) -> None:
        """Let nothing be written through an engine once the claim is lost."""

    def close(self) -> None:
        """Release the project."""


def claim_project(database: str | Path, note: str) -> Claim:
    """Claim a project for the server of this process.

    Parameters
    ----------
    database : str or Path
        Where the project is, or shall be.
    note : str
        What another server says about this one when it is refused, such as its address.

    Returns
    -------
    Claim
        To be closed after the project.

    Raises
    ------
    InUseError
        If another server has it.
    """
    path = file_of(database)
    return DatabaseClaim(open_database(database), note) if path is None else FileClaim(path, note)


class FileClaim:
    """The claim of a project file: a lock on a file beside it, ``….sqlite-lock``."""

    def __init__(self, project: Path, note: str) -> None:
        if not project.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {project.parent} for the project")
        self._path = project.with_name(f"{project.name}-lock")
        while True:
            self._file = self._path.open("a+", encoding="utf-8")
            if not claim(self._file):
                self._file.seek(0)
                said = self._file.read()
                self._file.close()
                raise _in_use(project.name, said)
            if self._path.exists() and os.path.samestat(os.fstat(self._file.fileno()), self._path.stat()):
                break
            # Its last holder removed it after we had opened it.
            self._file.close()
        self._file.truncate(0)
        self._file.write(f"{note} (process {os.getpid()})")
        self._file.flush()

    def guard(self, engine: Engine) -> None:
        """Do nothing: a lock on a file is not lost."""

    def close(self) -> None:
        """Release the project."""
        # Before it is closed: afterwards it may be another's. Windows removes no open file, which then is left empty.
        try:
            self._path.unlink()
        except OSError:
            self._file.truncate(0)
        self._file.close()


class DatabaseClaim:
    """The claim of a PostgreSQL database: an advisory lock, which its server lifts when the connection ends.

    A connection may end without our knowing. The fact ``server`` names the last server that had the claim, and every
    transaction that writes reads it; who takes the claim over changes it first. So a server that has lost its claim
    to another cannot write any more, and one that has lost its connection only takes the claim again.
    """

    def __init__(self, engine: Engine, note: str) -> None:
        self._engine = engine
        self._word = f"{note} {secrets.token_hex(8)}"
        self._mutex = Lock()
        self._held = monotonic()
        end = monotonic() + PATIENCE
        try:
            while True:
                try:
                    self._connection = self._lock()
                    break
                except InUseError:
                    if monotonic() > end:
                        raise
                    sleep(0.1)
        except BaseException:
            engine.dispose()
            raise

    def guard(self, engine: Engine) -> None:
        """Let nothing be written through an engine once the claim is lost."""
        with writing(engine) as connection:
            # Waits for transactions of a server that had the claim before.
            connection.execute(facts.delete().where(facts.c.name == _FACT))
            if not self._stands():
                raise NotSavedError("The claim of the project was lost: the database does not answer.")
            connection.execute(facts.insert().values(name=_FACT, value=self._word))
        engine.update_execution_options(checks=(self._check,))

    def close(self) -> None:
        """Release the project."""
        self._connection.close()
        self._engine.dispose()

    def _lock(self) -> Connection:
        try:
            connection = self._engine.connect()
        except DBAPIError as error:
            raise _not_claimed(error) from error
        try:
            connection.execution_options(isolation_level="AUTOCOMMIT")
            # A server that vanished without a word must not keep the project for hours.
            for name, value in (("idle", 30), ("interval", 10), ("count", 3)):
                connection.exec_driver_sql(f"SET tcp_keepalives_{name} TO {value}")
            if connection.scalar(select(func.pg_try_advisory_lock(_SERVING))):
                return connection
            said = ""
            if inspect(connection).has_table(facts.name):
                said = connection.scalar(select(facts.c.value).where(facts.c.name == _FACT)) or ""
        except DBAPIError as error:
            connection.close()
            raise _not_claimed(error) from error
        connection.close()
        raise _in_use(str(self._engine.url.database), said.rpartition(" ")[0])

    def _check(self, connection: Connection) -> None:
        """Refuse to write for a server that has lost its claim."""
        self._hold()
        # Held until the transaction ends: until then nobody takes the claim over.
        held = select(facts.c.value).where(facts.c.name == _FACT).with_for_update(read=True)
        if connection.scalar(held) != self._word:
            raise _taken_over()

    def _hold(self) -> None:
        """See that the connection with the claim still stands, or take the claim again."""
        with self._mutex:
            if monotonic() - self._held < TRUST:
                return
            if not self._stands():
                try:
                    self._connection = self._lock()
                except InUseError as error:
                    raise _taken_over() from error
            self._held = monotonic()

    def _stands(self) -> bool:
        """Tell whether the connection with the claim works; one that does not is closed, lest it connect anew."""
        if self._connection.closed:
            return False
        try:
            self._connection.exec_driver_sql("SELECT 1")
        except DBAPIError:
            self._connection.close()
            return False
        return True


def _not_claimed(error: DBAPIError) -> NotSavedError:
    return NotSavedError(f"The project cannot be claimed: {' '.join(str(error.orig).split())}.")


def _in_use(name: str, said: str) -> InUseError:
    where = f", at {said}" if said else ""
    return InUseError(f"{name} is being served already{where}; expected one server for a project")


def _taken_over() -> NotSavedError:
    return NotSavedError("This could not be saved: another server has taken over the project. Stop this one.")
