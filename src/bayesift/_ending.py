"""How a command ends when it is asked to, by Ctrl-C or from outside: within a second, whatever it is computing."""

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

#: Seconds that a command has to end by itself.
GRACE = 0.25

#: What makes a terminal show its cursor, which progress bars hide.
_SHOW_CURSOR = "\x1b[?25h"

_REASONS = {signal.SIGINT: "interrupted", signal.SIGTERM: "ended from outside"}


class Ended(SystemExit):
    """Raised in a command that is asked to end by the signal of this number."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.number = number


@contextmanager
def ending_when_asked(command: str) -> Iterator[None]:
    """Let Ctrl-C, and an end from outside, raise :class:`Ended` in the block; where that takes long, end at once.

    The interpreter raises it between two of its own steps, which compiled loops may keep waiting, as may threads that
    have to come to an end first. Another thread learns of the signal at the same moment and ends the process after
    :data:`GRACE` seconds, with the same status, the same message and no temporary files. Servers take these signals
    over and end in their own time.
    """
    if threading.current_thread() is not threading.main_thread() or sys.platform == "win32":
        yield
        return
    before = {number: signal.getsignal(number) for number in _REASONS}
    for number, handler in before.items():
        # A process in the background may have been told to take no notice.
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
        # Nothing is gained by waiting for threads and by giving every piece of memory back.
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
        # The stream itself may be held by the thread that is to end.
        with suppress(OSError):
            os.write(2, said.encode())
        os._exit(128 + number)

    def in_time(self, reader: int) -> None:
        """Wait for a signal of which nobody else takes care, then end the process."""
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
