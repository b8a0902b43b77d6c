"""What a learning curve says that more labels would bring, beside what they brought.

Of a collection some texts are taken at random; their curve forecasts the measure with as many texts, twice and four
times as many. Then the classifier learns from so many, the first of them the same, and is measured on 4,000 others.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import track

from benchmarks.measuring import show

#: So many times the texts at hand.
FACTORS = (1, 2, 4)
N_TEST = 4000


class Case(NamedTuple):
    """A collection, a model, and the number of texts at hand."""

    collection: str
    model: str
    n_texts: int


CASES = (
    Case("20newsgroups", "ridge", 500),
    Case("20newsgroups", "ridge", 1000),
    Case("20newsgroups", "nb", 1000),
    Case("reuters21578", "lasso", 500),
    Case("reuters21578", "ridge", 1000),
    Case("sms", "ridge", 500),
)


def measure(case: Case, seed: int) -> tuple[list[tuple[float, float, float]], list[float]]:
    """Return the forecasts, each with its bounds, and what came."""
    from bayesift.datasets import load
    from bayesift.workflow import TextClassifier, learning_curve

    found = load(case.collection)
    labelled = [
        (text, labels)
        for part in (found.train, found.test)
        for text, labels in zip(part.texts, part.labels, strict=True)
        if labels
    ]
    order = np.random.default_rng(seed).permutation(len(labelled)).tolist()
    texts, labels = zip(*(labelled[place] for place in order), strict=True)
    several = any(len(own) > 1 for own in labels)

    def fitted(n_texts: int) -> TextClassifier:
        made = TextClassifier(case.model, threshold="half", multilabel=several, n_jobs=1)
        return made.fit(texts[:n_texts], labels[:n_texts])

    n = case.n_texts
    others = slice(max(FACTORS) * n, max(FACTORS) * n + N_TEST)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        classifiers = [fitted(factor * n) for factor in FACTORS]
        curve = learning_curve(classifiers[0], texts[:n], labels[:n])
    forecasts = [curve.forecast(factor * n)[1:] for factor in FACTORS]
    return forecasts, [one.score(texts[others], labels[others]) for one in classifiers]


def run(repeats: int) -> None:
    rows = []
    hits = n_forecasts = 0
    for case in CASES:
        told, came = [], []
        name = f"{case.collection}, {case.model}"
        for seed in track(range(repeats), name, transient=True, console=Console(stderr=True)):
            forecasts, truths = measure(case, seed)
            told.append(forecasts)
            came.append(truths)
        expected, truth = np.array(told), np.array(came)
        hits += int(np.sum((expected[:, 1:, 1] <= truth[:, 1:]) & (truth[:, 1:] <= expected[:, 1:, 2])))
        n_forecasts += truth[:, 1:].size
        cells = []
        for place in range(len(FACTORS)):
            value, low, high = expected[:, place].mean(axis=0)
            cells += [f"{value:.3f} ({low:.3f} to {high:.3f})", f"{truth[:, place].mean():.3f}"]
        gain = [100 * float(np.mean(what[:, 1] - what[:, 0])) for what in (expected[:, :, 0], truth)]
        rows.append((name, f"{case.n_texts:,}", *cells, *(f"{one:+.1f}" for one in gain)))
    header = ["collection, model", "texts"]
    for factor in FACTORS:
        header += [f"{factor}×: told", "came"]
    header += ["points for 2×: told", "came"]
    rows.append(("forecasts within their bounds", f"{hits} of {n_forecasts}", *[""] * (len(header) - 2)))
    show(f"learning curves, means of {repeats} draws", tuple(header), rows)
