"""The documents of a review, vectorised once and shared by all its topics."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from bayesift import progress
from bayesift._typing import Int64Array
from bayesift.review.engine._kernels import pair_products, smallest_hashes
from bayesift.text import TextVectorizer

WORD = re.compile(TextVectorizer(unspaced="whole").token_regex())

#: The algorithm that reduces words to their stems.
STEMMER = "english"

#: The prefix of words that are counted as words of a title.
TITLE_MARK = "title_"

#: A first line with more characters is not a title.
_LONGEST_TITLE = 300

#: Progress is reported after each this many documents.
_REPORT_EVERY = 500

#: With more documents, words in fewer than three documents are left out: they cost memory and do not help to rank.
_MANY = 20_000

#: Bands of hash functions, and functions in a band: documents with a Jaccard similarity of 0.8 meet with a probability
#: of 0.99.
_BANDS, _ROWS = 8, 4


class Corpus:
    """Documents as rows of term weights, with groups of near-duplicates.

    Rows are weights (1 + ln tf)(1 + ln((N+1)/(df+1))) of stemmed words, divided by their Euclidean norm. Stop words
    are kept, because the way a text is written says something too. Words of the title, the first line, also have
    columns of their own.

    Parameters
    ----------
    texts : sequence of str
        The documents; kept, not copied.
    vectorizer : TextVectorizer
        Fitted to the texts with their title words (:func:`with_title_words`).
    matrix : csr_matrix of shape (n_documents, n_terms)
        Its weights.
    groups : array of shape (n_documents,)
        For each document, the first of its near-duplicates.

    Attributes
    ----------
    n_terms : int
        Number of columns.
    title_ends : array of shape (n_documents,)
        Where the title of each text ends.
    columns : csc_matrix of shape (n_documents, n_terms)
        The same weights by columns, made when first needed.

    Examples
    --------
    >>> from bayesift.review.engine import Corpus
    >>> corpus = Corpus.build(["Wheat and corn", "Gold mines", "gold mining"])
    >>> len(corpus), corpus.groups.tolist()
    (3, [0, 1, 1])
    """

    def __init__(
        self, texts: Sequence[str], vectorizer: TextVectorizer, matrix: sp.csr_matrix, groups: Int64Array
    ) -> None:
        self.texts = texts
        self.vectorizer = vectorizer
        self.matrix = matrix
        self.groups = groups
        self.n_terms = int(matrix.shape[1])
        self.title_ends = np.fromiter(map(title_end, texts), dtype=np.int64, count=len(texts))

    @classmethod
    def build(cls, texts: Sequence[str]) -> Corpus:
        """Vectorise documents; :mod:`bayesift.progress` reports progress.

        Parameters
        ----------
        texts : sequence of str
            At least one document; empty texts are allowed.

        Returns
        -------
        Corpus
        """
        if isinstance(texts, str) or not len(texts):
            raise ValueError(f"texts is {texts!r:.60}; expected a sequence of at least one document")
        vectorizer = TextVectorizer("lnn", stemmer=STEMMER, min_df=3 if len(texts) > _MANY else 1)
        matrix = vectorizer.fit_transform(_reported(texts, progress.current()))
        # 1 + ln((N+1)/(df+1)) is ln((N'+1)/(df+1)) of a corpus e times as large.
        vectorizer.set_params(weighting="lsc")
        vectorizer.n_documents_ = round(np.e * (len(texts) + 1)) - 1
        matrix.data *= vectorizer.idf_[matrix.indices]
        matrix = normalize(matrix, copy=False)
        return cls(texts, vectorizer, matrix, near_duplicates(matrix))

    @cached_property
    def columns(self) -> sp.csc_matrix:
        """The weights by columns."""
        return self.matrix.tocsc()

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def __repr__(self) -> str:
        return f"Corpus({len(self)} documents, {self.n_terms} terms)"


def _reported(texts: Sequence[str], report: progress.Callback | None) -> Iterator[str]:
    for place, text in enumerate(texts, 1):
        yield with_title_words(text)
        if report is not None and (place % _REPORT_EVERY == 0 or place == len(texts)):
            report(place, len(texts))


def title_end(text: str) -> int:
    """Return where the title of a text ends: the title is the first line, unless that is too long."""
    end = text.find("\n")
    end = len(text) if end < 0 else end
    return end if end <= _LONGEST_TITLE else 0


def with_title_words(text: str) -> str:
    r"""Return a text as a review's models read it: followed by the words of its title again, marked.

    Parameters
    ----------
    text : str
        The first line is the title, unless it has more than 300 characters.

    Examples
    --------
    >>> from bayesift.review.engine import with_title_words
    >>> with_title_words("Gold mine\nIt opens today.").splitlines()
    ['Gold mine', 'It opens today.', 'title_Gold title_mine']
    """
    words = [TITLE_MARK + word for word in WORD.findall(text[: title_end(text)])]
    return f"{text}\n{' '.join(words)}" if words else text


def near_duplicates(matrix: sp.csr_matrix, cosine: float = 0.9) -> Int64Array:
    """Group documents that say nearly the same: find candidates by MinHash, then compare their cosines.

    Parameters
    ----------
    matrix : csr_matrix
        Rows of length 1 (or 0: empty rows are in no group), with sorted columns.
    cosine : float, default=0.9
        Two rows that share a band of hash values are near-duplicates if they are at least this similar.

    Returns
    -------
    groups : array of shape (n_rows,)
        For every row, the first row of its group; rows of a group are linked by cosines of at least ``cosine``.
    """
    n = matrix.shape[0]
    groups = np.arange(n, dtype=np.int64)
    if matrix.nnz == 0:
        return groups
    hashes = np.random.default_rng(0).integers(0, 2**62, size=(matrix.shape[1], _BANDS * _ROWS), dtype=np.int64)
    signature = smallest_hashes(matrix.indptr, matrix.indices, hashes)
    filled = np.flatnonzero(np.diff(matrix.indptr))
    pairs = np.concatenate([_neighbours(signature[:, first : first + _ROWS], filled)
                            for first in range(0, _BANDS * _ROWS, _ROWS)])  # fmt: skip
    pairs = np.unique(pairs, axis=0)
    alike = pair_products(matrix.indptr, matrix.indices, matrix.data, *np.ascontiguousarray(pairs.T)) >= cosine
    links = sp.coo_matrix((np.ones(alike.sum()), tuple(pairs[alike].T)), shape=(n, n))
    _, component = sp.csgraph.connected_components(links, directed=False)
    first = np.full(n, n, dtype=np.int64)
    np.minimum.at(first, component, groups)
    return first[component]


def _neighbours(band: Int64Array, rows: Int64Array) -> Int64Array:
    """Pair the rows that are next to each other among those with equal hash values."""
    order = rows[np.lexsort(band[rows].T)]
    equal = np.all(band[order[1:]] == band[order[:-1]], axis=1)
    return np.column_stack([order[:-1][equal], order[1:][equal]])
