"""Turn documents into a matrix of counts: with a column for every term, or with known, growing or hashed columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike
from sklearn.utils import murmurhash3_32

from bayesift._typing import Int32Array, Int64Array
from bayesift.text import _count, _pipeline
from bayesift.text._lexicon import Lexicon, Stream
from bayesift.text._lookup import LookupTable, PhraseTable
from bayesift.text._phrases import Phrases, are_plain
from bayesift.text._terms import TermRules
from bayesift.text._vocabulary import within_limits

Batches = Iterator[list[str]]

#: Least and greatest number (int) or share (float) of documents that may contain a term.
DocumentLimits = tuple[int | float, int | float]
NO_LIMITS: DocumentLimits = (1, 1.0)


class Analysis(NamedTuple):
    """What was found in a collection.

    ``term_of[number]`` is the place of the term in the list that ``terms()`` spells, or -1 for what does not count.
    The spelling is deferred because it holds the interpreter lock and can run beside the counting.
    """

    streams: list[Stream]
    term_of: Int32Array
    terms: Callable[[], list[str]]


class EmptyVocabularyError(ValueError):
    """The documents have no terms at all."""


@dataclass(frozen=True)
class Analyzer:
    """Documents to streams of term numbers: tokens, then words, then phrases."""

    make_lexicon: Callable[[], Lexicon]
    rules: TermRules
    ngram_range: tuple[int, int]
    n_jobs: int | None

    def analyze(self, batches: Batches, sort: bool = True, limits: DocumentLimits = NO_LIMITS) -> Analysis:
        """Find the terms of every document; list them in code-point order unless ``sort`` is false.

        Phrases that are in fewer or in more documents than the limits say may be left out.
        """
        if self.ngram_range != (1, 1):
            words, streams, word_of = self.words(batches)
            return _find_phrases(streams, words, word_of, self.ngram_range, limits)
        lexicon, streams = self._scan(batches, ordered=False)
        if self.rules.keep_all:
            order = lexicon.order() if sort else np.arange(len(lexicon))
            return Analysis(streams, _places(order, len(lexicon)), partial(lexicon.spell, order))
        words, word_of = self._words_of(lexicon)
        return Analysis(streams, word_of, lambda: words)

    def words(self, batches: Batches) -> tuple[list[str], list[Stream], Int32Array]:
        """Find the words of every document in their order.

        Returns the words in code-point order, the streams, and the place of the word for every number (or -1).
        """
        lexicon, streams = self._scan(batches, ordered=True)
        words, word_of = self._words_of(lexicon)
        return words, streams, word_of

    def sequences(self, batches: Batches) -> tuple[list[str], Int32Array, Int64Array]:
        """Return the words in code-point order, those of all documents by their places, and where documents end."""
        words, streams, word_of = self.words(batches)
        numbers, ends, size = [np.empty(0, dtype=np.int32)], [np.empty(0, dtype=np.int64)], 0
        streams.reverse()
        while streams:
            stream = streams.pop()
            found = word_of[stream.numbers]
            is_kept = found >= 0
            ends.append(size + np.append(0, np.cumsum(is_kept))[stream.ends])
            numbers.append(found[is_kept])
            size += numbers[-1].size
        return words, np.concatenate(numbers), np.concatenate(ends)

    def _scan(self, batches: Batches, ordered: bool) -> tuple[Lexicon, list[Stream]]:
        lexicons, found = _pipeline.scan(batches, self.make_lexicon, self.n_jobs, ordered)
        streams = _pipeline.unite(lexicons, found)
        return lexicons[0], streams

    def _words_of(self, lexicon: Lexicon) -> tuple[list[str], Int32Array]:
        order = lexicon.order()
        words, word_of_token = self.rules.words(lexicon.spell(order))
        word_of = np.empty(len(lexicon), dtype=np.int32)
        word_of[order] = word_of_token
        return words, word_of


def _find_phrases(
    streams: list[Stream],
    words: list[str],
    word_of: Int32Array,
    ngram_range: tuple[int, int],
    limits: DocumentLimits,
) -> Analysis:
    shortest, longest = ngram_range
    # No phrase is longer than the longest document.
    longest = min(longest, max((int(np.diff(stream.ends, prepend=0).max()) for stream in streams), default=0))
    phrases = Phrases(len(words), shortest, max(longest, shortest))
    found = (phrases.scan(stream, word_of) for stream in streams)
    streams = [_pipeline.counted(stream, len(words) + len(phrases)) for stream in found]
    wanted = phrases.wanted()
    n_numbers = len(words) + len(phrases)
    if are_plain(words):
        if limits != NO_LIMITS:
            documents = _count.document_frequencies(n_numbers, *(stream.raw_numbers for stream in streams))
            n_documents = sum(stream.ends.size for stream in streams)
            kept = wanted[within_limits(documents[wanted], n_documents, *limits)]
            # Where none is left, an error will say how many there were.
            if kept.size:
                order = phrases.order(kept)
                streams = _pipeline.keep_numbers(streams, kept, n_numbers)
                term_of = _places(order, n_numbers)[kept]
                return Analysis(streams, term_of, partial(phrases.spell, words, order))
        order = phrases.order(wanted)
        return Analysis(streams, _places(order, n_numbers), partial(phrases.spell, words, order))
    # Words that hold a space themselves may spell a phrase that another pair spells too: these are one term.
    names = phrases.spell(words, wanted)
    terms = sorted(set(names))
    place_of = dict(zip(terms, range(len(terms)), strict=True))
    term_of = np.full(n_numbers, -1, dtype=np.int32)
    term_of[wanted] = [place_of[name] for name in names]
    return Analysis(streams, term_of, lambda: terms)


def _places(order: Int64Array, n_numbers: int) -> Int32Array:
    """Return for each number its place in the order, -1 for those not in it."""
    places = np.full(n_numbers, -1, dtype=np.int32)
    places[order] = np.arange(order.size, dtype=np.int32)
    return places


@dataclass(frozen=True)
class Counter:
    """Counts terms by the rules of an analyser."""

    analyzer: Analyzer
    dtype: DTypeLike

    def count_all(self, batches: Batches, limits: DocumentLimits = NO_LIMITS) -> tuple[sp.csr_matrix, dict[str, int]]:
        """Make every term a column, in code-point order; returns the counts and the column of each term.

        Phrases beyond the limits may be left out, if any term is within.
        """
        analysis = self.analyzer.analyze(batches, limits=limits)
        n_terms = int(analysis.term_of.max(initial=-1)) + 1
        if n_terms == 0:
            raise EmptyVocabularyError(
                "no term was found: the documents are empty, or hold only stop words and tokens that are left out"
            )
        chunks = _pipeline.count(analysis.streams, analysis.term_of, n_terms, self.analyzer.n_jobs)
        # Spelling needs the interpreter lock, counting does not: they run side by side.
        vocabulary = dict(zip(analysis.terms(), range(n_terms), strict=True))
        return _pipeline.assemble(chunks, n_terms, self.dtype), vocabulary

    def count_known(
        self,
        batches: Batches,
        vocabulary: dict[str, int],
        table: LookupTable | PhraseTable | None,
        unknown: bool = False,
    ) -> sp.csr_matrix:
        """Count the terms of a vocabulary; quickest with a table of them.

        All others are ignored, or with ``unknown``, and a table that counts them, have columns after those of the
        vocabulary: different ones within a document.
        """
        if table is not None:
            if isinstance(table, PhraseTable):
                streams, column_of = table.find(*self.analyzer.words(batches))
            else:
                streams, column_of = table.look_up(batches, self.analyzer.n_jobs)
            n_columns = len(vocabulary)
            if unknown:
                n_numbers = 1 + max((int(stream.raw_numbers.max(initial=-1)) for stream in streams), default=-1)
                # The last number is that of the first unknown term.
                n_columns += max(n_numbers - column_of.size + 1, 0)
                column_of = np.append(column_of[:-1], np.arange(len(vocabulary), n_columns, dtype=np.int32))
            chunks = _pipeline.count(streams, column_of, n_columns, self.analyzer.n_jobs)
            return _pipeline.assemble(chunks, n_columns, self.dtype)
        analysis = self.analyzer.analyze(batches, sort=False)
        terms = analysis.terms()
        columns = np.fromiter((vocabulary.get(term, -1) for term in terms), dtype=np.int64, count=len(terms))
        n_columns = len(vocabulary)
        if unknown:
            n_columns += int(np.count_nonzero(columns < 0))
            columns[columns < 0] = np.arange(len(vocabulary), n_columns)
        return self._count(analysis, columns.tolist(), n_columns)

    def count_growing(self, batches: Batches, vocabulary: dict[str, int]) -> sp.csr_matrix:
        """Count all terms; those not in the vocabulary are added at its end."""
        analysis = self.analyzer.analyze(batches)
        columns = [vocabulary.setdefault(term, len(vocabulary)) for term in analysis.terms()]
        return self._count(analysis, columns, len(vocabulary))

    def count_hashed(self, batches: Batches, n_features: int, signed: bool) -> sp.csr_matrix:
        """Count terms in the columns that their hashes give."""
        analysis = self.analyzer.analyze(batches, sort=False)
        columns = _hashed_columns(analysis.terms(), n_features, signed)
        counts = self._count(analysis, columns, 2 * n_features if signed else n_features)
        return _combine_signs(counts) if signed else counts

    def _count(self, analysis: Analysis, columns: Iterable[int], n_columns: int) -> sp.csr_matrix:
        """Count the terms of an analysis in the columns given for them (-1: none)."""
        # Numbers that do not count have the place -1, which is the last.
        column_of_term = np.fromiter(chain(columns, [-1]), dtype=np.int32)
        column_of = column_of_term[analysis.term_of]
        chunks = _pipeline.count(analysis.streams, column_of, n_columns, self.analyzer.n_jobs)
        return _pipeline.assemble(chunks, n_columns, self.dtype)


def _hashed_columns(terms: list[str], n_features: int, signed: bool) -> Int32Array:
    """Return each term its column, as scikit-learn's ``HashingVectorizer`` does.

    With ``signed`` there are two columns for each feature, an even one for the sign + and an odd one for -; see
    :func:`_combine_signs`.
    """
    hashes = np.array([murmurhash3_32(term.encode("utf-8", "surrogatepass")) for term in terms], dtype=np.int64)
    columns = np.abs(hashes) % n_features
    if signed:
        columns = 2 * columns + (hashes < 0)
    return columns.astype(np.int32)


def _combine_signs(counts: sp.csr_matrix) -> sp.csr_matrix:
    """Subtract every odd column from the even one before it; entries that cancel are left out."""
    counts.data[counts.indices % 2 == 1] *= -1
    counts.indices //= 2
    result = sp.csr_matrix((counts.data, counts.indices, counts.indptr), shape=(counts.shape[0], counts.shape[1] // 2))
    result.has_sorted_indices = True
    result.sum_duplicates()
    result.eliminate_zeros()
    return result
