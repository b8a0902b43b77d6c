"""The two passes over a collection: documents to streams of numbers, streams to rows of counts; on several threads.

The compiled code of both passes releases the interpreter lock, so plain threads use the cores.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain, islice
from typing import NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike

from bayesift._threads import thread_count
from bayesift._typing import AnyArray, Int32Array, Int64Array
from bayesift.text import _count
from bayesift.text._lexicon import Lexicon, Scanner, Stream

AnyScanner = TypeVar("AnyScanner", bound=Scanner)

#: Entries sorted in one go: enough that a pass over all columns is cheap beside them.
GROUP_SIZE = 1 << 18

#: With fewer entries than this share of the columns, a pass over all columns would cost more than sorting the entries.
FEW_ENTRIES = 8


class Chunk(NamedTuple):
    """Rows of counts: the entries of row i end before ``row_ends[i]``, sorted by column."""

    columns: Int32Array
    counts: Int32Array
    row_ends: Int64Array


def scan(
    batches: Iterator[list[str]], make_scanner: Callable[[], AnyScanner], n_jobs: int | None, ordered: bool
) -> tuple[list[AnyScanner], list[tuple[int, Stream]]]:
    """Number the tokens of every batch; returns a scanner for each thread, and the streams with the thread's place.

    The streams keep the order of the tokens if ``ordered``, else they are counted at once, which takes less memory.
    """
    first = list(islice(batches, 2))
    if len(first) == 2:
        first += islice(batches, max(thread_count(n_jobs) - 2, 0))
    n_threads = thread_count(n_jobs, len(first))
    numbered = enumerate(chain(first, batches))
    found: dict[int, tuple[int, Stream]] = {}
    scanners = [make_scanner() for _ in range(n_threads)]
    lock = threading.Lock()

    def work(worker: int) -> None:
        while True:
            with lock:
                place, batch = next(numbered, (-1, []))
            if place < 0:
                return
            stream = scanners[worker].scan(batch)
            found[place] = worker, stream if ordered else counted(stream, len(scanners[worker]) + 1)

    if n_threads == 1:
        work(0)
    else:
        with ThreadPoolExecutor(n_threads) as pool:
            list(pool.map(work, range(n_threads)))
    return scanners, [found[place] for place in range(len(found))]


def counted(stream: Stream, n_numbers: int) -> Stream:
    """Count repeated numbers within each document; changes the arrays of the stream."""
    n_entries, counts = _count.collapse(stream.raw_numbers, stream.ends, n_numbers)
    return Stream(stream.raw_numbers[:n_entries].copy(), stream.ends, counts)


def keep_numbers(streams: list[Stream], kept: Int64Array, n_numbers: int) -> list[Stream]:
    """Leave out of counted streams all numbers but some (in ascending order), which are numbered anew from 0 on.

    The list is emptied on the way, so that memory is not needed twice.
    """
    new_number = np.full(n_numbers, -1, dtype=np.int32)
    new_number[kept] = np.arange(kept.size, dtype=np.int32)
    found = []
    streams.reverse()
    while streams:
        stream = streams.pop()
        numbers = new_number[stream.numbers]
        is_kept = numbers >= 0
        ends = np.concatenate([[0], np.cumsum(is_kept)])[stream.ends]
        counts = None if stream.counts is None else stream.counts[is_kept]
        found.append(Stream(numbers[is_kept], ends, counts))
    return found


def unite(lexicons: list[Lexicon], found: list[tuple[int, Stream]]) -> list[Stream]:
    """Put the terms of all lexicons into the first, which alone stays in the list, and let the streams refer to it."""
    numbers_of = [None, *(lexicons[0].absorb(other) for other in lexicons[1:])]
    del lexicons[1:]
    return [stream._replace(renumber=numbers_of[worker]) for worker, stream in found]


def count(streams: list[Stream], column_of: Int32Array, n_columns: int, n_jobs: int | None) -> Iterable[Chunk]:
    """Bring the counts of every document into the columns of their numbers (-1: none).

    Begins at once on several threads where there is enough to do; the chunks come in order. The list of streams is
    emptied on the way, so that their memory is free for the counts.
    """
    n_entries = sum(stream.raw_numbers.size for stream in streams)
    if FEW_ENTRIES * n_entries < column_of.size + n_columns:
        return [Chunk(*_count.count_few(*_joined(streams), column_of))]
    fold, number_of = _count.fold_numbers(column_of, n_columns)
    work = partial(_count_share, fold=fold, number_of=number_of)
    n_threads = thread_count(n_jobs, 1 + n_entries // GROUP_SIZE)
    if n_threads == 1:
        return map(work, _shares(streams, GROUP_SIZE))
    pool = ThreadPoolExecutor(n_threads)
    chunks = pool.map(work, _shares(streams, 1 + n_entries // n_threads))
    pool.shutdown(wait=False)
    return chunks


def _shares(streams: list[Stream], n_entries: int) -> Iterator[tuple[Int32Array, Int32Array, Int64Array]]:
    """Yield neighbouring streams with about so many entries, joined; empties the list."""
    streams.reverse()
    while streams:
        share: list[Stream] = []
        found = 0
        while streams and found < n_entries:
            share.append(streams.pop())
            found += share[-1].raw_numbers.size
        yield _joined(share)


def _joined(streams: list[Stream]) -> tuple[Int32Array, Int32Array, Int64Array]:
    """Put counted streams one after the other, in new arrays: numbers, counts and ends."""
    starts = np.cumsum([0, *(stream.raw_numbers.size for stream in streams)])
    numbers = [np.empty(0, dtype=np.int32), *(stream.numbers for stream in streams)]
    counts = [numbers[0], *(stream.counts for stream in streams if stream.counts is not None)]
    ends = [np.empty(0, dtype=np.int64), *(s.ends + start for s, start in zip(streams, starts, strict=False))]
    return np.concatenate(numbers), np.concatenate(counts), np.concatenate(ends)


def _count_share(share: tuple[Int32Array, Int32Array, Int64Array], fold: Int32Array, number_of: Int32Array) -> Chunk:
    numbers, counts, ends = share
    n_entries = _count.count_columns(numbers, counts, ends, fold, number_of, GROUP_SIZE)
    return Chunk(numbers[:n_entries], counts[:n_entries], ends)


def assemble(found: Iterable[Chunk], n_columns: int, dtype: DTypeLike) -> sp.csr_matrix:
    """Put the rows together, giving up the chunks on the way, so that memory is not needed twice."""
    chunks = list(found)
    n_entries = sum(chunk.columns.size for chunk in chunks)
    n_rows = sum(chunk.row_ends.size for chunk in chunks)
    index_type = np.int32 if n_entries <= np.iinfo(np.int32).max else np.int64
    data: AnyArray = np.empty(n_entries, dtype=dtype)
    indices: AnyArray = np.empty(n_entries, dtype=index_type)
    indptr: AnyArray = np.zeros(n_rows + 1, dtype=index_type)
    row = entry = 0
    chunks.reverse()
    while chunks:
        columns, counts, row_ends = chunks.pop()
        data[entry : entry + counts.size] = counts
        indices[entry : entry + columns.size] = columns
        indptr[row + 1 : row + 1 + row_ends.size] = row_ends + entry
        row += row_ends.size
        entry += columns.size
    return _canonical((data, indices, indptr), (n_rows, n_columns))


def keep_columns(counts: sp.csr_matrix, kept: Int64Array) -> sp.csr_matrix:
    """Return the matrix of the columns in ``kept`` (sorted) only; works in the arrays of ``counts``."""
    new_column = np.full(counts.shape[1], -1, dtype=np.int32)
    new_column[kept] = np.arange(kept.size, dtype=np.int32)
    n_entries = _count.keep_columns(counts.indptr, counts.indices, counts.data, new_column)
    arrays = counts.data[:n_entries], counts.indices[:n_entries], counts.indptr
    return _canonical(arrays, (counts.shape[0], kept.size))


def _canonical(arrays: tuple[AnyArray, AnyArray, AnyArray], shape: tuple[int, int]) -> sp.csr_matrix:
    matrix = sp.csr_matrix(arrays, shape=shape, copy=False)
    matrix.has_sorted_indices = True
    matrix.has_canonical_format = True
    return matrix
