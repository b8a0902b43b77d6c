"""Files, standard input and content as bytes and as lines of text."""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from io import BufferedReader, BytesIO, TextIOWrapper
from pathlib import Path
from typing import IO, Any, cast

from bayesift._files import check_encoding
from bayesift.datasets._files import open_packed
from bayesift.datasets._recoding import as_utf_8
from bayesift.datasets.errors import EncodingError

STANDARD_INPUT = Path("standard input")

#: Bytes that are examined at a time.
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Content:
    """The content of a file, and its name for messages."""

    data: bytes
    name: Path = Path("the file")


#: What can be read: a file, standard input (``-``), or the content of a file.
Input = str | os.PathLike[str] | bytes | Content


def kept_input(path: str | os.PathLike[str]) -> Path | Content:
    """Return a file as it is, but standard input (``-``), which can be read only once, as its content."""
    return Content(sys.stdin.buffer.read(), STANDARD_INPUT) if str(path) == "-" else Path(path)


@contextmanager
def open_bytes(source: Input) -> Iterator[IO[bytes]]:
    """Open a file, standard input (``-``, which stays open) or content for reading bytes, unpacked."""
    if isinstance(source, bytes | Content):
        yield BytesIO(source if isinstance(source, bytes) else source.data)
    elif str(source) == "-":
        yield sys.stdin.buffer
    else:
        with open_packed(Path(source)) as stream:
            yield stream


@contextmanager
def open_utf_8(source: Input, encoding: str | None, tell: Callable[[str], None]) -> Iterator[BufferedReader]:
    """Open a text for reading as bytes in UTF-8; ``peek`` shows its beginning.

    Parameters
    ----------
    source : Input
    encoding : str or None
        Encoding of the text; None to detect it.
    tell : callable
        Called with a sentence about the detected encoding, unless that is UTF-8.
    """
    if encoding is not None:
        check_encoding(encoding)
    with open_bytes(source) as content:
        try:
            yield as_utf_8(content, name_of(source), encoding, tell, live=str(source) == "-")
        except UnicodeError as error:
            named = encoding or "utf-8"
            line = None if str(source) == "-" else _undecodable_line(source, named)
            reason = error.reason if isinstance(error, UnicodeDecodeError) else str(error)
            raise EncodingError(name_of(source), line, named, reason) from error


@contextmanager
def lines_of(content: BufferedReader, limit: int) -> Iterator[Iterator[str]]:
    """Iterate over the lines of a text in UTF-8.

    A line longer than the limit is cut just after it, so that the caller can refuse it.
    """
    # A byte order mark, which spreadsheets write, is not part of the first column's name.
    stream = TextIOWrapper(cast(Any, content), encoding="utf-8-sig", newline="")
    try:
        yield iter(partial(stream.readline, limit + 1), "")
    finally:
        # The raw stream is closed by whoever opened it.
        stream.detach()


def _undecodable_line(source: Input, encoding: str) -> int:
    """Find the line of the first byte that does not decode."""
    decoder = codecs.getincrementaldecoder(encoding)()
    line = 1
    with open_bytes(source) as content:
        while chunk := content.read(_CHUNK):
            try:
                line += decoder.decode(chunk).count("\n")
            except UnicodeDecodeError as error:
                return line + error.object[: error.start].decode(encoding, "ignore").count("\n")
            except UnicodeError:
                return line
    return line


def name_of(source: Input) -> Path:
    """Return the name of an input for messages."""
    if isinstance(source, bytes):
        return Content(source).name
    if isinstance(source, Content):
        return source.name
    return STANDARD_INPUT if str(source) == "-" else Path(source)
