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
from time import process_time

import numpy as np
from rich.console import Console
from rich.progress import track

from bayesift._typing import BoolArray, FloatArray, Int64Array
from bayesift.datasets import load
from bayesift.posterior import GaussianPosterior, expectation_propagation, laplace_approximation
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
    VARIANCE,
    all_fields,
    prior_model,
    probabilities,
)
from bayesift.review.simulate import starting_pair
from benchmarks.measuring import show
from benchmarks.review import peer
from benchmarks.review.stopping import SYNERGY, Doubts, Recording, Stop, model_doubt, record_of, recorded, steps

REVIEWS = (
    "ADHD", "Antihistamines", "Estrogens", "NSAIDS", "OralHypoglycemics", "ProtonPumpInhibitors", "Triptans",
    "UrinaryIncontinence",
)  # fmt: skip
SEEDS = range(3)

#: A look after each of so many parts of the pile.
PARTS = 50

#: What the engine asks of C for a confidence of 95 %.
RISK = 0.025

Judged = dict[int, bool]
Model = Callable[[Corpus, Judged, int], FloatArray]


def own(corpus: Corpus, judged: Judged, seed: int) -> FloatArray:
    """Return the probabilities of the engine: a fit with balanced classes, made log odds, a diagonal posterior."""
    return all_fields(fitted(corpus, prior_model(corpus, Knowledge()), judged, seed), corpus).probability


def same_fit(corpus: Corpus, judged: Judged, seed: int, *, tempered: bool = False) -> FloatArray:
    """Return them by Laplace's method from the engine's prior, weights and scale, all covariances kept."""
    prior = prior_model(corpus, Knowledge())
    examples = examples_of(corpus, prior, judged, seed)
    rows = examples.rows
    columns = np.unique(rows.indices)
    fit = balanced_fit(rows[:, columns], prior.belief.mean[columns], examples)
    slope, constant = scale_of(fit, rows[:, columns], examples)
    posterior = laplace_approximation(
        rows, examples.relevant, Gaussian(FIT_VARIANCE), intercept_variance=FIT_CONSTANT_VARIANCE,
        sample_weight=examples.weights,
    )  # fmt: skip
    mean, variance = posterior.score_moments(corpus.matrix)
    # The constant of the fit is that of balanced classes; the scale has its own, of scores without one.
    mean = slope * (mean - posterior.intercept) + constant
    return probabilities(mean, slope**2 * variance * (posterior.temperature if tempered else 1.0))


def plain(corpus: Corpus, judged: Judged, _seed: int, *, tempered: bool = False) -> FloatArray:
    """Return them by expectation propagation from the judgements alone, each counted once, with rare relevance."""
    return propagated(corpus, judged).predict_proba(corpus.matrix, tempered=tempered)


def propagated(corpus: Corpus, judged: Judged, variance: float = FIT_VARIANCE) -> GaussianPosterior:
    """Return the posterior of the judgements."""
    prior = Gaussian(variance, intercept_mode=CONSTANT_MODE, intercept_variance=CONSTANT_VARIANCE)
    return expectation_propagation(corpus.matrix[list(judged)], list(judged.values()), prior, tol=1e-3)


def same_fit_tempered(corpus: Corpus, judged: Judged, seed: int) -> FloatArray:
    """Return those of :func:`same_fit` with the variances that suit labels left out."""
    return same_fit(corpus, judged, seed, tempered=True)


def plain_tempered(corpus: Corpus, judged: Judged, seed: int) -> FloatArray:
    """Return those of :func:`plain` with the variances that suit labels left out."""
    return plain(corpus, judged, seed, tempered=True)


def plain_narrow(corpus: Corpus, judged: Judged, _seed: int) -> FloatArray:
    """Return those of :func:`plain` with the prior variance of the engine's belief."""
    return propagated(corpus, judged, VARIANCE).predict_proba(corpus.matrix)


MODELS: dict[str, Model] = {
    "the engine's own": own,
    "Laplace's method, the engine's prior, weights and scale": same_fit,
    "the same, tempered": same_fit_tempered,
    "expectation propagation, every judgement once": plain,
    "the same, tempered ": plain_tempered,
    "the same, prior variance 1 instead of 10": plain_narrow,
}


def with_model(run: Recording, model: Model, title: str) -> Recording:
    """Return a replay with what another model foresaw and expected at every look; made now unless it is kept."""
    key = title.strip().replace(" ", "-").replace("'", "").replace(",", "") + ("-2" if title.endswith(" ") else "")
    kept = peer.RUNS / f"averaged-{key}-{run.name}-{run.seed}.npz"
    if not kept.exists():
        corpus, truth = _loaded(run.name)
        order = documents(run)
        judged = {place: bool(truth[place]) for place in starting_pair(truth, run.seed)}
        foreseen, left = np.full(run.n, np.nan), np.full(run.n + 1, np.nan)
        ends = [*steps(run, PARTS), run.n]
        for begin, end in zip([0, *ends[:-1]], ends, strict=True):
            judged |= {int(place): bool(truth[place]) for place in order[len(judged) - 2 : begin]}
            p = model(corpus, judged, run.seed)
            left[begin], foreseen[begin:end] = p[order[begin:]].sum(), p[order[begin:end]]
        left[run.n] = 0.0
        np.savez(kept, foreseen=foreseen, left=left)
    with np.load(kept) as columns:
        return Recording(run.name, run.seed, run.relevant, run.random, columns["foreseen"], columns["left"], run.chance)


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
    for title, model in MODELS.items():
        runs = {
            name: [with_model(recorded(name, seed), model, title) for seed in SEEDS]
            for name in track(names, title, console=Console(stderr=True))
        }
        doubts = {name: [Doubts.of(run, model_doubt, PARTS) for run in some] for name, some in runs.items()}
        critical = {name: min(run.critical for run in some) for name, some in doubts.items()}
        every = [run for some in doubts.values() for run in some]
        at_risk = _judged(every, [run.stop(RISK) for run in every])
        others = {name: min(value for other, value in critical.items() if other != name) for name in names}
        left_out = _judged(every, [run.stop(others[run.run.name]) for run in every])
        ratio, error = _errors([run.run for run in every])
        yield (
            title.strip(), f"{ratio:.2f}", f"{error:.2f}", *at_risk, *left_out,
            f"{min(critical.values()):.4f}",
        )  # fmt: skip


def _judged(doubts: list[Doubts], stops: list[Stop]) -> tuple[str, str]:
    missed, *_, overshoot, _ = record_of("", [run.run for run in doubts], stops)[1:]
    return missed, overshoot


COLUMNS = (
    "probabilities", "expected / left", "error", "miss at 97.5 %", "overshoot", "miss, threshold of the others",
    "overshoot", "threshold of all",
)  # fmt: skip


def times() -> Iterator[tuple[str, ...]]:
    """Return the processor time of a look, with 100 and 1,000 judgements, at 2,000 and 100,000 unread records."""
    records = [text for name in SYNERGY for text in load("synergy", review=name).train.texts]
    rng = np.random.default_rng(0)
    for n in (2_000, 100_000):
        texts = [" ".join(rng.permutation(records[place % len(records)].split())[:200]) for place in range(n)]
        corpus = Corpus.build(texts)
        for n_judged in (100, 1_000):
            judged = {place: place % 20 == 0 for place in range(n_judged)}
            for title, model in MODELS.items():
                if "tempered" not in title:
                    model(corpus, judged, 0)
                    begin = process_time()
                    model(corpus, judged, 0)
                    yield title, f"{n:,}", f"{n_judged:,}", f"{process_time() - begin:.2f}"


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
