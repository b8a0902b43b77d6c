"""Documents as weights: the factors of terms are fixed by the training documents, unseen terms count as rare ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from bayesift._sparse import Compressed, compressed
from bayesift._typing import FloatArray, Int32Array, Int64Array
from bayesift.filtering.topic import Row
from bayesift.text import TextVectorizer, resolve_stop_words
from bayesift.text.weighting import apply_weighting, inverse_document_frequency, parse_weighting

Unseen = Literal["rare", "ignore"]

#: Parameters of a vectorizer that could keep new terms out, with the values that do not.
_OPEN: dict[str, Any] = {
    "n_features": None,
    "vocabulary": None,
    "min_df": 1,
    "max_df": 1.0,
    "max_features": None,
    "input": "content",
}


class Document(NamedTuple):
    """A document of the stream."""

    id: str
    text: str


def document_of(given: Any, place: int) -> Document:
    """Read a text, a pair (id, text), or an object or mapping with both; the place serves as id if there is none."""
    if isinstance(given, str):
        return Document(str(place), given)
    if isinstance(given, Mapping):
        pair: Any = given.get("id", place), given.get("text")
    elif isinstance(given, tuple) and len(given) == 2:
        pair = given
    else:
        pair = getattr(given, "id", place), getattr(given, "text", None)
    if not isinstance(pair[1], str):
        raise TypeError(
            f"document {place} of the stream is {_shortened(given)}; expected a text, a pair (id, text), or an object "
            "with id and text"
        )
    return Document(str(pair[0]), pair[1])


def _shortened(given: Any) -> str:
    shown = repr(given)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def open_vectorizer(given: TextVectorizer | None) -> TextVectorizer:
    """Return the given vectorizer, which must accept new terms, or the default one."""
    if given is None:
        return TextVectorizer("ltc", stop_words="english", stemmer="porter")
    vectorizer: TextVectorizer = clone(given)
    vectorizer.check_parameters()
    for name, expected in _OPEN.items():
        found = getattr(vectorizer, name)
        if found is not expected and found != expected:
            raise ValueError(f"vectorizer has {name}={found!r}; expected {expected!r}, because new terms may occur")
    return vectorizer


class Terms(NamedTuple):
    """The terms of a document, in code-point order, with how often each occurs."""

    terms: tuple[str, ...]
    counts: tuple[int, ...]


class Block(NamedTuple):
    """Some documents of the stream: counts and weights by the terms of the block itself, in code-point order.

    ``columns`` are the columns that these terms had when the block was read, −1 for none.
    """

    documents: Sequence[Document]
    names: list[str]
    column_of: dict[str, int]
    columns: Int64Array
    counts: sp.csr_matrix
    weights: Compressed

    def terms(self, row: int) -> Terms:
        """Return the terms of one document."""
        entries = slice(*self.counts.indptr[row : row + 2])
        found = tuple(self.names[j] for j in self.counts.indices[entries])
        return Terms(found, tuple(int(count) for count in self.counts.data[entries]))


class TermWeights:
    """The weights of documents and the columns of terms.

    The first columns are the terms of the training documents, in code-point order; later terms follow in the order in
    which they occur. The factor for a term's document frequency is fixed after training; a term that no training
    document has gets the factor of the rarest possible term.
    """

    def __init__(self, vectorizer: TextVectorizer, unseen: Unseen) -> None:
        self._vectorizer = clone(vectorizer).set_params(dtype=np.float64)
        # Found once, and not for every block.
        self._vectorizer.stop_words_ = resolve_stop_words(vectorizer.stop_words)
        self._weighting = parse_weighting(vectorizer.weighting)
        self._unseen = unseen
        self.terms: list[str] = []
        self.column_of: dict[str, int] = {}
        self.set_frequencies([], np.zeros(0, dtype=np.int64), 0)

    def set_frequencies(self, terms: Sequence[str], frequency: Int64Array, n_documents: int) -> None:
        """Take the document frequencies of the training documents; terms must be in code-point order."""
        letter = self._weighting.document_frequency
        self.terms, self.frequency, self.n_documents = list(terms), frequency, n_documents
        self.column_of = dict(zip(terms, range(len(terms)), strict=True))
        self._factors = inverse_document_frequency(letter, frequency, n_documents)
        self._rare = float(inverse_document_frequency(letter, np.zeros(1, dtype=np.int64), n_documents)[0])

    def train(self, texts: Sequence[str]) -> sp.csr_matrix:
        """Learn terms and document frequencies; return the weights of the documents."""
        counts, column_of = self._counted(texts)
        frequency = np.bincount(counts.indices, minlength=len(column_of)).astype(np.int64)
        self.set_frequencies(list(column_of), frequency, len(texts))
        return apply_weighting(counts, self._weighting, self._factors)

    def block(self, documents: Sequence[Document]) -> Block:
        """Count and weigh documents of the stream; a document gets the same weights in any block."""
        counts, column_of = self._counted([document.text for document in documents])
        if self._unseen == "ignore":
            known = [term for term in column_of if term in self.column_of]
            counts = counts[:, [column_of[term] for term in known]]
            column_of = dict(zip(known, range(len(known)), strict=True))
        columns = self._columns(column_of)
        weights = apply_weighting(counts.copy(), self._weighting, self._factors_of(columns))
        return Block(documents, list(column_of), column_of, columns, counts, compressed(weights))

    def row(self, found: Terms) -> Row:
        """Weigh one document, and give columns to its new terms."""
        n = len(found.terms)
        matrix = sp.csr_matrix((np.array(found.counts, dtype=np.float64), np.arange(n), [0, n]), shape=(1, n))
        weights = apply_weighting(matrix, self._weighting, self._factors_of(self._columns(found.terms)))
        names = [found.terms[j] for j in weights.indices]
        return Row(np.array([self._column(name) for name in names], dtype=np.uint32), weights.data.copy())

    def present(self) -> Int32Array:
        """In how many training documents each of their terms has a weight that is not 0."""
        return np.where(self._factors != 0, self.frequency, 0).astype(np.int32)

    def add(self, terms: Iterable[str]) -> None:
        """Give columns to more terms."""
        for term in terms:
            self._column(term)

    def _columns(self, terms: Iterable[str]) -> Int64Array:
        """Return the column of each term, −1 if it has none."""
        get = self.column_of.get
        return np.fromiter((get(term, -1) for term in terms), dtype=np.int64)

    def _column(self, term: str) -> int:
        column = self.column_of.setdefault(term, len(self.terms))
        if column == len(self.terms):
            self.terms.append(term)
        return column

    def _counted(self, texts: Sequence[str]) -> tuple[sp.csr_matrix, dict[str, int]]:
        column_of: dict[str, int] = {}
        return self._vectorizer.count_terms(texts, column_of), column_of

    def _factors_of(self, columns: Int64Array) -> FloatArray:
        known = (columns >= 0) & (columns < self._factors.size)
        factors = np.full(columns.size, self._rare)
        factors[known] = self._factors[columns[known]]
        return factors
