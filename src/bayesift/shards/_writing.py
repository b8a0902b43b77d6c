"""Writing a folder of shards: completely or not at all, shard by shard, and resumable if the source is known."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from bayesift._documents import usable_values
from bayesift._files import AnyPath, claim, sync
from bayesift._sparse import canonical_rows
from bayesift._typing import AnyArray
from bayesift.shards._layout import (
    COUNTS,
    MANIFEST,
    MOST_COLUMNS,
    SOURCE,
    TERMS,
    Manifest,
    ShardEntry,
    ShardError,
    digest,
    piece_path,
)

#: A shard ends with this number of rows, unless told otherwise, and in any case with this number of entries.
DEFAULT_ROWS, DEFAULT_ENTRIES = 250_000, 2**24

_JOURNAL, _PLAN, _LOCK = "journal.jsonl", "plan.json", ".lock"

#: The labels of some rows: for each row one label, or the labels of a row as a sequence.
Labels = Sequence[Any]


class ShardWriter:
    """Writes blocks of rows as shards; the folder appears when the ``with`` block ends without an error.

    Until then everything is in a hidden folder beside it. With a ``plan`` (what is written, and from where) the hidden
    folder survives a killed process: a writer with the same plan continues after the last finished shard, and
    ``n_done`` says how many rows need not be added again. Without a plan, or with another one, it starts again.

    Parameters
    ----------
    folder : path
        The folder to make; it must not exist.
    n_columns : int
    dtype : {"float64", "float32"}
        Type of the values.
    rows, entries : int
        A shard ends after this number of rows or of entries, whichever comes first.
    plan : dict, optional
        What distinguishes this work from any other, as JSON.
    """

    def __init__(
        self,
        folder: AnyPath,
        n_columns: int,
        *,
        dtype: str = "float64",
        rows: int = DEFAULT_ROWS,
        entries: int = DEFAULT_ENTRIES,
        plan: dict[str, Any] | None = None,
    ) -> None:
        if dtype not in ("float32", "float64", np.float32, np.float64):
            raise ValueError(f"dtype is {dtype!r}; expected 'float32' or 'float64'")
        if not 1 <= n_columns <= MOST_COLUMNS:
            raise ValueError(f"the matrix has {n_columns} columns; expected 1 to {MOST_COLUMNS}")
        for name, number in (("rows", rows), ("entries", entries)):
            if not isinstance(number, int | np.integer) or number < 1:
                raise ValueError(f"{name} is {number!r}; expected a whole number of at least 1")
        self.folder = Path(folder)
        self.n_columns, self.dtype, self.rows, self.entries = n_columns, np.dtype(dtype).name, rows, entries
        self._part = self.folder.with_name(f".{self.folder.name}.unfinished")
        self._plan = plan
        self._blocks: list[sp.csr_matrix] = []
        self._labels: list[Labels] = []
        self._waiting_rows = self._waiting_entries = 0
        self.terms: Sequence[str] | None = None
        #: What the folder says about the source of its rows, as JSON.
        self.source: dict[str, Any] | None = None

    def __enter__(self) -> Self:
        if self.folder.exists():
            raise FileExistsError(f"{self.folder} exists; expected the name of a new folder")
        if self._part.is_symlink():
            # What it leads to, somebody else's folder perhaps, would be emptied.
            raise ShardError(f"{self._part} is a symbolic link; expected a folder of an earlier run, or nothing")
        self._part.mkdir(parents=True, exist_ok=True)
        self._lock = (self._part / _LOCK).open("ab")
        if not claim(self._lock):
            self._lock.close()
            raise ShardError(f"{self.folder} is being written by another process")
        self._shards: list[ShardEntry] = []
        self._names: dict[Any, int] = {}
        self._kind: str | None = None
        if not self._resumes():
            for entry in os.scandir(self._part):
                if entry.name != _LOCK:
                    os.unlink(entry.path)
            if self._plan is not None:
                (self._part / _PLAN).write_text(json.dumps(self._plan), encoding="utf-8")
        return self

    @property
    def n_done(self) -> int:
        """Number of rows in finished shards."""
        return sum(entry.n_rows for entry in self._shards)

    def add(self, X: Any, labels: Labels | None = None) -> None:
        """Add rows of the matrix, with their labels if they have any."""
        block = sp.csr_matrix(canonical_rows(X)) if X.shape[0] else sp.csr_matrix((0, self.n_columns))
        if block.shape[1] != self.n_columns:
            raise ValueError(f"a block has {block.shape[1]} columns; expected {self.n_columns}")
        usable = usable_values(block)
        if usable is not block:
            # Some were too small to be told from 0.
            block = usable
            block.eliminate_zeros()
        if block.nnz and np.abs(block.data).max() > np.finfo(self.dtype).max:
            raise ValueError(f"X holds {np.abs(block.data).max():g}, which is too large for dtype={self.dtype!r}")
        if labels is not None:
            _check_labels(labels, block.shape[0])
        before = self.n_done + self._waiting_rows
        if before and block.shape[0] and (labels is not None) != (self._kind is not None or bool(self._labels)):
            raise ValueError("some blocks have labels and some have none; expected labels for all rows or for none")
        first = 0
        while first < block.shape[0]:
            room = self.entries - self._waiting_entries
            last = int(np.searchsorted(block.indptr, block.indptr[first] + room, side="right")) - 1
            # At least one row goes into every shard, however many entries it has.
            last = min(max(last, first + (self._waiting_rows == 0)), first + self.rows - self._waiting_rows)
            if last > first:
                part = block[first:last]
                self._blocks.append(part)
                self._waiting_rows += part.shape[0]
                self._waiting_entries += part.nnz
                if labels is not None:
                    self._labels.append(labels[first:last])
            full = self._waiting_rows >= self.rows or self._waiting_entries >= self.entries or last < block.shape[0]
            first = last
            if full:
                self._flush()

    def add_empty_shard(self) -> None:
        """End the current shard, and add one without rows."""
        self._flush()
        self._blocks.append(sp.csr_matrix((0, self.n_columns)))
        self._flush()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._finish()
        finally:
            self._lock.close()
            if self._part.exists() and self._plan is None:
                shutil.rmtree(self._part, ignore_errors=True)

    def _flush(self) -> None:
        """Write the waiting rows as the next shard."""
        if not self._blocks:
            return
        matrix = sp.vstack(self._blocks, format="csr") if len(self._blocks) > 1 else self._blocks[0]
        pieces: dict[str, AnyArray] = {
            "starts": matrix.indptr.astype(np.int64),
            "columns": matrix.indices.astype(np.int32),
            "values": matrix.data.astype(self.dtype),
        }
        n_labels = 0
        if self._labels:
            pieces["label_starts"], pieces["labels"] = self._numbered([row for part in self._labels for row in part])
            n_labels = pieces["labels"].size
        number = len(self._shards)
        digests = {}
        for piece, array in pieces.items():
            path = piece_path(self._part, number, piece)
            np.save(path, array, allow_pickle=False)
            sync(path)
            digests[piece] = digest(path)
        entry = ShardEntry(matrix.shape[0], matrix.nnz, n_labels, digests)
        self._shards.append(entry)
        self._blocks, self._labels, self._waiting_rows, self._waiting_entries = [], [], 0, 0
        with (self._part / _JOURNAL).open("a", encoding="utf-8") as journal:
            journal.write(json.dumps([asdict(entry), list(self._names), self._kind]) + "\n")

    def _numbered(self, rows: Labels) -> tuple[AnyArray, AnyArray]:
        """Return where the labels of each row start, and all labels by their numbers."""
        single = all(map(_is_label, rows))
        kind = "single" if single else "several"
        if self._kind not in (None, kind):
            raise ValueError(f"labels were {self._kind} before and are {kind} now; expected the same for all rows")
        self._kind = kind
        labels = rows if single else [label for row in rows for label in row]
        if len({isinstance(label, str) for label in (*labels, *self._names)}) > 1:
            raise ValueError("labels are strings and numbers; expected labels of one type for all rows")
        sets = [[row] for row in rows] if single else [sorted(set(row)) for row in rows]
        flat = [label.item() if isinstance(label, np.generic) else label for labels in sets for label in labels]
        numbers = [self._names.setdefault(label, len(self._names)) for label in flat]
        sizes = np.fromiter(map(len, sets), np.int64, len(sets))
        return np.append(np.int64(0), np.cumsum(sizes)), np.array(numbers, dtype=np.int32)

    def _resumes(self) -> bool:
        """Continue from what a killed process with the same plan has finished, if there is anything."""
        shards: list[ShardEntry] = []
        names: list[Any] = []
        kind = None
        try:
            plan = json.loads((self._part / _PLAN).read_text(encoding="utf-8"))
            lines = (self._part / _JOURNAL).read_text(encoding="utf-8").split("\n")[:-1]
            if self._plan is None or plan != json.loads(json.dumps(self._plan)):
                return False
            for number, line in enumerate(lines):
                found, names, kind = json.loads(line)
                entry = ShardEntry(**found)
                if any(digest(piece_path(self._part, number, name)) != own for name, own in entry.sha256.items()):
                    return False
                shards.append(entry)
        except (OSError, ValueError, TypeError):
            return False
        self._shards, self._names, self._kind = shards, {name: place for place, name in enumerate(names)}, kind
        return True

    def _finish(self) -> None:
        """Write what is left and the manifest, and give the folder its name."""
        self._flush()
        counts = np.zeros(self.n_columns, dtype=np.int64)
        for number, entry in enumerate(self._shards):
            if entry.n_entries:
                columns = np.load(piece_path(self._part, number, "columns"), mmap_mode="r", allow_pickle=False)
                counts += np.bincount(columns, minlength=self.n_columns)
        np.save(self._part / COUNTS, counts, allow_pickle=False)
        optional = {TERMS: None if self.terms is None else list(self.terms), SOURCE: self.source}
        digests: dict[str, str | None] = dict.fromkeys(optional)
        for name, content in optional.items():
            if content is not None:
                (self._part / name).write_text(json.dumps(content), encoding="utf-8")
                digests[name] = digest(self._part / name)
        Manifest(
            self.n_columns,
            self.dtype,
            self._shards,
            digest(self._part / COUNTS),
            digests[TERMS],
            self._kind,
            list(self._names),
            digests[SOURCE],
        ).write(self._part)
        for name in (COUNTS, MANIFEST, *(name for name, found in digests.items() if found)):
            sync(self._part / name)
        self._lock.close()
        for name in (_JOURNAL, _PLAN, _LOCK):
            (self._part / name).unlink(missing_ok=True)
        os.rename(self._part, self.folder)
        sync(self.folder.parent)


def _is_label(found: Any) -> bool:
    """Tell whether something can be a label: a string or a whole number, which JSON keeps as they are."""
    return isinstance(found, str | int | np.integer) and not isinstance(found, bool)


def _check_labels(labels: Any, n_rows: int) -> None:
    """Refuse what are not labels of so many rows: one for each, or for each a sequence of them."""
    shape = np.shape(labels) if isinstance(labels, np.ndarray) or sp.issparse(labels) else (len(labels),)
    if len(shape) != 1:
        raise ValueError(f"labels have shape {shape}; expected one for each row, or for each a sequence of labels")
    if shape[0] != n_rows:
        raise ValueError(f"a block has {n_rows} rows and {shape[0]} labels; expected one for each row")
    single = 0
    for row in labels:
        is_one = _is_label(row)
        if not is_one and (isinstance(row, bytes) or not isinstance(row, Collection) or not all(map(_is_label, row))):
            raise ValueError(
                f"labels hold {row!r}; expected strings or whole numbers, or for each row a sequence of them"
            )
        single += is_one
    if 0 < single < n_rows:
        raise ValueError("labels are single for some rows and sequences for others; expected the same for all rows")


def write_matrix(
    X: Any,
    folder: AnyPath,
    labels: Labels | None = None,
    *,
    rows: int = DEFAULT_ROWS,
    entries: int = DEFAULT_ENTRIES,
    dtype: str = "float64",
    terms: Sequence[str] | None = None,
) -> None:
    """Write a matrix as a folder of shards.

    Parameters
    ----------
    X : sparse matrix or array, or iterable of them
        Rows of term weights; an iterable yields one block after the other, so that they need not fit in memory.
    folder : path
        The folder to make; it must not exist.
    labels : sequence, optional
        One label, or a sequence of labels, for each row: strings or whole numbers, all of one type. Not for an iterable
        of blocks.
    rows, entries : int
        A shard ends after this number of rows or this number of entries, whichever comes first.
    dtype : {"float64", "float32"}
        Type of the values.
    terms : sequence of str, optional
        Names of the columns.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from bayesift import shards
    >>> with tempfile.TemporaryDirectory() as place:
    ...     shards.write_matrix(np.eye(5), f"{place}/eye", rows=2)
    ...     shards.open(f"{place}/eye")
    Shards(5 rows, 5 columns, 5 entries, 3 shards)
    """
    blocks: Iterable[Any]
    if sp.issparse(X) or isinstance(X, np.ndarray):
        blocks = [X]
    elif labels is not None:
        raise ValueError("labels are given for an iterable of blocks; expected labels only with a matrix")
    else:
        blocks = X
    found = iter(blocks)
    first = next(found, None)
    if first is None:
        raise ValueError("X has no blocks of rows; expected at least one")
    if len(getattr(first, "shape", ())) != 2:
        is_one = isinstance(X, np.ndarray)
        what = f"has shape {X.shape}" if is_one else f"is {type(X).__name__} of {type(first).__name__}"
        raise ValueError(f"X {what}; expected a sparse matrix or array of two dimensions, or several of them")
    if terms is not None and len(terms) != first.shape[1]:
        raise ValueError(f"there are {len(terms)} terms; expected {first.shape[1]}, one for each column")
    if terms is not None and (others := [term for term in terms if not isinstance(term, str)]):
        raise ValueError(f"terms hold {others[0]!r}; expected strings, the names of the columns")
    with ShardWriter(folder, first.shape[1], dtype=dtype, rows=rows, entries=entries) as writer:
        writer.terms = terms
        writer.add(first, labels)
        for block in found:
            writer.add(block)
