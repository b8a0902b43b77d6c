"""Reading a BBR data file of 100 MB beside scikit-learn's ``load_svmlight_file``, one core, 20 Newsgroups as vectors.

Both must give the same matrix and labels, which is checked before any time is taken.
"""

from __future__ import annotations

import os
import tempfile
from functools import partial
from math import ceil
from pathlib import Path
from statistics import median

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from bayesift.bbr import read_data, write_data
from bayesift.datasets import load
from bayesift.text import TextVectorizer
from benchmarks.measuring import ratio, show, take_turns

SIZE = 100_000_000


def matrices() -> dict[str, sp.csr_matrix]:
    """Return weights of full precision, the same rounded to four digits, and counts."""
    texts = load("20newsgroups").train.texts
    weights = TextVectorizer("ltc").fit_transform(texts)
    rounded = weights.copy()
    rounded.data = rounded.data.round(4)
    counts = TextVectorizer("nnn").fit_transform(texts)
    return {"ltc weights, 15 to 17 digits": weights, "ltc weights, 4 digits": rounded, "counts": counts}


def written(path: Path, X: sp.csr_matrix) -> float:
    """Write the matrix as often as it takes for 100 MB; return the megabytes."""
    labels = np.where(np.arange(X.shape[0]) % 20, -1, 1)
    write_data(path, X, labels.tolist())
    repeats = ceil(SIZE / path.stat().st_size)
    content = path.read_bytes()
    with path.open("wb") as stream:
        for _ in range(repeats):
            stream.write(content)
    return path.stat().st_size / 1e6


def check_equal(path: Path) -> None:
    ours, (X, y) = read_data(path), load_svmlight_file(str(path))
    same = np.array_equal(ours.X.indptr, X.indptr) and np.array_equal(ours.X.indices, X.indices)
    if not (same and np.array_equal(ours.X.data, X.data) and np.array_equal(ours.numeric_labels(), y)):
        raise AssertionError("the two readers disagree")


def run(repeats: int) -> None:
    """Print the table."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, X in matrices().items():
            path = Path(folder) / "documents"
            megabytes = written(path, X)
            check_equal(path)
            candidates = {
                "ours": partial(read_data, path),
                "peer": partial(load_svmlight_file, str(path)),
                # What no reader can do without: the bytes, once, and a look at every one of them.
                "bytes": partial(_touch, path),
            }
            seconds = take_turns(candidates, repeats, name)
            speeds = [f"{megabytes / median(seconds[key]):.0f}" for key in ("ours", "peer", "bytes")]
            rows.append((name, f"{megabytes:.0f}", *speeds, f"{ratio(seconds, 'peer', 'ours'):.1f}"))
            os.remove(path)
    show(
        "Reading a data file beside load_svmlight_file, one core",
        ("values", "MB", "ours, MB/s", "peer, MB/s", "bytes only, MB/s", "times"),
        rows,
    )


def _touch(path: Path) -> int:
    return int(np.fromfile(path, dtype=np.uint8).max())
