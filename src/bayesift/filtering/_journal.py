"""An append-only file of JSON lines that survives being killed at any moment."""

from __future__ import annotations

import json
import os
import sys
import zlib
from pathlib import Path
from typing import Any, BinaryIO

_LINE = b'{"check":"%08x","entry":%s}\n'
#: Where the entry begins in a line, and how much follows it.
_BEFORE, _AFTER = len(b'{"check":"00000000","entry":'), len(b"}\n")


class Journal:
    """The lines of a file, held by one process at a time.

    Every line carries a checksum of all lines up to it, so that a missing line is noticed as well as a changed one. A
    last line that was not written whole is dropped.

    Parameters
    ----------
    path : Path
        The file; made if it is not there.

    Attributes
    ----------
    checks : list of int
        Checksum after each line.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("a+b", buffering=0)
        self.checks: list[int] = []
        try:
            if not _locked(self._file):
                raise ValueError(f"{path} is in use by another process; wait for it to end, or choose another folder")
            self.entries = self._read()
        except BaseException:
            self._file.close()
            raise

    def append(self, entry: dict[str, Any], *, sync: bool) -> None:
        """Write one line; with ``sync`` it is on the disk when this returns, and so are all before it."""
        payload = json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
        check = zlib.crc32(payload, self._last())
        line = _LINE % (check, payload)
        size = os.fstat(self._file.fileno()).st_size
        try:
            while line:
                line = line[self._file.write(line) :]
            if sync:
                os.fsync(self._file.fileno())
        except OSError:
            # A part of a line must not stand before the next one.
            os.ftruncate(self._file.fileno(), size)
            raise
        self.checks.append(check)

    def sync(self) -> None:
        """Bring all lines to the disk."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Return the file free."""
        self._file.close()

    def _last(self) -> int:
        return self.checks[-1] if self.checks else 0

    def _read(self) -> list[dict[str, Any]]:
        self._file.seek(0)
        content = self._file.readall()
        entries: list[dict[str, Any]] = []
        begin = 0
        while begin < len(content):
            end = content.find(b"\n", begin) + 1
            line = content[begin : end or len(content)]
            payload = line[_BEFORE:-_AFTER]
            check = zlib.crc32(payload, self._last())
            if line != _LINE % (check, payload):
                if 0 < end < len(content):
                    raise ValueError(
                        f"{self.path}, line {len(entries) + 1}: the checksum is wrong, and more lines follow; the file "
                        "was changed or is damaged, restore it from a copy"
                    )
                os.ftruncate(self._file.fileno(), begin)
                break
            entries.append(json.loads(payload.decode("utf-8", "surrogatepass")))
            self.checks.append(check)
            begin = end
        return entries


def _locked(file: BinaryIO) -> bool:
    """Claim a file for this process; the claim ends with the process, however that ends."""
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
