"""Ways to begin a review and to rank it: a pair of records, a line as prior or as a document, three models.

    python -m benchmarks.review.starts [REVIEW ...]

Replays of the reviews of `cohen2006` and `synergy`, three seeds each, with the fit of the review's engine and what is
varied; the most probable record is read each time, and all judgements are fitted anew when 5 % of them are new. The
line is that of :mod:`benchmarks.review.ours`, or the title of the protocol. Results are kept, as in
:mod:`benchmarks.review.runs`.
"""

from __future__ import annotations

import json
import sys
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer

from bayesift._typing import BoolArray, FloatArray
from bayesift.datasets import load
from bayesift.linear import BayesianLogisticRegression
from bayesift.priors import Gaussian
from bayesift.review.engine import Corpus, with_title_words
from bayesift.review.engine.fitting import FIT_CONSTANT_VARIANCE, FIT_VARIANCE, IRRELEVANT_SHARE, N_STAND_INS
from bayesift.review.engine.topic_model import DESCRIPTION_LENGTH
from bayesift.review.simulate import Simulation, starting_pair
from benchmarks.measuring import show
from benchmarks.review import peer
from benchmarks.review.ours import LINES
from benchmarks.review.stopping import CHOICE, JUDGE, SYNERGY

#: All judgements are fitted anew when there are so many more of them.
GROWTH = 0.05

SEEDS = range(3)


class Way(NamedTuple):
    """How a replay begins and ranks: the rows that are used, how the line is, and whether a pair is known."""

    rows: tuple[str, ...] = ("words",)
    as_prior: bool = False
    as_document: bool = False
    pair: bool = True


_THREE = ("words", "pairs", "characters")

WAYS = {
    "pair": Way(),
    "pair, line as prior (the engine's way)": Way(as_prior=True),
    "pair, line as document": Way(as_document=True),
    "pair, line as both": Way(as_prior=True, as_document=True),
    "line as prior": Way(as_prior=True, pair=False),
    "line as document": Way(as_document=True, pair=False),
    "pair, line as document, three models": Way(_THREE, as_document=True),
}

_CHARACTERS = {"analyzer": "char_wb", "ngram_range": (4, 4)}

#: Rows of the records, and that of the line.
Rows = tuple[sp.csr_matrix, sp.csr_matrix]


def rows_of(texts: list[str], line: str) -> dict[str, Rows]:
    """Return the records and the line as words (the engine's rows), pairs of words and four characters."""
    corpus = Corpus.build(texts)
    found: dict[str, Rows] = {"words": (corpus.matrix, corpus.vectorizer.transform([with_title_words(line)]))}
    for name, options in (("pairs", {"ngram_range": (2, 2)}), ("characters", _CHARACTERS)):
        vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=2, **options)
        found[name] = vectorizer.fit_transform(texts), vectorizer.transform([line])
    return found


def scores(rows: Rows, way: Way, judged: list[int], truth: BoolArray, stand_ins: np.ndarray) -> FloatArray:
    """Fit the judgements as the engine does, and score all records."""
    X, line = rows
    own = np.append(np.array(judged, dtype=np.int64), stand_ins)
    M, relevant = X[own], np.append(truth[judged], np.zeros(len(stand_ins), dtype=bool))
    counts = np.append(np.ones(len(judged)), np.full(len(stand_ins), 1 / max(len(stand_ins), 1)))
    if way.as_document:
        M, relevant, counts = sp.vstack([M, line], format="csr"), np.append(relevant, True), np.append(counts, 1.0)
    wanted = IRRELEVANT_SHARE * max(relevant.sum(), 1.0)
    weights = np.where(relevant, 1.0, wanted / max(counts[~relevant].sum(), wanted) * counts)
    coefficients = np.zeros(X.shape[1])
    if way.as_prior:
        coefficients += DESCRIPTION_LENGTH * line.toarray().ravel()
    columns = np.unique(M.indices)
    prior = Gaussian(FIT_VARIANCE, mode=coefficients[columns], intercept_variance=FIT_CONSTANT_VARIANCE)
    # A row without words and weight stands for the relevant, of which there may be none.
    M = sp.vstack([M[:, columns], sp.csr_matrix((1, len(columns)))], format="csr")
    fit = BayesianLogisticRegression(prior, tol=1e-3, n_jobs=1)
    fit.fit(M, np.append(relevant, True).astype(np.int64), sample_weight=np.append(weights, 0.0))
    coefficients[columns] = fit.coef_[0]
    return np.asarray(X @ coefficients)


def replayed(rows: dict[str, Rows], truth: BoolArray, way: Way, seed: int) -> Simulation:
    """Read until everything relevant is found."""
    start = starting_pair(truth, seed) if way.pair else ()
    order: list[int] = []
    unread = np.ones(len(truth), dtype=bool)
    unread[list(start)] = False
    by_chance = np.random.default_rng([seed, 1]).permutation(len(truth))
    while (truth & unread).any():
        judged = [*start, *order]
        stand_ins = by_chance[unread[by_chance]][:N_STAND_INS]
        score = sum(scores(rows[kind], way, judged, truth, stand_ins) for kind in way.rows)
        best = np.argsort(-np.where(unread, score, -np.inf), kind="stable")
        best = best[: min(max(1, round(GROWTH * len(judged))), int(unread.sum()))]
        unread[best] = False
        order.extend(best.tolist())
    reading = np.append(np.array(order, dtype=np.int64), np.flatnonzero(unread))
    return Simulation(reading, truth[reading], ["probable"] * len(reading), start)


def results(name: str) -> dict[str, tuple[float, float]]:
    """Return time to discovery and WSS@95 of every way on a review, means over the seeds; made now unless kept."""
    kept = peer.RUNS / f"starts-{name}.json"
    if not kept.exists():
        collection = load("synergy" if name in SYNERGY else "cohen2006", review=name)
        truth = collection.train.indicator(("included",)).toarray().ravel() > 0
        line = collection.protocol["title"] if name in SYNERGY else LINES[name]
        rows = rows_of(collection.train.texts, line)
        found = {title: [replayed(rows, truth, way, seed) for seed in SEEDS] for title, way in WAYS.items()}
        measured = {
            title: [(run.average_time_to_discovery, run.wss95) for run in runs] for title, runs in found.items()
        }
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps({title: np.mean(pairs, axis=0).tolist() for title, pairs in measured.items()}))
    return {title: (atd, saved) for title, (atd, saved) in json.loads(kept.read_text()).items()}


def run(names: tuple[str, ...] = (*CHOICE, *JUDGE)) -> None:
    found = {name: results(name) for name in names}
    columns = ("way", "discovery, chosen on", "WSS@95", "discovery, others", "WSS@95")
    table = []
    for title in WAYS:
        halves = [[found[name][title] for name in half if name in found] for half in (CHOICE, JUDGE)]
        means = [np.mean(half, axis=0) if half else (np.nan, np.nan) for half in halves]
        table.append((title, *(f"{number:.3f}" for mean in means for number in mean)))
    show(f"{len(found)} reviews, {len(SEEDS)} seeds each", columns, table)


if __name__ == "__main__":
    run(*([tuple(sys.argv[1:])] if sys.argv[1:] else []))
