"""Turn tokens into the words that count: stop words, lengths, numbers, stems.

Everything here is done once for each distinct token, never for each occurrence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import Stemmer
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from bayesift import datasets
from bayesift._typing import Int32Array
from bayesift.text._stop_words import STOP_WORDS


@dataclass(frozen=True)
class TermRules:
    """Which tokens are kept, and under what name."""

    stop_words: frozenset[str] = frozenset()
    min_length: int = 1
    max_length: int | None = None
    drop_numbers: bool = False
    stem: Callable[[list[str]], list[str]] | None = None

    @property
    def keep_all(self) -> bool:
        """Whether every token is a word under its own name."""
        return self == TermRules()

    @property
    def keep_all_but_stop_words(self) -> bool:
        """Whether every token that is not a stop word is a word under its own name."""
        return replace(self, stop_words=frozenset()).keep_all

    def words(self, tokens: list[str]) -> tuple[list[str], Int32Array]:
        """List the distinct words in code-point order, and for each token the place of its word (or -1).

        Fastest when the tokens are nearly sorted.
        """
        longest = self.max_length or max(map(len, tokens), default=0)
        kept = [
            place
            for place, token in enumerate(tokens)
            if token not in self.stop_words
            and self.min_length <= len(token) <= longest
            and not (self.drop_numbers and token.isdecimal())
        ]
        names = [tokens[place] for place in kept]
        if self.stem is not None:
            names = self.stem(names)
            check_strings(names, "stemmer must give")
        words = sorted(dict.fromkeys(names))
        place_of = dict(zip(words, range(len(words)), strict=True))
        word_of = np.full(len(tokens), -1, dtype=np.int32)
        word_of[kept] = np.fromiter(map(place_of.__getitem__, names), dtype=np.int32, count=len(names))
        return words, word_of


def check_strings(names: Iterable[Any], rule: str) -> None:
    """Refuse anything but strings from a caller or a caller's function."""
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{rule} strings, got {name!r} of type {type(name).__name__}")


def resolve_stop_words(stop_words: Any) -> frozenset[str]:
    """Return the set of words to leave out, given a name or an iterable.

    Parameters
    ----------
    stop_words : {"smart", "english", "german", ...}, iterable of str or None
        As in :class:`TextVectorizer`; None leaves nothing out.

    Examples
    --------
    >>> from bayesift.text import resolve_stop_words
    >>> "the" in resolve_stop_words("english")
    True
    """
    if stop_words is None:
        return frozenset()
    if isinstance(stop_words, str):
        if stop_words == "english":
            return ENGLISH_STOP_WORDS
        if stop_words == "smart":
            return datasets.stop_words("smart")
        if stop_words in STOP_WORDS:
            return STOP_WORDS[stop_words]
        known = ", ".join(map(repr, ["smart", "english", *STOP_WORDS]))
        raise ValueError(f"stop_words must be None, {known} or an iterable of words, got {stop_words!r}")
    if isinstance(stop_words, Iterator):
        raise TypeError("stop_words must be a collection that can be read again (a list or a set), got an iterator")
    words = frozenset(stop_words)
    check_strings(words, "stop_words must hold")
    return words


class LanguageRules(NamedTuple):
    """Stop words and stemmer of a language, by name; ``stop_words`` is None if there is no list."""

    stop_words: str | None
    stemmer: str


def language_rules(language: str) -> LanguageRules:
    """Return the stop words and the stemmer of a language, as :class:`TextVectorizer` takes them.

    Parameters
    ----------
    language : str
        Its English name, in lower case.

    Returns
    -------
    LanguageRules
        ``stop_words`` and ``stemmer``.

    Examples
    --------
    >>> from bayesift.text import language_rules
    >>> language_rules("german")
    LanguageRules(stop_words='german', stemmer='german')
    >>> language_rules("finnish")
    LanguageRules(stop_words=None, stemmer='finnish')
    """
    languages = [name for name in Stemmer.algorithms() if name not in _OTHER_ALGORITHMS]
    if language not in languages:
        raise ValueError(f"language must be one of {', '.join(languages)}; got {language!r}")
    has_words = language == "english" or language in STOP_WORDS
    return LanguageRules(language if has_words else None, language)


#: Algorithms of Snowball that are not named after a language.
_OTHER_ALGORITHMS = ("porter", "lovins", "dutch_porter", "kraaij_pohlmann")


def resolve_stemmer(stemmer: Any) -> Callable[[list[str]], list[str]] | None:
    """Return a function from words to stems, given the name of a Snowball algorithm or a function of one word."""
    if stemmer is None:
        return None
    if callable(stemmer):
        return lambda words: [stemmer(word) for word in words]
    algorithms = Stemmer.algorithms(aliases=True)
    if stemmer not in algorithms:
        raise ValueError(
            f"stemmer must be None, a function or one of {', '.join(Stemmer.algorithms())}; got {stemmer!r}"
        )
    # Every word occurs once, so a cache would only cost memory.
    return Stemmer.Stemmer(stemmer, 0).stemWords


def check_analyzer(vectorizer: Any) -> None:
    """Refuse an analyzer that is a function, and rules for words if terms are sequences of characters."""
    analyzer = vectorizer.analyzer
    if callable(analyzer):
        raise TypeError(
            "analyzer must be 'word', 'char' or 'char_wb', got a function: give a function from a text to its tokens "
            "as tokenizer (with lowercase=False if it wants the text as it is)"
        )
    if analyzer not in ("char", "char_wb"):
        return
    for name in _WORD_RULES:
        value = getattr(vectorizer, name)
        if value is not None and value is not False:
            raise ValueError(
                f"{name}={value!r} is a rule for words, but analyzer={analyzer!r} takes characters as terms"
            )


#: Parameters that decide which words there are.
_WORD_RULES = (
    "stop_words",
    "stemmer",
    "token_pattern",
    "tokenizer",
    "min_token_length",
    "max_token_length",
    "drop_numbers",
)


def check_ngram_range(ngram_range: Any) -> None:
    """Refuse what is not a pair of positive whole numbers in order."""
    pair = tuple(ngram_range)
    if len(pair) != 2 or not all(isinstance(n, int | np.integer) and n >= 1 for n in pair) or pair[0] > pair[1]:
        raise ValueError(f"ngram_range must be two whole numbers 1 <= low <= high, got {ngram_range!r}")


def check_token_rules(
    token_pattern: str | None, tokenizer: Any, min_token_length: int | None, max_token_length: int | None
) -> None:
    """Refuse contradictory rules for tokens and patterns that cannot be used."""
    if token_pattern is not None:
        if tokenizer is not None:
            raise ValueError("token_pattern and tokenizer both say what a token is; give one of them")
        try:
            groups = re.compile(token_pattern).groups
        except re.error as error:
            raise ValueError(f"token_pattern {token_pattern!r} is not a regular expression: {error}") from error
        if groups > 1:
            raise ValueError(f"token_pattern must have at most one group, {token_pattern!r} has {groups}")
    if min_token_length is not None and max_token_length is not None and min_token_length > max_token_length:
        raise ValueError(
            f"min_token_length={min_token_length} is greater than max_token_length={max_token_length}: "
            "no token could be kept"
        )
