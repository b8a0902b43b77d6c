"""The relevance tagging machine on sentences and on long documents: seconds, tags kept, and how work shrinks.

No other implementation is at hand, so there is no peer; process time is reported, which other programs on the machine
disturb less.
"""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import numpy as np

from bayesift.ard import RelevanceTaggingMachine
from bayesift.datasets import load
from bayesift.text import TextVectorizer
from benchmarks.measuring import show
from reproduction.molchanov2015.data import sentences

MACHINES = {
    "map-em": RelevanceTaggingMachine(),
    "map-em, prune_at_once": RelevanceTaggingMachine(prune_at_once=True),
    "em": RelevanceTaggingMachine("em"),
}


def problems() -> dict[str, tuple[Any, Any, tuple[str, ...]]]:
    """Return tags and classes, and the methods to time on them."""
    X, y, *_ = sentences().split(0)
    news = load("20newsgroups")
    tags = TextVectorizer("bnn").fit_transform(news.train.texts)
    category = news.indicator("train").toarray()[:, news.categories.index("sci.space")]
    return {
        "SI650": (X, y, ("map-em", "map-em, prune_at_once", "em")),
        "20 Newsgroups, sci.space": (tags, category, ("map-em", "map-em, prune_at_once")),
    }


def process_seconds(machine: RelevanceTaggingMachine, X: Any, y: Any) -> float:
    """Fit, and return the processor time it took."""
    start = time.process_time()
    machine.fit(X, y)
    return time.process_time() - start


def run(repeats: int) -> None:
    """Print the table."""
    small = np.eye(3)
    for machine in MACHINES.values():
        # Compile before the clock starts.
        machine.fit(small, [0, 1, 1])
    rows = []
    for name, (X, y, methods) in problems().items():
        for method in methods:
            machine = MACHINES[method]
            seconds = median(process_seconds(machine, X, y) for _ in range(min(repeats, 3)))
            left = machine.n_relevant_path_
            shape = f"{X.shape[0]:,} × {X.shape[1]:,}"
            rows.append((name, shape, method, f"{seconds:.2f}", str(left[0]), str(left[4]), str(left[-1])))
    show(
        "Relevance tagging machine, 20 steps",
        ("data", "objects × tags", "method", "CPU seconds", "left after 1 step", "after 5", "after 20"),
        rows,
    )
