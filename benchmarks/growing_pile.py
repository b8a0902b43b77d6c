"""Word vectors as the pile grows: processor time and memory for texts that are made up on the way and never held."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from bayesift.vectors import WordVectors
from benchmarks.measuring import peak_beyond_now, show

SIZES = (10_000, 100_000, 1_000_000)
N_WORDS, LENGTH, N_TOPICS, BATCH = 1_000_000, 100, 50, 1000


class Pile:
    """Texts of 100 words, half of them from all the language, half from the words of a topic, each by Zipf's law.

    ``seconds`` is the processor time that making them took.
    """

    def __init__(self, n_texts: int) -> None:
        self.n_texts, self.seconds = n_texts, 0.0

    def __iter__(self) -> Iterator[str]:
        random = np.random.default_rng(0)
        names = np.array([f"w{number}" for number in range(N_WORDS)], dtype=object)
        chances = np.cumsum(1.0 / np.arange(1, N_WORDS + 1))
        chances /= chances[-1]
        for _ in range(self.n_texts // BATCH):
            begin = time.thread_time()
            words = np.searchsorted(chances, random.random((BATCH, LENGTH)))
            # A topic has every fiftieth word, with the frequencies of the language.
            topics = random.integers(N_TOPICS, size=(BATCH, 1))
            half = LENGTH // 2
            words[:, :half] = np.minimum(words[:, :half] // N_TOPICS * N_TOPICS + topics, N_WORDS - 1)
            texts = [" ".join(row) for row in names[words].tolist()]
            self.seconds += time.thread_time() - begin
            yield from texts


def run(repeats: int) -> None:
    """Print a row for each size; ``repeats`` does not matter."""
    WordVectors(2).fit(list(Pile(BATCH)))
    rows = []
    for n_texts in SIZES:
        pile = Pile(n_texts)
        begin, started = time.process_time(), time.perf_counter()
        memory, vectors = peak_beyond_now(lambda pile=pile: WordVectors().fit(pile))
        processor = time.process_time() - begin - pile.seconds
        elapsed = time.perf_counter() - started
        rows.append(
            (
                f"{n_texts:,}",
                f"{len(vectors):,}",
                f"{processor:.1f} s",
                f"{elapsed:.1f} s",
                f"{memory / 1e6:,.0f} MB",
            )
        )
    header = ("texts", "words with a vector", "processor", "elapsed, with making the texts", "memory")
    show(f"word vectors of texts of {LENGTH} words", header, rows)
