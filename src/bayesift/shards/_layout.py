"""The layout of a folder of shards on disk, and the checks that everything in it passes before a kernel sees it.

A folder holds ``manifest.json``, ``counts.npy`` (entries of each column), optionally ``terms.json`` and ``source.json``
(from what it was written, and how), and for each shard the compressed rows as plain ``.npy`` pieces:
``NUMBER.starts.npy`` (int64), ``NUMBER.columns.npy`` (int32) and ``NUMBER.values.npy`` (float32 or float64), beside
them, where rows have labels and the shard has rows, ``NUMBER.label_starts.npy`` (int64) and ``NUMBER.labels.npy``
(int32). Names of files are made from the number of the shard, never read from the manifest.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from bayesift._documents import LARGEST
from bayesift._kernel import kernel
from bayesift._typing import AnyArray, Int64Array, UInt32Array

FORMAT, VERSION = "bayesift shards", 1
MANIFEST, COUNTS, TERMS, SOURCE = "manifest.json", "counts.npy", "terms.json", "source.json"

#: More columns than this cannot be numbered by 32 bits with a sign.
MOST_COLUMNS = 2**31 - 1
#: Entries that a shard may have: starts of rows within the kernels are unsigned numbers of 32 bits.
MOST_ENTRIES = 2**32 - 1
_LARGEST_MANIFEST = 2**28
_MOST_ROWS = 2**40
_BLOCK = 2**22
_ONE_HEADER = Lock()

#: The pieces of a shard and their types; values are of the type that the manifest says.
MATRIX_PIECES = {"starts": "int64", "columns": "int32", "values": ""}
LABEL_PIECES = {"label_starts": "int64", "labels": "int32"}


class ShardError(ValueError):
    """A folder of shards does not match its manifest, or is not a folder of shards."""


@dataclass(frozen=True)
class ShardEntry:
    """What the manifest says of one shard: its rows, its entries, and the checksum of each of its pieces."""

    n_rows: int
    n_entries: int
    n_labels: int
    sha256: dict[str, str]


@dataclass(frozen=True)
class Manifest:
    """What a folder holds.

    ``label_kind`` is ``"single"`` where every row has one label, ``"several"`` where it can have any number, and None
    where there are none; ``label_names`` are the labels by their numbers.
    """

    n_columns: int
    dtype: str
    shards: list[ShardEntry]
    counts_sha256: str
    terms_sha256: str | None = None
    label_kind: str | None = None
    label_names: list[Any] = field(default_factory=list)
    source_sha256: str | None = None

    def write(self, folder: Path) -> None:
        """Write the manifest, last of all files of a folder."""
        content = {"format": FORMAT, "version": VERSION, **asdict(self)}
        (folder / MANIFEST).write_text(json.dumps(content, ensure_ascii=False, indent=1), encoding="utf-8")


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a folder, and refuse an invalid one."""
    path = folder / MANIFEST
    if not path.is_file():
        raise ShardError(f"{folder} has no {MANIFEST}; expected a folder written by bayesift.shards.write")
    if path.stat().st_size > _LARGEST_MANIFEST:
        raise ShardError(f"{path} has {path.stat().st_size} bytes; expected at most {_LARGEST_MANIFEST}")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ShardError(f"{path} is not JSON: {error}") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ShardError(f"{path} is not a manifest of shards")
    if content.get("version") != VERSION:
        raise ShardError(f"{path} has version {content.get('version')!r}; this version of Bayesift reads {VERSION}")
    rules = _Rules(path, content)
    entries = rules.of(content, "shards", list)
    kind, names = content.get("label_kind"), rules.of(content, "label_names", list)
    rules.require(kind in (None, "single", "several"), "label_kind", "single, several or null")
    rules.require(all(type(name) in (str, int) for name in names), "label_names", "strings or whole numbers")
    rules.require(len({type(name) for name in names}) <= 1, "label_names", "labels of one type")
    rules.require(len(set(names)) == len(names), "label_names", "different labels")
    dtype = rules.of(content, "dtype", str)
    rules.require(dtype in ("float32", "float64"), "dtype", "float32 or float64")
    optional = {name: content.get(name) for name in ("terms_sha256", "source_sha256")}
    for name, found in optional.items():
        rules.require(found is None or _is_digest(found), name, "a checksum or null")
    rules.require(_is_digest(content.get("counts_sha256")), "counts_sha256", "a checksum")
    return Manifest(
        n_columns=rules.number(content, "n_columns", 1, MOST_COLUMNS),
        dtype=dtype,
        shards=[rules.entry(entry, kind is not None) for entry in entries],
        counts_sha256=content["counts_sha256"],
        label_kind=kind,
        label_names=names,
        **optional,
    )


class _Rules(NamedTuple):
    """Requirements on a manifest; messages name the file and the field."""

    path: Path
    content: dict[str, Any]

    def require(self, is_right: bool, name: str, expected: str) -> None:
        if not is_right:
            raise ShardError(f"{self.path}: {name} is not as it must be; expected {expected}")

    def of(self, found: Any, name: str, kind: type) -> Any:
        self.require(isinstance(found, dict) and type(found.get(name)) is kind, name, f"a {kind.__name__}")
        return found[name]

    def number(self, found: Any, name: str, least: int, most: int) -> int:
        value = self.of(found, name, int)
        self.require(least <= value <= most, name, f"a number from {least} to {most}")
        return int(value)

    def entry(self, found: Any, has_labels: bool) -> ShardEntry:
        digests, n_rows = self.of(found, "sha256", dict), self.number(found, "n_rows", 0, _MOST_ROWS)
        pieces = {*MATRIX_PIECES, *(LABEL_PIECES if has_labels and n_rows else ())}
        self.require(set(digests) == pieces, "sha256", f"the checksums of {sorted(pieces)}")
        self.require(all(map(_is_digest, digests.values())), "sha256", "checksums")
        return ShardEntry(
            n_rows,
            self.number(found, "n_entries", 0, MOST_ENTRIES),
            self.number(found, "n_labels", 0, MOST_ENTRIES),
            digests,
        )


def _is_digest(found: Any) -> bool:
    return isinstance(found, str) and len(found) == 64 and set(found) <= set("0123456789abcdef")


def piece_path(folder: Path, number: int, piece: str) -> Path:
    """Return where a piece of a shard is."""
    return folder / f"{number:06d}.{piece}.npy"


def digest(path: Path) -> str:
    """Return the SHA-256 checksum of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def open_piece(path: Path, dtype: str, size: int) -> AnyArray:
    """Map a one-dimensional array that must have this type and size; what kernels write to it stays in memory."""
    try:
        # Nothing can be mapped of an array without elements. One at a time: threads that parse headers, which are
        # Python's literals, at the same moment disturb each other in Python 3.11 (a SystemError about recursion).
        with _ONE_HEADER:
            array = np.load(path, mmap_mode="c" if size else None, allow_pickle=False)
    except (OSError, ValueError, EOFError, SyntaxError, TypeError, OverflowError) as error:
        raise ShardError(f"{path} cannot be read as a piece of a shard: {error}") from error
    if array.dtype != np.dtype(dtype) or array.shape != (size,):
        found = f"{array.dtype} of shape {array.shape}"
        raise ShardError(f"{path} holds {found}; its manifest says {dtype} of shape ({size},)")
    # A plain array: kernels would be compiled for the class of mapped ones anew.
    return np.asarray(array)


class Rows(NamedTuple):
    """Checked compressed rows of a shard: the start of each row, the columns of its entries, and their values."""

    starts: UInt32Array
    columns: UInt32Array
    values: AnyArray


class ShardFile(NamedTuple):
    """One shard, with everything that a worker needs to open it."""

    folder: str
    number: int
    n_rows: int
    n_entries: int
    n_columns: int
    dtype: str

    def open(self) -> Rows:
        """Map the rows; refuse them if a kernel would read beyond its arrays or find unusable numbers.

        Files that this process has checked are not checked again unless they change.
        """
        folder = Path(self.folder)
        sizes = {"starts": self.n_rows + 1, "columns": self.n_entries, "values": self.n_entries}
        paths = {piece: piece_path(folder, self.number, piece) for piece in MATRIX_PIECES}
        starts, columns, values = (
            open_piece(paths[piece], dtype or self.dtype, sizes[piece]) for piece, dtype in MATRIX_PIECES.items()
        )
        state = (self, *map(_identity, paths.values()))
        if state not in _checked:
            self._check(starts, columns, values)
            if len(_checked) >= _MOST_CHECKED:
                _checked.clear()
            _checked.add(state)
        return Rows(starts.astype(np.uint32), columns.view(np.uint32), values)

    def _check(self, starts: AnyArray, columns: AnyArray, values: AnyArray) -> None:
        name = f"shard {self.number} of {self.folder}"
        if not _are_starts(starts, self.n_entries):
            raise ShardError(f"{name}: the starts of the rows do not run from 0 to {self.n_entries} in order")
        if not _are_columns(starts, columns, self.n_columns):
            raise ShardError(f"{name}: the columns of a row are not in ascending order from 0 to {self.n_columns - 1}")
        for first in range(0, self.n_entries, _BLOCK):
            if not float(np.abs(values[first : first + _BLOCK]).max()) <= LARGEST:
                raise ShardError(f"{name} holds a value that is not from {-LARGEST:g} to {LARGEST:g}")


#: States of files, by name, size and time of change, that were found to be right; and how many are remembered.
_checked: set[Any] = set()
_MOST_CHECKED = 100_000


def _identity(path: Path) -> tuple[int, int, int, int]:
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


@kernel
def _are_starts(starts: Int64Array, n_entries: int) -> bool:
    """Tell whether rows start at 0, never before the row before them, and the last ends with the entries."""
    if starts[0] != 0 or starts[-1] != n_entries:
        return False
    backwards = 0
    for i in range(starts.shape[0] - 1):
        backwards += starts[i + 1] < starts[i]
    return backwards == 0


@kernel
def _are_columns(starts: Int64Array, columns: AnyArray, n_columns: int) -> bool:
    """Tell whether the columns of every row are known ones in ascending order, none of them twice."""
    for i in range(starts.shape[0] - 1):
        last = -1
        for k in range(starts[i], starts[i + 1]):
            if columns[k] <= last:
                return False
            last = columns[k]
        if last >= n_columns:
            return False
    return True


def open_labels(folder: Path, number: int, entry: ShardEntry, n_names: int) -> tuple[Int64Array, AnyArray]:
    """Read where the labels of each row start, and the labels by their numbers."""
    starts = open_piece(piece_path(folder, number, "label_starts"), "int64", entry.n_rows + 1)
    labels = open_piece(piece_path(folder, number, "labels"), "int32", entry.n_labels)
    if not _are_starts(starts, entry.n_labels):
        raise ShardError(f"shard {number} of {folder}: the starts of the labels of rows are out of order")
    if labels.size and (labels.min() < 0 or labels.max() >= n_names):
        raise ShardError(f"shard {number} of {folder} has a label number that is none of the {n_names}")
    return starts, labels
