"""What a prior made from a one-line description of a category adds, for few and for many positive documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesift.linear import BayesianLogisticRegression
from bayesift.plots import LearningCurveDisplay
from bayesift.priors import Laplace, Prior, from_description
from reproduction.catalogue import Claim, Family, Figure, Outcome, Runner, Table
from reproduction.shared import ModApte, f1_percent, modapte

#: Prior mode of the terms of a description, and how many times the variance of other terms they get.
MODE, RELATIVE = 5.0, 10.0
#: Positive training documents.
SIZES = (1, 5, 20, 100)

_FAMILY = Family(
    "genkin2007-descriptions",
    (
        "reproduction.genkin2007.descriptions",
        "reproduction.shared",
        "bayesift.linear",
        "bayesift.priors",
        "bayesift.text",
    ),
    ("reuters21578", "smart"),
)


def descriptions(runner: Runner) -> Outcome:
    """Train on few positives of each category, with and without a prior from its description."""
    sizes, repeats = ((1, 20), 1) if runner.quick else (SIZES, 3)
    data = modapte()
    chosen = large_categories(data, max(SIZES))
    settings = [
        {"positives": size, "repeat": repeat, "category": name}
        for size in sizes
        for repeat in range(repeats)
        for name in chosen
    ]
    found = runner.pieces(_FAMILY, settings, lambda setting: both_f1(data, setting), stage="value of descriptions")
    means = {
        size: np.mean([f1 for f1, setting in zip(found, settings, strict=True) if setting["positives"] == size], axis=0)
        for size in sizes
    }
    columns = ("without", "with the description")
    table = Table.of(
        f"Mean F1 in per cent of the {len(chosen)} categories with 100 training positives or more",
        {str(size): dict(zip(columns, mean, strict=True)) for size, mean in means.items()},
        decimals=1,
        corner="positives",
    )
    claim = Claim("a description helps where positives are few", bool(means[1][1] > means[1][0]))
    caption = "F1 against the number of positive training documents, with and without descriptions"
    return Outcome((table,), (claim,), (Figure("f1", caption, lambda: _draw(means)),))


def large_categories(data: ModApte, n_positive: int) -> list[str]:
    """Name the categories that have at least so many training documents."""
    return [
        name
        for name, positives in zip(data.collection.categories, data.Y_train.sum(axis=0), strict=True)
        if positives >= n_positive
    ]


def both_f1(data: ModApte, setting: Mapping[str, Any]) -> list[float]:
    """Return F1 without and with the description, from a sample of the positives and all negatives.

    Both models have the Laplace rate 1, since cross-validation has nothing to go by with one positive document, and
    the threshold of the greatest training F1.
    """
    place = data.collection.categories.index(setting["category"])
    rows = _sample(data.Y_train[:, place], setting["positives"], np.random.default_rng([setting["repeat"], place]))
    description = data.description(setting["category"])
    informed = from_description(description, data.vectorizer, mode=MODE, relative=RELATIVE, variance=2.0)
    return [_f1_of(data, place, rows, prior) for prior in (Laplace(2.0), informed)]


def _sample(labels: NDArray[Any], n_positive: int, random: np.random.Generator) -> NDArray[Any]:
    """Return the rows of so many positives and of all negatives."""
    positive = random.permutation(np.flatnonzero(labels == 1))[:n_positive]
    return np.sort(np.concatenate([positive, np.flatnonzero(labels == 0)]))


def _f1_of(data: ModApte, category: int, rows: NDArray[Any], prior: Prior) -> float:
    model = BayesianLogisticRegression(prior, threshold="max_f1", threshold_on="train")
    names = data.vectorizer.get_feature_names_out()
    model.fit(data.X_train[rows], data.Y_train[rows, category], feature_names=names)
    return f1_percent(data.Y_test[:, category], model.predict(data.X_test))[0]


def _draw(means: Mapping[int, Sequence[float]]) -> Any:
    without, informed = zip(*means.values(), strict=True)
    curves = {"without": without, "with a one-line description": informed}
    measure, documents = "mean F1, per cent", "positive training documents"
    return LearningCurveDisplay(list(means), curves, measure=measure, documents=documents).plot().figure_
