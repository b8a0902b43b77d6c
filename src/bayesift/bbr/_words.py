"""Text files word by word, as the original programs read them: bytes in, text out, and the error of a bad file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from math import inf, isfinite
from pathlib import Path
from typing import IO, Literal, NoReturn

import numpy as np

from bayesift._files import atomic_path
from bayesift._svmlight import padded
from bayesift._typing import ByteArray


class FormatError(ValueError):
    """A file does not say what a file of its kind must say.

    Parameters
    ----------
    name : str
        The file.
    line : int
        Where, counted from 1.
    found : str
        What stands there.
    expected : str
        What should.

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
    """Show a word in a message, shortened, with nothing in it that a terminal would act on."""
    return repr(word if len(word) <= 40 else word[:37] + "...")


Source = str | os.PathLike[str] | IO[bytes]

_UTF8_MARK = b"\xef\xbb\xbf"
_OTHER_MARKS = (b"\xff\xfe", b"\xfe\xff")


def name_of(source: Source) -> str:
    """Return the name to use in messages."""
    if isinstance(source, str | os.PathLike):
        return os.fspath(source)
    return str(getattr(source, "name", "<stream>"))


def read_buffer(source: Source) -> tuple[ByteArray, int]:
    """Read a file with a newline behind its end; also give where it begins, which is behind a byte-order mark.

    A file without a word in it, or in another encoding, is an error.
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
    """Read the lines of a text file in UTF-8, whatever ends them."""
    buffer, start = read_buffer(source)
    content = buffer[start:-1].tobytes()
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = 1 + content.count(b"\n", 0, error.start)
        found = f"the byte 0x{content[error.start]:02x}"
        raise FormatError(name_of(source), line, found, "text in UTF-8") from error
    # Not splitlines, for which some characters within words end a line too.
    return [line.removesuffix("\r") for line in text.split("\n")]


@contextmanager
def replaced(target: str | os.PathLike[str]) -> Iterator[Path]:
    """Return a path to write to that takes the place of ``target`` when the block ends well.

    What is no file, such as a terminal or a pipe, is written to as it stands.
    """
    path = Path(target)
    if path.exists() and not path.is_file():
        yield path
        return
    with atomic_path(path) as temporary:
        yield temporary


def write_text(target: str | os.PathLike[str], text: str) -> None:
    """Write a file, whole or not at all."""
    with replaced(target) as path, open(path, "w", encoding="utf-8", newline="\n") as stream:
        stream.write(text)


def _whole(stream: IO[bytes]) -> ByteArray:
    """Read a file into an array that has one byte more, without a second copy of it."""
    size = os.fstat(stream.fileno()).st_size
    buffer = np.empty(size + 1, dtype=np.uint8)
    found = stream.readinto(buffer[:size])  # type: ignore[attr-defined]
    rest = stream.read()
    if rest or found < size:
        # A pipe has no size, and a file may change while it is read.
        return padded(buffer[:found].tobytes() + rest)
    buffer[-1] = ord("\n")
    return buffer


# Python's own float and int also take underscores and digits of other scripts.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_INFINITY = re.compile(r"([+-]?)inf(inity)?", re.IGNORECASE)
_WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_BLANK = " \t\r\v\f"
_SPLIT = re.compile(f"[^{_BLANK}]+")


def split(line: str) -> list[str]:
    """Split a line at blanks as C does; other spaces of Unicode are letters of a word."""
    return _SPLIT.findall(line)


class Word(str):
    """A word with the line it stands in."""

    line: int
    __slots__ = ("line",)


def word_at(text: str, line: int) -> Word:
    """Make a word."""
    word = Word(text)
    word.line = line
    return word


class Words:
    """Reads the words of some lines in order; every error names the file and the line.

    Parameters
    ----------
    name : str
        The file, for messages.
    lines : iterable of str
    first : int, default=1
        The number of the first of these lines.
    """

    def __init__(self, name: str, lines: Iterable[str], first: int = 1) -> None:
        self.name = name
        self._words = [word_at(text, number) for number, line in enumerate(lines, first) for text in split(line)]
        self._at = 0

    def peek(self) -> Word | None:
        """Return the next word without taking it; None at the end."""
        return self._words[self._at] if self._at < len(self._words) else None

    def take(self, expected: str) -> Word:
        """Take the next word."""
        word = self.peek()
        if word is None:
            self.fail_at_end(expected)
        self._at += 1
        return word

    def keyword(self, keyword: str) -> Word:
        """Take the next word, which must be this one."""
        word = self.take(f"the word {keyword!r}")
        if word != keyword:
            self.fail(word, f"the word {keyword!r}")
        return word

    def skip(self, keyword: str) -> bool:
        """Take the next word if it is this one, and tell whether it was."""
        found = self.peek() == keyword
        self._at += found
        return found

    def until(self, *keywords: str) -> list[Word]:
        """Take all words before one of these."""
        begin = self._at
        while self._at < len(self._words) and self._words[self._at] not in keywords:
            self._at += 1
        if self._at == len(self._words):
            self.fail_at_end(" or ".join(f"the word {keyword!r}" for keyword in keywords))
        return self._words[begin : self._at]

    def phrase(self, line: int, keyword: str) -> str:
        """Take a name of any number of words: the rest of the line if the keyword follows it, else all before that."""
        begin = at = self._at
        while at < len(self._words) and self._words[at].line == line:
            at += 1
        if at < len(self._words) and self._words[at] == keyword:
            self._at = at
            return " ".join(self._words[begin:at])
        return " ".join(self.until(keyword))

    def rest(self) -> list[Word]:
        """Take all words that are left."""
        found = self._words[self._at :]
        self._at = len(self._words)
        return found

    def rest_of_at_least(self, count: int, expected: str) -> list[Word]:
        """Take all words that are left, of which there must be at least so many."""
        found = self.rest()
        if len(found) < count:
            self.fail(found[-1], expected)
        return found

    def end(self, expected: str = "the end of the file") -> None:
        """Make sure that nothing follows."""
        word = self.peek()
        if word is not None:
            self.fail(word, expected)

    def whole(self, word: Word, expected: str = "a whole number", least: int | None = None) -> int:
        """Read a word as a whole number."""
        if not _WHOLE.fullmatch(word) or (least is not None and int(word) < least):
            self.fail(word, expected)
        return int(word)

    def number(self, word: Word, expected: str = "a finite number", infinite: bool = False) -> float:
        """Read a word as a number, finite unless infinity is allowed."""
        value = parse_number(word)
        if value is None or not (infinite or isfinite(value)):
            self.fail(word, expected)
        return value

    def fail(self, word: Word, expected: str) -> NoReturn:
        """Raise the error for a word that does not belong there."""
        raise FormatError(self.name, word.line, quoted(word), expected)

    def fail_at_end(self, expected: str) -> NoReturn:
        """Raise the error for a file that ends too early."""
        last = self._words[-1].line if self._words else 1
        raise FormatError(self.name, last, "the end of the file", expected)


def parse_number(text: str) -> float | None:
    """Read a decimal number or an infinity; None if it is neither."""
    if _NUMBER.fullmatch(text):
        return float(text)
    found = _INFINITY.fullmatch(text)
    if found:
        return -inf if found[1] == "-" else inf
    return None


def written(value: float, digits: int | None, style: Literal["e", "g"] = "e", *, infinite: bool = False) -> str:
    """Write a number with so many digits, or with as many as bring it back.

    Style "e" is exponent form, with that many digits behind the point; "g" has that many in all.
    """
    if not (infinite or isfinite(value)):
        raise ValueError(f"a number to be written is {value}; expected finite numbers")
    return repr(float(value)) if digits is None else f"{value:.{digits}{style}}"


def one_word(argument: str, text: str, forbidden: tuple[str, ...] = ()) -> str:
    """Return back a name that is to be written, if it can be read again as one word."""
    if split(text) != [text] or "\n" in text or text.startswith("#") or text in forbidden:
        raise ValueError(f"{argument} holds {text!r}; expected a word without blanks that means nothing else there")
    return text


def one_line(argument: str, text: str) -> str:
    """Return back a name that is to be written, if it can be read again as the rest of a line."""
    if " ".join(split(text)) != text or "\n" in text:
        raise ValueError(f"{argument} is {text!r}; expected words parted by single blanks")
    return text
