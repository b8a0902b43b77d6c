"""SVMlight files: vectors with labels."""

from __future__ import annotations

from math import isnan
from pathlib import Path

from scipy.sparse import csr_matrix

from bayesift._checks import reads_as_number
from bayesift._svmlight import ScanError, padded, scan
from bayesift.datasets._files import open_packed
from bayesift.datasets.errors import MalformedFileError


def read_svmlight(path: Path, *, n_features: int | None = None) -> tuple[csr_matrix, list[tuple[str, ...]]]:
    """Read the matrix and the label sets of an SVMlight file.

    Parameters
    ----------
    path : Path
        The file; several labels of a line are separated by commas.
    n_features : int, optional
        Number of columns; by default the largest index found. Indices count from 1, unless one is 0.

    Returns
    -------
    matrix : scipy.sparse.csr_matrix
        One row per line.
    labels : list of tuple of str
        Label sets; whole numbers are written without a fraction, and NaN means no label.
    """
    with open_packed(path) as stream:
        content = stream.read()
    buffer = padded(content)
    try:
        found = scan(buffer, least=0, unlabelled=True, qid=True)
    except ScanError as error:
        words = content.split(b"\n")[error.line - 1].partition(b"#")[0].decode("latin-1").split()
        raise MalformedFileError(path, error.line, _problem(words) or str(error)) from error
    if not found.labels.size:
        raise ValueError(f"{path} holds no vectors, expected one per line")
    label_sets: dict[bytes, tuple[str, ...]] = {}
    labels = []
    for begin, end in found.labels.tolist():
        word = buffer[begin:end].tobytes()
        if word not in label_sets:
            label_sets[word] = _label_set(path, 1 + content.count(b"\n", 0, begin), word.decode("latin-1"))
        labels.append(label_sets[word])
    indices = found.indices
    if indices.size and indices.min() > 0:
        indices -= 1
    width = int(indices.max()) + 1 if indices.size else 0
    if n_features is not None and n_features < width:
        raise ValueError(f"{path} has {width} features, expected at most n_features={n_features}")
    shape = (len(labels), width if n_features is None else n_features)
    return csr_matrix((found.values, indices, found.indptr), shape=shape), labels


def _label_set(path: Path, line: int, word: str) -> tuple[str, ...]:
    try:
        values = [float(label) for label in word.split(",") if label]
    except ValueError as error:
        raise MalformedFileError(path, line, f"labels must be numbers separated by commas, found {word!r}") from error
    return tuple(sorted({_name(value) for value in values if not isnan(value)}))


def _name(label: float) -> str:
    """Write a label with as many digits as tell it from all others."""
    return str(int(label)) if label.is_integer() else repr(label)


def _problem(words: list[str]) -> str | None:
    if not words:
        return None
    pairs = words if ":" in words[0] else words[1:]
    if pairs is not words and not all(reads_as_number(label) for label in words[0].split(",")):
        return f"labels must be numbers separated by commas, found {words[0]!r}"
    last = -1
    for pair in pairs:
        index, _, value = pair.partition(":")
        if index == "qid":
            continue
        if not index.isdigit() or not reads_as_number(value):
            return f"expected index:value, found {pair!r}"
        if int(index) <= last:
            return f"indices must ascend, found {index} after {last}"
        last = int(index)
    return None
