"""Processes of their own that need not import anew: forks of one that has imported the review page and done nothing."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any

_FORKS = get_context("forkserver")
_FORKS.set_forkserver_preload(["bayesift.cli.review", "bayesift.review.serve"])


def in_fork(work: Callable[[], Any]) -> Any:
    """Return what a function of a module returns in a process of its own, where no kernel is compiled or loaded yet."""
    read, write = _FORKS.Pipe(duplex=False)
    process = _FORKS.Process(target=_answer, args=(work, write))
    process.start()
    write.close()
    try:
        return read.recv()
    finally:
        process.join()
        read.close()


def _answer(work: Callable[[], Any], write: Connection) -> None:
    write.send(work())


class Command:
    """A command of ``bayesift`` as a shell would run it, but for the seconds of its imports.

    Parameters
    ----------
    words : sequence of str or Path
        The command's words.
    errors : Path
        The file for what it writes to standard error.
    """

    def __init__(self, words: Sequence[str | Path], errors: Path) -> None:
        read, write = _FORKS.Pipe(duplex=False)
        self._errors = errors
        self._process = _FORKS.Process(target=_run, args=([str(word) for word in words], write, errors))
        self._process.start()
        write.close()
        self.stdout: IO[str] = os.fdopen(os.dup(read.fileno()))
        read.close()

    @property
    def pid(self) -> int:
        """Number of the process."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def stderr(self) -> str:
        """What it has written to standard error."""
        return self._errors.read_text()

    def wait(self, seconds: float = 300) -> int:
        """Wait until it ends; return its status."""
        self._process.join(seconds)
        assert self._process.exitcode is not None
        return self._process.exitcode

    def terminate(self) -> None:
        """Ask it to end."""
        self._process.terminate()

    def close(self) -> None:
        """Kill it, if it still runs."""
        self._process.kill()
        self._process.join()
        self.stdout.close()


def _run(words: list[str], out: Connection, errors: Path) -> None:
    """Be the command: with its words, its own output, and Ctrl-C as a shell leaves it."""
    os.dup2(out.fileno(), 1)
    out.close()
    with errors.open("w") as stream:
        os.dup2(stream.fileno(), 2)
    sys.stdout, sys.stderr = (open(number, "w", closefd=False) for number in (1, 2))  # noqa: SIM115
    signal.signal(signal.SIGINT, signal.default_int_handler)
    from bayesift.cli import main

    sys.argv = ["bayesift", *words]
    main()
