"""Files: written so that nothing is ever half-written, and read in encodings that exist."""

from __future__ import annotations

import codecs
import glob
import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any


@contextmanager
def atomic_path(target: str | os.PathLike[str]) -> Iterator[Path]:
    """Return a temporary path beside ``target`` that takes its place when the block ends well.

    Folders on the way are made. If the block raises, the temporary file and these folders are removed and
    whatever stood at ``target`` is untouched. The permissions are those of any new file, by the umask.
    """
    target = Path(target)
    with _folder(target.parent):
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}{target.suffix}")
        # Not by tempfile, whose files nobody but their owner may read.
        temporary.touch(exist_ok=False)
        try:
            yield temporary
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def new_path(target: str | os.PathLike[str]) -> Iterator[Path]:
    """Return a path in a temporary folder beside ``target``, from where the file is moved to it in the end.

    Whatever stands at ``target`` by then is left alone. Files that belong to the one that is made, such as journals,
    may stand beside it meanwhile. Folders that killed processes have left are removed.

    Raises
    ------
    FileExistsError
        If there is something at ``target``.
    """
    target = Path(target)
    with _folder(target.parent):
        for left in target.parent.glob(f".{glob.escape(target.name)}.*.new"):
            _remove_unclaimed(left)
        folder = target.with_name(f".{target.name}.{secrets.token_hex(4)}.new")
        folder.mkdir()
        with (folder / "lock").open("wb") as lock:
            claim(lock)
            try:
                yield folder / target.name
                sync(folder / target.name)
                _place(folder / target.name, target)
                sync(target.parent)
            finally:
                shutil.rmtree(folder, ignore_errors=True)


def _place(made: Path, target: Path) -> None:
    """Give a file its name, unless that is taken."""
    try:
        # Unlike a change of names, a link never replaces anything.
        os.link(made, target)
    except FileExistsError:
        raise
    except OSError:
        # A file system without links: take the name first.
        os.close(os.open(target, os.O_CREAT | os.O_EXCL))
        os.replace(made, target)


def _remove_unclaimed(folder: Path) -> None:
    """Remove a folder of :func:`new_path` unless a process is at work in it."""
    with suppress(OSError), (folder / "lock").open("r+b") as lock:
        if claim(lock):
            shutil.rmtree(folder, ignore_errors=True)


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    if sys.platform == "win32" and path.is_dir():
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def claim(file: IO[Any]) -> bool:
    """Claim an open file for this process, unless another one has; the claim ends with the process or the file."""
    try:
        if sys.platform == "win32":
            import msvcrt

            # A byte that is never written: locked bytes cannot be read by others.
            file.seek(2**31 - 2)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextmanager
def _folder(path: Path) -> Iterator[None]:
    """Make a folder and those it lies in; if the block raises, remove the ones that were made."""
    made = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        path.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        # What another process has put into one of them in the meantime stays.
        with suppress(OSError):
            for folder in made:
                folder.rmdir()
        raise


def check_encoding(encoding: str) -> None:
    """Refuse the name of an encoding that Python does not know."""
    try:
        codecs.lookup(encoding)
    except LookupError as error:
        raise ValueError(
            f"encoding must be one that Python knows, such as 'utf-8' or 'latin-1', got {encoding!r}"
        ) from error
