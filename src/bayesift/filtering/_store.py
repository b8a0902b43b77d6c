"""A folder that holds a run of a filter: a journal of what happened, and snapshots of the states."""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bayesift._files import claim, named_errors, remove_left_over, sync
from bayesift._typing import Int64Array
from bayesift.filtering import _snapshot as snapshots

#: Changes when files of older versions can no longer be read.
VERSION = 1
_LINE = b'{"check":"%08x","entry":%s}\n'
#: Where the entry begins in a line, and how much follows it.
_BEFORE, _AFTER = len(b'{"check":"00000000","entry":'), len(b"}\n")

_RESTORE = "restore the folder from a copy, or start again in another one"


def state_files(folder: str | os.PathLike[str]) -> dict[str, Path]:
    """Return the paths of the files in which a folder holds a run.

    Parameters
    ----------
    folder : path

    Returns
    -------
    dict of str to Path
        The ``"journal"`` of what happened, and the ``"snapshot"`` of the states.
    """
    return {"journal": Path(folder) / "journal.jsonl", "snapshot": Path(folder) / "snapshot.npz"}


class Store:
    """A journal with snapshots beside it.

    The first line of the journal says which settings and which training data the run has; a run with others is refused.

    Parameters
    ----------
    folder : path
        Made if it does not exist.
    run : dict
        Description of the run: settings, topics and a digest of the training data.
    snapshot_every : int
        Number of judgements from one snapshot to the next.
    """

    def __init__(self, folder: str | os.PathLike[str], run: dict[str, Any], snapshot_every: int) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        journal, self._snapshot = state_files(folder).values()
        self._every, self._since = snapshot_every, 0
        self._run = run
        self._journal = Journal(journal)
        try:
            remove_left_over(self._snapshot)
            if self._snapshot.exists() and not self._journal.entries:
                raise ValueError(
                    f"{journal} is empty, but {self._snapshot.name} belongs to a run that had begun: its judgements "
                    f"were lost; {_RESTORE}"
                )
            if self._journal.entries:
                self._check(self._journal.entries[0])
        except BaseException:
            self.close()
            raise

    @property
    def begun(self) -> bool:
        """Whether there is a run with a snapshot to go on with."""
        return bool(self._journal.checks) and self._snapshot.exists()

    def begin(self, arrays: snapshots.Arrays) -> list[dict[str, Any]]:
        """Keep the line that begins the journal, then the states after training; return what has happened since.

        In this order there is never a snapshot without a journal, unless the journal was lost. Something has happened
        since if the snapshot alone was lost; all of it is to be learned again.
        """
        entries, self._journal.entries = self._journal.entries, []
        if not entries:
            self._journal.append({"kind": "begin", "version": VERSION, **self._run}, sync=True)
            sync(self.folder)
        if len(entries) <= 1:
            self._save(arrays)
        return entries[1:]

    def load(self) -> tuple[snapshots.Arrays, list[dict[str, Any]], list[dict[str, Any]]]:
        """Return the last snapshot, what happened before it, and what has happened since."""
        entries, self._journal.entries = self._journal.entries, []
        arrays = snapshots.read(self._snapshot)
        n_lines, check = (int(value) for value in arrays["journal"])
        if n_lines > len(entries):
            raise ValueError(
                f"{self._journal.path} has {len(entries)} lines, expected at least the {n_lines} that it had when "
                f"{self._snapshot.name} was taken: judgements were lost; {_RESTORE}"
            )
        if n_lines > 0 and self._journal.checks[n_lines - 1] != check:
            raise ValueError(f"{self._snapshot} does not belong to {self._journal.path}; {_RESTORE}")
        first = max(n_lines, 1)
        return arrays, entries[1:first], entries[first:]

    def retrieved(self, entry: dict[str, Any]) -> None:
        """Store a retrieval. It need not reach the disk at once: if it is lost, the document is retrieved again."""
        self._journal.append({"kind": "retrieved", **entry}, sync=False)

    def judged(self, entry: dict[str, Any]) -> bool:
        """Store a judgement on the disk; tell whether a snapshot is due."""
        self._journal.append({"kind": "judged", **entry}, sync=True)
        self._since += 1
        return self._since >= self._every

    def reached(self, place: int) -> None:
        """Store how far the stream has come."""
        self._journal.append({"kind": "position", "place": place}, sync=True)

    def snapshot(self, arrays: snapshots.Arrays) -> None:
        """Store the states, so that what happened up to now need not be learned again."""
        self._journal.sync()
        self._save(arrays)
        self._since = 0

    def close(self) -> None:
        """Release the run, so that other processes may continue it."""
        self._journal.close()

    def _save(self, arrays: snapshots.Arrays) -> None:
        checks = self._journal.checks
        journal = np.array([len(checks), checks[-1] if checks else 0], dtype=np.int64)
        snapshots.write(self._snapshot, {**arrays, "journal": journal})

    def _check(self, first: dict[str, Any]) -> None:
        """Refuse to continue a run with other settings, topics or training data."""
        if first.get("version") != VERSION:
            raise ValueError(f"{self._journal.path} has version {first.get('version')}; expected {VERSION}")
        old, new = dict(first["settings"]), self._run["settings"]
        for name in sorted(old.keys() | new.keys()):
            before, now = old.get(name), new.get(name)
            if before != now:
                raise ValueError(
                    f"{self.folder} holds a run with {name}={before!r}, but now {name}={now!r}; expected the same "
                    "settings, or another folder"
                )
        for name, meaning in (("topics", "topics or statements"), ("training", "training documents or labels")):
            if first[name] != self._run[name]:
                raise ValueError(
                    f"{self.folder} holds a run with other {meaning}; expected the same ones, or another folder"
                )


class Journal:
    """The lines of a file, held by one process at a time.

    Every line carries a checksum of all lines up to it, so that a missing line is noticed as well as a changed one. A
    last line without its end, as a killed process leaves it, has never been acknowledged, and the next line takes its
    place; a whole line with a wrong checksum is refused, the last one too.

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
        #: Where the last whole line ends.
        self._end = 0
        try:
            if not claim(self._file):
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
        # A partial line must not precede the next one.
        os.ftruncate(self._file.fileno(), self._end)
        try:
            with named_errors(self.path):
                written = 0
                while written < len(line):
                    written += self._file.write(line[written:])
                if sync:
                    os.fsync(self._file.fileno())
        except OSError:
            os.ftruncate(self._file.fileno(), self._end)
            raise
        self._end += len(line)
        self.checks.append(check)

    def sync(self) -> None:
        """Bring all lines to the disk."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file, so that other processes may use it."""
        self._file.close()

    def _last(self) -> int:
        return self.checks[-1] if self.checks else 0

    def _read(self) -> list[dict[str, Any]]:
        self._file.seek(0)
        *lines, rest = self._file.readall().split(b"\n")
        entries: list[dict[str, Any]] = []
        for line in (*(line + b"\n" for line in lines), rest):
            payload = line[_BEFORE:-_AFTER]
            check = zlib.crc32(payload, self._last())
            if line != _LINE % (check, payload):
                # What follows the last line end is a torn line, unless it lacked only its last byte.
                if line is rest and rest[:-1] + b"\n" != _LINE % (check, payload):
                    break
                raise ValueError(
                    f"{self.path}, line {len(entries) + 1}: the checksum is wrong, the file was changed or is damaged; "
                    "restore the folder from a copy, or remove this line and all that follow, with the "
                    "judgements they hold"
                )
            entries.append(json.loads(payload.decode("utf-8", "surrogatepass")))
            self.checks.append(check)
            self._end += len(line)
        return entries


def run_of(
    settings: Mapping[str, Any], statements: Mapping[str, str], texts: Iterable[str], relevant: Sequence[Int64Array]
) -> dict[str, Any]:
    """Say what a run is, for its first line: the settings in words, the topics and training data as digests."""
    training = hashlib.sha256()
    for text in texts:
        content = text.encode("utf-8", "surrogatepass")
        training.update(f"{len(content)} ".encode())
        training.update(content)
    for rows in relevant:
        training.update(json.dumps(rows.tolist()).encode())
    topics = hashlib.sha256(json.dumps(list(statements.items())).encode())
    return {
        "settings": {name: _plain(value) for name, value in settings.items()},
        "topics": topics.hexdigest(),
        "training": training.hexdigest(),
    }


def _plain(value: Any) -> Any:
    """Return a setting as JSON would give it back."""
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, Iterable):
        return [_plain(part) for part in value]
    return getattr(value, "__qualname__", type(value).__qualname__)
