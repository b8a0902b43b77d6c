"""Data files: one document per line, ``label [flags] feature:value …``; features are whole numbers or any words."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from bayesift._files import atomic_path
from bayesift._svmlight import ScanError, scan
from bayesift._typing import AnyArray, ByteArray, FloatArray, Int64Array
from bayesift.bbr._files import FormatError, Source, name_of, quoted, read_buffer, read_lines
from bayesift.bbr._words import Word, Words, one_line, one_word, parse_number

# ``# UID: name`` in builds of BBR with row ids, ``#ID: name`` or ``# ID: name`` in BXR.
_ROW_ID = r"#\s*U?ID:(.*)"
_ROW_ID_BYTES = re.compile(_ROW_ID.encode(), re.DOTALL)
_ROW_ID_TEXT = re.compile(_ROW_ID)


@dataclass(frozen=True, eq=False)
class Data:
    """The content of a data file.

    Parameters
    ----------
    X : csr_matrix of shape (n_documents, n_features)
        The values; feature ``id`` is in column ``id - 1``, or in the column of its name.
    labels : tuple of str
        The label of each document, as written.
    row_ids : tuple of str, or None
        Names of the documents, empty for those without; None if the file names none.
    groups : uint8 array of shape (n_documents, n_groups)
        Group flags, 0 or 1.
    names : tuple of str, or None
        Names of the columns in a file with symbolic features.
    """

    X: sp.csr_matrix
    labels: tuple[str, ...]
    row_ids: tuple[str, ...] | None
    groups: ByteArray
    names: tuple[str, ...] | None = None

    def numeric_labels(self) -> FloatArray:
        """Return the labels as numbers; :func:`read_data` has checked that they are."""
        return np.array([float(label) for label in self.labels])

    def positive(self) -> AnyArray:
        """Return which documents are labelled 1 (or +1, or 1.0); any other label is negative."""
        return self.numeric_labels() == 1.0


def read_data(source: Source, *, n_groups: int = 0, n_features: int | None = None) -> Data:
    r"""Read a data file with whole-number features.

    Lines that begin with ``#`` are comments, and empty lines are skipped. Windows line ends and a byte-order mark are
    accepted. Values are rounded as Python rounds them. Ids must be ascending, and labels must be numbers.

    Parameters
    ----------
    source : str, path or binary stream
        The file.
    n_groups : int, default=0
        Number of group flags between label and features.
    n_features : int, optional
        Number of columns; the largest id by default. Larger ids are left out.

    Examples
    --------
    >>> from io import BytesIO
    >>> from bayesift.bbr import read_data
    >>> data = read_data(BytesIO(b"1 2:0.5 7:1\n-1 3:2\n"))
    >>> data.X.shape, data.labels
    ((2, 7), ('1', '-1'))
    """
    buffer, start = read_buffer(source)
    name = name_of(source)
    try:
        found = scan(buffer, start, n_groups=n_groups)
    except ScanError as error:
        found_there = quoted(error.word) if error.word else "the end of the line"
        raise FormatError(name, error.line, found_there, error.expected) from error
    if found.labels.shape[0] == 0:
        raise FormatError(name, 1, "comments only", "at least one document")
    labels = _labels(name, buffer, found.labels)
    width = int(found.indices.max()) if found.indices.size else 0
    found.indices[:] -= 1
    X = sp.csr_matrix((found.values, found.indices, found.indptr), shape=(len(labels), width))
    if n_features is not None:
        X.resize(len(labels), n_features)
    return Data(X, labels, _row_ids(name, buffer, found.comments, len(labels)), found.groups)


def write_data(
    target: str | os.PathLike[str],
    X: Any,
    labels: Any,
    *,
    row_ids: Any = None,
    groups: Any = None,
    names: Any = None,
    id_word: str = "UID",
) -> None:
    r"""Write a data file, completely or not at all, with as many digits as are needed to restore every value.

    Parameters
    ----------
    target : str or path
    X : sparse matrix of shape (n_documents, n_features)
        Column j becomes feature j + 1, or ``names[j]``.
    labels : sequence of length n_documents
        Labels; floats that are whole numbers are written without a fraction.
    row_ids : sequence of str, optional
        Names of the documents, written as comments before them.
    groups : array of shape (n_documents, n_groups), optional
        Flags of 0 and 1.
    names : sequence of str, optional
        Symbolic features.
    id_word : {"UID", "ID"}, default="UID"
        The word for a document's name in BBR or in BXR.

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> from bayesift.bbr import write_data
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.train"
    >>> write_data(path, np.array([[0.0, 0.5], [2.0, 0.0]]), [1, -1])
    >>> path.read_text()
    '1 2:0.5\n-1 1:2.0\n'
    """
    matrix = sp.csr_matrix(X, dtype=np.float64)
    if not matrix.has_canonical_format:
        # The arrays may be those of the caller.
        matrix = matrix.copy()
        matrix.sum_duplicates()
    if not np.all(np.isfinite(matrix.data)):
        raise ValueError("X holds values that are not finite; expected finite numbers")
    n_documents, n_features = matrix.shape
    heads = _of_length("labels", [_label(label) for label in labels], n_documents, "document")
    if groups is not None:
        for number, flags in enumerate(_flags(groups, n_documents)):
            heads[number] = " ".join([heads[number], *map(str, flags)])
    if row_ids is not None:
        ids = [one_line("row_ids", row_id) for row_id in _of_length("row_ids", row_ids, n_documents, "document")]
        heads = [f"# {id_word}: {row_id}\n{head}" for row_id, head in zip(ids, heads, strict=True)]
    shown: Sequence[Any] = range(1, n_features + 1)
    if names is not None:
        shown = [one_word("names", str(name)) for name in _of_length("names", names, n_features, "feature")]
        if len(set(shown)) < len(shown):
            [(twice, _)] = Counter(shown).most_common(1)
            raise ValueError(f"names holds {twice!r} more than once; expected different names")
    with atomic_path(target) as path, open(path, "w", encoding="utf-8", newline="\n") as stream:
        for head, begin, end in zip(heads, matrix.indptr[:-1].tolist(), matrix.indptr[1:].tolist(), strict=True):
            columns, values = matrix.indices[begin:end].tolist(), matrix.data[begin:end].tolist()
            pairs = [f"{shown[column]}:{value!r}" for column, value in zip(columns, values, strict=True)]
            stream.write(" ".join([head, *pairs]) + "\n")


def _of_length(argument: str, values: Any, length: int, each: str) -> list[Any]:
    found = list(values)
    if len(found) != length:
        raise ValueError(f"{argument} has {len(found)} entries; expected {length}, one for each {each}")
    return found


def _flags(groups: Any, n_documents: int) -> list[list[int]]:
    """Return the flags of each document, as whole numbers."""
    found = np.asarray(groups)
    if found.ndim != 2 or len(found) != n_documents:
        raise ValueError(f"groups has the shape {found.shape}; expected {n_documents} rows, one for each document")
    if not np.isin(found, (0, 1)).all():
        raise ValueError("groups holds other values than 0 and 1; expected flags")
    flags: list[list[int]] = found.astype(np.uint8).tolist()
    return flags


def _label(value: Any) -> str:
    if isinstance(value, float | np.floating):
        value = int(value) if value.is_integer() else float(value)
    text = one_word("labels", str(value))
    if ":" in text:
        raise ValueError(f"labels holds {text!r}; expected labels without colons")
    return text


def _labels(name: str, buffer: ByteArray, spans: Int64Array) -> tuple[str, ...]:
    """Decode the labels, each of which must be a number; many documents share few different ones."""
    known: dict[bytes, str] = {}
    labels = []
    for number, (begin, end) in enumerate(spans.tolist()):
        word = buffer[begin:end].tobytes()
        label = known.get(word)
        if label is None:
            label = word.decode("utf-8", errors="replace")
            value = parse_number(label)
            if value is None or not np.isfinite(value):
                line = 1 + int(np.count_nonzero(buffer[: spans[number, 0]] == 10))
                raise FormatError(name, line, quoted(label), "a number as label")
            known[word] = label
        labels.append(label)
    return tuple(labels)


def _row_ids(name: str, buffer: ByteArray, comments: Int64Array, n_rows: int) -> tuple[str, ...] | None:
    """Read the comments that name the document after them."""
    row_ids: list[str] | None = None
    for row, begin, end in comments.tolist():
        found = _ROW_ID_BYTES.fullmatch(buffer[begin:end].tobytes()) if 0 <= row < n_rows else None
        if found:
            row_ids = row_ids or [""] * n_rows
            row_ids[row] = _decoded(name, found[1].strip(), buffer, begin)
    return None if row_ids is None else tuple(row_ids)


def _decoded(name: str, word: bytes, buffer: ByteArray, begin: int) -> str:
    try:
        return word.decode("utf-8")
    except UnicodeDecodeError as error:
        line = 1 + int(np.count_nonzero(buffer[:begin] == 10))
        raise FormatError(name, line, f"the byte 0x{word[error.start]:02x}", "text in UTF-8") from error


def read_symbolic_data(source: Source) -> Data:
    r"""Read a data file whose labels and features are words.

    Parameters
    ----------
    source : str, path or binary stream
        The file; ``#ID: name`` or ``# ID: name`` before a document gives its name, other lines that begin with ``#``
        are comments.

    Returns
    -------
    Data
        Columns in the order in which their features first occur.

    Examples
    --------
    >>> from io import BytesIO
    >>> from bayesift.bbr import read_symbolic_data
    >>> data = read_symbolic_data(BytesIO(b"#ID: d1\nwheat bushel:2 crop:1\ngold ounce:1\n"))
    >>> data.labels, data.names, data.row_ids
    (('wheat', 'gold'), ('bushel', 'crop', 'ounce'), ('d1', ''))
    """
    name = name_of(source)
    column_of: dict[str, int] = {}
    labels: list[str] = []
    row_ids: list[str] = []
    indptr, indices, values = [0], [], []
    pending = ""
    for number, line in enumerate(read_lines(source), start=1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            found = _ROW_ID_TEXT.fullmatch(stripped)
            pending = found[1].strip() if found else pending
            continue
        words = Words(name, [line], number)
        label = words.take("a label")
        if ":" in label:
            words.fail(label, "a label first")
        seen: set[int] = set()
        for pair in words.rest():
            feature, value = _pair(words, pair)
            column = column_of.setdefault(feature, len(column_of))
            if column in seen:
                raise FormatError(name, number, f"{quoted(feature)} twice", "every feature once")
            seen.add(column)
            indices.append(column)
            values.append(value)
        indptr.append(len(indices))
        labels.append(str(label))
        row_ids.append(pending)
        pending = ""
    if not labels:
        raise FormatError(name, 1, "comments only", "at least one document")
    X = sp.csr_matrix(
        (np.array(values, dtype=np.float64), np.array(indices, dtype=np.int32), np.array(indptr, dtype=np.int64)),
        shape=(len(labels), len(column_of)),
    )
    X.sort_indices()
    named = tuple(row_ids) if any(row_ids) else None
    return Data(X, tuple(labels), named, np.empty((len(labels), 0), dtype=np.uint8), tuple(column_of))


def _pair(words: Words, pair: Word) -> tuple[str, float]:
    """Split at the last colon, because names may contain others."""
    feature, colon, value = pair.rpartition(":")
    if not colon or not feature:
        words.fail(pair, "feature:value")
    found = Word(value)
    found.line = pair.line
    return feature, words.number(found, "a finite number after the colon")


def whole_labels(data: Data, name: str) -> Data:
    """Write labels as whole numbers in the form that all programs use: +1 becomes 1."""
    known: dict[str, str] = {}
    for label in dict.fromkeys(data.labels):
        value = float(label)
        if not value.is_integer():
            raise ValueError(f"{name}: the label {label!r} is not a whole number, as classes must be")
        known[label] = str(int(value))
    return replace(data, labels=tuple(known[label] for label in data.labels))


def required_row_ids(data: Data, name: str, wanted: bool) -> Data:
    """Check that every document has a name, if names are wanted; otherwise drop the names."""
    if not wanted:
        return replace(data, row_ids=None)
    if data.row_ids is None or not all(data.row_ids):
        raise ValueError(f"{name}: -R needs a line '# UID: name' before every document")
    return data
