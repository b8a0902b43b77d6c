"""Statement C with probabilities averaged over a posterior of :mod:`bayesift.posterior`, beside the engine's own.

    python -m benchmarks.review.averaged [--times] [REVIEW ...]

The recorded replays of :mod:`benchmarks.review.stopping` are read again card by card, three seeds of each review. After
every fiftieth of the pile (ten cards at least) each model is fitted to what was judged by then; its probabilities of
the unread records are what it expects to be left, and the cards up to the next look are foreseen by it. Statement C is
then made of these numbers as the engine makes it of its own. ``--times`` measures a look at 2,000 and 100,000 unread
records.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from time import process_time

import numpy as np
from rich.console import Console
from rich.progress import track

from bayesift._typing import BoolArray, FloatArray, Int64Array
from bayesift.datasets import load
from bayesift.posterior import expectation_propagation, laplace_approximation
from bayesift.priors import Gaussian
from bayesift.review.engine import Corpus, Knowledge
from bayesift.review.engine.fitting import (
    FIT_CONSTANT_VARIANCE,
    FIT_VARIANCE,
    balanced_fit,
    examples_of,
    fitted,
    scale_of,
)
from bayesift.review.engine.topic_model import (
    CONSTANT_MODE,
    CONSTANT_VARIANCE,
    all_fields,
    prior_model,
    probabilities,
)
from bayesift.review.simulate import starting_pair
from benchmarks.measuring import show
from benchmarks.review import peer
from benchmarks.review.stopping import SYNERGY, Doubts, Recording, Stop, model_doubt, record_of, recorded, steps

REVIEWS = ("Antihistamines", "Donners_2021", "Estrogens", "NSAIDS", "OralHypoglycemics", "UrinaryIncontinence")
SEEDS = range(3)

#: A look after each of so many parts of the pile.
PARTS = 50

#: What the engine asks of C for a confidence of 95 %.
RISK = 0.025

Judged = dict[int, bool]

#: Makes the probabilities of all records from what was judged: one array for each title of a row of the table.
Model = Callable[[Corpus, Judged, int], dict[str, FloatArray]]


def own(corpus: Corpus, judged: Judged, seed: int) -> dict[str, FloatArray]:
    """Return the probabilities of the engine: a fit with balanced classes, made log odds, a diagonal posterior."""
    model = fitted(corpus, prior_model(corpus, Knowledge()), judged, seed)
    return {"own": all_fields(model, corpus).probability}


def same_fit(corpus: Corpus, judged: Judged, seed: int) -> dict[str, FloatArray]:
    """Return them by Laplace's method from the engine's prior, weights and scale, all covariances kept."""
    prior = prior_model(corpus, Knowledge())
    examples = examples_of(corpus, prior, judged, seed)
    columns = np.unique(examples.rows.indices)
    rows = examples.rows[:, columns]
    fit = balanced_fit(rows, prior.belief.mean[columns], examples)
    slope, constant = scale_of(fit, rows, examples)
    posterior = laplace_approximation(
        examples.rows, examples.relevant, Gaussian(FIT_VARIANCE), intercept_variance=FIT_CONSTANT_VARIANCE,
        sample_weight=examples.weights,
    )  # fmt: skip
    mean, variance = posterior.score_moments(corpus.matrix)
    # The constant of the fit is that of balanced classes; the scale has its own, of scores without one.
    mean, variance = slope * (mean - posterior.intercept) + constant, slope**2 * variance
    return {
        "laplace": probabilities(mean, variance),
        "laplace-tempered": probabilities(mean, posterior.temperature * variance),
    }


def plain(corpus: Corpus, judged: Judged, _seed: int) -> dict[str, FloatArray]:
    """Return them by expectation propagation from the judgements alone, each counted once, with rare relevance."""
    prior = Gaussian(FIT_VARIANCE, intercept_mode=CONSTANT_MODE, intercept_variance=CONSTANT_VARIANCE)
    posterior = expectation_propagation(corpus.matrix[list(judged)], list(judged.values()), prior, tol=1e-3)
    mean, variance = posterior.score_moments(corpus.matrix)
    return {
        "propagation": probabilities(mean, variance),
        "propagation-tempered": probabilities(mean, posterior.temperature * variance),
    }


MODELS: tuple[Model, ...] = (own, same_fit, plain)

TITLES = {
    "own": "the engine's own",
    "laplace": "Laplace's method, the engine's prior, weights and scale",
    "laplace-tempered": "the same, tempered",
    "propagation": "expectation propagation, every judgement once",
    "propagation-tempered": "the same, tempered",
}


def with_models(run: Recording) -> dict[str, Recording]:
    """Return a replay with what each model foresaw and expected at every look; made now unless it is kept."""
    kept = {key: peer.RUNS / f"averaged-{key}-{run.name}-{run.seed}.npz" for key in TITLES}
    for model, last in zip(MODELS, ("own", "laplace-tempered", "propagation-tempered"), strict=True):
        if not kept[last].exists():
            for key, (foreseen, left) in _followed(run, model).items():
                np.savez(kept[key], foreseen=foreseen, left=left)
    found = {}
    for key, path in kept.items():
        with np.load(path) as columns:
            found[key] = replace(run, foreseen=columns["foreseen"], left=columns["left"])
    return found


def _followed(run: Recording, model: Model) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Read a replay again: how probable each card was at the last look, and how many were expected to be left."""
    corpus, truth = _loaded(run.name)
    order = documents(run)
    judged = {place: bool(truth[place]) for place in starting_pair(truth, run.seed)}
    found: dict[str, tuple[FloatArray, FloatArray]] = {}
    ends = [*steps(run, PARTS), run.n]
    for begin, end in zip([0, *ends[:-1]], ends, strict=True):
        judged |= {int(place): bool(truth[place]) for place in order[len(judged) - 2 : begin]}
        for key, p in model(corpus, judged, run.seed).items():
            foreseen, left = found.setdefault(key, (np.zeros(run.n), np.zeros(run.n + 1)))
            left[begin], foreseen[begin:end] = p[order[begin:]].sum(), p[order[begin:end]]
    return found


def documents(run: Recording) -> Int64Array:
    """Return the records of a replay in the order of the cards."""
    _, truth = _loaded(run.name)
    return np.random.default_rng([run.seed, 0]).permutation(len(truth))[run.chance]


_CORPORA: dict[str, tuple[Corpus, BoolArray]] = {}


def _loaded(name: str) -> tuple[Corpus, BoolArray]:
    if name not in _CORPORA:
        records = load("synergy" if name in SYNERGY else "cohen2006", review=name).train
        _CORPORA.clear()
        _CORPORA[name] = Corpus.build(records.texts), records.indicator(("included",)).toarray().ravel() > 0
    return _CORPORA[name]


def _errors(runs: list[Recording]) -> tuple[float, float]:
    """Return the mean of expected over true numbers left (both plus a half), and of the logarithm's absolute value."""
    ratios = []
    for run in runs:
        looks = np.array(steps(run, PARTS))
        truth = run.found[-1] - run.found[looks]
        ratios.append(np.log((run.left[looks] + 0.5) / (truth + 0.5)))
    every = np.concatenate(ratios)
    return float(np.exp(every.mean())), float(np.exp(np.abs(every).mean()))


def table(names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Return the record of statement C with the probabilities of each model."""
    runs = {
        name: [with_models(recorded(name, seed)) for seed in SEEDS]
        for name in track(names, "reviews", console=Console(stderr=True))
    }
    for key, title in TITLES.items():
        doubts = {name: [Doubts.of(run[key], model_doubt, PARTS) for run in some] for name, some in runs.items()}
        critical = {name: min(run.critical for run in some) for name, some in doubts.items()}
        every = [run for some in doubts.values() for run in some]
        at_risk = _judged(every, [run.stop(RISK) for run in every])
        best = min(critical.values())
        ratio, error = _errors([run.run for run in every])
        careful = _judged(every, [run.stop(best) for run in every])[1]
        yield title, f"{ratio:.2f}", f"{error:.2f}", *at_risk, f"{best:.3f}", careful


def _judged(doubts: list[Doubts], stops: list[Stop]) -> tuple[str, str]:
    missed, *_, overshoot, _ = record_of("", [run.run for run in doubts], stops)[1:]
    return missed, overshoot


COLUMNS = (
    "probabilities", "expected / left", "error", "miss at 97.5 %", "overshoot", "risk without a miss", "overshoot",
)  # fmt: skip


def times() -> Iterator[tuple[str, ...]]:
    """Return the processor time of a look, with 100 and 1,000 judgements, at 2,000 and 100,000 records."""
    some = Corpus.build(load("cohen2006", review="Opioids").train.texts)
    for model in MODELS:
        # What is compiled is compiled now.
        model(some, {0: True, 1: False}, 0)
    for n in (2_000, 100_000):
        # The rows of a review, again and again: what they cost does not depend on their being different.
        places = np.arange(n) % len(some)
        texts = [some.texts[place] for place in places]
        corpus = Corpus(texts, some.vectorizer, some.matrix[places], places)
        for n_judged in (100, 1_000):
            judged = {place: place % 20 == 0 for place in range(n_judged)}
            for model in MODELS:
                begin = process_time()
                key = next(iter(model(corpus, judged, 0)))
                yield TITLES[key], f"{n:,}", f"{n_judged:,}", f"{process_time() - begin:.2f}"


def run(names: tuple[str, ...] = REVIEWS) -> None:
    show(f"{len(names)} reviews, {len(SEEDS)} seeds each", COLUMNS, list(table(names)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("reviews", nargs="*", default=REVIEWS)
    parser.add_argument("--times", action="store_true")
    given = parser.parse_args()
    if given.times:
        show("seconds of the processor for a look", ("probabilities", "unread", "judged", "seconds"), list(times()))
    else:
        run(tuple(given.reviews))
