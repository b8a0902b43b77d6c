"""Files: write them completely or not at all, and check the names of encodings."""

from __future__ import annotations

import codecs
import errno
import os
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO

AnyPath = str | os.PathLike[str]

#: Errors of a full disk; they do not name the file.
_NO_SPACE = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}

#: Names of this process's own open files, such as its standard output.
_DESCRIPTOR = re.compile(r"/(?:dev/fd|proc/(?:self|thread-self)/fd)/(\d+)")

#: A file that the process using a temporary folder holds there.
_LOCK = ".lock"

#: Bytes of a file's name that the name of its temporary folder repeats.
_NAME_BYTES = 200

#: Folders made by running blocks, in order, and how each is removed.
_made: dict[Path, Callable[[Path], None]] = {}


@contextmanager
def atomic_path(target: AnyPath) -> Iterator[Path]:
    """Return a temporary path that replaces ``target`` if the block succeeds.

    The new content is on disk before it replaces the old one, and the replacement is on disk when the block has ended.
    If the block raises, or the disk is full, the temporary file and any folders made on the way are removed, and
    whatever was at ``target`` is untouched. Remains of killed processes that tried to write the same target are removed
    first. A new file has the usual permissions, by the umask; one that replaces another has those of the other.

    If ``target`` is a symbolic link, the file that it leads to is replaced and the link stays. Anything but a file,
    such as a device or a named pipe, is never replaced: the content is written to it if the block succeeds.
    """
    given = Path(target)
    if is_written_through(given):
        # Seldom needed, and it takes time to import.
        from tempfile import mkdtemp

        with _removed_in_the_end(Path(mkdtemp())) as elsewhere:
            temporary = elsewhere / given.name
            temporary.touch()
            yield temporary
            with _full_named(given), temporary.open("rb") as content, open_through(given) as stream:
                shutil.copyfileobj(content, stream)
        return
    final = _end_of_links(given)
    if final.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(given))
    if final.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(given))
    with _folder(final.parent), _errors_named(given, final), _work_folder(final) as folder:
        # The given name is kept, because some writers choose a format by it; links may lead to another name.
        temporary = folder / given.name
        temporary.touch()
        yield temporary
        sync(temporary)
        _copy_permissions(final, temporary)
        os.replace(temporary, final)
        sync(final.parent)


@contextmanager
def open_output(target: AnyPath) -> Iterator[BinaryIO]:
    """Open a file for bytes that appears if the block succeeds; anything but a file gets the bytes at once."""
    if is_written_through(target):
        with _full_named(target), open_through(target) as stream:
            yield stream
        return
    with atomic_path(target) as temporary, temporary.open("wb") as stream:
        yield stream


def is_written_through(path: AnyPath) -> bool:
    """Tell whether a path, following links, is a device, a pipe or a file that this process has open."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)) or is_own_stream(path)


def is_own_stream(path: AnyPath) -> bool:
    """Tell whether a path names a file that this process has open, such as ``/dev/stdout``."""
    return _descriptor(path) is not None


def open_through(path: AnyPath) -> BinaryIO:
    """Open a path that is written through; writing to an open file continues at its position."""
    number = _descriptor(path)
    if number is None:
        return open(path, "wb")
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    return os.fdopen(os.dup(number), "wb")


def _descriptor(path: AnyPath) -> int | None:
    """Return the number of the open file that a path names, directly or by links; None if it names none."""
    current = os.path.abspath(path)
    # As many links as the system itself would follow.
    for _ in range(40):
        if found := _DESCRIPTOR.fullmatch(current):
            return int(found[1])
        try:
            current = os.path.normpath(os.path.join(os.path.dirname(current), os.readlink(current)))
        except OSError:
            return None
    return None


def _end_of_links(path: Path) -> Path:
    """Return the file that a link leads to; anything else keeps the given name, for messages."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


@contextmanager
def new_path(target: AnyPath) -> Iterator[Path]:
    """Return a path in a temporary folder beside ``target``, from which the file is finally moved there.

    Whatever is at ``target`` by then is left alone. Files that belong to the new one, such as journals, may be next to
    it meanwhile. Folders left by killed processes are removed.

    Raises
    ------
    FileExistsError
        If there is something at ``target``.
    """
    target = Path(target)
    with _folder(target.parent), _work_folder(target) as folder:
        yield folder / target.name
        sync(folder / target.name)
        _place(folder / target.name, target)
        sync(target.parent)


def _place(made: Path, target: Path) -> None:
    """Move a file to its name, unless that is taken."""
    try:
        # Unlike renaming, linking never replaces anything.
        os.link(made, target)
    except FileExistsError:
        raise
    except OSError:
        # A file system without links: take the name first.
        os.close(os.open(target, os.O_CREAT | os.O_EXCL))
        os.replace(made, target)


def remove_left_over(target: AnyPath) -> None:
    """Remove the remains of killed processes that were writing ``target``.

    A process that is still writing has a claim, which ends with the process; its files stay.
    """
    final = _end_of_links(Path(target))
    pattern = re.compile(re.escape(_work_name(final)) + r"[0-9a-f]{8}\.unfinished")
    with suppress(OSError):
        for entry in [entry for entry in os.scandir(final.parent) if pattern.fullmatch(entry.name)]:
            if entry.is_dir(follow_symlinks=False):
                _remove_unclaimed(Path(entry.path))


def _remove_unclaimed(folder: Path) -> None:
    """Remove a temporary folder unless a process is using it."""
    try:
        with (folder / _LOCK).open("r+b") as lock:
            if claim(lock):
                shutil.rmtree(folder, ignore_errors=True)
    except FileNotFoundError:
        # The process was killed, or still is, between making the folder and claiming it.
        with suppress(OSError):
            folder.rmdir()
    except OSError:
        # Another user's.
        return


@contextmanager
def _work_folder(target: Path) -> Iterator[Path]:
    """Make a folder beside a file, which other processes leave alone while this one uses it."""
    remove_left_over(target)
    with ExitStack() as stack:
        while True:
            folder = target.with_name(f"{_work_name(target)}{secrets.token_hex(4)}.unfinished")
            folder.mkdir(mode=0o700)
            stack.enter_context(_removed_in_the_end(folder))
            lock = _claimed(folder)
            if lock is not None:
                stack.enter_context(lock)
                break
        yield folder


@contextmanager
def _removed_in_the_end(folder: Path) -> Iterator[Path]:
    """Remove a folder and its contents when the block ends, or when :func:`remove_unfinished` ends the process."""
    _made[folder] = _remove_tree
    try:
        yield folder
    finally:
        _made.pop(folder, None)
        _remove_tree(folder)


def _remove_tree(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def remove_unfinished() -> None:
    """Remove everything that unfinished blocks of this process have made, if it ends without leaving them."""
    for folder, remove in reversed(list(_made.items())):
        with suppress(OSError):
            remove(folder)


def _claimed(folder: Path) -> IO[bytes] | None:
    """Claim a new temporary folder; None if another process has meanwhile removed it as a left-over."""
    try:
        lock = (folder / _LOCK).open("wb")
    except FileNotFoundError:
        return None
    # If there are no locks, nobody gets one, and nothing counts as left over.
    claim(lock, wait=True)
    if (folder / _LOCK).exists():
        return lock
    lock.close()
    return None


def claim(file: IO[Any], *, wait: bool = False) -> bool:
    """Claim an open file for this process, unless another one has; the claim ends with the process or the file."""
    try:
        if sys.platform == "win32":
            import msvcrt

            # This byte is never written, because locked bytes cannot be read by others.
            file.seek(2**31 - 2)
            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file.fileno(), fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


def _work_name(target: Path) -> str:
    """Return the beginning of the names of a file's temporary folders; it must leave room for the rest."""
    return f".{os.fsdecode(os.fsencode(target.name)[:_NAME_BYTES])}."


@contextmanager
def named_errors(path: AnyPath) -> Iterator[None]:
    """Add the name of an open file to errors of writing to it, which do not name it."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), os.fspath(path)) from error


@contextmanager
def _full_named(target: AnyPath) -> Iterator[None]:
    """Give the error of a full disk the name of the device, or of the open file, that was written through."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.errno not in _NO_SPACE or error.filename is not None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), os.fspath(target)) from error


@contextmanager
def _errors_named(given: Path, final: Path) -> Iterator[None]:
    """Add the name of the file being written to errors of a full disk and errors about a temporary file."""
    try:
        yield
    except OSError as error:
        own = str(error.filename).startswith(str(final.with_name(_work_name(final))))
        full = error.errno in _NO_SPACE and error.filename is None
        if error.errno is None or not (own or full):
            raise
        said = os.strerror(error.errno)
        if error.errno in _NO_SPACE:
            said += ", nothing was written" if not final.exists() else ", the file is as it was before"
        raise OSError(error.errno, said, str(given)) from error


def _copy_permissions(old: Path, new: Path) -> None:
    """Give a new file the owner and the permissions of the one that it replaces, if there is one."""
    try:
        found = os.stat(old)
    except FileNotFoundError:
        return
    if hasattr(os, "chown"):
        # Only root may change the owner.
        with suppress(OSError):
            os.chown(new, found.st_uid, found.st_gid)
    os.chmod(new, stat.S_IMODE(found.st_mode))


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on disk."""
    is_folder = path.is_dir()
    if is_folder and sys.platform == "win32":
        return
    handle = os.open(path, os.O_RDONLY if is_folder else os.O_RDWR)
    try:
        os.fsync(handle)
    except OSError as error:
        # Some drives cannot do this for folders.
        if not is_folder or error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)


@contextmanager
def _folder(path: Path) -> Iterator[None]:
    """Make a folder and its parents; if the block raises, remove those that were made."""
    made = [folder for folder in (path, *path.parents) if not folder.exists()]
    _made.update((folder, Path.rmdir) for folder in reversed(made))
    try:
        path.mkdir(parents=True, exist_ok=True)
        for folder in made:
            sync(folder.parent)
        yield
    except BaseException:
        # Anything that another process has put into one of them meanwhile stays.
        with suppress(OSError):
            for folder in made:
                folder.rmdir()
        raise
    finally:
        for folder in made:
            _made.pop(folder, None)


def check_encoding(encoding: str) -> None:
    """Refuse an encoding that Python does not know."""
    try:
        codecs.lookup(encoding)
    except LookupError as error:
        raise ValueError(
            f"encoding must be one that Python knows, such as 'utf-8' or 'latin-1', got {encoding!r}"
        ) from error
