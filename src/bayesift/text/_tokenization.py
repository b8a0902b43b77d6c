"""How texts are cut into terms, as the parameters of a vectorizer say."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Literal, Self

from bayesift.text._characters import CharacterLexicon
from bayesift.text._counter import Analyzer
from bayesift.text._lexicon import CompiledLexicon, Lexicon, PythonLexicon
from bayesift.text._lookup import LookupRules
from bayesift.text._terms import TermRules, resolve_stemmer
from bayesift.text._unicode import pairs_pattern

#: scikit-learn's default rule, which the compiled scanner follows.
DEFAULT_PATTERN = r"(?u)\b\w\w+\b"


@dataclass(frozen=True)
class Tokenization:
    """Rules for tokens, words and phrases, or for sequences of characters, as in :class:`TextVectorizer`."""

    stemmer: str | Callable[[str], str] | None
    lowercase: bool
    token_pattern: str | None
    tokenizer: Callable[[str], Iterable[str]] | None
    min_token_length: int | None
    max_token_length: int | None
    drop_numbers: bool
    unspaced: Literal["pairs", "whole"]
    analyzer: Literal["word", "char", "char_wb"]
    ngram_range: tuple[int, int]
    unknown_terms: Literal["ignore", "normalize"]

    @classmethod
    def of(cls, vectorizer: Any) -> Self:
        """Return the rules of a vectorizer by its present parameters."""
        return cls(*(getattr(vectorizer, field.name) for field in fields(cls)))

    @property
    def is_compiled(self) -> bool:
        """Whether compiled code finds the tokens."""
        return self.tokenizer is None and self.token_pattern in (None, DEFAULT_PATTERN)

    @property
    def cuts_pairs(self) -> bool:
        """Whether runs of letters of languages without spaces are cut into pairs."""
        has_own_rule = self.analyzer != "word" or self.tokenizer is not None or self.token_pattern is not None
        return self.unspaced == "pairs" and not has_own_rule

    @property
    def lengths(self) -> tuple[int, int]:
        """Least and greatest number of words, or of characters, in a term."""
        low, high = self.ngram_range
        return int(low), int(high)

    @property
    def shortest(self) -> int:
        """Number of characters in the shortest token."""
        least = 2 if self.is_compiled and (self.min_token_length is None or self.token_pattern is not None) else 1
        return max(self.min_token_length or 1, least)

    def regex(self) -> str:
        """Return the regular expression that finds words."""
        if self.tokenizer is not None or self.analyzer != "word":
            raise ValueError("tokens are found by a function, or are sequences of characters; expected a pattern")
        if self.cuts_pairs:
            return pairs_pattern(self.shortest)
        return self.token_pattern or rf"(?u)\b\w{{{self.shortest},}}\b"

    def rules(self, stop_words: frozenset[str]) -> TermRules:
        """Return which tokens are kept, and under what name."""
        shortest = self.shortest
        asked = self.min_token_length == 2 and self.cuts_pairs
        return TermRules(
            stop_words=stop_words,
            # The compiled scanner leaves out single characters itself, but for letters that stand for words.
            min_length=1 if self.is_compiled and shortest == 2 and not asked else shortest,
            max_length=self.max_token_length,
            drop_numbers=self.drop_numbers,
            stem=resolve_stemmer(self.stemmer),
        )

    def analyze(self, stop_words: frozenset[str], n_jobs: int | None) -> Analyzer:
        """Return what finds the terms of documents."""
        make_lexicon: Callable[[], Lexicon]
        if self.analyzer != "word":
            make_lexicon = partial(CharacterLexicon, self.lowercase, self.analyzer, self.lengths)
            return Analyzer(make_lexicon, TermRules(), (1, 1), n_jobs)
        if self.is_compiled:
            single = self.shortest == 1
            make_lexicon = partial(CompiledLexicon, self.lowercase, keep_single=single, pairs=self.cuts_pairs)
        else:
            tokens = self.tokenizer or re.compile(self.token_pattern or "").findall
            make_lexicon, n_jobs = partial(PythonLexicon, tokens, self.lowercase), 1
        return Analyzer(make_lexicon, self.rules(stop_words), self.lengths, n_jobs)

    def lookup_rules(self, stop_words: frozenset[str]) -> LookupRules | None:
        """Return how a table of a vocabulary finds its terms; None where it cannot.

        It can where every token is a word as it is. Phrases need all tokens but stop words, of others that are left out
        no table knows; and no table counts unknown phrases.
        """
        terms, count_unknown = self.rules(stop_words), self.unknown_terms == "normalize"
        has_phrases = self.analyzer == "word" and self.lengths != (1, 1)
        if not self.is_compiled or terms.stem is not None:
            return None
        if has_phrases and (count_unknown or not terms.keep_all_but_stop_words):
            return None
        single = self.shortest == 1
        return LookupRules(self.lowercase, single, self.lengths, terms, self.analyzer, self.cuts_pairs, count_unknown)

    @property
    def finds_phrases(self) -> bool:
        """Whether a table of phrases finds them in documents whose words are known by name: no word holds a space."""
        has_phrases = self.lengths != (1, 1) and self.unknown_terms == "ignore"
        return has_phrases and self.is_compiled and not callable(self.stemmer)
