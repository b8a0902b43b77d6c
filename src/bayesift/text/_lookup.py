"""Fixed terms in a compiled lexicon, for tokens that are terms as they stand."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from operator import eq

import numpy as np

from bayesift._typing import Int32Array, Int64Array
from bayesift.text import _pipeline
from bayesift.text._lexicon import CompiledLexicon, Stream


class LookupTable:
    """Finds the terms of a vocabulary without spelling any token.

    Parameters
    ----------
    vocabulary : dict of str to int
        Column of every term; may grow later. A term that the scanner would never give (a phrase, say) is simply never
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
        """Number the tokens of every document; gives the streams and the column of every number."""
        if self._n_terms < len(self.vocabulary):
            self._add_terms()
        _, found = _pipeline.scan(batches, lambda: self._lexicon.reader(self.keep_single), n_threads, False)
        return [stream for _, stream in found], self._column_of

    def _add_terms(self) -> None:
        """Take in the terms that have come to the end of the vocabulary."""
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
