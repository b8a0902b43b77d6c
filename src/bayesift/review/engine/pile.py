"""The documents of a review, vectorised once and shared by all its topics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from bayesift._typing import Int64Array
from bayesift.review.engine._duplicates import near_duplicates
from bayesift.review.engine.titles import with_title_words
from bayesift.text import TextVectorizer

Progress = Callable[[int, int], None]

#: Progress is told after so many documents.
_TOLD_EVERY = 500

#: Beyond so many documents, words of fewer than three documents are left out: they cost memory and rank nothing.
_MANY = 20_000


class Pile:
    """Documents as rows of term weights, with groups of near-duplicates.

    Rows are weights (1 + ln tf)(1 + ln((N+1)/(df+1))) of stemmed words, divided by their Euclidean norm. Stop words
    stay: how a text is written tells something, too. The words of the title, its first line, are also columns of their
    own.

    Parameters
    ----------
    texts : sequence of str
        The documents; kept, not copied.
    vectorizer : TextVectorizer
        Fitted to the texts with their title words (:func:`with_title_words`).
    matrix : csr_matrix of shape (n_documents, n_terms)
        Its weights.
    groups : array of shape (n_documents,)
        For each document the first of its near-duplicates.

    Examples
    --------
    >>> from bayesift.review.engine import Pile
    >>> pile = Pile.build(["Wheat and corn", "Gold mines", "gold mining"])
    >>> len(pile), pile.groups.tolist()
    (3, [0, 1, 1])
    """

    def __init__(
        self, texts: Sequence[str], vectorizer: TextVectorizer, matrix: sp.csr_matrix, groups: Int64Array
    ) -> None:
        self.texts = texts
        self.vectorizer = vectorizer
        self.matrix = matrix
        self.groups = groups

    @classmethod
    def build(cls, texts: Sequence[str], progress: Progress | None = None) -> Pile:
        """Vectorise documents.

        Parameters
        ----------
        texts : sequence of str
            At least one document; empty texts are allowed.
        progress : callable, optional
            Called with the number of documents read and their total.

        Returns
        -------
        Pile
        """
        if isinstance(texts, str) or not len(texts):
            raise ValueError(f"texts is {texts!r:.60}; expected a sequence of at least one document")
        vectorizer = TextVectorizer("lnn", stemmer="english", min_df=3 if len(texts) > _MANY else 1)
        matrix = vectorizer.fit_transform(_told(texts, progress))
        # 1 + ln((N+1)/(df+1)) is ln((N'+1)/(df+1)) of a pile e times as large.
        vectorizer.set_params(weighting="lsc")
        vectorizer.n_documents_ = round(np.e * (len(texts) + 1)) - 1
        matrix.data *= vectorizer.idf_[matrix.indices]
        matrix = normalize(matrix, copy=False)
        return cls(texts, vectorizer, matrix, near_duplicates(matrix))

    @property
    def n_terms(self) -> int:
        """Number of columns."""
        return int(self.matrix.shape[1])

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def __repr__(self) -> str:
        return f"Pile({len(self)} documents, {self.n_terms} terms)"


def _told(texts: Sequence[str], progress: Progress | None) -> Iterator[str]:
    for place, text in enumerate(texts, 1):
        yield with_title_words(text)
        if progress is not None and (place % _TOLD_EVERY == 0 or place == len(texts)):
            progress(place, len(texts))
