"""Compiled counting: streams of term numbers to the rows of a sparse matrix.

Terms are numbered as they are met, so frequent ones have small numbers and share few cache lines. Counting therefore
works on numbers; the columns, whose order is alphabetical, come in only when the rows are sorted.
"""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._typing import AnyArray, Int32Array, Int64Array, UInt64Array

_LOW32, _SHIFT = np.uint64(0xFFFFFFFF), np.uint64(32)


@kernel
def collapse(numbers: Int32Array, ends: Int64Array, n_numbers: int) -> tuple[int, Int32Array]:
    """Count repeated numbers within each document, in place; returns how many entries are left, and their counts.

    ``numbers`` and ``ends`` are changed to the distinct numbers of each document, in the order of first occurrence.
    """
    tally = np.zeros(n_numbers, dtype=np.int32)
    counts = np.empty(numbers.size + 1, dtype=np.int32)
    begin, n_entries = 0, 0
    for doc in range(ends.size):
        row = n_entries
        for i in range(begin, ends[doc]):
            number = numbers[i]
            # Without a branch: a repeated number is written too, and then written over.
            numbers[n_entries] = number
            n_entries += tally[number] == 0
            tally[number] += 1
        begin = ends[doc]
        for entry in range(row, n_entries):
            counts[entry] = tally[numbers[entry]]
            tally[numbers[entry]] = 0
        ends[doc] = n_entries
    return n_entries, counts[:n_entries].copy()


def count_few(
    numbers: Int32Array, counts: Int32Array, ends: Int64Array, column_of: Int32Array
) -> tuple[Int32Array, Int32Array, Int64Array]:
    """Count the columns of every document in time that does not grow with the number of columns.

    Returns columns and counts of the entries, sorted within each row, and where each row ends.
    """
    rows = np.repeat(np.arange(ends.size), np.diff(ends, prepend=0))
    columns = column_of[numbers]
    kept = np.flatnonzero(columns >= 0)
    kept = kept[np.lexsort((columns[kept], rows[kept]))]
    rows, columns, counts = rows[kept], columns[kept], counts[kept]
    is_first = np.ones(rows.size, dtype=bool)
    is_first[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    first = np.flatnonzero(is_first)
    summed = np.add.reduceat(counts, first) if first.size else counts
    return columns[first], summed.astype(np.int32), np.searchsorted(rows[first], np.arange(ends.size), side="right")


def fold_numbers(column_of: Int32Array, n_columns: int) -> tuple[Int32Array, Int32Array]:
    """Let the smallest number of each column stand for all of them.

    Returns for every number the one that stands for it (-1 where it has no column), and for every column the number
    that stands for it (-1 where it has none).
    """
    counted = np.flatnonzero(column_of >= 0).astype(np.int32)
    number_of = np.full(n_columns, -1, dtype=np.int32)
    # Of repeated assignments the last one holds: that of the smallest number.
    number_of[column_of[counted[::-1]]] = counted[::-1]
    fold = np.full(column_of.size, -1, dtype=np.int32)
    fold[counted] = number_of[column_of[counted]]
    return fold, number_of


@kernel
def count_columns(
    numbers: Int32Array, counts: Int32Array, ends: Int64Array, fold: Int32Array, number_of: Int32Array, group_size: int
) -> int:
    """Turn numbers into columns, in place, and sort every row by column; returns how many entries are left.

    All in one call, because every return to Python may wait for the interpreter's lock; documents with about
    ``group_size`` entries together are handled at a time, so that the work stays in the cache.
    """
    tally = np.zeros(fold.size, dtype=np.int32)
    first, begin, n_entries = 0, 0, 0
    while first < ends.size:
        last = first + 1
        while last < ends.size and ends[last] - begin <= group_size:
            last += 1
        following = ends[last - 1]
        end = _fold_rows(numbers, counts, ends[first:last], begin, n_entries, fold, tally)
        rows = ends[first:last] - n_entries
        _sort_rows(numbers[n_entries:end], counts[n_entries:end], rows, fold.size, number_of)
        first, begin, n_entries = last, following, end
    return n_entries


@kernel
def _fold_rows(
    numbers: Int32Array,
    counts: Int32Array,
    ends: Int64Array,
    begin: int,
    n_entries: int,
    fold: Int32Array,
    tally: Int32Array,
) -> int:
    """Add the counts of numbers that fold into one, writing from ``n_entries`` on; returns where the entries end."""
    for doc in range(ends.size):
        row = n_entries
        for i in range(begin, ends[doc]):
            number = fold[numbers[i]]
            if number >= 0:
                numbers[n_entries] = number
                n_entries += tally[number] == 0
                tally[number] += counts[i]
        begin = ends[doc]
        for entry in range(row, n_entries):
            counts[entry] = tally[numbers[entry]]
            tally[numbers[entry]] = 0
        ends[doc] = n_entries
    return n_entries


@kernel
def _sort_rows(
    entries: Int32Array, counts: Int32Array, row_ends: Int64Array, n_numbers: int, number_of: Int32Array
) -> None:
    """Replace the numbers by their columns, in place, and sort every row by column.

    The entries are distributed over the columns and collected row by row again: linear time, where sorting each row on
    its own was measured at twice as long.
    """
    place, pairs = _distribute(entries, counts, row_ends, n_numbers)
    following = np.zeros(row_ends.size, dtype=np.int64)
    following[1:] = row_ends[:-1]
    for column in range(number_of.size):
        number = number_of[column]
        if number < 0:
            continue
        for i in range(place[number - 1] if number else 0, place[number]):
            row = np.int64(pairs[i] >> _SHIFT)
            entries[following[row]] = column
            counts[following[row]] = np.int32(pairs[i] & _LOW32)
            following[row] += 1


@kernel
def _distribute(
    entries: Int32Array, counts: Int32Array, row_ends: Int64Array, n_numbers: int
) -> tuple[Int32Array, UInt64Array]:
    """Gather for every number its rows and counts, packed in pairs; those of a number end before ``place[number]``."""
    place = np.zeros(n_numbers + 1, dtype=np.int32)
    for number in entries:
        place[number + 1] += 1
    for number in range(n_numbers):
        place[number + 1] += place[number]
    pairs = np.empty(entries.size, dtype=np.uint64)
    begin = 0
    for row in range(row_ends.size):
        for entry in range(begin, row_ends[row]):
            here = place[entries[entry]]
            place[entries[entry]] = here + 1
            pairs[here] = np.uint64(row) << _SHIFT | np.uint64(counts[entry])
        begin = row_ends[row]
    return place, pairs


@kernel
def document_frequencies(columns: AnyArray, n_columns: int) -> Int64Array:
    """Count the rows that hold each column; every row holds a column once at most."""
    frequencies = np.zeros(n_columns, dtype=np.int64)
    for column in columns:
        frequencies[column] += 1
    return frequencies


@kernel
def keep_columns(indptr: AnyArray, indices: AnyArray, data: AnyArray, new_column: Int32Array) -> int:
    """Renumber the columns of a CSR matrix in place and drop the entries whose new column is negative.

    Returns the number of entries left. The new columns must keep the order of the old ones.
    """
    begin, kept = indptr[0], 0
    for row in range(indptr.size - 1):
        end = indptr[row + 1]
        for entry in range(begin, end):
            column = new_column[indices[entry]]
            if column >= 0:
                indices[kept] = column
                data[kept] = data[entry]
                kept += 1
        begin = end
        indptr[row + 1] = kept
    return kept
