"""From texts to the scores of a linear model without a matrix in between.

A token that is found is looked up once; its weight goes at once to the norm of the text and to the scores of the
categories in which the term has a coefficient. No row is sorted, and terms without a coefficient cost next to nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs

from bayesift._kernel import kernel
from bayesift._typing import FloatArray, Int32Array, Int64Array
from bayesift.linear._base import LinearModel
from bayesift.text import TextVectorizer
from bayesift.text._lexicon import Stream
from bayesift.text.weighting import parse_weighting
from bayesift.workflow._weights import word_weights

#: Weights of counts up to this are looked up.
COUNTS = 256


class TermTable(NamedTuple):
    """By the number of a term: its factor for the document frequency, and where its coefficients stand.

    The coefficients of term t are those from ``start[t]`` to ``start[t + 1]``, each with the column of its category.
    The last term is the one that stands for all unknown ones.
    """

    factor: FloatArray
    start: Int64Array
    category: Int32Array
    coefficient: FloatArray


class Scorer:
    """Scores texts by a linear model.

    Parameters
    ----------
    vectorizer : TextVectorizer
        Fitted; :meth:`can_score` says which will do.
    selected : array of int or None
        The columns that the model sees; None is all.
    model : LinearModel
        Fitted.
    """

    def __init__(self, vectorizer: TextVectorizer, selected: Int64Array | None, model: Any) -> None:
        self._key = _key(vectorizer, model)
        self._vectorizer = vectorizer
        self._lookup = vectorizer._table()
        weighting = parse_weighting(vectorizer.weighting)
        tf = weighting.term_frequency
        self._weight_of = _weights_of_counts(tf)
        self._tf = "nlb".index(tf)
        self._cosine = weighting.normalization == "c"
        weights = sp.csc_matrix(word_weights(model))
        self._n_categories = weights.shape[0]
        # Softmax of two classes: one score, as there is one row of weights.
        self._intercept = np.diff(model.intercept_) if self._n_categories < model.intercept_.size else model.intercept_
        self._weights = weights
        self._selected = selected
        self._table: TermTable | None = None

    @staticmethod
    def can_score(vectorizer: Any, model: Any) -> bool:
        """Tell whether the terms are found as they stand and scores are sums over terms."""
        return (
            isinstance(model, LinearModel)
            and isinstance(vectorizer, TextVectorizer)
            and vectorizer.n_features is None
            and hasattr(vectorizer, "stop_words_")
            and np.dtype(vectorizer.dtype) == np.float64
            and vectorizer.weighting[0] in "nlb"
            and vectorizer._table() is not None
        )

    def fits(self, vectorizer: Any, model: Any) -> bool:
        """Tell whether nothing has changed since this was made."""
        return all(now is before for now, before in zip(_key(vectorizer, model), self._key, strict=True))

    def scores(self, texts: Iterable[str]) -> FloatArray:
        """Return the scores, texts × categories; one column for two classes."""
        assert self._lookup is not None
        n_threads = int(effective_n_jobs(self._vectorizer.n_jobs))
        streams, column_of = self._lookup.look_up(self._vectorizer._batches(texts), n_threads)
        if self._table is None:
            self._table = self._by_number(column_of)
        table = self._table

        def work(stream: Stream) -> FloatArray:
            out = np.zeros((stream.ends.size, self._n_categories))
            numbers, counts = stream.numbers, stream.counts
            score_texts(numbers, counts, stream.ends, self._tf, self._weight_of, self._cosine, *table, out)
            out += self._intercept
            return out

        if len(streams) > 1 and n_threads > 1:
            with ThreadPoolExecutor(min(n_threads, len(streams))) as pool:
                parts = list(pool.map(work, streams))
        else:
            parts = [work(stream) for stream in streams]
        return np.concatenate([np.empty((0, self._n_categories)), *parts])

    def _by_number(self, column_of: Int32Array) -> TermTable:
        """Bring factors and coefficients from columns to the numbers of the lookup table."""
        known = column_of >= 0
        factor = np.where(known, self._vectorizer.idf_[np.where(known, column_of, 0)], 0.0)
        place = np.arange(self._vectorizer.document_frequency_.size)
        if self._selected is not None:
            place = np.full(place.size, -1)
            place[self._selected] = np.arange(self._selected.size)
        # A column more, without any coefficient, for terms that the model does not see.
        wide = sp.hstack([self._weights, sp.csc_matrix((self._n_categories, 1))], format="csc")
        column = np.where(known, place[np.where(known, column_of, 0)], -1)
        by_number = wide[:, np.where(column >= 0, column, wide.shape[1] - 1)]
        by_number.eliminate_zeros()
        return TermTable(
            factor,
            by_number.indptr.astype(np.int64),
            by_number.indices.astype(np.int32),
            by_number.data.astype(np.float64),
        )


def _key(vectorizer: Any, model: Any) -> tuple[Any, ...]:
    return vectorizer, vectorizer.vocabulary_, vectorizer.document_frequency_, model, model.coef_, model.intercept_


def _weights_of_counts(tf: str) -> FloatArray:
    """Return the weights of the counts 0, 1, …; 0 of a count of 0, which does not occur."""
    counts = np.arange(COUNTS, dtype=np.float64)
    if tf == "n":
        return counts
    return np.where(counts > 0, 1.0 if tf == "b" else 1.0 + np.log(np.maximum(counts, 1.0)), 0.0)


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
            count = counts[e]
            if count < weight_of.shape[0]:
                x = weight_of[np.uint32(count)]
            elif tf == 0:
                x = float(count)
            else:
                x = 1.0 if tf == 2 else 1.0 + np.log(float(count))
            x *= factor[t]
            squares += x * x
            for place in range(start[t], start[t + np.uint32(1)]):
                out[i, category[place]] += x * coefficient[place]
        if cosine and squares > 0.0:
            length = np.sqrt(squares)
            for k in range(out.shape[1]):
                out[i, k] /= length
        begin = ends[i]
