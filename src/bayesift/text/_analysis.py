"""Documents to streams of term numbers, by the rules a vectoriser was given."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from bayesift._typing import Int32Array, Int64Array
from bayesift.text import _pipeline
from bayesift.text._lexicon import Lexicon, Stream
from bayesift.text._phrases import Phrases
from bayesift.text._terms import TermRules


class Analysis(NamedTuple):
    """What was found in a collection.

    ``term_of[number]`` is the place of the term in the list that ``terms()`` spells, or -1 for what does not count.
    The spelling is put off because it holds the interpreter lock and can go on beside the counting.
    """

    streams: list[Stream]
    term_of: Int32Array
    terms: Callable[[], list[str]]


@dataclass(frozen=True)
class Analyzer:
    """Tokens, then words, then phrases."""

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
