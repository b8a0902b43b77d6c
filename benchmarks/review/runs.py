"""Replays of all reviews, kept in a folder: deleting it runs everything anew."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

from bayesift.review.simulate import Simulation, starting_pair
from benchmarks.review import peer
from benchmarks.review.ours import REVIEWS, WAYS, Review, loaded

#: Efforts at which recall is kept, for the picture.
EFFORTS = np.linspace(0, 1, 101)


def results(way: str, reviews: tuple[str, ...] = REVIEWS) -> dict[str, list[dict[str, Any]]]:
    """Return what the replays of one way brought, for each review a list over the seeds."""
    return {name: list(_of_review(way, name)) for name in track(reviews, way, console=Console(stderr=True))}


def _of_review(way: str, name: str) -> Iterator[dict[str, Any]]:
    review: Review | None = None
    for seed in range(10 if way == "peer" else WAYS[way].n_seeds):
        kept = peer.RUNS / f"{way.replace(' ', '-')}-{name}-{seed}.json"
        if not kept.exists():
            review = review or loaded(name)
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps(_summary(_replay(way, review, seed))), encoding="utf-8")
        yield json.loads(kept.read_text(encoding="utf-8"))


def _replay(way: str, review: Review, seed: int) -> Simulation:
    if way != "peer":
        return WAYS[way].replay(review, seed)
    pair = starting_pair(review.relevant, seed)
    return peer.read(peer.run(review.name, review.texts, review.relevant, pair, seed), review.relevant, pair)


def _summary(run: Simulation) -> dict[str, Any]:
    curve = run.curve
    return {
        "wss": run.wss95,
        "atd": run.average_time_to_discovery,
        "recall": run.recall_at(0.1),
        "curve": np.interp(EFFORTS, curve.effort, curve.recall).round(4).tolist(),
        "stops": {name: stop._asdict() for name, stop in run.stops.items()},
    }
