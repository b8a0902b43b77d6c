"""Files: written so that nothing is ever half-written, and read in encodings that exist."""

from __future__ import annotations

import codecs
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


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
