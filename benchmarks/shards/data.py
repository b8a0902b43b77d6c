"""Folders of shards to fit: twins of any size, and collections that are at hand; made once and kept."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from bayesift import shards
from bayesift.datasets import load
from bayesift.text import TextVectorizer
from benchmarks.shards.twin import Twin

#: The rate of a twin's lasso as a share of the largest one at which a coefficient is not zero.
SHARE = 0.02
#: The rate of all categories of a collection.
RATE = 1.0
TOL = 1e-5

#: Collections by the names that tables have for them.
COLLECTIONS = {"ModApte": "reuters21578", "20 Newsgroups": "20newsgroups"}


def made(folder: str | None, n_rows: int, n_columns: int) -> Path:
    """Make a twin, with its labels beside it, unless it is there."""
    place = _place(folder, f"twin-{n_rows}-{n_columns}")
    if not place.exists():
        begin, labels = time.process_time(), []

        def blocks() -> Iterator[sp.csr_matrix]:
            for matrix, y in Twin(n_rows, n_columns).blocks():
                labels.append(y)
                yield matrix

        # Eight shards at least, so that the order of sums could matter.
        shards.write_matrix(blocks(), place, dtype="float32", rows=max(n_rows // 8, 1))
        np.save(place / "y.npy", np.concatenate(labels))
        print(f"{shards.open(place)} made in {time.process_time() - begin:.0f} s of processor time", flush=True)
    return place


def collection(folder: str | None, name: str) -> Path:
    """Write the training documents of a collection, with all their labels, as eight shards or more."""
    place = _place(folder, name)
    if not place.exists():
        split = load(name).train
        vectorizer = TextVectorizer("lsc", stop_words="smart", stemmer="porter")
        shards.write(split.texts, vectorizer, place, labels=split.labels, rows=max(len(split.texts) // 8, 1))
        print(f"{name}: {shards.open(place)}", flush=True)
    return place


def target(place: Path, opened: shards.Shards) -> tuple[np.ndarray | None, float]:
    """Return the labels, None for those beside the rows, and the rate of the lasso."""
    if not (place / "y.npy").exists():
        return None, RATE
    y = np.load(place / "y.npy")
    return y, SHARE * largest_rate(opened, y)


def largest_rate(opened: shards.Shards, y: np.ndarray) -> float:
    """Return the rate from which on all coefficients are zero."""
    residual, first, c = y - y.mean(), 0, np.zeros(opened.shape[1])
    for block in opened:
        c += block.T @ residual[first : first + block.shape[0]]
        first += block.shape[0]
    return float(np.abs(c).max())


def leave_cache(place: Path) -> None:
    """Let the files of a folder be read from the disk when they are read next."""
    os.sync()
    for path in place.iterdir():
        number = os.open(path, os.O_RDONLY)
        os.posix_fadvise(number, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(number)


def _place(folder: str | None, name: str) -> Path:
    return Path(folder or tempfile.gettempdir()) / name
