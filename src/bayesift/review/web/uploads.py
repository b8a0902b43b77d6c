"""Files that somebody sends: kept for a moment, under names of our own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from fastapi import UploadFile

from bayesift.review.earlier import is_project
from bayesift.review.importing import ending_of

#: Of longer names only the end is kept.
_LONGEST_NAME = 100


def name_of(file: UploadFile) -> str:
    """Return what a file is called, without folders."""
    return str(file.filename).replace("\\", "/").rpartition("/")[2][-_LONGEST_NAME:]


@contextmanager
def kept(file: UploadFile) -> Iterator[Path]:
    """Keep a file with decisions on the disk; errors about it name it as its sender does.

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
            # A database that somebody sends is not opened, whatever its name.
            raise ValueError(f"{name!r} is a project; the command line takes one by --earlier")
        try:
            yield path
        except (ValueError, OSError) as error:
            raise ValueError(str(error).replace(str(path), name).replace(path.name, name)) from error
