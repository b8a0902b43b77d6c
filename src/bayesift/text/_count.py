"""Compiled counting: streams of term numbers to the rows of a sparse matrix.

Terms are numbered as they are met, so frequent ones have small numbers and share few cache lines. Counting therefore
works on numbers; the columns, whose order is alphabetical, come in only when the rows are sorted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesift._kernel import inner_kernel, kernel
from bayesift._typing import AnyArray, Int32Array, Int64Array, UInt64Array

#: Zero, and its type: for a bare constant that they are given, functions would be compiled once more.
_START: Any = np.int64(0)

_LOW32, _SHIFT = np.uint64(0xFFFFFFFF), np.uint64(32)


def collapse(numbers: Int32Array, ends: Int64Array, n_numbers: int) -> tuple[int, Int32Array]:
    """Count repeated numbers within each document, in place; returns how many entries are left, and their counts.

    ``numbers`` and ``ends`` are changed to the distinct numbers of each document, in the order of first occurrence.
    """
    counts = np.empty(numbers.size, dtype=np.int32)
    n_entries = _collapse(numbers, ends, np.zeros(n_numbers, dtype=np.int32), counts)
    return n_entries, counts[:n_entries].copy()


@kernel
def _collapse(numbers: Int32Array, ends: Int64Array, tally: Int32Array, counts: Int32Array) -> int:
    """Do what ``collapse`` says, with a zero for every number and room for the counts."""
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
    return n_entries


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


def count_columns(
    numbers: Int32Array, counts: Int32Array, ends: Int64Array, fold: Int32Array, number_of: Int32Array, group_size: int
) -> int:
    """Turn numbers into columns, in place, and sort every row by column; returns how many entries are left.

    Documents with about ``group_size`` entries together are handled at a time, so that the work stays in the cache.
    """
    longest = int(np.diff(ends, prepend=0).max(initial=0))
    pairs = np.empty(min(numbers.size, max(group_size, longest)), dtype=np.uint64)
    tally, place = np.zeros(fold.size, dtype=np.int32), np.empty(fold.size + 1, dtype=np.int32)
    return int(_count_groups(numbers, counts, ends, fold, number_of, group_size, tally, place, pairs))


@kernel
def _count_groups(
    numbers: Int32Array,
    counts: Int32Array,
    ends: Int64Array,
    fold: Int32Array,
    number_of: Int32Array,
    group_size: int,
    tally: Int32Array,
    place: Int32Array,
    pairs: UInt64Array,
) -> int:
    """Do what ``count_columns`` says, all groups in one call: a return to Python may wait for the interpreter's lock.

    ``tally`` is 0 for every number; ``place`` has room for every number and one more, ``pairs`` for a group.
    """
    first = begin = n_entries = _START
    while first < ends.size:
        last = first + 1
        while last < ends.size and ends[last] - begin <= group_size:
            last += 1
        following = ends[last - 1]
        end = _fold_rows(numbers, counts, ends, first, last, begin, n_entries, fold, tally)
        _sort_rows(numbers, counts, ends, first, last, n_entries, end, number_of, place, pairs)
        first, begin, n_entries = last, following, end
    return n_entries


@inner_kernel
def _fold_rows(numbers, counts, ends, first, last, begin, n_entries, fold, tally):  # type: ignore[no-untyped-def]
    """Add the counts of numbers that fold into one, writing from ``n_entries`` on; returns where the entries end."""
    for doc in range(first, last):
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


@inner_kernel
def _sort_rows(numbers, counts, ends, first, last, begin, end, number_of, place, pairs):  # type: ignore[no-untyped-def]
    """Replace the numbers from ``begin`` to ``end`` by their columns, in place, and sort every row by column.

    The entries are distributed over the columns, each packed with its row, and collected row by row again: linear time,
    where sorting each row on its own was measured at twice as long. The pairs of a number end before ``place[number]``.
    """
    for number in range(place.size):
        place[number] = 0
    for entry in range(begin, end):
        place[numbers[entry] + 1] += 1
    for number in range(place.size - 1):
        place[number + 1] += place[number]
    start = begin
    for row in range(first, last):
        for entry in range(start, ends[row]):
            here = place[numbers[entry]]
            place[numbers[entry]] = here + 1
            pairs[here] = np.uint64(row) << _SHIFT | np.uint64(counts[entry])
        start = ends[row]
    # From here on the end of a row is where its next entry goes: where it begins, at first.
    for row in range(last - 1, first, -1):
        ends[row] = ends[row - 1]
    ends[first] = begin
    for column in range(number_of.size):
        number = number_of[column]
        if number < 0:
            continue
        for i in range(place[number - 1] if number else 0, place[number]):
            owner = np.int64(pairs[i] >> _SHIFT)
            to = ends[owner]
            numbers[to] = column
            counts[to] = np.int32(pairs[i] & _LOW32)
            ends[owner] = to + 1


def document_frequencies(n_columns: int, *parts: AnyArray) -> Int64Array:
    """Count the rows that hold each column; every row holds a column once at most."""
    frequencies = np.zeros(n_columns, dtype=np.int64)
    for columns in parts:
        _tally(columns, frequencies)
    return frequencies


@kernel
def _tally(columns: AnyArray, frequencies: Int64Array) -> None:
    """Add one for every occurrence of a column."""
    for column in columns:
        frequencies[column] += 1


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
