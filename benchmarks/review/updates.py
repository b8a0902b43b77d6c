"""What an earlier review's decisions save on a new pile.

    python -m benchmarks.review.updates [--seeds 3] [REVIEW ...]

Reviews of `cohen2006` cut in two by the number of the record in PubMed: the older half is the earlier review, the newer
one the pile of its update. The pile is read from a pair of its records, as a fresh start is, or from what the earlier
half says, in several ways and without a pair. Fits are those of the review's engine but for what is varied; the most
probable record is read each time, and all judgements are fitted anew when 5 % of them are new. Reviews with fewer than
three relevant records in one of the halves are left out. Results are kept, as in :mod:`benchmarks.review.runs`.
"""

from __future__ import annotations

import argparse
import json
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from rich.console import Console
from rich.progress import track
from scipy.special import expit

from bayesift._typing import BoolArray, FloatArray
from bayesift.datasets import load
from bayesift.linear import BayesianLogisticRegression
from bayesift.priors import Gaussian
from bayesift.review.engine import Corpus, with_title_words
from bayesift.review.engine.fitting import FIT_CONSTANT_VARIANCE, FIT_VARIANCE, IRRELEVANT_SHARE, N_STAND_INS
from bayesift.review.simulate import Simulation, starting_pair
from benchmarks.measuring import show
from benchmarks.review import peer
from benchmarks.review.ours import REVIEWS

#: All judgements are fitted anew when there are so many more of them.
GROWTH = 0.05

#: A half with fewer relevant records is no review.
LEAST_RELEVANT = 3


class Way(NamedTuple):
    """How a replay of the newer half begins.

    Parameters
    ----------
    pair : bool
        Whether a pair of its own records is known.
    examples : float
        How much an earlier record counts beside one of the pile.
    fading : float
        If not 0: the same, when so many relevant records of the pile are found half as much.
    mode : float
        The weights of a fit to the earlier records, times this, are the mode of the prior.
    shrinks : bool
        Whether the variances of the prior are those that the earlier records leave.
    """

    pair: bool = False
    examples: float = 0.0
    fading: float = 0.0
    mode: float = 0.0
    shrinks: bool = False


WAYS = {
    "a pair of the pile (a fresh start)": Way(pair=True),
    "earlier records as examples": Way(examples=1.0),
    "the same, each counts a quarter": Way(examples=0.25),
    "the same, half as much after 10 relevant ones of the pile": Way(examples=1.0, fading=10.0),
    "earlier weights as mode": Way(mode=1.0),
    "the same, variances that shrink": Way(mode=1.0, shrinks=True),
    "earlier weights as mode, and records as examples": Way(examples=1.0, mode=1.0),
    "the same, variances that shrink ": Way(examples=1.0, mode=1.0, shrinks=True),
    "earlier records as examples, and a pair of the pile": Way(pair=True, examples=1.0),
}


class Update(NamedTuple):
    """The newer half, and the earlier records as rows of its words."""

    corpus: Corpus
    truth: BoolArray
    earlier: sp.csr_matrix
    relevant: BoolArray


def halves(name: str) -> Update | None:
    """Cut a review in two; None where a half has too few relevant records."""
    records = load("cohen2006", review=name).train
    truth = records.indicator(("included",)).toarray().ravel() > 0
    order = np.argsort([int(number) for number in records.ids], kind="stable")
    old, new = order[: len(order) // 2], order[len(order) // 2 :]
    if min(truth[old].sum(), truth[new].sum()) < LEAST_RELEVANT:
        return None
    corpus = Corpus.build([records.texts[place] for place in new])
    earlier = corpus.vectorizer.transform([with_title_words(records.texts[place]) for place in old])
    return Update(corpus, truth[new], sp.csr_matrix(earlier), truth[old])


def _fit(
    X: sp.csr_matrix, relevant: BoolArray, counts: FloatArray, mode: FloatArray, variance: FloatArray
) -> FloatArray:
    """Fit rows as the engine does; what each counts is given, and irrelevant ones are a tenth of the relevant ones."""
    wanted = IRRELEVANT_SHARE * max(counts[relevant].sum(), 1.0)
    weights = np.where(relevant, counts, wanted / max(counts[~relevant].sum(), wanted) * counts)
    columns = np.unique(X.indices)
    prior = Gaussian(variance[columns], mode=mode[columns], intercept_variance=FIT_CONSTANT_VARIANCE)
    # A row without words and weight stands for the relevant, of which there may be none.
    X = sp.vstack([X[:, columns], sp.csr_matrix((1, len(columns)))], format="csr")
    fit = BayesianLogisticRegression(prior, tol=1e-3, n_jobs=1)
    fit.fit(X, np.append(relevant, True).astype(np.int64), sample_weight=np.append(weights, 0.0))
    coefficients = mode.copy()
    coefficients[columns] = fit.coef_[0]
    return coefficients


class Prior(NamedTuple):
    """Modes and variances of the weights before a record of the pile is judged."""

    mode: FloatArray
    variance: FloatArray


def prior_of(update: Update, way: Way) -> Prior:
    """Return what the earlier records say of the weights."""
    n = update.corpus.n_terms
    nothing = Prior(np.zeros(n), np.full(n, FIT_VARIANCE))
    if not way.mode:
        return nothing
    counts = np.ones(len(update.relevant))
    coefficients = _fit(update.earlier, update.relevant, counts, *nothing)
    if not way.shrinks:
        return nothing._replace(mode=way.mode * coefficients)
    p = expit(update.earlier @ coefficients)
    information = update.earlier.multiply(update.earlier).T @ (p * (1 - p))
    return Prior(way.mode * coefficients, 1.0 / (1.0 / FIT_VARIANCE + np.asarray(information).ravel()))


def replayed(update: Update, way: Way, seed: int) -> Simulation:
    """Read the newer half until everything relevant is found."""
    X, truth = update.corpus.matrix, update.truth
    start = starting_pair(truth, seed) if way.pair else ()
    prior = prior_of(update, way)
    order: list[int] = []
    unread = np.ones(len(truth), dtype=bool)
    unread[list(start)] = False
    by_chance = np.random.default_rng([seed, 1]).permutation(len(truth))
    while (truth & unread).any():
        judged = np.array([*start, *order], dtype=np.int64)
        stand_ins = by_chance[unread[by_chance]][:N_STAND_INS]
        own = np.append(judged, stand_ins)
        rows, relevant = X[own], truth[own] & (np.arange(len(own)) < len(judged))
        counts = np.append(np.ones(len(judged)), np.full(len(stand_ins), 1 / max(len(stand_ins), 1)))
        if way.examples:
            faded = way.fading / (way.fading + truth[judged].sum()) if way.fading else 1.0
            rows, relevant = sp.vstack([rows, update.earlier], format="csr"), np.append(relevant, update.relevant)
            counts = np.append(counts, np.full(len(update.relevant), way.examples * faded))
        score = X @ _fit(rows, relevant, counts, *prior)
        best = np.argsort(-np.where(unread, score, -np.inf), kind="stable")
        best = best[: min(max(1, round(GROWTH * len(judged))), int(unread.sum()))]
        unread[best] = False
        order.extend(best.tolist())
    reading = np.append(np.array(order, dtype=np.int64), np.flatnonzero(unread))
    return Simulation(reading, truth[reading], ["probable"] * len(reading), start)


def needed(run: Simulation, recall: float = 0.95) -> int:
    """Return how many records are read until so large a share of the relevant ones is found."""
    found = np.cumsum(run.relevant)
    return 1 + int(np.argmax(found >= recall * found[-1] - 1e-9))


def results(name: str, seeds: int) -> dict[str, list[list[float]]] | None:
    """Return records read until 95 % and 80 % are found, and time to discovery, of each way and seed."""
    kept = peer.RUNS / f"updates-{name}-{seeds}.json"
    if not kept.exists():
        update = halves(name)
        if update is None:
            return None
        found = {}
        for title, way in WAYS.items():
            runs = [replayed(update, way, seed) for seed in range(seeds)]
            found[title] = [[needed(run), needed(run, 0.8), run.average_time_to_discovery] for run in runs]
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(found))
    return dict(json.loads(kept.read_text()))


def run(names: tuple[str, ...] = REVIEWS, seeds: int = 3) -> None:
    every = {name: results(name, seeds) for name in track(names, "reviews", console=Console(stderr=True))}
    found = {
        name: {title: np.mean(runs, axis=0) for title, runs in some.items()} for name, some in every.items() if some
    }
    fresh = next(iter(WAYS))
    table = []
    for title in WAYS:
        # Geometric means: a review of few records counts as much as one of many.
        ratios = np.array([some[title] / some[fresh] for some in found.values()])
        read, early, _ = np.exp(np.log(ratios).mean(axis=0))
        discovery = np.mean([some[title][2] for some in found.values()])
        less = int((ratios[:, 0] < 1).sum())
        table.append((title.strip(), f"{read:.2f}", f"{less} of {len(found)}", f"{early:.2f}", f"{discovery:.3f}"))
    columns = ("what is known", "read until 95 %, of a fresh start", "less on", "until 80 %", "time to discovery")
    show(f"{len(found)} reviews, {seeds} seeds each", columns, table)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("reviews", nargs="*", default=REVIEWS)
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    run(tuple(given.reviews), given.seeds)
