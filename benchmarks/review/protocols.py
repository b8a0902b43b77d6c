"""Ways to begin a review that has a protocol: a pair of records, its criteria, its title.

    python -m benchmarks.review.protocols [--seeds 2] [REVIEW ...]

Replays of reviews of `synergy`, the most probable record each time; all judgements are fitted anew when 8 % of them are
new. Without a pair of records the seed only chooses the stand-ins, so that there is one replay.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np

from bayesift._typing import BoolArray
from bayesift.datasets import load
from bayesift.review.engine import Corpus, Knowledge
from bayesift.review.simulate import starting_pair
from benchmarks.measuring import show
from benchmarks.review.restarts import replay

REVIEWS = ("Donners_2021", "Sep_2021", "van_der_Valk_2021", "Menon_2022")


class Way(NamedTuple):
    """What is known at the beginning: a pair of records or none, and what the protocol says."""

    pair: bool
    knowledge: Knowledge


def ways(criteria: Knowledge, title: str) -> dict[str, Way]:
    """Return the ways to begin, in the order of the columns."""
    return {
        "pair": Way(True, Knowledge()),
        "criteria": Way(False, criteria),
        "pair and criteria": Way(True, criteria),
        "the same without exclusion": Way(True, criteria._replace(exclusion="")),
        "pair and title": Way(True, Knowledge(title)),
    }


def measured(corpus: Corpus, truth: BoolArray, way: Way, seeds: int) -> tuple[float, float]:
    """Return time to discovery and WSS@95, means over the seeds."""
    runs = [
        replay(
            corpus,
            truth,
            "most probable",
            seed,
            knowledge=way.knowledge,
            start=starting_pair(truth, seed) if way.pair else (),
        )
        for seed in range(seeds if way.pair else 1)
    ]
    discovery, saved = np.mean([(run.average_time_to_discovery, run.wss95) for run in runs], axis=0)
    return float(discovery), float(saved)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("reviews", nargs="*", default=list(REVIEWS))
    parser.add_argument("--seeds", type=int, default=2)
    given = parser.parse_args()
    rows, names = [], list(ways(Knowledge(), ""))
    for name in given.reviews:
        review = load("synergy", review=name)
        truth = review.train.indicator(("included",)).toarray().ravel() > 0
        corpus = Corpus.build(review.train.texts)
        tried = ways(Knowledge.of_protocol(review.protocol), review.protocol["title"])
        found = [measured(corpus, truth, way, given.seeds) for way in tried.values()]
        for place, measure in enumerate(("time to discovery", "WSS@95")):
            rows.append((name, measure, *(f"{numbers[place]:.3f}" for numbers in found)))
    show(f"{len(given.reviews)} reviews, {given.seeds} seeds where a pair is known", ("review", "", *names), rows)


if __name__ == "__main__":
    main()
