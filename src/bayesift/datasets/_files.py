"""Files on disk: the data root and the cache, archives, compressed files and unpacked folders."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import os
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, Any

import platformdirs

from bayesift.datasets._limits import expansion_limit, limit_expansion
from bayesift.datasets.errors import ChecksumError, DamagedFileError, ExpansionError

_TAR_ENDINGS = (".tar", ".tar.gz", ".tar.xz", ".tar.bz2", ".tgz", ".gtar.gz")
_PACKED = (".gz", ".xz", ".bz2")
_OPENERS: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"\xfd7zXZ\0": lzma.open, b"BZh": bz2.open}
_DAMAGE = (tarfile.TarError, lzma.LZMAError, zlib.error, zipfile.BadZipFile, gzip.BadGzipFile, EOFError)
#: What tarfile and zipfile say of damaged archives, and of those that no program wrote.
ARCHIVE_DAMAGE = (*_DAMAGE, ValueError, RuntimeError, OverflowError, LookupError, struct.error)

Member = tuple[str, bytes]


def cache_root() -> Path:
    """Return the folder for everything that can be made again.

    Returns
    -------
    Path
        ``BAYESIFT_CACHE`` if it is set, else the platform's cache folder of the user.
    """
    named = os.environ.get("BAYESIFT_CACHE")
    return Path(named).expanduser() if named else platformdirs.user_cache_path("bayesift", appauthor=False)


def data_root(data_home: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder that holds the collections.

    Parameters
    ----------
    data_home : path, optional
        The folder to use. If it is not given, ``BAYESIFT_DATA`` names the folder; if that is not set either, it is the
        folder ``data`` in the user's cache (see ``BAYESIFT_CACHE``).

    Returns
    -------
    Path
        The folder; it need not exist.

    Examples
    --------
    >>> from bayesift.datasets import data_root
    >>> data_root("collections").name
    'collections'
    """
    chosen = data_home if data_home is not None else os.environ.get("BAYESIFT_DATA")
    return Path(chosen).expanduser() if chosen else cache_root() / "data"


@dataclass(frozen=True)
class FileSet:
    """One or more paths below a base folder that together hold a collection or a part of it.

    Parameters
    ----------
    base : Path
        The folder that member names are relative to.
    paths : tuple of Path
        One archive or packed file, or the files and folders of an unpacked collection.
    sha256 : str, optional
        Checksum of the archive, if it is known.
    """

    base: Path
    paths: tuple[Path, ...]
    sha256: str | None = None

    def files(self) -> Iterator[Path]:
        """List the files on disk, walking folders in sorted order; hidden files are left out."""
        for path in self.paths:
            inside = sorted(inner for inner in path.rglob("*") if inner.is_file()) if path.is_dir() else [path]
            yield from (file for file in inside if not is_hidden(file.relative_to(self.base)))

    def identity(self) -> str:
        """Identify this state of the files by their places, sizes and modification times."""
        digest = hashlib.sha256()
        for path in self.files():
            status = path.stat()
            digest.update(f"{path.resolve()}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
        return digest.hexdigest()

    def verify(self) -> None:
        """Raise an error if the checksum is known and the archive has another one."""
        if self.sha256 is not None and (found := sha256_of(self.paths[0])) != self.sha256:
            raise ChecksumError(self.paths[0], expected=self.sha256, found=found)

    def members(self) -> Iterator[Member]:
        """Return each file inside with its name and its bytes; nothing is unpacked to disk."""
        for path in self.files():
            yield from members_of(path, path.relative_to(self.base).as_posix())


def members_of(path: Path, name: str) -> Iterator[Member]:
    """Return the files inside an archive, or the one file that is packed or plain, depending on the name.

    Hidden files of an archive do not count.
    """
    if name.endswith(_TAR_ENDINGS):
        members = _tar_members(path)
    elif name.endswith(".zip"):
        members = _zip_members(path)
    else:
        members = _single_member(path, name)
    try:
        for inner, content in members:
            # A path has no part for a leading "./".
            place = PurePosixPath(inner)
            if not is_hidden(place):
                yield place.as_posix(), content
    except (DamagedFileError, ExpansionError):
        raise
    except ARCHIVE_DAMAGE as error:
        raise DamagedFileError(path, error) from error


@contextmanager
def open_packed(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading bytes, unpacking ``.gz``, ``.xz`` and ``.bz2`` on the way.

    The first bytes decide, not the name, because some servers unpack what they send. A file that unpacks to more than
    any text does raises an ExpansionError.
    """
    opener = _opener(path)
    with opener(path, "rb") as stream:
        try:
            yield stream if opener is open else limit_expansion(stream, path)
        except _DAMAGE as error:
            raise DamagedFileError(path, error) from error
        except OSError as error:
            # For bad data, bz2 raises an OSError that is not an error of the system.
            if error.errno is not None:
                raise
            raise DamagedFileError(path, error) from error


def is_hidden(path: PurePath) -> bool:
    """Tell whether a file, or a folder on the way to it, is hidden, like ``.DS_Store``."""
    return any(part.startswith(".") for part in path.parts)


def sha256_of(path: Path) -> str:
    """Compute the SHA-256 of a file as 64 hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _opener(path: Path) -> Callable[..., Any]:
    if path.suffix in _PACKED:
        with path.open("rb") as stream:
            head = stream.read(6)
        for magic, opener in _OPENERS.items():
            if head.startswith(magic):
                return opener
    return open


def _tar_members(path: Path) -> Iterator[Member]:
    with tarfile.open(path) as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isfile() else None
            if content is not None:
                _check_size(path, member.size)
                yield member.name, content.read()


def _single_member(path: Path, name: str) -> Iterator[Member]:
    with open_packed(path) as stream:
        yield name.removesuffix(path.suffix) if path.suffix in _PACKED else name, stream.read()


def _zip_members(path: Path) -> Iterator[Member]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if not member.is_dir():
                if member.compress_size > path.stat().st_size:
                    raise zipfile.BadZipFile(f"{member.filename!r} is said to be larger than the archive")
                _check_size(path, member.file_size)
                yield member.filename, archive.read(member)


def _check_size(path: Path, size: int) -> None:
    """Refuse to unpack a member that is far too large for its archive."""
    if size > (limit := expansion_limit(path)):
        raise ExpansionError(path, limit)
