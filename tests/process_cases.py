"""Processes of their own that need not import anew: forks of one that has imported the package and done nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any

from numba.core.dispatcher import Dispatcher

_FORKS = get_context("forkserver")
_FORKS.set_forkserver_preload(["bayesift.cli.review", "bayesift.review.serve", "bayesift.workflow"])


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


def kernels() -> set[tuple[str, str]]:
    """Return the kernels that this process has compiled or loaded: the module and name of each, and its types."""
    modules = [module for name, module in sys.modules.items() if name.startswith("bayesift")]
    found = {kernel for module in modules for kernel in vars(module).values() if isinstance(kernel, Dispatcher)}
    return {
        (f"{kernel.py_func.__module__}.{kernel.py_func.__name__}", str(signature))
        for kernel in found
        for signature in kernel.signatures
    }


def finished(
    words: Sequence[str], folder: Path, *, stdin: IO[bytes] | None = None, stdout: IO[bytes] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run a command of ``bayesift`` in a folder, with files of its own as a shell would open them, until it ends.

    ``stdout`` of what is returned is empty where it went into a given file.
    """
    with (
        open(os.devnull, "rb") as nothing,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as errors,
    ):
        files = (stdin or nothing, stdout or out, errors)
        # What is passed on as a connection is the open file itself, with its place and its flags.
        passed = [Connection(os.dup(file.fileno())) for file in files]
        process = _FORKS.Process(target=_run_with, args=(list(words), folder, passed))
        process.start()
        for one in passed:
            one.close()
        process.join(600)
        assert process.exitcode is not None
        for file in (out, errors):
            file.seek(0)
        return subprocess.CompletedProcess(words, process.exitcode, out.read(), errors.read())


def _run_with(words: list[str], folder: Path, files: list[Connection]) -> None:
    """Be the command in a folder, with these files for its input, its output and its errors."""
    for number, file in enumerate(files):
        os.dup2(file.fileno(), number)
        file.close()
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    os.chdir(folder)
    _be(words)


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
    _be(words)


def _be(words: list[str]) -> None:
    sys.stdout, sys.stderr = (open(number, "w", closefd=False) for number in (1, 2))  # noqa: SIM115
    signal.signal(signal.SIGINT, signal.default_int_handler)
    from bayesift.cli import main

    sys.argv = ["bayesift", *words]
    main()
