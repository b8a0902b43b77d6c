"""Turn texts into the scores of a linear model without a matrix in between.

Each token is looked up once, and its weight added at once to the norm of the text and to the scores of the categories
in which the term has a coefficient. No row is sorted, and terms without a coefficient cost next to nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from bayesift._kernel import kernel
from bayesift._state import are_columns
from bayesift._threads import map_threads
from bayesift._typing import Float32Array, FloatArray, Int32Array, Int64Array
from bayesift.text._lexicon import Stream
from bayesift.text.vectorizer import TextVectorizer
from bayesift.text.weighting import parse_weighting

#: Weights of counts up to this are looked up.
COUNTS = 256


class TermTable(NamedTuple):
    """By the number of a term: its document frequency factor, and where its coefficients are.

    The coefficients of term t are those from ``start[t]`` to ``start[t + 1]``, each with the column of its category.
    ``column`` is the column of its weights, −1 for terms that have none. The last term represents all unknown ones.
    """

    factor: FloatArray
    start: Int64Array
    category: Int32Array
    coefficient: FloatArray
    column: Int64Array


class TextScorer:
    """Scores of texts by a linear model, straight from the tokens: intercept + Σ coefficient · term weight.

    It uses the vectorizer and the coefficients as they are now; if they change, make a new scorer.

    Parameters
    ----------
    vectorizer : TextVectorizer
        Fitted; :meth:`supports` says which are accepted.
    weights : {array, sparse matrix} of shape (n_categories, n_features)
        Coefficients.
    intercept : array of shape (n_categories,)
        Added to the scores.
    selected : array of int, optional
        The columns of the vectorizer whose terms the columns of ``weights`` belong to; all by default.
    vectors : array of float32 of shape (n_features, rank), optional
        Vectors of the terms, E, by column of ``weights``.
    vector_weights : array of shape (n_categories, rank), optional
        Coefficients of the vector of a text, xE / ‖xE‖, which is added to the scores.

    Examples
    --------
    >>> from bayesift.text import TextScorer, TextVectorizer
    >>> vectorizer = TextVectorizer("nnn").fit(["wheat and corn", "ships"])
    >>> vectorizer.get_feature_names_out().tolist()
    ['and', 'corn', 'ships', 'wheat']
    >>> TextScorer(vectorizer, [[0, 1, -1, 2]], [0.5]).scores(["corn, corn and wheat", "ships"]).tolist()
    [[4.5], [-0.5]]
    """

    def __init__(
        self,
        vectorizer: TextVectorizer,
        weights: Any,
        intercept: Any,
        *,
        selected: Int64Array | None = None,
        vectors: Float32Array | None = None,
        vector_weights: Any = None,
    ) -> None:
        self._vectorizer = vectorizer
        self._lookup = vectorizer._table()
        weighting = parse_weighting(vectorizer.weighting)
        tf = weighting.term_frequency
        self._weight_of = _weights_of_counts(tf)
        self._tf = "nlb".index(tf)
        self._cosine = weighting.normalization == "c"
        self._weights = sp.csc_matrix(weights, dtype=np.float64)
        self._n_categories = self._weights.shape[0]
        self._intercept = np.asarray(intercept, dtype=np.float64)
        self._selected = selected
        n_terms = vectorizer.document_frequency_.size
        columns = np.arange(n_terms) if selected is None else selected
        shapes = self._weights.shape, self._intercept.shape
        if not are_columns(columns, n_terms) or shapes != ((self._n_categories, columns.size), (self._n_categories,)):
            raise ValueError(
                f"weights and intercept have shapes {shapes}; expected those of different columns of {n_terms}"
            )
        self._vectors = vectors
        if vectors is not None:
            self._vectors = np.ascontiguousarray(vectors, dtype=np.float32)
            self._vector_weights = np.ascontiguousarray(vector_weights, dtype=np.float64)
            if self._vectors.shape[0] != self._weights.shape[1] or self._vector_weights.shape != (
                self._n_categories,
                self._vectors.shape[1],
            ):
                raise ValueError(
                    f"vectors and vector_weights have shapes {self._vectors.shape} and {self._vector_weights.shape}; "
                    f"expected a row for each of the {self._weights.shape[1]} columns of weights, and one for each of "
                    f"the {self._n_categories} categories"
                )
        self._table: TermTable | None = None

    @staticmethod
    def supports(vectorizer: Any) -> bool:
        """Tell whether the terms of a vectorizer are tokens, or phrases of tokens, with independent weights.

        Parameters
        ----------
        vectorizer : object
            Fitted.

        Returns
        -------
        bool
            True for a :class:`TextVectorizer` without hashing, stems, token patterns of its own and augmented counts
            and, if it has phrases, without rules for tokens other than stop words.
        """
        return (
            isinstance(vectorizer, TextVectorizer)
            and vectorizer.n_features is None
            and hasattr(vectorizer, "stop_words_")
            and np.dtype(vectorizer.dtype) == np.float64
            and vectorizer.weighting[0] in "nlb"
            and vectorizer._table() is not None
        )

    def scores(self, texts: Iterable[str]) -> FloatArray:
        """Return the scores of texts.

        Parameters
        ----------
        texts : iterable of str
            The texts.

        Returns
        -------
        array of shape (n_texts, n_categories)
        """
        assert self._lookup is not None
        n_jobs = self._vectorizer.n_jobs
        streams, column_of = self._lookup.look_up(self._vectorizer._batches(texts), n_jobs)
        if self._table is not None and self._table.factor.size != column_of.size:
            raise ValueError("the vectorizer has learned other terms since this scorer was made; make a new one")
        if self._table is None:
            self._table = self._by_number(column_of)
        table = self._table
        counts_unknown = self._lookup.rules.count_unknown

        def work(stream: Stream) -> FloatArray:
            out = np.zeros((stream.ends.size, self._n_categories))
            numbers, counts = stream.numbers, stream.counts
            if counts_unknown:
                # Unknown terms are counted one by one, and have the same weight.
                numbers = np.minimum(numbers, np.int32(column_of.size - 1))
            score_texts(numbers, counts, stream.ends, self._tf, self._weight_of, self._cosine, *table[:4], out)
            if self._vectors is not None:
                known = (self._tf, self._weight_of, table.factor, table.column, self._vectors, self._vector_weights)
                score_vectors(numbers, counts, stream.ends, *known, out)
            out += self._intercept
            return out

        parts = map_threads(work, streams, n_jobs)
        return np.concatenate([np.empty((0, self._n_categories)), *parts])

    def _by_number(self, column_of: Int32Array) -> TermTable:
        """Rearrange factors and coefficients from columns to the numbers of the lookup table."""
        known = column_of >= 0
        n_terms = self._vectorizer.document_frequency_.size
        # One more than there are terms, for unknown ones that count in the length of a text.
        idf = np.append(self._vectorizer.idf_, self._vectorizer.unknown_idf())
        factor = np.where(known, idf[np.where(known, column_of, 0)], 0.0)
        place = np.full(n_terms + 1, -1)
        selected = np.arange(n_terms) if self._selected is None else self._selected
        place[selected] = np.arange(selected.size)
        # One more column, without coefficients, for terms that the model does not see.
        wide = sp.hstack([self._weights, sp.csc_matrix((self._n_categories, 1))], format="csc")
        column = np.where(known, place[np.where(known, column_of, 0)], -1)
        by_number = wide[:, np.where(column >= 0, column, wide.shape[1] - 1)]
        by_number.eliminate_zeros()
        return TermTable(
            factor,
            by_number.indptr.astype(np.int64),
            by_number.indices.astype(np.int32),
            by_number.data.astype(np.float64),
            column.astype(np.int64),
        )


def _weights_of_counts(tf: str) -> FloatArray:
    """Return the weights of the counts 0, 1, …; 0 of a count of 0, which does not occur."""
    counts = np.arange(COUNTS, dtype=np.float64)
    if tf == "n":
        return counts
    return np.where(counts > 0, 1.0 if tf == "b" else 1.0 + np.log(np.maximum(counts, 1.0)), 0.0)


@kernel(inline="always")
def weight_of_count(count, tf, weight_of):  # type: ignore[no-untyped-def]
    """Return the weight of a count; ``tf`` is 0 for n, 1 for l, 2 for b."""
    if count < weight_of.shape[0]:
        return weight_of[np.uint32(count)]
    if tf == 0:
        return float(count)
    return 1.0 if tf == 2 else 1.0 + np.log(float(count))


@kernel(error_model="numpy", fastmath={"reassoc", "contract"})
def score_vectors(
    numbers: Int32Array,
    counts: Int32Array,
    ends: Int64Array,
    tf: int,
    weight_of: FloatArray,
    factor: FloatArray,
    column: Int64Array,
    vectors: Float32Array,
    vector_weights: FloatArray,
    out: FloatArray,
) -> None:
    """Add the scores of the vectors of texts, of length one; texts and counts as in ``score_texts``."""
    rank = vectors.shape[1]
    total = np.empty(rank, np.float32)
    begin = np.int64(0)
    for i in range(ends.shape[0]):
        for k in range(rank):
            total[k] = np.float32(0.0)
        for e in range(begin, ends[i]):
            t = np.uint32(numbers[e])
            if column[t] >= 0:
                x = np.float32(weight_of_count(counts[e], tf, weight_of) * factor[t])
                own = vectors[column[t]]
                for k in range(rank):
                    total[k] += x * own[k]
        squares = 0.0
        for k in range(rank):
            squares += np.float64(total[k]) * np.float64(total[k])
        if squares > 0.0:
            share = 1.0 / np.sqrt(squares)
            for c in range(out.shape[1]):
                score = 0.0
                for k in range(rank):
                    score += np.float64(total[k]) * vector_weights[c, k]
                out[i, c] += share * score
        begin = ends[i]


@kernel(error_model="numpy")
def score_texts(
    numbers: Int32Array,
    counts: Int32Array,
    ends: Int64Array,
    tf: int,
    weight_of: FloatArray,
    cosine: bool,
    factor: FloatArray,
    start: Int64Array,
    category: Int32Array,
    coefficient: FloatArray,
    out: FloatArray,
) -> None:
    """Add up the scores of texts; text i has the entries before ``ends[i]``; ``tf`` is 0 for n, 1 for l, 2 for b."""
    begin = np.int64(0)
    for i in range(ends.shape[0]):
        squares = 0.0
        for e in range(begin, ends[i]):
            t = np.uint32(numbers[e])
            x = weight_of_count(counts[e], tf, weight_of) * factor[t]
            squares += x * x
            for place in range(start[t], start[t + np.uint32(1)]):
                out[i, category[place]] += x * coefficient[place]
        if cosine and squares > 0.0:
            length = np.sqrt(squares)
            for k in range(out.shape[1]):
                out[i, k] /= length
        begin = ends[i]
