"""SVMlight files: vectors with labels."""

from __future__ import annotations

from math import isnan
from pathlib import Path

from scipy.sparse import csr_matrix

from bayesift.datasets._errors import DamagedFileError, MalformedFileError
from bayesift.datasets._source import open_packed


def read_svmlight(path: Path, *, n_features: int | None = None) -> tuple[csr_matrix, list[tuple[str, ...]]]:
    """Read the matrix and the label sets of an SVMlight file by scikit-learn.

    Parameters
    ----------
    path : Path
        The file; several labels of a line are parted by commas.
    n_features : int, optional
        Number of columns; the greatest index found by default. Indices count from 1 unless one is 0.

    Returns
    -------
    matrix : scipy.sparse.csr_matrix
        One row per line.
    labels : list of tuple of str
        Label sets; whole numbers are written without a fraction, and NaN is no label.
    """
    from sklearn.datasets import load_svmlight_file

    try:
        with open_packed(path) as stream:
            matrix, targets = load_svmlight_file(stream, n_features=n_features, multilabel=True)
    except DamagedFileError:
        raise
    except (ValueError, IndexError, OverflowError) as error:
        raise _first_problem(path) or ValueError(f"{path} can not be read as SVMlight: {error}") from error
    if not targets:
        raise ValueError(f"{path} holds no vectors, expected one a line")
    return matrix, [tuple(sorted({f"{value:g}" for value in found if not isnan(value)})) for found in targets]


def _first_problem(path: Path) -> MalformedFileError | None:
    """Find the first line that is not labels followed by ascending ``index:value`` pairs."""
    with open_packed(path) as stream:
        for number, line in enumerate(stream, start=1):
            problem = _problem(line.partition(b"#")[0].decode("latin-1").split())
            if problem:
                return MalformedFileError(path, number, problem)
    return None


def _problem(words: list[str]) -> str | None:
    if not words:
        return None
    pairs = words if ":" in words[0] else words[1:]
    if pairs is not words and not all(_is_number(label) for label in words[0].split(",")):
        return f"labels must be numbers parted by commas, found {words[0]!r}"
    last = -1
    for pair in pairs:
        index, _, value = pair.partition(":")
        if index == "qid":
            continue
        if not index.isdigit() or not _is_number(value):
            return f"expected index:value, found {pair!r}"
        if int(index) <= last:
            return f"indices must ascend, found {index} after {last}"
        last = int(index)
    return None


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
