"""An open folder of shards: rows of a term matrix that need not fit in memory."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from bayesift._files import AnyPath
from bayesift._typing import AnyArray, Int64Array
from bayesift.shards._engines import Result, Task, refuse_unknown_client, run_tasks
from bayesift.shards._layout import (
    COUNTS,
    MANIFEST,
    SOURCE,
    TERMS,
    ShardError,
    ShardFile,
    digest,
    open_labels,
    open_piece,
    piece_path,
    read_manifest,
)

#: Bytes that a row takes in addition to its entries.
_ROW_BYTES = 8
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


class Reading(NamedTuple):
    """Progress of a fit: how often the shards were read, bytes read this time and in total, and the gap so far, if any.

    The gap is the largest relative duality gap of the fits that are under way.
    """

    round: int
    done: int
    total: int
    gap: float | None


class Shards:
    """Rows of a term matrix in memory-mapped files, to be passed to ``fit`` like a matrix.

    Open a folder with :func:`bayesift.shards.open`. Iterating over it yields one sparse matrix for each shard.

    Attributes
    ----------
    folder : Path
    shape : tuple of two int
    n_entries : int
        Number of entries that are not zero.
    memory : int
        Approximate number of bytes of the matrix that a fit may keep in the process that drives it.
    column_counts : ndarray of shape (n_columns,)
        Number of entries of each column.
    terms : list of str or None
        Names of the columns, if they have any.
    labels : ndarray, csr_matrix or None
        The labels of the rows, if there are any: one for each row, or an indicator matrix of ``label_names``.
    label_names : list
        The different labels, in order.
    """

    def __init__(
        self,
        folder: AnyPath,
        *,
        memory: int,
        client: Any = None,
        timeout: float | None = None,
        rounds: AnyPath | None = None,
        watch: Callable[[Reading], None] | None = None,
    ) -> None:
        self.folder = Path(folder).resolve()
        self._manifest = read_manifest(self.folder)
        self.memory, self._client, self._timeout = memory, client, timeout
        self.rounds_folder = None if rounds is None else Path(rounds)
        self._watch, self._n_read = watch, 0
        self._gap: float | None = None
        entries = self._manifest.shards
        self.starts: Int64Array = np.append(0, np.cumsum([entry.n_rows for entry in entries], dtype=np.int64))
        self.shape = (int(self.starts[-1]), self._manifest.n_columns)
        self.n_entries = sum(entry.n_entries for entry in entries)
        self.dtype = np.dtype(self._manifest.dtype)
        self.files = [
            ShardFile(str(self.folder), number, entry.n_rows, entry.n_entries, self.shape[1], self._manifest.dtype)
            for number, entry in enumerate(entries)
        ]
        # Missing or truncated files are reported before any work is done.
        for file in self.files:
            sizes = {"columns": file.n_entries * 4, "values": file.n_entries * self.dtype.itemsize}
            for piece, size in {"starts": 8 * file.n_rows + 8, **sizes}.items():
                path = piece_path(self.folder, file.number, piece)
                if not path.is_file() or path.stat().st_size < size:
                    raise ShardError(f"{path} is missing or cut off; its manifest says {size} bytes of numbers")

    def __repr__(self) -> str:
        n_rows, n_columns = self.shape
        return (
            f"{type(self).__name__}({n_rows:,} rows, {n_columns:,} columns, {self.n_entries:,} entries, "
            f"{len(self.files)} shards)"
        )

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[sp.csr_matrix]:
        for file in self.files:
            starts, columns, values = file.open()
            rows = (values.astype(np.float64), columns.view(np.int32), starts.astype(np.int64))
            matrix = sp.csr_matrix(rows, shape=(file.n_rows, file.n_columns))
            # Checked when the files were opened.
            matrix.has_canonical_format = True
            yield matrix

    def in_memory(self) -> sp.csr_matrix:
        """Return all rows as one matrix, if half of ``memory`` holds them."""
        size = (8 + 4) * self.n_entries
        if 2 * size > self.memory:
            raise ValueError(
                f"the rows take {size:,} bytes, more than half of memory={self.memory:,}, but this needs them all; "
                f"open them with more memory, or choose another model"
            )
        return sp.vstack(list(self), format="csr") if self.files else sp.csr_matrix(self.shape)

    @cached_property
    def column_counts(self) -> Int64Array:
        """Number of entries of each column."""
        counts = open_piece(self.folder / COUNTS, "int64", self.shape[1])
        if counts.size and (counts.min() < 0 or int(counts.sum()) != self.n_entries):
            raise ShardError(f"{self.folder / COUNTS} does not add up to {self.n_entries} entries")
        return counts

    @cached_property
    def terms(self) -> list[str] | None:
        """Names of the columns."""
        if self._manifest.terms_sha256 is None:
            return None
        path = self.folder / TERMS
        found = self._content(TERMS)
        if not isinstance(found, list) or len(found) != self.shape[1] or not all(type(term) is str for term in found):
            raise ShardError(f"{path} does not hold {self.shape[1]} terms")
        return found

    @cached_property
    def source(self) -> dict[str, Any] | None:
        """What :func:`write` noted about the source of the rows; None if they do not come from files."""
        if self._manifest.source_sha256 is None:
            return None
        found = self._content(SOURCE)
        if not isinstance(found, dict):
            raise ShardError(f"{self.folder / SOURCE} does not hold what it should; expected a JSON object")
        return found

    @cached_property
    def identity(self) -> str:
        """A checksum of the manifest, and so of everything in the folder."""
        return digest(self.folder / MANIFEST)

    def _content(self, name: str) -> Any:
        path = self.folder / name
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise ShardError(f"{path} cannot be read: {error}") from error

    @property
    def label_names(self) -> list[Any]:
        """The different labels, in order."""
        return sorted(self._manifest.label_names)

    @cached_property
    def labels(self) -> Any:
        """The labels of the rows."""
        kind, names = self._manifest.label_kind, self._manifest.label_names
        if kind is None:
            return None
        parts = [
            open_labels(self.folder, number, entry, len(names))
            for number, entry in enumerate(self._manifest.shards)
            if entry.n_rows
        ]
        # In the manifest, labels are numbered in the order in which they came.
        place = np.empty(len(names), dtype=np.int64)
        place[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
        numbers = place[np.concatenate([labels for _, labels in parts])] if parts else np.empty(0, dtype=np.int64)
        sizes = np.concatenate([np.diff(starts) for starts, _ in parts]) if parts else np.empty(0, dtype=np.int64)
        if kind == "single":
            if not np.all(sizes == 1):
                raise ShardError(f"{self.folder}: a row has no label, or several; its manifest says one for each")
            return np.array(self.label_names)[numbers]
        starts = np.append(0, np.cumsum(sizes))
        return sp.csr_matrix((np.ones(numbers.size), numbers, starts), shape=(self.shape[0], len(names)))

    def count_empty_rows(self) -> int:
        """Return the number of rows without entries."""
        empty = 0
        for file in self.files:
            starts = open_piece(piece_path(self.folder, file.number, "starts"), "int64", file.n_rows + 1)
            empty += int(np.count_nonzero(starts[1:] == starts[:-1]))
        return empty

    def verify(self) -> None:
        """Compare every file with its checksum in the manifest, and check everything that kernels rely on.

        Raises
        ------
        ShardError
            If anything differs.
        """
        wanted = {self.folder / COUNTS: self._manifest.counts_sha256}
        if self._manifest.terms_sha256 is not None:
            wanted[self.folder / TERMS] = self._manifest.terms_sha256
        if self._manifest.source_sha256 is not None:
            wanted[self.folder / SOURCE] = self._manifest.source_sha256
        for number, entry in enumerate(self._manifest.shards):
            for piece, own in entry.sha256.items():
                wanted[piece_path(self.folder, number, piece)] = own
        for path, own in wanted.items():
            if digest(path) != own:
                raise ShardError(f"{path} has another checksum than its manifest says; it was changed or is damaged")
        for file in self.files:
            file.open()

    def run(self, task: Task, arguments: Sequence[tuple[Any, ...]], n_jobs: int | None = -1) -> Iterator[Result]:
        """Run a task on every shard with the engine, and return the results in the order of the shards.

        Parameters
        ----------
        task : callable
            A module-level function, called with a :class:`ShardFile` and the arguments for that shard; it returns a
            tuple of arrays.
        arguments : sequence of tuples
            The arguments for each shard.
        n_jobs : int or None, default=-1
            Number of workers, unless ``joblib.parallel_config`` or a cluster sets it.

        Returns
        -------
        iterator of tuples of arrays
        """
        calls = list(zip(self.files, arguments, strict=True))
        return self._watched(run_tasks(task, calls, client=self._client, timeout=self._timeout, n_jobs=n_jobs))

    def _watched(self, results: Iterator[Result]) -> Iterator[Result]:
        """Report after every shard how much has been read."""
        self._n_read += 1
        if self._watch is None:
            yield from results
            return
        each = 4 + self.dtype.itemsize
        sizes = [_ROW_BYTES * file.n_rows + each * file.n_entries for file in self.files]
        done, total = 0, sum(sizes)
        for size, result in zip(sizes, results, strict=True):
            yield result
            done += size
            self._watch(Reading(self._n_read, done, total, self._gap))

    def tell_gap(self, gap: float | None) -> None:
        """Store the largest gap of the fits under way, for ``watch``."""
        self._gap = gap

    def split(self, values: AnyArray) -> list[AnyArray]:
        """Split an array with an entry for each row into one array for each shard."""
        return [values[first:last] for first, last in zip(self.starts[:-1], self.starts[1:], strict=True)]


def bytes_of(memory: int | str) -> int:
    """Parse a number of bytes, such as ``"2G"``."""
    if isinstance(memory, str):
        found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", memory.strip(), re.IGNORECASE)
        if found is None:
            raise ValueError(f"memory is {memory!r}; expected a number of bytes such as '500M' or '2G'")
        memory = int(float(found[1]) * _UNITS[found[2].upper()])
    if memory < 1:
        raise ValueError(f"memory is {memory!r}; expected at least one byte")
    return memory


def open(
    folder: AnyPath,
    *,
    memory: int | str = "2G",
    client: Any = None,
    timeout: float | None = None,
    rounds: AnyPath | None = None,
    watch: Callable[[Reading], None] | None = None,
) -> Shards:
    """Open a folder of shards, to be passed to ``fit`` like a matrix.

    Parameters
    ----------
    folder : path
        A folder written by :func:`write` or :func:`write_matrix`.
    memory : int or str, default="2G"
        Approximate number of bytes of the matrix that a fit may keep in the process that drives it. A matrix that fits
        is solved in memory; the result is within the same tolerance either way.
    client : distributed.Client, optional
        Run tasks on the workers of this Dask cluster. Without it, the backend of ``joblib.parallel_config``
        is used, or threads.
    timeout : float, optional
        Seconds after which a task that its Dask worker has not finished is given to another worker.
    rounds : path, optional
        A folder in which fits store the coefficients of their last round; after a kill, the same fit continues from
        there.
    watch : callable, optional
        Called with a :class:`Reading` after every shard.

    Returns
    -------
    Shards

    Raises
    ------
    ShardError
        If the path is not such a folder, or something in it is missing or truncated.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from bayesift import shards
    >>> from bayesift.linear import BayesianLogisticRegression
    >>> X, y = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]]), [1, 1, 0, 0]
    >>> with tempfile.TemporaryDirectory() as place:
    ...     shards.write_matrix(X, f"{place}/four", rows=3)
    ...     model = BayesianLogisticRegression(variance=4.0).fit(shards.open(f"{place}/four"), y)
    >>> model.predict(X).tolist()
    [1, 1, 0, 0]
    """
    if client is not None:
        refuse_unknown_client(client)
    return Shards(folder, memory=bytes_of(memory), client=client, timeout=timeout, rounds=rounds, watch=watch)
