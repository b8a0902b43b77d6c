"""Choosing documents and labels of a parsed collection."""

from __future__ import annotations

from collections.abc import Container, Iterable
from numbers import Integral

import numpy as np

from bayesift.datasets._split import Split
from bayesift.datasets._table import Table


def rows_of(table: Table, rows: Iterable[int]) -> Split:
    """Make a split of the given rows, in the given order."""
    chosen = list(rows)
    return Split(
        labels=[table.labels[row] for row in chosen],
        ids=[table.ids[row] for row in chosen],
        texts=None if table.texts is None else [table.texts[row] for row in chosen],
    )


def split_of(table: Table, group: str) -> Split:
    """Make a split of the rows of one group."""
    return rows_of(table, (row for row, name in enumerate(table.groups) if name == group))


def keep_labels(split: Split, categories: Container[str], *, drop_unlabelled: bool = False) -> Split:
    """Restrict the label sets to some categories; drop, if so wished, documents left with none."""
    narrowed = {labels: tuple(name for name in labels if name in categories) for labels in set(split.labels)}
    labels = [narrowed[each] for each in split.labels]
    rows = [row for row, each in enumerate(labels) if each or not drop_unlabelled]
    return Split(
        labels=[labels[row] for row in rows],
        ids=[split.ids[row] for row in rows],
        texts=[split.texts[row] for row in rows] if split.has_texts else None,
    )


def shuffled(size: int, seed: int) -> list[int]:
    """Return the rows in the order of ``numpy.random.default_rng(seed).permutation(size)``."""
    return np.random.default_rng(seed).permutation(size).tolist()


def check_seed(seed: object) -> None:
    """Refuse what is no seed, before any work."""
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise ValueError(f"seed must be a whole number of at least 0, found {seed!r}")
