"""Word vectors: fitted to a collection of texts, or read from a file."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.utils._param_validation import Interval
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from bayesift._checks import whole_number
from bayesift._state import State, unchanged_by_errors
from bayesift._typing import AnyArray
from bayesift.text import TextVectorizer
from bayesift.vectors._cooccurrence import (
    Company,
    DocumentCompany,
    WindowCompany,
    document_frequency,
    keep_words,
)
from bayesift.vectors._decomposition import decomposed
from bayesift.vectors._reading import LARGEST, read_vectors


@dataclass(eq=False, repr=False)
class WordVectors(BaseEstimator):
    """Vectors of words, learned from texts without labels.

    Words that keep the same company get vectors that lie close together. The matrix M holds the positive pointwise
    mutual information between words and the frequent words of the same documents (a word that occurs n times has weight
    1 + ln n). Its singular value decomposition M ≈ U S Vᵀ gives the vectors, the rows of E = U S^½. Words that say
    little about their company get short vectors. A document with term weights x has the vector xE / ‖xE‖.

    A linear model over x and xE equals one over x alone whose weights are correlated a priori: with β = δ + Eγ, δ of
    variance v and γ of variance w, the covariance of β is v I + w E Eᵀ. So what is learned about a word is, in part,
    learned about all words that keep the same company, even if they occur in no labelled text.

    Parameters
    ----------
    rank : int, default=200
        Length of the vectors; shorter if there are fewer words.
    contexts : int, default=6000
        How many words serve as contexts: those in the most documents.
    window : int or None, default=None
        The contexts of a word are the words up to this many places before or after it; None: the whole document.
    exponent : float, default=0.75
        Power to which the probabilities of contexts are raised; below 1, rare contexts count less.
    min_df : int, default=3
        Minimum number of documents that a word must be in to get a vector.
    vectorizer : TextVectorizer or None, default=None
        Splits texts into words if ``fit`` gets texts; its weighting, ``min_df`` and threads are set here.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores.
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
        "window": [Interval(Integral, 1, None, closed="left"), None],
        "exponent": [Interval(Real, 0, 1, closed="both")],
        "min_df": [Interval(Integral, 1, None, closed="left")],
        "vectorizer": [TextVectorizer, None],
        "n_jobs": [Integral, None],
        "random_state": [Interval(Integral, 0, 2**32 - 1, closed="both")],
    }

    rank: int = 200
    _: KW_ONLY
    contexts: int = 6000
    window: int | None = None
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
            Texts, or counts of each term in each of them; for counts, ``words`` names the columns.
        y : ignored
        words : sequence of str, optional
            The terms in the columns of a matrix of counts.

        Returns
        -------
        self
        """
        self._validate_params()
        with unchanged_by_errors(self):
            if self.window is None:
                names, company = self._met_in_documents(documents, words)
            else:
                names, company = self._met_in_windows(documents, words, self.window)
            self.vectors_ = decomposed(company, self.rank, self.n_jobs, self.random_state)
            self.words_ = names
            if hasattr(self, "_is_given"):
                del self._is_given
        return self

    @classmethod
    def read(
        cls, path: str | os.PathLike[str], vocabulary: Iterable[str] | None = None, *, limit: int = 1_000_000
    ) -> Self:
        """Read pretrained vectors from a file.

        Parameters
        ----------
        path : path
            A file as written by word2vec (text or binary), GloVe or fastText (``.vec``), also compressed (``.gz``,
            ``.xz``, ``.bz2``).
        vocabulary : iterable of str, optional
            The words to keep; all others are skipped and take no memory.
        limit : int, default=1,000,000
            Maximum number of words to keep; such files begin with the most frequent words.

        Returns
        -------
        WordVectors
            Fitted.

        Raises
        ------
        bayesift.datasets.MalformedFileError
            If the file is truncated or malformed.
        """
        words, vectors = read_vectors(path, None if vocabulary is None else frozenset(vocabulary), limit)
        return cls.from_matrix(words, vectors)

    @classmethod
    def from_matrix(cls, words: Iterable[str], vectors: Any) -> Self:
        """Return word vectors made from a given matrix.

        Parameters
        ----------
        words : iterable of str
            The words, all different.
        vectors : array of shape (n_words, rank)
            Their vectors, of finite numbers below 1e18.

        Returns
        -------
        WordVectors
            Fitted.
        """
        names, rows = _different(words), np.asarray(vectors, dtype=np.float32)
        if rows.ndim != 2 or len(rows) != len(names):
            raise ValueError(
                f"vectors have shape {rows.shape}; expected a row for each of {len(names)} different words"
            )
        if not np.all(np.abs(rows) < LARGEST):
            raise ValueError("vectors hold a number that is not finite, or above 1e18; expected finite numbers")
        made = cls(rows.shape[1])
        made.words_, made.vectors_ = names, rows
        made._is_given = True
        return made

    def __sklearn_clone__(self) -> Self:
        """Return the same object if the vectors were given, because they cannot be learned again."""
        if getattr(self, "_is_given", False):
            return self
        made: Self = BaseEstimator.__sklearn_clone__(self)
        return made

    def __contains__(self, word: object) -> bool:
        check_is_fitted(self)
        return word in self._places()

    def __getitem__(self, word: str) -> AnyArray:
        """Return the vector of a word; a word without one raises KeyError."""
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
            A word that has a vector; any other raises KeyError.
        k : int, default=10
            Number of words to return.

        Returns
        -------
        list of (str, float)
            The closest first.
        """
        k = whole_number("k", k, 0)
        if word not in self:
            raise KeyError(f"{word!r} has no vector; it is in too few texts, or texts are split into words differently")
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
            For example the terms of a vectorizer, in the order of its columns.

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
            NaN if there are no words.
        """
        check_is_fitted(self)
        places = self._places()
        found = [word in places for word in words]
        return float(np.mean(found)) if found else float("nan")

    def _met_in_documents(self, documents: Any, words: Sequence[str] | None) -> tuple[AnyArray, Company]:
        if sp.issparse(documents):
            counts, names = _checked_counts(documents, words)
        else:
            vectorizer = self._vectorizer(words)
            counts = vectorizer.set_params(weighting="nnn", dtype=np.float32).fit_transform(documents)
            names = vectorizer.get_feature_names_out()
        kept = self._frequent(np.bincount(counts.indices, minlength=counts.shape[1]))
        counts = counts[:, kept]
        # A word that is repeated often in a document says less than its count.
        np.log(counts.data, out=counts.data)
        counts.data += np.float32(1.0)
        return names[kept], DocumentCompany(counts, self.contexts, self.exponent)

    def _met_in_windows(self, documents: Any, words: Sequence[str] | None, window: int) -> tuple[AnyArray, Company]:
        if sp.issparse(documents):
            raise ValueError(
                f"documents is a matrix of counts, which has no word order for window={window}; expected texts, or "
                "window=None"
            )
        found, numbers, ends = self._vectorizer(words).word_sequences(documents)
        frequency = document_frequency(numbers, ends, len(found))
        kept = self._frequent(frequency)
        new_number = np.full(len(found), -1, dtype=np.int32)
        new_number[kept] = np.arange(kept.size, dtype=np.int32)
        numbers = numbers[: keep_words(numbers, ends, new_number)]
        company = WindowCompany(numbers, ends, frequency[kept], window, self.contexts, self.exponent)
        return np.array([*found, None], dtype=object)[kept], company

    def _vectorizer(self, words: Sequence[str] | None) -> TextVectorizer:
        if words is not None:
            raise ValueError("words name the columns of a sparse matrix, but documents is not one; expected None")
        vectorizer = TextVectorizer() if self.vectorizer is None else clone(self.vectorizer)
        vectorizer.set_params(min_df=1, n_jobs=self.n_jobs)
        return vectorizer

    def _frequent(self, frequency: AnyArray) -> AnyArray:
        """Return the places of the words that are in enough documents."""
        kept = np.flatnonzero(frequency >= self.min_df)
        if kept.size < 2:
            raise ValueError(
                f"documents have {kept.size} words that are in at least {self.min_df} of them (min_df); expected two"
            )
        return kept

    def _places(self) -> Mapping[str, int]:
        """Return the row of each word, kept until the words change."""
        kept = getattr(self, "_found", None)
        if kept is None or kept[0] is not self.words_:
            kept = self._found = self.words_, {word: place for place, word in enumerate(self.words_.tolist())}
        found: Mapping[str, int] = kept[1]
        return found

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        # Rebuilt from the words when needed.
        state.pop("_found", None)
        return state

    def _check_state(self, state: State) -> None:
        words = state.value("words_")
        is_list = isinstance(words, np.ndarray) and words.dtype == object and words.ndim == 1
        state.require(is_list and all(type(word) is str for word in words.tolist()), "words")
        state.require(len(set(words.tolist())) == words.size, "words")
        state.array("vectors_", (words.size, None), "s", least=-1e19)
        if state.has("_is_given"):
            state.require(state.value("_is_given") is True, "vectors")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "vectors_")


def _checked_counts(documents: Any, words: Sequence[str] | None) -> tuple[sp.csr_matrix, AnyArray]:
    if words is None or len(words) != documents.shape[1]:
        raise ValueError(
            f"words are {'not given' if words is None else len(words)}; expected the names of the "
            f"{documents.shape[1]} columns of documents"
        )
    counts = sp.csr_matrix(documents, dtype=np.float32, copy=True)
    counts.sum_duplicates()
    counts.eliminate_zeros()
    if not np.all((counts.data >= 1) & (counts.data < 1e18)):
        raise ValueError("documents hold numbers that are not counts; expected 0, or at least 1")
    return counts, _different(words)


def _different(words: Iterable[str]) -> AnyArray:
    """Return words as an array of objects; refuse anything else, and words that occur twice."""
    names = np.array([*words, None], dtype=object)[:-1]
    for name, count in Counter(names.tolist()).items():
        if not isinstance(name, str):
            raise ValueError(f"words hold {name!r}; expected strings")
        if count > 1:
            raise ValueError(f"words hold {name!r} {count} times; expected different words")
    # Those of an array of numpy's strings are no plain ones, which files expect.
    names[:] = [str(name) for name in names]
    return names
