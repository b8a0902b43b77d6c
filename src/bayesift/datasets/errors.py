"""The errors of this room: each is also the built-in error that a caller would expect, and has details as attributes.

If a message names parameters, ``sentence`` says the same without them, for callers that have other names for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

#: Characters of a name that a message shows, and of what another package says.
_NAME, _REASON = 50, 500


class MissingDataError(FileNotFoundError):
    """The files of a collection are not in the data root."""

    def __init__(self, name: str, root: Path, expected: str, *, remedy: str) -> None:
        super().__init__(f"{name} is not in the data root {root}: expected {expected}; {remedy}")
        self.name = name
        self.root = root


class ChecksumError(ValueError):
    """A file does not have the expected checksum."""

    def __init__(self, path: str | Path, *, expected: str, found: str) -> None:
        super().__init__(f"{path} has SHA-256 {found}, expected {expected}: it is damaged or of another version")


class FetchError(OSError):
    """A collection could not be fetched."""


class DamagedFileError(ValueError):
    """A file cannot be unpacked, or its format cannot be read."""

    def __init__(self, path: Path, cause: BaseException) -> None:
        super().__init__(f"{path} cannot be read, it is damaged or cut short: {reason_of(cause)}")


class MalformedFileError(ValueError):
    """A line of a file (or a row, if it has no lines) cannot be read.

    Attributes
    ----------
    path : str or Path
        The file.
    line : int or None
        The line or row, counted from 1; None if it is not known.
    """

    def __init__(self, path: str | Path, line: int | None, problem: str, *, unit: str = "line") -> None:
        super().__init__(f"{path} is {problem}" if line is None else f"{path}, {unit} {line}: {problem}")
        self.path = path
        self.line = line


class EncodingError(MalformedFileError):
    """A file has bytes that its encoding does not allow.

    Attributes
    ----------
    path, line
        As in :class:`MalformedFileError`.
    encoding : str
        The encoding that it was read in.
    probable : str or None
        The encoding that it seems to have.
    """

    def __init__(
        self, path: str | Path, line: int | None, encoding: str, reason: str, *, probable: str | None = None
    ) -> None:
        super().__init__(path, line, f"not {encoding}: {reason}")
        self.encoding = encoding
        self.probable = probable


#: What is wrong with a file that ends within quotes.
UNCLOSED = "a field begins with a quote that never closes"


class QuoteError(MalformedFileError):
    """A field begins with a quote that closes before its end, or never.

    Attributes
    ----------
    path, line
        As in :class:`MalformedFileError`.
    """

    def __init__(self, path: str | Path, line: int, problem: str) -> None:
        self.sentence = f"{path}, line {line}: {problem}"
        super().__init__(path, line, f"{problem}; quotes=False reads quotes like any other character")


class CellTooLongError(MalformedFileError):
    """A cell, or the row it is in, is longer than the limit.

    Attributes
    ----------
    path, line
        As in :class:`MalformedFileError`.
    limit : int
        The limit.
    """

    def __init__(self, path: str | Path, line: int, limit: int, *, unit: str = "line") -> None:
        problem = f"a cell or a row is longer than {limit:,} bytes"
        remedy = "; if it is meant to be that long, raise max_cell (or BAYESIFT_MAX_CELL)"
        super().__init__(path, line, f"{problem}{remedy}", unit=unit)
        self.limit = limit
        self.sentence = f"{path}, {unit} {line}: {problem}"


class ExpansionError(ValueError):
    """A compressed file unpacks to far more than any text does.

    Attributes
    ----------
    path : str or Path
        The file.
    limit : int
        How many bytes of it may be unpacked.
    """

    def __init__(self, path: str | Path, limit: int, *, remedy: str = "; unpack it first if it is meant to") -> None:
        problem = f"{path} is packed and unpacks to more than {limit:,} bytes, which no text of its size does"
        super().__init__(f"{problem}{remedy}")
        self.path = path
        self.limit = limit


class FormatError(ValueError):
    """The format of a file (``path``) is unknown, or is one that cannot be used here (``format``)."""

    def __init__(self, path: str | Path, format: str | None, problem: str, *, remedy: str = "") -> None:
        super().__init__(f"{problem}{remedy}")
        self.path = path
        self.format = format
        self.sentence = problem


class HeaderError(ValueError):
    """The first line of a file does not seem to be a header, and the caller has not said whether it is.

    Attributes
    ----------
    path : str or Path
        The file.
    columns : tuple of str
        The fields of its first line.
    """

    def __init__(self, path: str | Path, columns: Sequence[str], again: str) -> None:
        self.path = path
        self.columns = tuple(columns)
        found = f"its first line is {listed_names(columns)}, and {listed_names([again])} occurs again below it"
        self.sentence = f"{path} seems to have no header line: {found}"
        super().__init__(
            f"{self.sentence}; header=False reads it as data, with the columns '1', '2', …, and header=True as names"
        )


class OptionError(ValueError):
    """An argument does not apply to the format of a file.

    Attributes
    ----------
    path : str or Path
        The file.
    name : str
        The parameter.
    format : str
        The format that the file is read as.
    """

    def __init__(self, path: str | Path, name: str, value: object, format: str, fitting: Sequence[str]) -> None:
        found = f"{name} is {value!r}, but {path} is read as {format}, which takes {', '.join(fitting)}"
        super().__init__(f"{found}; leave {name} out")
        self.path = path
        self.name = name
        self.format = format
        self.sentence = f"{path} is read as {format}, for which {value!r} means nothing"


class ColumnError(ValueError):
    """A column that is needed is not in the file, or cannot be guessed.

    Attributes
    ----------
    path : str or Path
        The file.
    role : {"text", "labels", "id", "title", "feature"}
        What the column would hold.
    name : str or None
        The name that the caller gave; None if no name was given and none could be guessed.
    columns : tuple of str
        The columns that the file has.
    delimiter : str or None
        The probable field separator, if the header seems to have been read with a wrong one.
    """

    def __init__(
        self,
        path: str | Path,
        role: str,
        columns: Sequence[str],
        *,
        name: str | None = None,
        problem: str = "no column has a usual name",
        remedy: str = "",
    ) -> None:
        self.path = path
        self.role = role
        self.name = name
        self.columns = tuple(columns)
        self.delimiter = probable_delimiter(columns)
        listed = listed_names(columns)
        found = f"{role}: {path} has no column {name!r}" if name else f"{role} must name a column of {path}: {problem}"
        mark = self.delimiter
        question = f" (is {mark!r} the field separator? give delimiter={mark!r})" if mark else ""
        super().__init__(f"{found}; its columns are {listed}{question}{remedy}")
        what = f"{path} has no column {name!r}" if name else f"which column of {path} is the {role}? {problem}"
        self.sentence = f"{what}; its columns are {listed}"

    def add(self, more: str) -> None:
        """Say more of the file."""
        self.sentence = f"{self.sentence}; {more}"
        self.args = (f"{self}; {more}",)


def reason_of(cause: BaseException) -> str:
    """Return what another package says of a file, cut off where it repeats too much of it."""
    reason = str(cause) or type(cause).__name__
    return reason if len(reason) <= _REASON else f"{reason[:_REASON]}…"


def listed_names(names: Iterable[str], most: int = 50) -> str:
    """List names in quotes for a message: the first ones if there are very many, "none" if there are none."""
    first = [name if len(name) <= _NAME else f"{name[:_NAME]}…" for name in islice(names, most + 1)]
    return ", ".join([*map(repr, first[:most]), *(["…"] if len(first) > most else [])]) or "none"


def probable_delimiter(columns: Sequence[str]) -> str | None:
    """Return the field separator of a header that is a single name but looks like several."""
    return next((mark for mark in ";\t|," if len(columns) == 1 and mark in columns[0]), None)
