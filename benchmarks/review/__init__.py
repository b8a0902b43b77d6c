"""Replays of systematic reviews beside ASReview, and how often stopping rules keep their word."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesift.datasets import load
from benchmarks.measuring import show
from benchmarks.review import coverage, pictures
from benchmarks.review.ours import CHOSEN_ON, REVIEWS
from benchmarks.review.runs import results

Results = dict[str, list[dict[str, Any]]]

#: What the columns are called, in their order.
SHOWN = {"peer": "ASReview"} | {way: way for way in ("ours", "usual mix", "line", "line and method", "pair and line")}
#: The measures, and whether more is better.
MEASURES = {
    "wss": ("WSS@95", True),
    "atd": ("average time to discovery", False),
    "recall": ("recall at 10 %", True),
}
_GROUPS = {
    "mean of all": REVIEWS,
    "mean of the seven chosen on": CHOSEN_ON,
    "mean of the other seven": tuple(sorted(set(REVIEWS) - set(CHOSEN_ON))),
}


def run(_repeats: int) -> None:
    found = {way: results(way) for way in SHOWN}
    sizes = {name: _size(name) for name in REVIEWS}
    header = ("review", "records", "in the review", *SHOWN.values())
    for measure, (title, more) in MEASURES.items():
        means = {way: {name: _mean(found[way][name], measure) for name in REVIEWS} for way in SHOWN}
        rows = [(name, *sizes[name], *_marked([means[way][name] for way in SHOWN], more)) for name in REVIEWS]
        for group, names in _GROUPS.items():
            rows.append((group, "", "", *(f"{np.mean([means[way][name] for name in names]):.3f}" for way in SHOWN)))
        better = [sum(_better(means[way][name], means["peer"][name], more) for name in REVIEWS) for way in SHOWN]
        rows.append(("better than ASReview on", "", "", "", *(f"{count} of {len(REVIEWS)}" for count in better[1:])))
        show(f"{title}, means over the seeds; bold: better than ASReview", header, rows)
    stops = results("watched")
    header = ("rule", "reviews: reach 95 %", "mean recall", "least", "records read")
    header += ("synthetic collections: reach 95 %", "records read")
    show("stopping rules", header, _rules(stops, coverage.collections(60)))
    header = ("documents", "share relevant", "distance of the scores", "reach 95 %", "mean recall", "read")
    show("rule by bets, readers with a noisy score", header, coverage.readers(100))
    pictures.draw(found, stops)


def _size(name: str) -> tuple[str, str]:
    """Return how many records a review has, and how many of them are part of it in the end."""
    records = load("cohen2006", review=name).train
    return f"{len(records.texts):,}", f"{sum('included' in labels for labels in records.labels):,}"


def _mean(of_seeds: list[dict[str, Any]], measure: str) -> float:
    return float(np.mean([result[measure] for result in of_seeds]))


def _better(ours: float, theirs: float, more: bool) -> bool:
    return ours > theirs if more else ours < theirs


def _marked(means: list[float], more: bool) -> list[str]:
    """Return the means, that of the peer first, in bold where they are better than its."""
    return [f"**{mean:.3f}**" if _better(mean, means[0], more) else f"{mean:.3f}" for mean in means]


def _rules(on_reviews: Results, synthetic: dict[str, tuple[str, str, str]]) -> list[tuple[str, ...]]:
    every = [result["stops"] for of_seeds in on_reviews.values() for result in of_seeds]
    rows = []
    for rule, (reached, _, effort) in synthetic.items():
        recall = np.array([stop[rule]["recall"] for stop in every])
        read = np.mean([stop[rule]["effort"] for stop in every])
        measured = f"{np.mean(recall >= 0.95):.0%}", f"{recall.mean():.1%}", f"{recall.min():.0%}", f"{read:.0%}"
        rows.append((rule, *measured, reached, effort))
    return rows
