"""The zip archive that a model file is: always written the same way, and read without trusting anything it says.

The archive's comment holds the SHA-256 of all bytes before it. It reveals damage, but not who wrote the file.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import stat
import zlib
from functools import cached_property
from pathlib import Path
from typing import IO, Any, BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

HEADER = "bayesift.json"
FORMAT = "bayesift model"

#: Most bytes of the unpacked contents, unless the caller says otherwise.
LIMIT = 2**30

_COMMENT = b"sha256 "
_DIGITS = 64
_BLOCK = 2**20
#: Which parts of the limit the contents, and the texts among them, may take in addition to the size of the file. So a
#: small file cannot grow large, and a large one may have its contents.
_GROWTH, _TEXT_GROWTH = 4, 32
#: Values that a text may have in any case.
_VALUES = 100_000
#: Most members, and most bytes of the directory, of any archive without extensions for large ones.
_MEMBERS, _DIRECTORY = 65_000, 2**23
_NAME = re.compile(r"bayesift\.json|schema\.json|(?:0|[1-9][0-9]{0,6})\.npy")
_FOREIGN = {
    b"PK": "it is another kind of zip archive, or its end is missing",
    b"\x80": "it looks like a pickle, which is never read because reading one can run any code",
    b"\x1f\x8b": "it is a gzip file",
    b"": "it is empty",
}


class ModelFileError(ValueError):
    """A file is not a model file that this version reads, or an object cannot be stored in one.

    Examples
    --------
    >>> from bayesift.formats import ModelFileError
    >>> print(ModelFileError("spam.bayesift: the file ends too early"))
    spam.bayesift: the file ends too early
    """

    __module__ = "bayesift.formats"


class NotAModelFileError(ModelFileError):
    """A file is not a model file at all."""

    __module__ = "bayesift.formats"


def write(file: BinaryIO, header: dict[str, Any], members: dict[str, bytes]) -> None:
    """Write an archive: the header with the size and checksum of every member, then the members.

    Parameters
    ----------
    file : binary file
        Opened for writing and reading, empty.
    header : dict
        Values that JSON can hold.
    members : dict of str to bytes
        By name, in order.
    """
    if len(members) > _MEMBERS:
        raise ModelFileError(f"the model has {len(members)} arrays, and a model file at most {_MEMBERS}")
    header = header | {
        "members": {
            name: {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            for name, content in members.items()
        }
    }
    text = json.dumps(header, indent=1, sort_keys=True).encode()
    with ZipFile(file, "w") as archive:
        for name, content in ({HEADER: text} | members).items():
            info = ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            info.create_system, info.external_attr = 3, 0o644 << 16
            archive.writestr(info, content, ZIP_DEFLATED if _shrinks(content) else ZIP_STORED, compresslevel=6)
        archive.comment = _COMMENT + b"0" * _DIGITS
    digest = hashlib.sha256()
    left = file.seek(0, os.SEEK_END) - _DIGITS
    file.seek(0)
    while left:
        block = file.read(min(left, _BLOCK))
        digest.update(block)
        left -= len(block)
    # A file needs a seek between reading and writing.
    file.seek(-_DIGITS, os.SEEK_END)
    file.write(digest.hexdigest().encode())


def _shrinks(content: bytes) -> bool:
    """Judge by the middle whether compression is worth its time; numbers with all digits hardly shrink."""
    sample = content[len(content) // 2 :][: 2**16]
    return len(content) < 2**18 or len(zlib.compress(sample, 1)) < 0.9 * len(sample)


class Container:
    """An archive that was read into memory.

    Parameters
    ----------
    path : path
        Of the file.
    limit : int
        Most bytes of the file, and of its contents unpacked.
    """

    def __init__(self, path: str | os.PathLike[str], limit: int) -> None:
        self.path = Path(path)
        self.limit = limit
        self.content = _bytes_of(self.path, limit)
        self._check_end()
        self.archive = ZipFile(io.BytesIO(self.content))
        self._check_layout()

    @cached_property
    def is_intact(self) -> bool:
        """Whether the checksum of the whole file is right."""
        return hashlib.sha256(memoryview(self.content)[:-_DIGITS]).hexdigest().encode() == self.content[-_DIGITS:]

    @cached_property
    def sizes(self) -> dict[str, int]:
        """How many bytes every member has, the header excepted."""
        return {info.filename: info.file_size for info in self.archive.infolist() if info.filename != HEADER}

    @cached_property
    def header(self) -> dict[str, Any]:
        """What the header says."""
        header = self.json(HEADER)
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise NotAModelFileError(f"{self.path} is not a bayesift model file: its header is of another format")
        return header

    def json(self, name: str) -> Any:
        """Return what a member says in JSON."""
        own = len(self.content)
        length = self.archive.getinfo(name).file_size
        if length <= min(self.limit // 16, self.limit // _TEXT_GROWTH + 8 * own):
            text = self.archive.read(name)
            n_values = sum(map(text.count, (b",", b"[", b"{")))
            # However short it is in the text, every value takes sixty bytes or more when it has become an object.
            if n_values <= max(min(self.limit // 256, self.limit // 1024 + own), _VALUES):
                return json.loads(text)
        raise ModelFileError(f"{self.path}: {name} is too long; give a greater limit if you trust the file")

    def open(self, name: str) -> IO[bytes]:
        """Return a member to read from."""
        return self.archive.open(name)

    def beginning(self, name: str, n_bytes: int) -> bytes:
        """Return the first bytes of a member."""
        with self.archive.open(name) as member:
            return member.read(n_bytes)

    def check_members(self) -> None:
        """Refuse contents that are not those of which the header has the sizes and checksums."""
        listed = self.header.get("members")
        if not isinstance(listed, dict) or list(listed) != sorted(self.sizes):
            raise ModelFileError(f"{self.path}: its header lists other members than there are")
        for name, size in self.sizes.items():
            digest = hashlib.sha256()
            with self.archive.open(name) as member:
                while block := member.read(_BLOCK):
                    digest.update(block)
            if listed[name] != {"size": size, "sha256": digest.hexdigest()}:
                raise ModelFileError(f"{self.path}: its member {name} is damaged")

    def _check_end(self) -> None:
        """Refuse an archive whose directory is longer than it can be, before it is read."""
        end = self.content[-len(_COMMENT) - _DIGITS - 22 :]
        is_large = self.content[-len(end) - 20 : -len(end)].startswith(b"PK\x06\x07")
        too_long = int.from_bytes(end[12:16], "little") > _DIRECTORY
        if not end.startswith(b"PK\x05\x06") or too_long or (is_large and len(self.content) < 2**32):
            raise ModelFileError(f"{self.path}: its directory is not that of a model file")

    def _check_layout(self) -> None:
        """Refuse any archive but one of expected members, one right after the other."""
        infos = self.archive.infolist()
        names = [info.filename for info in infos]
        if len(set(names)) < len(names) or not all(map(_NAME.fullmatch, names)) or names[:2] != [HEADER, "schema.json"]:
            raise ModelFileError(f"{self.path}: it has members that no model file has")
        total = sum(info.file_size for info in infos)
        if total > min(self.limit, self.limit // _GROWTH + len(self.content)):
            raise ModelFileError(
                f"{self.path} would take {total} bytes unpacked; the limit is {self.limit}, and "
                f"{self.limit // _GROWTH} more than the file has. Give a greater limit if you trust the file"
            )
        place = 0
        for info in infos:
            start = self.content[info.header_offset : info.header_offset + 30]
            plain = info.flag_bits == 0 and info.compress_type in (ZIP_STORED, ZIP_DEFLATED) and len(start) == 30
            if not plain or info.header_offset != place:
                raise ModelFileError(f"{self.path}: its members overlap or have an unknown layout")
            place += 30 + int.from_bytes(start[26:28], "little") + int.from_bytes(start[28:30], "little")
            place += info.compress_size
        if place != self.archive.start_dir:
            raise ModelFileError(f"{self.path}: its members overlap or have an unknown layout")


def _bytes_of(path: Path, limit: int) -> bytes:
    """Read a file that is not too long, and nothing that only looks like a file."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise ModelFileError(f"{path} is {'a folder' if stat.S_ISDIR(status.st_mode) else 'a device'}, not a file")
    if status.st_size > limit:
        raise ModelFileError(f"{path} has {status.st_size} bytes; the limit is {limit}")
    with path.open("rb") as file:
        # What is something else need not be read as a whole.
        _check_kind(path, file)
        # Asked for more than there is, Python would take the memory for all of it.
        content = file.read(status.st_size + 1)
    if len(content) != status.st_size:
        raise ModelFileError(f"{path} has changed while it was read")
    return content


def _check_kind(path: Path, file: BinaryIO) -> None:
    """Refuse a file that does not begin and end like a model file; leaves it at its start."""
    start = file.read(2)
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - len(_COMMENT) - _DIGITS, 0))
    if start != b"PK" or file.read(len(_COMMENT)) != _COMMENT:
        reason = _FOREIGN.get(start, _FOREIGN.get(start[:1], "it begins like something else"))
        raise NotAModelFileError(f"{path} is not a bayesift model file: {reason}")
    file.seek(0)
