"""Data files of BXR: any word is a label, any word a feature."""

from __future__ import annotations

import re

import numpy as np
import scipy.sparse as sp

from bayesift.formats.bbr._errors import FormatError, quoted
from bayesift.formats.bbr._files import Source, name_of, read_lines
from bayesift.formats.bbr._words import Word, Words
from bayesift.formats.bbr.data import Data

_ROW_ID = re.compile(r"#\s*U?ID:(.*)")


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
    >>> from bayesift.formats.bbr import read_symbolic_data
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
            found = _ROW_ID.fullmatch(stripped)
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
    """Split at the last colon: names may hold others."""
    feature, colon, value = pair.rpartition(":")
    if not colon or not feature:
        words.fail(pair, "feature:value")
    found = Word(value)
    found.line = pair.line
    return feature, words.number(found, "a finite number after the colon")
