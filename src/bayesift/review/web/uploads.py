"""Uploaded files: kept for a moment, under generated names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from fastapi import UploadFile

from bayesift.review.earlier import is_project
from bayesift.review.importing import ending_of

#: Only this many characters at the end of a name are kept.
_LONGEST_NAME = 100


def name_of(file: UploadFile) -> str:
    """Return the name of a file, without folders."""
    return str(file.filename).replace("\\", "/").rpartition("/")[2][-_LONGEST_NAME:]


@contextmanager
def kept(file: UploadFile) -> Iterator[Path]:
    """Keep a file with decisions on disk; errors about it use the name that the sender gave it.

    Raises
    ------
    ValueError
        If the file cannot be read, is a project of this program, or something is wrong with it.
    """
    name, content = name_of(file), file.file.read()
    with TemporaryDirectory() as folder:
        # No name of a request reaches the disk.
        path = Path(folder) / f"file{ending_of(name, content)}"
        path.write_bytes(content)
        if is_project(path):
            # An uploaded database is not opened, whatever its name.
            raise ValueError(f"{name!r} is a project, which only the command line accepts, with --earlier")
        try:
            yield path
        except (ValueError, OSError) as error:
            raise ValueError(str(error).replace(str(path), name).replace(path.name, name)) from error
