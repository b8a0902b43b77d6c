"""Word vectors: fitted to a pile of texts, or read from a file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.utils._param_validation import Interval
from sklearn.utils.extmath import randomized_svd
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from bayesift._state import State, unchanged_by_errors
from bayesift._typing import AnyArray
from bayesift.text import TextVectorizer
from bayesift.vectors._cooccurrence import positive_information
from bayesift.vectors._reading import read_vectors

#: Directions computed beyond those that are kept, and rounds of refinement: more of them change no result that matters.
_OVERSAMPLES, _ROUNDS = 20, 2


@dataclass(eq=False, repr=False)
class WordVectors(BaseEstimator):
    """Vectors of words, learnt from texts without labels.

    Words that keep the same company get vectors that lie close together. M holds the positive pointwise mutual
    information of words and the frequent words of the same documents (a word that is there n times has the weight
    1 + ln n). Its singular value decomposition M ≈ U S Vᵀ gives the vectors, the rows of E = U S^½; words that tell
    little about their company have short ones. A document with the term weights x has the vector xE / ‖xE‖.

    A linear model over x and xE is one over x alone whose weights are correlated a priori: with β = δ + Eγ, δ of
    variance v and γ of variance w, the covariance of β is v I + w E Eᵀ. So what is learnt of a word is learnt, in part,
    of all words that keep the same company, be they in no labelled text at all.

    Parameters
    ----------
    rank : int, default=200
        Length of the vectors; shorter where there are fewer words.
    contexts : int, default=6000
        How many words, those of the most documents, serve as company.
    exponent : float, default=0.75
        Power of the probabilities of contexts: below 1, rare contexts count less.
    min_df : int, default=3
        In how many documents a word must be to get a vector.
    vectorizer : TextVectorizer or None, default=None
        How texts are cut into words, where ``fit`` gets texts; weights and limits are set here.
    n_jobs : int or None, default=-1
        Threads; -1 is all cores.
    random_state : int, default=0
        Seed of the decomposition.

    Attributes
    ----------
    words_ : ndarray of str objects of shape (n_words,)
        The words that have a vector.
    vectors_ : ndarray of float32 of shape (n_words, rank)
        Their vectors.

    Examples
    --------
    >>> from bayesift.datasets import load
    >>> from bayesift.vectors import WordVectors
    >>> vectors = WordVectors(rank=20).fit(load("newsroom").train.texts)
    >>> "wheat" in vectors, vectors["wheat"].shape
    (True, (20,))
    """

    # The documents are the data, not metadata to be routed.
    __metadata_request__fit: ClassVar[dict[str, str]] = {"documents": UNUSED, "words": UNUSED}

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "rank": [Interval(Integral, 1, 4096, closed="both")],
        "contexts": [Interval(Integral, 1, None, closed="left")],
        "exponent": [Interval(Real, 0, 1, closed="both")],
        "min_df": [Interval(Integral, 1, None, closed="left")],
        "vectorizer": [TextVectorizer, None],
        "n_jobs": [Integral, None],
        "random_state": [Interval(Integral, 0, 2**32 - 1, closed="both")],
    }

    rank: int = 200
    _: KW_ONLY
    contexts: int = 6000
    exponent: float = 0.75
    min_df: int = 3
    vectorizer: TextVectorizer | None = None
    n_jobs: int | None = -1
    random_state: int = 0

    def fit(self, documents: Any, y: Any = None, *, words: Sequence[str] | None = None) -> Self:
        """Learn the vectors.

        Parameters
        ----------
        documents : iterable of str or sparse matrix of shape (n_documents, n_terms)
            Texts; or how often each term stands in each of them, in which case ``words`` names the columns.
        y : ignored
        words : sequence of str, optional
            The terms of the columns of a matrix.

        Returns
        -------
        self
        """
        self._validate_params()
        with unchanged_by_errors(self):
            counts, names = self._counted(documents, words)
            kept = np.flatnonzero(np.bincount(counts.indices, minlength=counts.shape[1]) >= self.min_df)
            if kept.size < 2:
                raise ValueError(
                    f"documents have {kept.size} words that are in at least {self.min_df} of them (min_df); expected 2"
                )
            counts = counts[:, kept]
            # A word that fills a document says less than its number.
            counts.data = 1.0 + np.log(counts.data)
            information = positive_information(counts, self.contexts, self.exponent, self.n_jobs).matrix
            rank = min(self.rank, *information.shape)
            left, scales, _ = randomized_svd(
                information, rank, n_oversamples=_OVERSAMPLES, n_iter=_ROUNDS, random_state=self.random_state
            )
            self.words_ = names[kept]
            self.vectors_ = np.ascontiguousarray(left * np.sqrt(scales), dtype=np.float32)
        return self

    @classmethod
    def read(
        cls, path: str | os.PathLike[str], vocabulary: Iterable[str] | None = None, *, limit: int = 1_000_000
    ) -> Self:
        """Read vectors that somebody else has learnt.

        Parameters
        ----------
        path : path
            A file as word2vec (text or binary), GloVe and fastText (``.vec``) write it, also packed (``.gz``, ``.xz``,
            ``.bz2``).
        vocabulary : iterable of str, optional
            The words to keep; all others are skipped and take no memory.
        limit : int, default=1,000,000
            Most words to keep; the frequent ones stand first in such files.

        Returns
        -------
        WordVectors
            Fitted.

        Raises
        ------
        bayesift.datasets.MalformedFileError
            If the file is cut short, or is not what it claims to be.
        """
        words, vectors = read_vectors(path, None if vocabulary is None else frozenset(vocabulary), limit)
        made = cls(vectors.shape[1])
        made.words_ = np.array([*words, None], dtype=object)[:-1]
        made.vectors_ = vectors
        return made

    def __contains__(self, word: object) -> bool:
        check_is_fitted(self)
        return word in self._places()

    def __getitem__(self, word: str) -> AnyArray:
        """Return the vector of a word; one that has none is a KeyError."""
        check_is_fitted(self)
        vector: AnyArray = self.vectors_[self._places()[word]]
        return vector

    def __len__(self) -> int:
        check_is_fitted(self)
        return len(self.words_)

    def most_similar(self, word: str, k: int = 10) -> list[tuple[str, float]]:
        """Return the words whose vectors are closest to that of a word, with the cosines of the angles.

        Parameters
        ----------
        word : str
            One that has a vector; others are a KeyError.
        k : int, default=10
            How many.

        Returns
        -------
        list of (str, float)
            The closest first.
        """
        if word not in self:
            raise KeyError(f"{word!r} has no vector; it is in too few of the texts, or cut into words in another way")
        place = self._places()[word]
        lengths = np.linalg.norm(self.vectors_, axis=1)
        cosines = self.vectors_ @ self.vectors_[place] / np.maximum(lengths * lengths[place], np.finfo(np.float32).tiny)
        cosines[place] = -np.inf
        found = np.argsort(-cosines, kind="stable")[: min(k, len(self) - 1)]
        return [(str(self.words_[i]), float(cosines[i])) for i in found]

    def matrix(self, words: Iterable[str]) -> AnyArray:
        """Return the vectors of words, one in each row; zeros for a word that has none.

        Parameters
        ----------
        words : iterable of str
            For example the terms of a vectorizer by column.

        Returns
        -------
        ndarray of float32 of shape (n_words, rank)
        """
        check_is_fitted(self)
        places = self._places()
        found = np.array([places.get(word, -1) for word in words], dtype=np.int64)
        rows = np.zeros((found.size, self.vectors_.shape[1]), dtype=np.float32)
        rows[found >= 0] = self.vectors_[found[found >= 0]]
        return rows

    def coverage(self, words: Iterable[str]) -> float:
        """Return the share of words that have a vector.

        Parameters
        ----------
        words : iterable of str

        Returns
        -------
        float
            NaN if there is no word.
        """
        check_is_fitted(self)
        places = self._places()
        found = [word in places for word in words]
        return float(np.mean(found)) if found else float("nan")

    def _counted(self, documents: Any, words: Sequence[str] | None) -> tuple[sp.csr_matrix, AnyArray]:
        if not sp.issparse(documents):
            if words is not None:
                raise ValueError("words name the columns of a sparse matrix; documents is not one")
            vectorizer = TextVectorizer() if self.vectorizer is None else clone(self.vectorizer)
            vectorizer.set_params(weighting="nnn", min_df=1, dtype=np.float32, n_jobs=self.n_jobs)
            counts = vectorizer.fit_transform(documents)
            return counts, vectorizer.get_feature_names_out()
        if words is None or len(words) != documents.shape[1]:
            raise ValueError(
                f"words are {'not given' if words is None else len(words)}; expected the names of the "
                f"{documents.shape[1]} columns of documents"
            )
        counts = sp.csr_matrix(documents, dtype=np.float32)
        counts.sum_duplicates()
        counts.eliminate_zeros()
        if not np.all((counts.data >= 1) & (counts.data < 1e18)):
            raise ValueError("documents hold numbers that are no counts; expected 0, or 1 and more")
        return counts, np.array([*words, None], dtype=object)[:-1]

    def _places(self) -> Mapping[str, int]:
        """Return the row of each word, kept until the words change."""
        kept = getattr(self, "_found", None)
        if kept is None or kept[0] is not self.words_:
            kept = self._found = self.words_, {word: place for place, word in enumerate(self.words_.tolist())}
        found: Mapping[str, int] = kept[1]
        return found

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        # Made again from the words when needed.
        state.pop("_found", None)
        return state

    def _check_state(self, state: State) -> None:
        words = state.value("words_")
        is_list = isinstance(words, np.ndarray) and words.dtype == object and words.ndim == 1
        state.require(is_list and all(type(word) is str for word in words.tolist()), "words")
        state.require(len(set(words.tolist())) == words.size, "words")
        state.array("vectors_", (words.size, None), "s", least=-1e19)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "vectors_")
