"""A PostgreSQL server for tests and benchmarks, started from the programs that are installed."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

from sqlalchemy import create_engine, text


class NotInstalledError(RuntimeError):
    """PostgreSQL, or what is needed to run it, is missing."""


def _programs() -> Path | None:
    """Find the newest PostgreSQL among Debian's, or the one on the path."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    found = debian[-1] if debian else shutil.which("initdb")
    return None if found is None else Path(found).parent


def _as_user() -> list[str]:
    """Say how to run as somebody else: PostgreSQL refuses to be run by root."""
    return ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.getuid() == 0 else []


@contextmanager
def temporary_server(*, fsync: bool) -> Iterator[str]:
    """Run a server that hears a socket only; return its address with ``{}`` for the name of a database.

    Parameters
    ----------
    fsync : bool
        Whether commits are on the disk when they return.
    """
    programs = _programs()
    if programs is None:
        raise NotInstalledError("PostgreSQL is not installed: apt-get install postgresql")
    if _as_user() and shutil.which("setpriv") is None:
        raise NotInstalledError("PostgreSQL cannot be run by root, and setpriv (Debian's util-linux) is not installed")
    # Not below the folder of pytest, which other users may not enter, and whose path may be too long for a socket.
    folder = Path(mkdtemp(prefix="bayesift-pg-", dir="/tmp"))
    if _as_user():
        shutil.chown(folder, "nobody", "nogroup")
    data, run = folder / "data", [*_as_user()]
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": str(folder)}
    try:
        initdb = [*run, str(programs / "initdb"), "-D", str(data), "-U", "bayesift", "-A", "trust", "-E", "UTF8", "-N"]
        subprocess.run(initdb, check=True, capture_output=True, env=environment, cwd=folder)
        options = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync={'on' if fsync else 'off'}"
        control = [*run, str(programs / "pg_ctl"), "-D", str(data), "-w", "-l", str(folder / "log")]
        subprocess.run([*control, "-o", options, "start"], check=True, capture_output=True, env=environment, cwd=folder)
        try:
            yield f"postgresql://bayesift@/{{}}?host={folder}"
        finally:
            stop = [*control, "-m", "immediate", "stop"]
            subprocess.run(stop, check=False, capture_output=True, env=environment, cwd=folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def new_database(server: str) -> str:
    """Make an empty database, and return its address."""
    name = f"test_{secrets.token_hex(6)}"
    engine = create_engine(
        server.format("postgres").replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT"
    )
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return server.format(name)
