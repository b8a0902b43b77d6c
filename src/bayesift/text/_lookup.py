"""Find the terms of a vocabulary in documents without spelling unknown ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from operator import eq
from typing import Literal, NamedTuple

import numpy as np

from bayesift._typing import AnyArray, Int32Array, Int64Array
from bayesift.text import _pipeline
from bayesift.text._characters import CharacterLexicon
from bayesift.text._lexicon import CompiledLexicon, Stream
from bayesift.text._phrases import Phrases
from bayesift.text._terms import TermRules


class LookupRules(NamedTuple):
    """How tokens are found and which of them count, for a table of a vocabulary."""

    lowercase: bool
    keep_single: bool
    ngram_range: tuple[int, int]
    terms: TermRules
    analyzer: Literal["word", "char", "char_wb"]
    pairs: bool
    count_unknown: bool = False

    @property
    def has_phrases(self) -> bool:
        """Whether terms may be several tokens."""
        return self.analyzer == "word" and self.ngram_range != (1, 1)

    def make_lexicon(self, keep_single: bool = True) -> CompiledLexicon:
        """Return a lexicon; by default one that takes every term of a vocabulary."""
        if self.analyzer == "word":
            return CompiledLexicon(self.lowercase, keep_single=keep_single, pairs=self.pairs)
        return CharacterLexicon(self.lowercase, self.analyzer, self.ngram_range)


class LookupTable:
    """Finds the terms of a vocabulary that are tokens, or phrases of tokens, as the compiled scanners find them.

    Parameters
    ----------
    vocabulary : dict of str to int
        Column of every term; may grow later if there are no phrases. A term that the scanner never produces is simply
        never found.
    rules : LookupRules
        How tokens are found, and which of them count.
    frequency : array of shape (n_terms,)
        How frequent the term of each column is: frequent terms get small numbers, so that they share cache lines.
    """

    def __init__(self, vocabulary: dict[str, int], rules: LookupRules, frequency: Int64Array) -> None:
        self.vocabulary = vocabulary
        self.rules = rules
        self._frequency = frequency
        self._lexicon = rules.make_lexicon()
        self._phrases: Phrases | None = None
        self._n_terms = 0
        self._column_of: Int32Array = np.empty(0, dtype=np.int32)

    def fits(self, vocabulary: dict[str, int], rules: LookupRules) -> bool:
        """Tell whether the table was made for this vocabulary and these rules; phrases cannot be added later."""
        may_grow = not rules.has_phrases or self._n_terms in (0, len(vocabulary))
        return vocabulary is self.vocabulary and rules == self.rules and may_grow

    def look_up(self, batches: Iterator[list[str]], n_jobs: int | None) -> tuple[list[Stream], Int32Array]:
        """Number the terms of every document; returns the streams and the column of every number.

        With ``count_unknown``, the last column is one more than there are terms, and numbers from its own on are those
        of unknown terms: different within a batch.
        """
        if self._n_terms < len(self.vocabulary) or not self._column_of.size:
            self._add_terms()
        _, found = _pipeline.scan(batches, self._scanner, n_jobs, False)
        columns = self._column_of
        if self.rules.count_unknown:
            columns = np.append(columns, np.int32(len(self.vocabulary)))
        return [stream for _, stream in found], columns

    def _scanner(self) -> CompiledLexicon | PhraseScanner | UnknownScanner:
        if self.rules.count_unknown:
            return UnknownScanner(self._lexicon, self.rules)
        words = self._lexicon.reader(self.rules.keep_single)
        return words if self._phrases is None else PhraseScanner(words, self._phrases, self._word_of)

    def _add_terms(self) -> None:
        """Add the terms that are new at the end of the vocabulary."""
        terms = list(islice(self.vocabulary, self._n_terms, None))
        if self._n_terms == 0:
            columns = np.fromiter(self.vocabulary.values(), dtype=np.int64)
            terms = [terms[place] for place in np.argsort(-self._frequency[columns], kind="stable")]
        if isinstance(self._lexicon, CharacterLexicon):
            self._add_sequences(self._lexicon, terms)
        elif self.rules.has_phrases:
            self._add_phrases(terms, self._lexicon.scan(terms))
        else:
            self._add_words(terms, self._lexicon.scan(terms))
        self._n_terms = len(self.vocabulary)

    def _add_sequences(self, lexicon: CharacterLexicon, terms: list[str]) -> None:
        terms = [term for term in terms if term]
        numbers = lexicon.insert(terms)
        column_of = self._columns_so_far()
        column_of[numbers] = [self.vocabulary[term] for term in terms]
        self._column_of = column_of

    def _columns_so_far(self) -> Int32Array:
        # One place more than there are terms: for the number that unknown tokens get.
        column_of = np.full(len(self._lexicon) + 1, -1, dtype=np.int32)
        column_of[: self._column_of.size] = self._column_of
        return column_of

    def _add_words(self, terms: list[str], stream: Stream) -> None:
        column_of = self._columns_so_far()
        # A term counts if the scanner finds it as one token, spelled the same.
        whole = np.flatnonzero(np.diff(stream.ends, prepend=0) == 1)
        numbers = stream.raw_numbers[stream.ends[whole] - 1]
        found = [terms[place] for place in whole.tolist()]
        same = np.fromiter(map(eq, self._lexicon.spell(numbers), found), dtype=bool, count=len(found))
        columns = np.fromiter(map(self.vocabulary.__getitem__, found), dtype=np.int32, count=len(found))
        columns[self.rules.terms.words(found)[1] < 0] = -1
        column_of[numbers[same]] = columns[same]
        self._column_of = column_of

    def _add_phrases(self, terms: list[str], stream: Stream) -> None:
        # A term counts if its tokens with a space between them spell it.
        lengths = np.diff(stream.ends, prepend=0)
        low, high = self.rules.ngram_range
        possible = (lengths >= low) & (lengths <= high) & self._spell_the_same(terms, stream)
        stop_words = sorted(self.rules.terms.stop_words)
        stops = self._lexicon.scan(stop_words)
        whole = np.diff(stops.ends, prepend=0) == 1
        whole &= self._spell_the_same(stop_words, stops)
        unknown = len(self._lexicon)
        self._phrases = Phrases(unknown + 1, low, high)
        self._word_of: Int32Array = np.arange(unknown + 1, dtype=np.int32)
        self._word_of[stops.raw_numbers[stops.ends[whole] - 1]] = -1
        columns = np.array([self.vocabulary[term] for term in terms], dtype=np.int32)
        self._column_of = _columns_of_phrases(self._phrases, stream, possible, columns)

    def _spell_the_same(self, terms: list[str], stream: Stream) -> AnyArray:
        """Tell for each term whether its tokens with a space between them spell it."""
        tokens = self._lexicon.spell(stream.raw_numbers)
        # Tokens are not longer than what they come from unless they are lower-cased: if all agree, each does.
        together = " ".join(terms)
        if " ".join(tokens) == together and together == together.lower():
            return np.ones(len(terms), dtype=bool)
        found = iter(tokens)
        lengths = np.diff(stream.ends, prepend=0).tolist()
        spelled = (" ".join(islice(found, length)) for length in lengths)
        return np.fromiter(map(eq, spelled, terms), dtype=bool, count=len(terms))


def _columns_of_phrases(phrases: Phrases, terms: Stream, possible: AnyArray, columns: Int32Array) -> Int32Array:
    """Add the terms that are possible; return the column of every number, -1 where it has none."""
    lengths = np.diff(terms.ends, prepend=0)
    numbers = phrases.add(
        Stream(terms.raw_numbers[np.repeat(possible, lengths)], np.cumsum(lengths[possible], dtype=np.int64))
    )
    column_of = np.full(phrases.n_words + len(phrases) + 1, -1, dtype=np.int32)
    column_of[numbers] = columns[possible]
    return column_of


class PhraseScanner:
    """Words and phrases that are known, found in documents."""

    def __init__(self, words: CompiledLexicon, phrases: Phrases, word_of: Int32Array) -> None:
        self._words = words
        self._phrases = phrases
        self._word_of = word_of

    def __len__(self) -> int:
        return self._phrases.n_words + len(self._phrases)

    def scan(self, documents: Sequence[str]) -> Stream:
        """Number the known words and phrases of the documents."""
        return self._phrases.find(self._words.scan(documents), self._word_of, self._phrases.n_words - 1)


class UnknownScanner:
    """Terms in documents, known and unknown: each batch is numbered on its own, then its different terms are looked up.

    A known term has its number in the lexicon of them. The next number is that of terms that are left out by rules, and
    from the one after it on all other unknown terms of the batch have numbers of their own.
    """

    def __init__(self, known: CompiledLexicon, rules: LookupRules) -> None:
        self._known = known
        self._rules = rules
        self._n_unknown = 0

    def __len__(self) -> int:
        return len(self._known) + 1 + self._n_unknown

    def scan(self, documents: Sequence[str]) -> Stream:
        """Number the terms of the documents."""
        batch = self._rules.make_lexicon(self._rules.keep_single)
        stream = batch.scan(documents)
        numbers = self._known.find(batch)
        unknown = np.flatnonzero(numbers < 0)
        if not self._rules.terms.keep_all:
            left_out = self._rules.terms.words(batch.spell(unknown))[1] < 0
            numbers[unknown[left_out]] = len(self._known)
            unknown = unknown[~left_out]
        self._n_unknown = unknown.size
        numbers[unknown] = np.arange(len(self._known) + 1, len(self))
        return stream._replace(raw_numbers=numbers[stream.raw_numbers])


class PhraseTable:
    """Finds the terms of a vocabulary in documents whose words are known by name; no word holds a space.

    Parameters
    ----------
    vocabulary : dict of str to int
        Column of every term.
    ngram_range : tuple of two int
        Least and greatest number of words in a term.
    """

    def __init__(self, vocabulary: dict[str, int], ngram_range: tuple[int, int]) -> None:
        self.vocabulary = vocabulary
        self.ngram_range = ngram_range
        self._n_terms = len(vocabulary)
        terms = [term.split(" ") for term in vocabulary]
        lengths = np.fromiter(map(len, terms), dtype=np.int64, count=len(terms))
        self._numbers = dict.fromkeys(chain.from_iterable(terms), 0)
        self._numbers = dict(zip(self._numbers, range(len(self._numbers)), strict=True))
        numbers = np.fromiter(map(self._numbers.__getitem__, chain.from_iterable(terms)), dtype=np.int32)
        low, high = ngram_range
        self._phrases = Phrases(len(self._numbers) + 1, low, high)
        columns = np.fromiter(vocabulary.values(), dtype=np.int32)
        stream = Stream(numbers, lengths.cumsum())
        self._column_of = _columns_of_phrases(self._phrases, stream, (lengths >= low) & (lengths <= high), columns)

    def fits(self, vocabulary: dict[str, int], ngram_range: tuple[int, int]) -> bool:
        """Tell whether the table was made for this vocabulary and these phrases."""
        same = vocabulary is self.vocabulary and len(vocabulary) == self._n_terms
        return same and ngram_range == self.ngram_range

    def find(self, words: list[str], streams: list[Stream], word_of: Int32Array) -> tuple[list[Stream], Int32Array]:
        """Number the terms of every document; returns the streams and the column of every number.

        ``word_of`` is the place in ``words`` for each number of the streams, -1 for what is left out.
        """
        unknown = len(self._numbers)
        # The place -1 is the last.
        known = np.array([*(self._numbers.get(word, unknown) for word in words), -1], dtype=np.int32)
        n_numbers = self._phrases.n_words + len(self._phrases)
        number_of = known[word_of]
        found = (self._phrases.find(stream, number_of, unknown) for stream in streams)
        return [_pipeline.counted(stream, n_numbers) for stream in found], self._column_of
