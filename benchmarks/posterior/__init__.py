"""Posteriors: how often intervals hold the truth, what averaging changes on real labels, and speed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from threadpoolctl import threadpool_limits

from benchmarks.posterior.coverage import COLLECTIONS, coverage, unknown_variance
from benchmarks.posterior.labels import real_labels, words_and_vectors
from benchmarks.posterior.peers import few_beside_peers, many_beside_peers
from benchmarks.posterior.speed import few_labels, many_labels


def parts(repeats: int) -> dict[str, Callable[[], None]]:
    """Return all tables by name, so that they can be made one at a time."""
    found: dict[str, Callable[[], None]] = {}
    for name in COLLECTIONS:
        found[f"coverage-{name}"] = partial(coverage, name)
    return {
        **found,
        "unknown": unknown_variance,
        "labels": real_labels,
        "vectors": words_and_vectors,
        "speed-few": partial(few_labels, repeats),
        "speed-many": many_labels,
        "speed-peers": few_beside_peers,
        "speed-many-peers": many_beside_peers,
    }


def run(repeats: int, names: list[str] | None = None) -> None:
    """Print the tables."""
    known = parts(repeats)
    with threadpool_limits(1):
        for name in names or known:
            known[name]()
