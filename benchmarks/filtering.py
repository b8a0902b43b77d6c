"""A filter at the size of TREC-9: training, a long stream for 63 topics with every judgement kept, and resuming."""

from __future__ import annotations

import time
from collections.abc import Callable
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from bayesift.datasets import load
from bayesift.filtering import AdaptiveFilter, Decision
from bayesift.text import TextVectorizer
from benchmarks.measuring import show

N_TRAIN, N_STREAM, N_RELEVANT = 54_710, 293_856, 60


class Problem(NamedTuple):
    """Abstracts of OHSUMED, repeated until there are as many as in TREC-9, for the topics of TREC-9.

    The judgements that belong to the topics are of other abstracts, so the 60 most similar to a statement count as
    relevant: a sixth of them in training, and all where they come in the stream for the first time.
    """

    train: list[str]
    labels: list[tuple[str, ...]]
    stream: list[str]
    topics: dict[str, str]
    relevant: set[tuple[int, str]]


def problem() -> Problem:
    """Make the problem."""
    collection, topics = load("ohsumed"), dict(load("trec9").descriptions)
    texts = collection.train.texts + collection.test.texts
    vectorizer = TextVectorizer("ltc", stop_words="english", stemmer="porter")
    similarity = (vectorizer.fit_transform(texts) @ vectorizer.transform(topics.values()).T).toarray()
    found: list[set[str]] = [set() for _ in texts]
    for name, column in zip(topics, similarity.T, strict=True):
        for row in np.argsort(-column, kind="stable")[:N_RELEVANT]:
            found[row].add(name)
    random = np.random.default_rng(0)
    train, stream = (np.resize(random.permutation(len(texts)), size).tolist() for size in (N_TRAIN, N_STREAM))
    labels = [tuple(found[row]) if row % 6 == 0 and k < len(texts) else () for k, row in enumerate(train)]
    relevant = {(place, name) for place, row in enumerate(stream[: len(texts)]) for name in found[row]}
    return Problem([texts[row] for row in train], labels, [texts[row] for row in stream], topics, relevant)


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return a result with its seconds by the clock and by the processor."""
    wall, cpu = time.perf_counter(), time.process_time()
    return work(), time.perf_counter() - wall, time.process_time() - cpu


def run(repeats: int) -> None:
    """Print the table; one run tells enough."""
    given = problem()

    def judge(decision: Decision) -> bool:
        return (decision.entry.place, decision.entry.topic) in given.relevant

    with TemporaryDirectory() as folder:

        def fit() -> AdaptiveFilter:
            return AdaptiveFilter(n_jobs=1).fit(given.train, given.labels, given.topics, state=folder)

        filter, *training = timed(fit)
        record, *streaming = timed(lambda: filter.run(given.stream, judge))
        filter.close()
        again, *resuming = timed(fit)
        again.close()
    pairs = N_STREAM * len(given.topics)
    steps = {
        f"training on {N_TRAIN:,} documents": training,
        f"{N_STREAM:,} documents, {len(record):,} judgements": streaming,
        "resuming at the end": resuming,
    }
    show(
        f"A filter for {len(given.topics)} topics: {pairs / streaming[1]:,.0f} documents × topics a CPU second",
        ("", "seconds", "CPU seconds"),
        [(name, *(f"{seconds:.1f}" for seconds in spent)) for name, spent in steps.items()],
    )


if __name__ == "__main__":
    run(1)
