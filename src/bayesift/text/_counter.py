"""Documents to a matrix of counts: with every term a column, with known columns, with new ones, with hashed ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike

from bayesift.text import _pipeline
from bayesift.text._analysis import Analysis, Analyzer
from bayesift.text._hashing import combine_signs, hashed_columns
from bayesift.text._lookup import LookupTable

Batches = Iterator[list[str]]


@dataclass(frozen=True)
class Counter:
    """Counts terms by the rules of an analyser."""

    analyzer: Analyzer
    dtype: DTypeLike

    def count_all(self, batches: Batches) -> tuple[sp.csr_matrix, dict[str, int]]:
        """Make every term a column, in code-point order; gives the counts and the column of each term."""
        analysis = self.analyzer.analyze(batches)
        n_terms = int(analysis.term_of.max(initial=-1)) + 1
        if n_terms == 0:
            raise ValueError(
                "no term was found: the documents are empty, or hold only stop words and tokens that are left out"
            )
        chunks = _pipeline.count(analysis.streams, analysis.term_of, n_terms, self.analyzer.n_threads)
        # Spelling needs the interpreter lock, counting does not: they go on side by side.
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
        columns = hashed_columns(analysis.terms(), n_features, signed)
        counts = self._count(analysis, columns, 2 * n_features if signed else n_features)
        return combine_signs(counts) if signed else counts

    def _count(self, analysis: Analysis, columns: Iterable[int], n_columns: int) -> sp.csr_matrix:
        """Count the terms of an analysis in the columns given for them (-1: none)."""
        # Numbers that do not count have the place -1, which is the last.
        column_of_term = np.fromiter(chain(columns, [-1]), dtype=np.int32)
        column_of = column_of_term[analysis.term_of]
        chunks = _pipeline.count(analysis.streams, column_of, n_columns, self.analyzer.n_threads)
        return _pipeline.assemble(chunks, n_columns, self.dtype)
