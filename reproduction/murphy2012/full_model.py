"""Exercise 3.20 of Murphy (2012): the naive and the full model of binary features, for few and for many documents."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesift.generative import BernoulliNB, CategoricalNB, pattern_numbers
from bayesift.plots import LearningCurveDisplay
from reproduction.catalogue import Claim, Figure, Outcome, Runner, Table

#: Features, and training documents of both classes together.
N_FEATURES, SIZES = 8, (10, 30, 100, 300, 1000, 3000, 10_000, 30_000)
#: Worlds drawn, each with training documents of its own.
N_WORLDS = 20
#: How strongly features of a class depend on each other: the deviation of the effects of pairs.
DEPENDENCE = {"features depend on each other": 0.7, "features are independent": 0.0}

#: All sets of the features, a row for each.
SETS = np.array(list(product((0, 1), repeat=N_FEATURES)))


class World(NamedTuple):
    """The probability of every set of features in two classes, which are as frequent as each other."""

    probabilities: NDArray[np.float64]

    def draw(self, n: int, random: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
        """Draw documents, half of each class."""
        rows = [random.choice(len(SETS), size=n // 2, p=own) for own in self.probabilities]
        return SETS[np.concatenate(rows)], np.repeat([0, 1], n // 2)

    def error(self, decisions: NDArray[Any]) -> float:
        """Return the probability of a wrong decision, given the decision about every set: a sum, not an estimate."""
        return float(1.0 - 0.5 * self.probabilities[decisions, np.arange(len(SETS))].sum())

    @property
    def least_error(self) -> float:
        """The error of the best decisions there are."""
        return self.error(np.argmax(self.probabilities, axis=0))


def world(seed: int, dependence: float) -> World:
    """Draw two distributions over sets: log-linear in the features and in their pairs."""
    random = np.random.default_rng(seed)
    probabilities = []
    for _ in range(2):
        single = random.normal(0.0, 0.7, N_FEATURES)
        pairs = np.triu(random.normal(0.0, 1.0, (N_FEATURES, N_FEATURES)), 1) * dependence
        signs = 2 * SETS - 1
        logs = signs @ single + np.einsum("si,ij,sj->s", signs, pairs, signs)
        weights = np.exp(logs - logs.max())
        probabilities.append(weights / weights.sum())
    return World(np.array(probabilities))


def errors(dependence: float, n: int, n_worlds: int) -> NDArray[np.float64]:
    """Return the mean errors of the naive and the full model and the least possible one."""
    found = []
    for seed in range(n_worlds):
        truth = world(seed, dependence)
        X, y = truth.draw(n, np.random.default_rng([seed, n]))
        naive = BernoulliNB(class_prior="uniform", n_jobs=1).fit(X, y)
        full = CategoricalNB(min_categories=2**N_FEATURES, class_prior="uniform").fit(pattern_numbers(X), y)
        answers = naive.predict(SETS), full.predict(pattern_numbers(SETS))
        found.append([*(truth.error(decisions) for decisions in answers), truth.least_error])
    return np.mean(found, axis=0)


def full_model(runner: Runner) -> Outcome:
    """Compare the test errors of both models over the number of training documents."""
    n_worlds, sizes = (5, SIZES[::2]) if runner.quick else (N_WORLDS, SIZES)
    columns = ("naive", "full", "least possible")
    tables, claims, figures = [], [], []
    for name, dependence in DEPENDENCE.items():
        found = {n: dict(zip(columns, errors(dependence, n, n_worlds), strict=True)) for n in sizes}
        rows = {f"{n:,}": {column: 100 * value for column, value in row.items()} for n, row in found.items()}
        tables.append(Table.of(f"Test errors in per cent, {name}", rows, corner="documents", note=_counts()))
        claims += _claims(name, found)
        caption = f"Test errors of the naive and the full model; {name}"
        slug = "dependent" if dependence else "independent"
        figures.append(Figure(slug, caption, partial(_draw, found)))
    return Outcome(tuple(tables), tuple(claims), tuple(figures))


def _counts() -> str:
    naive, full = 2 * N_FEATURES, 2 * (2**N_FEATURES - 1)
    return (
        f"{N_FEATURES} features, two classes: {naive} parameters in the naive model, {full} in the full one. To "
        f"classify a document the first adds {naive} numbers; the second numbers its set by {N_FEATURES}, looks up 2."
    )


def _claims(name: str, found: Mapping[int, Mapping[str, float]]) -> list[Claim]:
    few, many = min(found), max(found)
    first, last = found[few], found[many]
    detail = {n: f"{100 * row['naive']:.1f} and {100 * row['full']:.1f} %" for n, row in ((few, first), (many, last))}
    claims = [
        Claim(f"{name}: with {few} documents the naive model errs less", first["naive"] < first["full"], detail[few])
    ]
    if DEPENDENCE[name]:
        text = f"{name}: with {many:,} documents the full model errs less"
        return [*claims, Claim(text, last["full"] < last["naive"], detail[many])]
    text = f"{name}: with {many:,} documents the naive model errs no more, since it is right"
    return [*claims, Claim(text, last["naive"] <= last["full"], detail[many])]


def _draw(found: Mapping[int, Mapping[str, float]]) -> Any:
    curves = {name: [row[name] for row in found.values()] for name in next(iter(found.values()))}
    display = LearningCurveDisplay(list(found), curves, measure="test error", documents="training documents")
    return display.plot().figure_
