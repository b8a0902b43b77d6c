"""What the six commands share: how options are read, errors told and numbers written."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from bayesift.formats.bbr._files import Source

#: Exit status of every error.
FAILURE = 2

Echo = Callable[[str], None]


class Parser(argparse.ArgumentParser):
    """Reads options as the original programs do; an error is one sentence and status 2."""

    def __init__(self, program: str, description: str) -> None:
        super().__init__(prog=program, description=description, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        """Tell an error in one line."""
        self.exit(FAILURE, f"{self.prog}: {message}\n")

    def refuse(self, *names: str, because: str, takes_value: bool = False) -> None:
        """Know an option of the originals only to refuse it with a reason."""
        self.add_argument(
            *names, action=_Refuse, nargs=None if takes_value else 0, reason=because, help=argparse.SUPPRESS
        )


class _Refuse(argparse.Action):
    def __init__(self, *positional: Any, reason: str, **named: Any) -> None:
        super().__init__(*positional, **named)
        self.reason = reason

    def __call__(self, parser: argparse.ArgumentParser, *arguments: Any) -> None:
        parser.error(f"{arguments[-1]} is not supported: {self.reason}")


def run(program: str, body: Callable[[], None]) -> int:
    """Run a command; return its exit status.

    Expected errors become one sentence on standard error, and so does every warning.
    """
    try:
        with _spoken_warnings(program):
            body()
    except (OSError, ValueError, ImportError) as error:
        sys.stderr.write(f"{program}: {_sentence(error)}\n")
        return FAILURE
    return 0


@contextmanager
def _spoken_warnings(program: str) -> Iterator[None]:
    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        sys.stderr.write(f"{program}: warning: {' '.join(str(message).split())}\n")

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror is not None:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


def echo(line: str = "") -> None:
    """Print a line of the report."""
    sys.stdout.write(line + "\n")


def opened(name: str) -> Source:
    """Return the data file; ``-`` and ``=`` are standard input."""
    if name not in ("-", "="):
        return name
    stream: IO[bytes] = sys.stdin.buffer
    return stream


def positive_number(text: str) -> float:
    """Read a number greater than 0."""
    value = number(text)
    if not 0.0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a finite number greater than 0")
    return value


def probability(text: str) -> float:
    """Read a probability between 0 and 1, both excluded."""
    value = number(text)
    if not 0.0 < value < 1.0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a probability between 0 and 1")
    return value


def number_list(text: str) -> tuple[float, ...]:
    """Read numbers greater than 0, parted by commas."""
    return tuple(positive_number(part) for part in text.split(","))


def whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """Make a reader of whole numbers within limits."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least or (most is not None and value > most):
            limits = f"of at least {least}" if most is None else f"from {least} to {most}"
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number {limits}")
        return value

    return read


def folds_and_runs(text: str) -> tuple[int, int]:
    """Read ``folds[,runs]``; all folds are left out in turn unless a number of runs is given."""
    parts = [whole(1)(part) for part in text.split(",")]
    if len(parts) > 2 or parts[0] < 2 or parts[-1] > parts[0]:
        raise argparse.ArgumentTypeError(f"{text!r} is not folds[,runs], at least 2 folds and no more runs than folds")
    return parts[0], parts[-1]


def number(text: str) -> float:
    """Read a number."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
