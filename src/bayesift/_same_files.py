"""Check that a command never writes a file that it also reads, under any of its names."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Collection, Iterator, Mapping
from itertools import combinations
from types import MappingProxyType
from typing import IO, Any

from bayesift._files import is_own_stream

AnyPath = str | os.PathLike[str]

#: Means standard input as an input, and standard output as an output.
DASH = "-"

#: Kinds of files that must not be read and written at once, as a terminal or /dev/null may be.
_KEPT = (stat.S_ISREG, stat.S_ISBLK, stat.S_ISFIFO, stat.S_ISDIR)


class SameFileError(ValueError):
    """An output file is also an input, or is given as an output twice."""


def check_distinct(
    reads: Mapping[str, AnyPath | None],
    writes: Mapping[str, AnyPath | None],
    in_place: Mapping[str, str] = MappingProxyType({}),
    labelled: Collection[str] = (),
) -> None:
    """Refuse to write a file that is read, directly or in a folder, or to write the same file twice.

    Files are compared by identity, not by name: hard and symbolic links are followed, and standard input and output
    count as the files that the shell has opened for them. Terminals, ``/dev/null`` and the like may be given any number
    of times.

    Parameters
    ----------
    reads : mapping of str to path
        The inputs, by the name to use in messages; ``-`` is standard input, None means not given.
    writes : mapping of str to path
        The outputs; ``-`` is standard output.
    in_place : mapping of str to str
        From the name of an output to the name of the input that it may replace.
    labelled : collection of str
        Names of inputs that, if they are folders, are read only as far as their subfolders.

    Raises
    ------
    SameFileError
        If two of them are the same. Nothing has been changed yet.
    """
    sources = {name: path for name, path in reads.items() if path is not None}
    targets = {name: path for name, path in writes.items() if path is not None}
    written = {name: _identity(path, sys.stdout) for name, path in targets.items()}
    for name, identity in written.items():
        for source, path in sources.items():
            allowed = in_place.get(name) == source
            if identity is not None and not allowed and identity in _identities(path, identity, source in labelled):
                alike = "a file in the folder" if os.path.isdir(path) else "the same file as"
                raise SameFileError(
                    f"{_named(name, targets[name])} is {alike} {_named(source, path, 'standard input')}, which is "
                    "read; expected another file"
                )
    for (one, first), (other, second) in combinations(written.items(), 2):
        if first is not None and first == second and not (is_own_stream(targets[one]) or is_own_stream(targets[other])):
            raise SameFileError(
                f"{_named(one, targets[one])} is the same file as {_named(other, targets[other])}, which is written "
                "too; expected two files"
            )


def _named(name: str, path: AnyPath, dash: str = "standard output") -> str:
    return dash if str(path) == DASH else f"{name} ({path})"


def _identities(path: AnyPath, sought: tuple[Any, ...], is_labelled: bool) -> Iterator[tuple[Any, ...] | None]:
    """Return the identities of a source: the file itself, or the files of a folder if one of them may be sought."""
    yield _identity(path, sys.stdin)
    if str(path) == DASH or len(sought) > 2 or not os.path.isdir(path):
        return
    for folder, _, names in os.walk(path):
        for name in [] if is_labelled and folder == os.fspath(path) else names:
            yield _identity(os.path.join(folder, name), None)


def _identity(path: AnyPath, stream: IO[Any] | None) -> tuple[Any, ...] | None:
    """Return the identity of a file, which all its names share; None for what may be read and written at once.

    An existing file has two parts, its device and its inode; one that does not exist has a third, its name.
    """
    try:
        found = os.fstat(stream.fileno()) if stream is not None and str(path) == DASH else os.stat(path)
    except (OSError, ValueError, AttributeError):
        # Not there, or a stream that is no file.
        return None if str(path) == DASH else _identity_of_new(path)
    return (found.st_dev, found.st_ino) if any(kind(found.st_mode) for kind in _KEPT) else None


def _identity_of_new(path: AnyPath) -> tuple[Any, ...]:
    folder, name = os.path.split(os.path.normcase(os.path.realpath(path)))
    try:
        found = os.stat(folder)
    except OSError:
        return folder, "", name
    return found.st_dev, found.st_ino, name
