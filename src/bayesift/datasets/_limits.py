"""Limits on the size of a cell and on the expansion of compressed files, which bound what a hostile file can take."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable, Iterator
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import Any

from bayesift.datasets.errors import CellTooLongError, ExpansionError

#: Bytes of the longest cell or row by default: the text of several long novels. Unpacked into Python's objects, the
#: worst JSON of this size takes about 700 MB.
MAX_CELL = 1 << 24

#: How many bytes of a compressed file may be unpacked whatever its size, and how many times its size. Deflate cannot
#: expand further; texts compressed by any method do not come near it.
FREELY_UNPACKED = 1 << 26
MAX_EXPANSION = 1024

_BUFFER = 1 << 17


def cell_limit(max_cell: int | None) -> int:
    """Return the limit: the argument, else ``BAYESIFT_MAX_CELL``, else the default."""
    name = "max_cell" if max_cell is not None else "BAYESIFT_MAX_CELL"
    given: Any = max_cell if max_cell is not None else os.environ.get("BAYESIFT_MAX_CELL") or MAX_CELL
    if not str(given).isdecimal() or int(given) < 1:
        raise ValueError(f"{name} must be a number of bytes, at least 1, found {given!r}")
    return int(given)


def check_lines(name: str | Path, lines: Iterable[str], limit: int) -> Iterator[str]:
    """Return lines, refusing any that is longer than the limit."""
    for number, line in enumerate(lines, start=1):
        if len(line) > limit:
            raise CellTooLongError(name, number, limit)
        yield line


def expansion_limit(path: Path, times: int = MAX_EXPANSION) -> int:
    """Return how many bytes a compressed file may unpack to."""
    return max(FREELY_UNPACKED, times * path.stat().st_size)


def check_archive_size(path: Path, times: int) -> None:
    """Refuse a ZIP archive whose members together are more than this many times its size."""
    with zipfile.ZipFile(path) as archive:
        if sum(member.file_size for member in archive.infolist()) > (limit := expansion_limit(path, times)):
            # What such an archive holds is not read from elsewhere.
            raise ExpansionError(path, limit, remedy="")


class _Unpacked(RawIOBase):
    """The unpacked content of a compressed file, up to a limit."""

    def __init__(self, stream: Any, path: Path) -> None:
        self._stream = stream
        self._path = path
        self._limit = self._left = expansion_limit(path)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        size: int = self._stream.readinto(buffer)
        self._left -= size
        if self._left < 0:
            raise ExpansionError(self._path, self._limit)
        return size


def limit_expansion(stream: Any, path: Path) -> BufferedReader:
    """Return a stream of the unpacked content of a file; it raises an error if that is far too much."""
    return BufferedReader(_Unpacked(stream, path), _BUFFER)
