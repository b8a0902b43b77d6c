"""Posteriors: how often intervals hold the truth, what averaging changes on real labels, and speed."""

from __future__ import annotations

from threadpoolctl import threadpool_limits

from benchmarks.posterior.coverage import COLLECTIONS, coverage
from benchmarks.posterior.labels import real_labels, words_and_vectors
from benchmarks.posterior.speed import few_labels, many_labels, peers


def run(repeats: int) -> None:
    """Print the tables."""
    with threadpool_limits(1):
        for name in COLLECTIONS:
            coverage(name)
        real_labels()
        words_and_vectors()
        few_labels(repeats)
        many_labels()
        peers()
