"""The words of a file in order, as the original programs read them, each with its line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import inf, isfinite
from typing import Literal, NoReturn

from bayesift.bbr._files import FormatError, quoted

# Python's own float and int also take underscores and digits of other scripts.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_INFINITY = re.compile(r"([+-]?)inf(inity)?", re.IGNORECASE)
_WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_BLANK = " \t\r\v\f"
_SPLIT = re.compile(f"[^{_BLANK}]+")


def split(line: str) -> list[str]:
    """Split a line at blanks as C does; other Unicode spaces are parts of words."""
    return _SPLIT.findall(line)


class Word(str):
    """A word with the number of its line."""

    line: int
    __slots__ = ("line",)


def word_at(text: str, line: int) -> Word:
    """Make a word."""
    word = Word(text)
    word.line = line
    return word


class Words:
    """Reads the words of some lines in order; every error names the file and line.

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
        """Take all remaining words."""
        found = self._words[self._at :]
        self._at = len(self._words)
        return found

    def rest_of_at_least(self, count: int, expected: str) -> list[Word]:
        """Take all remaining words, of which there must be at least this many."""
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
    """Write a number with this many digits, or with as many as are needed to restore it.

    Style "e" is exponent form, with that many digits after the point; "g" has that many in all.
    """
    if not (infinite or isfinite(value)):
        raise ValueError(f"a number to write is {value}; expected finite numbers")
    return repr(float(value)) if digits is None else f"{value:.{digits}{style}}"


def one_word(argument: str, text: str, forbidden: tuple[str, ...] = ()) -> str:
    """Return a name to write; refuse one that could not be read back as a single word."""
    if split(text) != [text] or "\n" in text or text.startswith("#") or text in forbidden:
        raise ValueError(f"{argument} holds {text!r}; expected a word without blanks that has no other meaning there")
    return text


def one_line(argument: str, text: str) -> str:
    """Return a name to write; refuse one that could not be read back as the rest of a line."""
    if " ".join(split(text)) != text or "\n" in text:
        raise ValueError(f"{argument} is {text!r}; expected words separated by single blanks")
    return text
