"""Documents to a matrix of counts: with every term a column, with known columns, with new ones, with hashed ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from operator import eq
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike
from sklearn.utils import murmurhash3_32

from bayesift._typing import Int32Array, Int64Array
from bayesift.text import _pipeline
from bayesift.text._lexicon import CompiledLexicon, Lexicon, Stream
from bayesift.text._phrases import Phrases
from bayesift.text._terms import TermRules

Batches = Iterator[list[str]]


class Analysis(NamedTuple):
    """What was found in a collection.

    ``term_of[number]`` is the place of the term in the list that ``terms()`` spells, or -1 for what does not count.
    The spelling is deferred because it holds the interpreter lock and can run beside the counting.
    """

    streams: list[Stream]
    term_of: Int32Array
    terms: Callable[[], list[str]]


class EmptyVocabularyError(ValueError):
    """The documents hold no term at all."""


@dataclass(frozen=True)
class Analyzer:
    """Documents to streams of term numbers: tokens, then words, then phrases."""

    make_lexicon: Callable[[], Lexicon]
    rules: TermRules
    ngram_range: tuple[int, int]
    n_threads: int

    def analyze(self, batches: Iterator[list[str]], sort: bool = True) -> Analysis:
        """Find the terms of every document; list them in code-point order unless ``sort`` is false."""
        lexicons, found = _pipeline.scan(batches, self.make_lexicon, self.n_threads, self.ngram_range != (1, 1))
        streams = _pipeline.unite(lexicons, found)
        lexicon = lexicons[0]
        if self.rules.keep_all and self.ngram_range == (1, 1):
            order = lexicon.order() if sort else np.arange(len(lexicon))
            return Analysis(streams, _places(order, len(lexicon)), partial(lexicon.spell, order))
        order = lexicon.order()
        words, word_of_token = self.rules.words(lexicon.spell(order))
        word_of = np.empty(len(lexicon), dtype=np.int32)
        word_of[order] = word_of_token
        if self.ngram_range == (1, 1):
            return Analysis(streams, word_of, lambda: words)
        return _find_phrases(streams, words, word_of, *self.ngram_range)


def _find_phrases(
    streams: list[Stream], words: list[str], word_of: Int32Array, shortest: int, longest: int
) -> Analysis:
    # No phrase is longer than the longest document.
    longest = min(longest, max((int(np.diff(stream.ends, prepend=0).max()) for stream in streams), default=0))
    phrases = Phrases(len(words), shortest, max(longest, shortest))
    found = (phrases.scan(stream, word_of) for stream in streams)
    streams = [_pipeline.counted(stream, len(words) + len(phrases)) for stream in found]
    spelled = phrases.spell(words)
    wanted = phrases.wanted()
    # Words that hold a space themselves may spell a phrase that another pair spells too: these are one term.
    names = [spelled[number] for number in wanted]
    terms = sorted(set(names))
    place_of = dict(zip(terms, range(len(terms)), strict=True))
    term_of = np.full(len(spelled), -1, dtype=np.int32)
    term_of[wanted] = [place_of[name] for name in names]
    return Analysis(streams, term_of, lambda: terms)


def _places(order: Int64Array, n_numbers: int) -> Int32Array:
    """Return for each number its place in the order, -1 for those not in it."""
    places = np.full(n_numbers, -1, dtype=np.int32)
    places[order] = np.arange(order.size, dtype=np.int32)
    return places


class LookupTable:
    """Finds the terms of a vocabulary without spelling any token.

    Parameters
    ----------
    vocabulary : dict of str to int
        Column of every term; may grow later. A term that the scanner never produces (a phrase, say) is simply never
        found.
    lowercase, keep_single : bool
        Rules of the scanner.
    frequency : array of shape (n_terms,)
        How frequent the term of each column is: frequent terms get small numbers, so that they share cache lines.
    """

    def __init__(self, vocabulary: dict[str, int], lowercase: bool, keep_single: bool, frequency: Int64Array) -> None:
        self.vocabulary = vocabulary
        self._frequency = frequency
        self.keep_single = keep_single
        self._lexicon = CompiledLexicon(lowercase, keep_single=True)
        self._n_terms = 0
        self._column_of: Int32Array = np.empty(0, dtype=np.int32)

    def fits(self, vocabulary: dict[str, int], lowercase: bool, keep_single: bool) -> bool:
        """Tell whether the table was made for this vocabulary and these rules."""
        rules = self._lexicon.lowercase, self.keep_single
        return vocabulary is self.vocabulary and rules == (lowercase, keep_single)

    def look_up(self, batches: Iterator[list[str]], n_threads: int) -> tuple[list[Stream], Int32Array]:
        """Number the tokens of every document; returns the streams and the column of every number."""
        if self._n_terms < len(self.vocabulary):
            self._add_terms()
        _, found = _pipeline.scan(batches, lambda: self._lexicon.reader(self.keep_single), n_threads, False)
        return [stream for _, stream in found], self._column_of

    def _add_terms(self) -> None:
        """Add the terms that are new at the end of the vocabulary."""
        terms = list(islice(self.vocabulary, self._n_terms, None))
        if self._n_terms == 0:
            columns = np.fromiter(self.vocabulary.values(), dtype=np.int64)
            terms = [terms[place] for place in np.argsort(-self._frequency[columns], kind="stable")]
        stream = self._lexicon.scan(terms)
        # One place more than there are terms: for the number that unknown tokens get.
        column_of = np.full(len(self._lexicon) + 1, -1, dtype=np.int32)
        column_of[: self._column_of.size] = self._column_of
        # A term counts if the scanner finds it as one token, spelled the same.
        whole = np.flatnonzero(np.diff(stream.ends, prepend=0) == 1)
        numbers = stream.raw_numbers[stream.ends[whole] - 1]
        found = [terms[place] for place in whole.tolist()]
        same = np.fromiter(map(eq, self._lexicon.spell(numbers), found), dtype=bool, count=len(found))
        columns = np.fromiter(map(self.vocabulary.__getitem__, found), dtype=np.int32, count=len(found))
        column_of[numbers[same]] = columns[same]
        self._column_of = column_of
        self._n_terms = len(self.vocabulary)


@dataclass(frozen=True)
class Counter:
    """Counts terms by the rules of an analyser."""

    analyzer: Analyzer
    dtype: DTypeLike

    def count_all(self, batches: Batches) -> tuple[sp.csr_matrix, dict[str, int]]:
        """Make every term a column, in code-point order; returns the counts and the column of each term."""
        analysis = self.analyzer.analyze(batches)
        n_terms = int(analysis.term_of.max(initial=-1)) + 1
        if n_terms == 0:
            raise EmptyVocabularyError(
                "no term was found: the documents are empty, or hold only stop words and tokens that are left out"
            )
        chunks = _pipeline.count(analysis.streams, analysis.term_of, n_terms, self.analyzer.n_threads)
        # Spelling needs the interpreter lock, counting does not: they run side by side.
        vocabulary = dict(zip(analysis.terms(), range(n_terms), strict=True))
        return _pipeline.assemble(chunks, n_terms, self.dtype), vocabulary

    def count_known(self, batches: Batches, vocabulary: dict[str, int], table: LookupTable | None) -> sp.csr_matrix:
        """Count the terms of a vocabulary and ignore all others; quickest with a table of them."""
        if table is not None:
            streams, column_of = table.look_up(batches, self.analyzer.n_threads)
            chunks = _pipeline.count(streams, column_of, len(vocabulary), self.analyzer.n_threads)
            return _pipeline.assemble(chunks, len(vocabulary), self.dtype)
        analysis = self.analyzer.analyze(batches, sort=False)
        return self._count(analysis, (vocabulary.get(term, -1) for term in analysis.terms()), len(vocabulary))

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
        chunks = _pipeline.count(analysis.streams, column_of, n_columns, self.analyzer.n_threads)
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
