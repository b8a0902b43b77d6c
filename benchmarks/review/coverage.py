"""How often the stopping rules keep their word, on collections made up for the purpose."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

from bayesift.review.engine import Aim
from bayesift.review.engine.recall import QUIET, draws_of, log_wealth
from bayesift.review.simulate import RULES, simulate, synthetic_corpus

#: Documents, share of relevant ones, and how far their scores lie above the others', in standard deviations.
SETTINGS = tuple(product((500, 2000), (0.02, 0.1, 0.3), (1.0, 2.5)))

#: Every twentieth card of a simulated reader is a random draw.
_RANDOM_EVERY = 20

_LOOK_EVERY = 10


def readers(repeats: int, target: float = 0.95, confidence: float = 0.95) -> list[tuple[str, ...]]:
    """Let readers with a noisy score go through collections of numbers; return how often their recall sufficed.

    They read by falling score, draw every twentieth document at random, and only at random after a quiet time.
    """
    rows = []
    for n, share, distance in track(SETTINGS, "readers", console=Console(stderr=True)):
        stops = np.array([_read(n, share, distance, seed, target, confidence) for seed in range(repeats)])
        rows.append((f"{n:,}", f"{share:.0%}", f"{distance}", *_kept(stops, target)))
    return rows


def collections(repeats: int, target: float = 0.95) -> dict[str, tuple[str, str, str]]:
    """Let the engine go through texts that are made up; all rules watch."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in RULES}
    for seed in track(range(repeats), "collections", console=Console(stderr=True)):
        share, clearness = ((0.05, 0.15, 0.4)[seed % 3], (0.2, 0.5)[seed % 2])
        texts, relevant = synthetic_corpus(400, share, clearness=clearness, seed=seed)
        run = simulate(texts, relevant, check=True, look_every=_LOOK_EVERY, target_recall=target, seed=seed)
        for name, stop in run.stops.items():
            found[name].append((stop.recall, stop.effort))
    return {name: _kept(np.array(stops), target) for name, stops in found.items()}


def _kept(stops: Any, target: float) -> tuple[str, str, str]:
    """Return the share of runs that reached the target, their mean recall and their mean effort."""
    recall, effort = stops.T
    return f"{np.mean(recall >= target - 1e-9):.1%}", f"{recall.mean():.1%}", f"{effort.mean():.0%}"


def _read(n: int, share: float, distance: float, seed: int, target: float, confidence: float) -> tuple[float, float]:
    random = np.random.default_rng(seed)
    relevant = np.zeros(n, dtype=bool)
    relevant[random.choice(n, round(share * n), replace=False)] = True
    by_score = np.argsort(-(distance * relevant + random.standard_normal(n))).tolist()
    by_chance = random.permutation(n).tolist()
    judged: list[tuple[bool, bool]] = []
    seen: set[int] = set()
    found = silence = 0
    patience, checking = QUIET, False
    while len(judged) < n:
        by = by_chance if checking or len(judged) % _RANDOM_EVERY == 0 else by_score
        while by[0] in seen:
            del by[0]
        seen.add(by[0])
        judged.append((bool(relevant[by[0]]), by is by_chance))
        found += judged[-1][0]
        silence = 0 if judged[-1][0] else silence + 1
        if checking and silence == 0:
            checking = False
        elif not checking and found and silence >= patience:
            checking, patience = True, 2 * patience
        if found and len(judged) % _LOOK_EVERY == 0 and _ruled_out(judged, n, found, target, confidence):
            break
    return found / relevant.sum(), len(judged) / n


def _ruled_out(judged: list[tuple[bool, bool]], n: int, found: int, target: float, confidence: float) -> bool:
    """Tell whether every total that would mean too little recall is ruled out: the wealth grows with the total."""
    total = found + Aim(target).allowed(found) + 1
    return total > found + n - len(judged) or log_wealth(draws_of(judged, n), total) >= -np.log1p(-confidence)
