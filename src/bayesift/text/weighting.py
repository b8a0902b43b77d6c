"""Term weights by SMART triples: term frequency, document frequency, normalisation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike

from bayesift._typing import AnyArray, FloatArray, Int64Array

TERM_FREQUENCY = {
    "n": "raw count",
    "l": "1 + ln tf",
    "b": "binary",
    "a": "augmented, 0.5 + 0.5 tf / greatest tf",
}
DOCUMENT_FREQUENCY = {
    "n": "none",
    "t": "ln(N / df)",
    "s": "ln((N + 1) / (df + 1))",
    "p": "probabilistic, ln((N - df) / df), at least 0",
}
NORMALIZATION = {"n": "none", "c": "cosine"}

#: Hints for other names of weights.
_NAMED = {
    "tfidf": "'nsc' is tf · ln((N + 1) / (df + 1)) in rows of length 1 (scikit-learn's TfidfVectorizer adds 1 to the "
    "logarithm), 'lsc' the same with 1 + ln tf (its sublinear_tf=True)",
    **dict.fromkeys(("tf", "count", "counts"), "'nnn' is the number of times that a term occurs"),
    **dict.fromkeys(("binary", "boolean"), "'bnn' is 1 for every term that occurs"),
}


class Weighting(NamedTuple):
    """One letter for each of the three parts."""

    term_frequency: str
    document_frequency: str
    normalization: str

    @property
    def uses_document_frequency(self) -> bool:
        """Whether weights depend on document frequencies, so that documents must be seen first."""
        return self.document_frequency != "n"


def parse_weighting(triple: str) -> Weighting:
    """Check a triple such as ``"lsc"`` and take it apart.

    Examples
    --------
    >>> parse_weighting("lsc")
    Weighting(term_frequency='l', document_frequency='s', normalization='c')
    """
    parts = (TERM_FREQUENCY, DOCUMENT_FREQUENCY, NORMALIZATION)
    if not isinstance(triple, str) or len(triple) != 3:
        name = str(triple).lower().replace("-", "").replace("_", "")
        hint = f": {_NAMED[name]}" if name in _NAMED else ""
        raise ValueError(f"weighting must be a triple of letters such as 'lsc' or 'nnn', got {triple!r}{hint}")
    for letter, allowed, name in zip(triple, parts, Weighting._fields, strict=True):
        if letter not in allowed:
            known = ", ".join(f"{key!r} ({meaning})" for key, meaning in allowed.items())
            raise ValueError(
                f"weighting {triple!r} has the unknown letter {letter!r} for {name.replace('_', ' ')}; known: {known}"
            )
    return Weighting(*triple)


def check_dtype(dtype: DTypeLike, triple: str) -> None:
    """Refuse types that cannot hold the weights."""
    try:
        known = np.dtype(dtype)
    except TypeError:
        known = np.dtype(object)
    if known not in (np.float32, np.float64, np.int32, np.int64):
        raise ValueError(f"dtype must be float32, float64, int32 or int64, got {dtype!r}")
    if known.kind == "i" and triple not in ("nnn", "bnn"):
        raise ValueError(
            f"dtype {known.name} holds only whole numbers, which weighting={triple!r} does not give; use a floating "
            "type, or weighting 'nnn' or 'bnn'"
        )


def inverse_document_frequency(letter: str, document_frequency: Int64Array, n_documents: int) -> FloatArray:
    """Return the document frequency factors of terms, given how many of ``n_documents`` contain them.

    Under ``"t"`` and ``"p"``, a term of a fixed vocabulary that no document contains is treated as if one did.

    Examples
    --------
    >>> import numpy as np
    >>> inverse_document_frequency("s", np.array([0, 1, 3]), 3).round(4).tolist()
    [1.3863, 0.6931, 0.0]
    """
    if letter == "n":
        return np.ones(document_frequency.size)
    if letter == "s":
        return np.log((n_documents + 1.0) / (document_frequency + 1.0))
    held = np.maximum(document_frequency, 1).astype(np.float64)
    if letter == "t":
        return np.log(max(n_documents, 1) / held)
    return np.log(np.maximum((n_documents - held) / held, 1.0))


def apply_weighting(counts: sp.csr_matrix, weighting: Weighting, idf: FloatArray | None) -> sp.csr_matrix:
    """Replace counts by weights in place; a row without entries stays empty.

    Counts from signed hashing may be negative: the weight is that of the magnitude, with the sign.
    """
    data: AnyArray = counts.data
    if weighting.term_frequency == "b":
        np.sign(data, out=data)
    elif weighting.term_frequency == "l":
        sign = np.sign(data)
        np.abs(data, out=data)
        np.log(data, out=data)
        data += 1
        data *= sign
    elif weighting.term_frequency == "a":
        sign = np.sign(data)
        np.abs(data, out=data)
        data /= _per_entry(counts, _row_reduce(np.maximum, counts, data))
        data += 1
        data *= sign / 2
    if idf is not None and weighting.uses_document_frequency:
        data *= idf[counts.indices]
        if not idf.all():
            counts.eliminate_zeros()
            data = counts.data
    if weighting.normalization == "c":
        norms = np.sqrt(_row_reduce(np.add, counts, np.square(data)))
        data /= _per_entry(counts, np.where(norms > 0, norms, 1.0))
    return counts


def _row_reduce(operation: np.ufunc, matrix: sp.csr_matrix, values: AnyArray) -> FloatArray:
    """Reduce the values of every row; rows without entries give 0."""
    result = np.zeros(matrix.shape[0])
    filled = np.flatnonzero(np.diff(matrix.indptr))
    if filled.size:
        result[filled] = operation.reduceat(values, matrix.indptr[filled])
    return result


def _per_entry(matrix: sp.csr_matrix, row_values: FloatArray) -> FloatArray:
    return np.repeat(row_values, np.diff(matrix.indptr))
