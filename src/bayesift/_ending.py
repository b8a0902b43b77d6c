"""End a command within a second when it is asked to, by Ctrl-C or a signal, whatever it is computing."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn

from bayesift._files import remove_unfinished

#: How many seconds a command has to end by itself.
GRACE = 0.25

#: Makes a terminal show its cursor, which progress bars hide.
_SHOW_CURSOR = "\x1b[?25h"

_REASONS = {signal.SIGINT: "interrupted", signal.SIGTERM: "ended from outside"}


class Ended(SystemExit):
    """Raised in a command that is asked to end by the signal with this number."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.number = number


@contextmanager
def ending_when_asked(command: str) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM raise :class:`Ended` in the block; if that takes long, end the process.

    The interpreter raises it between two of its own steps, which may have to wait for compiled loops or for threads to
    finish. Another thread is told of the signal at the same moment and ends the process after :data:`GRACE` seconds,
    with the same status and message and without leaving temporary files. Servers handle these signals themselves.
    """
    if threading.current_thread() is not threading.main_thread() or sys.platform == "win32":
        yield
        return
    before = {number: signal.getsignal(number) for number in _REASONS}
    for number, handler in before.items():
        # A background process may have been told to ignore the signal.
        if handler is not signal.SIG_IGN:
            signal.signal(number, _raise_ended)
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    wakened = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    end = Ending(command)
    threading.Thread(target=end.in_time, args=(reader,), daemon=True).start()
    try:
        yield
    except Ended as asked:
        # Nothing is gained by waiting for threads or freeing all memory.
        end.now(asked.number)
    except BaseException:
        _restore(before, wakened, writer)
        raise
    else:
        _restore(before, wakened, writer)


class Ending:
    """Ends the process, once."""

    def __init__(self, command: str) -> None:
        self._command = command
        self._begun = threading.Lock()

    def now(self, number: int) -> NoReturn:
        """Remove temporary files, say why the command ends, and end it."""
        self._begun.acquire()
        remove_unfinished()
        cursor = _SHOW_CURSOR if os.isatty(2) else ""
        said = f"{cursor}{self._command}: {_REASONS[signal.Signals(number)]}; nothing is left half-written\n"
        # The stream itself may be locked by the thread that should end.
        with suppress(OSError):
            os.write(2, said.encode())
        os._exit(128 + number)

    def in_time(self, reader: int) -> None:
        """Wait for a signal that nobody else handles, then end the process."""
        with os.fdopen(reader, "rb", buffering=0) as signals:
            while number := signals.read(1):
                if signal.getsignal(number[0]) is _raise_ended:
                    time.sleep(GRACE)
                    self.now(number[0])


def _raise_ended(number: int, frame: FrameType | None) -> None:
    raise Ended(number)


def _restore(handlers: dict[signal.Signals, Any], wakened: int, writer: int) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)
    signal.set_wakeup_fd(wakened)
    os.close(writer)
