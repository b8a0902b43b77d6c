"""Whether it helps to look elsewhere when a run of many cards finds nothing.

    python -m benchmarks.review.restarts [--seeds 10] [REVIEW ...]

Replays of reviews of `cohen2006` from one relevant and one irrelevant record, the most probable record each time; after
50 cards without a relevant one every second card is chosen in another way, until one is found: the most informative
record, one at random, or the most probable one among those that are unlike the last 50. All judgements are fitted anew
when 8 % of them are new.
"""

from __future__ import annotations

import argparse

import numpy as np

from bayesift.review.engine import Corpus, Knowledge, Mix, ReviewEngine
from bayesift.review.simulate import Simulation, starting_pair
from benchmarks.review.ours import GREEDY, loaded

NOTHING = Knowledge()

#: So many cards in a row without a relevant one are too many.
QUIET = 50

#: All judgements are fitted anew when so large a share of them is new.
NEW_SHARE = 0.08

#: Records are unlike others when the cosine to each of them is below this.
UNLIKE = 0.2

WAYS = ("most probable", "informative", "random", "unlike")
_OTHER = {"informative": Mix(0.0, 1.0, 0.0), "random": Mix(0.0, 0.0, 1.0)}


def replay(
    corpus: Corpus,
    truth: np.ndarray,
    way: str,
    seed: int,
    *,
    knowledge: Knowledge = NOTHING,
    start: tuple[int, ...] | None = None,
) -> Simulation:
    """Read until everything relevant is found, from a pair of records by default."""
    start = starting_pair(truth, seed) if start is None else start
    engine = ReviewEngine(corpus, knowledge, mix=GREEDY, seed=seed)
    for document in start:
        engine.label(document, bool(truth[document]), why="known")
    order: list[int] = []
    silence = fitted = 0
    while truth[[*start, *order]].sum() < truth.sum():
        judged = len(order) + len(start)
        if judged - fitted >= max(1.0, NEW_SHARE * judged):
            engine.adopt(engine.refit())
            fitted = judged
        elsewhere = silence >= QUIET and silence % 2 == 0
        engine.mix = _OTHER.get(way, GREEDY) if elsewhere else GREEDY
        alike = _alike(corpus, order[-QUIET:]) if elsewhere and way == "unlike" else set()
        document = (engine.next(exclude=alike) or engine.next())[0].document
        engine.label(document, bool(truth[document]), why="probable")
        order.append(document)
        silence = 0 if truth[document] else silence + 1
    seen = {*order, *start}
    reading = np.array([*order, *(place for place in range(len(truth)) if place not in seen)], dtype=np.int64)
    return Simulation(reading, truth[reading], ["probable"] * len(reading), start)


def _alike(corpus: Corpus, documents: list[int]) -> set[int]:
    """Return the records that are like one of some records."""
    cosine = (corpus.matrix @ corpus.matrix[documents].T).tocoo()
    return set(cosine.row[cosine.data >= UNLIKE].tolist())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("reviews", nargs="*", default=["Opioids", "ADHD", "SkeletalMuscleRelaxants"])
    parser.add_argument("--seeds", type=int, default=10)
    given = parser.parse_args()
    for name in given.reviews:
        review = loaded(name)
        found = {way: [] for way in WAYS}
        for seed in range(given.seeds):
            for way in WAYS:
                run = replay(review.corpus, review.relevant, way, seed)
                found[way].append((run.average_time_to_discovery, run.wss95))
            print(name, seed, *(f"{way} {found[way][-1][0]:.3f} {found[way][-1][1]:.3f}" for way in WAYS), flush=True)
        for way in WAYS:
            discovery, saved = np.mean(found[way], axis=0)
            worst = max(discovery for discovery, _ in found[way])
            print(f"{name}, {way}: time to discovery {discovery:.3f} (worst {worst:.3f}), WSS@95 {saved:.3f}")


if __name__ == "__main__":
    main()
