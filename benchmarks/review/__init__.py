"""Replays of systematic reviews beside ASReview, and how often stopping rules keep their word."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.measuring import show
from benchmarks.review import coverage, pictures
from benchmarks.review.ours import CHOSEN_ON, REVIEWS
from benchmarks.review.runs import results

Results = dict[str, list[dict[str, Any]]]

#: Ways beside which the peer is shown, in the order of the columns.
SHOWN = ("peer", "ours", "usual mix", "line", "line and method", "pair and line")


def run(_repeats: int) -> None:
    found = {way: results(way) for way in SHOWN}
    for measure, title in (("wss", "WSS@95"), ("atd", "average time to discovery"), ("recall", "recall at 10 %")):
        show(
            f"{title}, means over the seeds", ("review", *SHOWN), [*_by_review(found, measure), *_means(found, measure)]
        )
    stops = results("watched")
    show("stopping rules on the reviews", _RULE_COLUMNS, _rules(stops))
    show("stopping rules on synthetic collections", _RULE_COLUMNS, coverage.collections(60))
    show("rule by bets, readers with a noisy score", ("documents", "share", "distance", *_RULE_COLUMNS[1:]),
         [tuple(map(str, row)) for row in coverage.readers(100)])  # fmt: skip
    pictures.draw(found, stops)


_RULE_COLUMNS = ("rule", "reached 95 %", "mean recall", "mean effort")


def _mean(found: Results, name: str, measure: str) -> float:
    return float(np.mean([result[measure] for result in found[name]]))


def _by_review(found: dict[str, Results], measure: str) -> list[tuple[str, ...]]:
    return [(name, *(f"{_mean(found[way], name, measure):.3f}" for way in SHOWN)) for name in REVIEWS]


def _means(found: dict[str, Results], measure: str) -> list[tuple[str, ...]]:
    """Return the means over all reviews, over those that served for choosing, over the others, and how often we win."""
    groups = {"all": REVIEWS, "chosen on": CHOSEN_ON, "others": tuple(set(REVIEWS) - set(CHOSEN_ON))}
    rows = [
        (f"mean, {group}", *(f"{np.mean([_mean(found[way], name, measure) for name in names]):.3f}" for way in SHOWN))
        for group, names in groups.items()
    ]
    sign = -1 if measure == "atd" else 1
    better = [
        sum(sign * (_mean(found[way], name, measure) - _mean(found["peer"], name, measure)) > 0 for name in REVIEWS)
        for way in SHOWN
    ]
    return [*rows, ("better than the peer on", *map(str, better))]


def _rules(stops: Results) -> list[tuple[str, ...]]:
    every = [result["stops"] for results_ in stops.values() for result in results_]
    rows = []
    for rule in every[0]:
        recall = np.array([stop[rule]["recall"] for stop in every])
        effort = np.array([stop[rule]["effort"] for stop in every])
        rows.append((rule, f"{np.mean(recall >= 0.95):.1%}", f"{recall.mean():.1%}", f"{effort.mean():.0%}"))
    return rows
