"""Files, standard input and content as bytes and as lines of text."""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import IO, Any, cast

from bayesift._files import check_encoding
from bayesift.datasets._files import open_packed
from bayesift.datasets.errors import EncodingError

#: What can be read: a file, standard input (``-``), or the content of a file.
Input = str | os.PathLike[str] | bytes

STANDARD_INPUT = Path("standard input")

#: Bytes that are looked at at once.
_CHUNK = 1 << 20


@contextmanager
def open_bytes(source: Input) -> Iterator[IO[bytes]]:
    """Open a file, standard input (``-``, which stays open) or content for reading bytes, unpacked."""
    if isinstance(source, bytes):
        yield BytesIO(source)
    elif str(source) == "-":
        yield sys.stdin.buffer
    else:
        with open_packed(Path(source)) as stream:
            yield stream


@contextmanager
def open_lines(source: Input, encoding: str, limit: int) -> Iterator[Iterator[str]]:
    """Open a file, standard input or content for reading lines; a byte that does not decode is an EncodingError.

    A line that is longer than the limit is cut behind it; whoever takes the lines refuses them.
    """
    check_encoding(encoding)
    # A mark at the beginning of the file, as spreadsheets write it, is not part of the first column's name.
    encoding = "utf-8-sig" if is_utf_8(encoding) else encoding
    with open_bytes(source) as content:
        stream = TextIOWrapper(cast(Any, content), encoding=encoding, newline="")
        try:
            yield iter(partial(stream.readline, limit + 1), "")
        except UnicodeError as error:
            line = None if str(source) == "-" else _undecodable_line(source, encoding)
            reason = error.reason if isinstance(error, UnicodeDecodeError) else str(error)
            raise EncodingError(name_of(source), line, encoding.removesuffix("-sig"), reason) from error
        finally:
            # Whoever opened the bytes closes them.
            stream.detach()


def is_utf_8(encoding: str) -> bool:
    """Tell whether an encoding is UTF-8, by any of its usual names."""
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8")


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
    """Return what to call it in messages."""
    if isinstance(source, bytes):
        return Path("the file")
    return STANDARD_INPUT if str(source) == "-" else Path(source)
