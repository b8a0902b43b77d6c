"""The errors of this room: each is also the built-in error that a caller would expect."""

from __future__ import annotations

from pathlib import Path


class MissingDataError(FileNotFoundError):
    """The files of a collection are not in the data root."""

    def __init__(self, name: str, root: Path, expected: str, *, remedy: str) -> None:
        super().__init__(f"{name} is not in the data root {root}: expected {expected}; {remedy}")
        self.name = name
        self.root = root


class ChecksumError(ValueError):
    """A file is not the one it claims to be."""

    def __init__(self, path: str | Path, *, expected: str, found: str) -> None:
        super().__init__(f"{path} has SHA-256 {found}, expected {expected}: it is damaged or of another version")


class MalformedFileError(ValueError):
    """A file cannot be read at one of its lines, or at a row where it has no lines."""

    def __init__(self, path: str | Path, line: int, problem: str, *, unit: str = "line") -> None:
        super().__init__(f"{path}, {unit} {line}: {problem}")
        self.path = path
        self.line = line


class DamagedFileError(ValueError):
    """A file cannot be unpacked, or its format not be read."""

    def __init__(self, path: Path, cause: BaseException) -> None:
        reason = str(cause) or type(cause).__name__
        super().__init__(f"{path} cannot be read, it is damaged or cut short: {reason}")


class FetchError(OSError):
    """A collection could not be fetched."""
