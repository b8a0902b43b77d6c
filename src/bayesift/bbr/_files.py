"""Read bytes and write text: what all files of the programs share, and the error for a bad one."""

from __future__ import annotations

import os
from typing import IO

import numpy as np

from bayesift._files import atomic_path
from bayesift._svmlight import padded
from bayesift._typing import ByteArray

Source = str | os.PathLike[str] | IO[bytes]

_UTF8_MARK = b"\xef\xbb\xbf"
_OTHER_MARKS = (b"\xff\xfe", b"\xfe\xff")


class FormatError(ValueError):
    """A file does not have the form that its kind requires.

    Parameters
    ----------
    name : str
        The file.
    line : int
        The line, counted from 1.
    found : str
        What was found there.
    expected : str
        What was expected.

    Examples
    --------
    >>> from bayesift.bbr import FormatError
    >>> print(FormatError("wheat.model", 3, "'beta'", "a number"))
    wheat.model, line 3: found 'beta', expected a number
    """

    def __init__(self, name: str, line: int, found: str, expected: str) -> None:
        super().__init__(f"{name}, line {line}: found {found}, expected {expected}")
        self.name = name
        self.line = line
        self.found = found
        self.expected = expected

    def __reduce__(self) -> tuple[type[FormatError], tuple[str, int, str, str]]:
        return type(self), (self.name, self.line, self.found, self.expected)


def quoted(word: str) -> str:
    """Show a word in a message, shortened and without control characters."""
    return repr(word if len(word) <= 40 else word[:37] + "...")


def name_of(source: Source) -> str:
    """Return the name to use in messages."""
    if isinstance(source, str | os.PathLike):
        return os.fspath(source)
    return str(getattr(source, "name", "<stream>"))


def read_buffer(source: Source) -> tuple[ByteArray, int]:
    """Read a file and append a newline; also return where it begins, after a byte-order mark.

    A file without any words, or in another encoding, is an error.
    """
    name = name_of(source)
    if isinstance(source, str | os.PathLike):
        with open(source, "rb") as stream:
            buffer = _whole(stream)
    else:
        buffer = padded(source.read())
    head = buffer[:3].tobytes()
    if head.startswith(_OTHER_MARKS):
        raise FormatError(name, 1, "the byte-order mark of UTF-16", "text in UTF-8")
    start = len(_UTF8_MARK) if head == _UTF8_MARK else 0
    if not buffer[start : start + 4096].tobytes().strip() and not buffer[start:].tobytes().strip():
        raise FormatError(name, 1, "an empty file", "at least one line")
    return buffer, start


def read_lines(source: Source) -> list[str]:
    """Read the lines of a text file in UTF-8, with any line ends."""
    buffer, start = read_buffer(source)
    content = buffer[start:-1].tobytes()
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = 1 + content.count(b"\n", 0, error.start)
        found = f"the byte 0x{content[error.start]:02x}"
        raise FormatError(name_of(source), line, found, "text in UTF-8") from error
    # Not splitlines, which also splits at some characters within words.
    return [line.removesuffix("\r") for line in text.split("\n")]


def write_text(target: str | os.PathLike[str], text: str) -> None:
    """Write a file completely or not at all."""
    with atomic_path(target) as path, open(path, "w", encoding="utf-8", newline="\n") as stream:
        stream.write(text)


def _whole(stream: IO[bytes]) -> ByteArray:
    """Read a file into an array with one extra byte, without a second copy."""
    size = os.fstat(stream.fileno()).st_size
    buffer = np.empty(size + 1, dtype=np.uint8)
    found = stream.readinto(buffer[:size])  # type: ignore[attr-defined]
    rest = stream.read()
    if rest or found < size:
        # A pipe has no size, and a file may change while it is read.
        return padded(buffer[:found].tobytes() + rest)
    buffer[-1] = ord("\n")
    return buffer
