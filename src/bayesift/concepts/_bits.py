"""Many sets over the same items, eight items to a byte."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from bayesift._typing import BoolArray, ByteArray, FloatArray, Int64Array

# Which of the eight items, from the first to the last, each value of a byte holds.
_ITEMS_OF_BYTE = np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1)
_SIZE_OF_BYTE = _ITEMS_OF_BYTE.sum(axis=1, dtype=np.uint8)
_BLOCK = 1 << 22


@dataclass(frozen=True, eq=False)
class BitSets:
    """Sets as columns of bytes: ``bytes[i // 8, h]`` holds at bit ``i % 8`` (from the left) whether set h has item i.

    All sets lie side by side, so that one item is looked up in all of them, and weights of all sets are added up for
    eight items at once, by passes over adjacent memory.
    """

    bytes: ByteArray
    n_items: int

    @classmethod
    def from_rows(cls, rows: Any) -> Self:
        """Pack a matrix (sets × items) of truth values, dense or sparse; what is not zero is in the set."""
        n_sets, n_items = rows.shape
        packed = np.empty((-(-n_items // 8), n_sets), dtype=np.uint8)
        stored: Any = sparse.csr_array(rows) if sparse.issparse(rows) else np.asarray(rows)
        step = max(1, _BLOCK // max(n_items, 1))
        for start in range(0, n_sets, step):
            block = stored[start : start + step]
            dense = block.toarray() if sparse.issparse(block) else block
            packed[:, start : start + step] = np.packbits(dense != 0, axis=1).T
        return cls(packed, n_items)

    @classmethod
    def from_members(cls, members: Sequence[Int64Array], n_items: int) -> Self:
        """Pack sets given as arrays of item numbers."""
        packed = np.zeros((-(-n_items // 8), len(members)), dtype=np.uint8)
        for column, items in enumerate(members):
            row = np.zeros(n_items, dtype=bool)
            row[items] = True
            packed[:, column] = np.packbits(row)
        return cls(packed, n_items)

    @classmethod
    def join(cls, parts: Sequence[BitSets]) -> BitSets:
        """Put sets over the same items side by side."""
        return BitSets(np.concatenate([part.bytes for part in parts], axis=1), parts[0].n_items)

    @property
    def n_sets(self) -> int:
        """Number of sets."""
        return int(self.bytes.shape[1])

    def sizes(self) -> Int64Array:
        """Return the number of items of every set."""
        total = np.zeros(self.n_sets, dtype=np.int64)
        for row in self.bytes:
            total += _SIZE_OF_BYTE[row]
        return total

    def holding(self, items: Sequence[int]) -> BoolArray:
        """Tell which sets hold all the given items."""
        all_of_them = np.ones(self.n_sets, dtype=bool)
        for item in items:
            all_of_them &= (self.bytes[item // 8] & np.uint8(128 >> item % 8)) != 0
        return all_of_them

    def members(self, column: int) -> Int64Array:
        """Return the numbers of the items of one set."""
        return np.flatnonzero(np.unpackbits(self.bytes[:, column], count=self.n_items))

    def weight_of_items(self, weights: FloatArray) -> FloatArray:
        """Return for every item the sum of the weights of the sets that hold it.

        Each byte of a set is one of 256: its weights are summed by value first, and spread over eight items after.
        """
        sets = np.flatnonzero(weights)
        few = sets.size < self.n_sets
        chosen = weights[sets] if few else weights
        sums = np.empty((len(self.bytes), 8))
        for i, row in enumerate(self.bytes):
            by_value = np.bincount(row[sets] if few else row, weights=chosen, minlength=256)
            sums[i] = by_value @ _ITEMS_OF_BYTE
        return sums.ravel()[: self.n_items]
