"""The fits of Genkin, Lewis & Madigan (2007) as pieces of work that are kept."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from bayesift.datasets import load
from bayesift.experiments._genkin2007_fits import Fit, fit_few_features, fit_many
from bayesift.experiments._genkin2007_svm import COSTS, fit_svm
from bayesift.experiments._genkin2007_tasks import COLLECTIONS, parts, task
from bayesift.experiments.catalogue import Bench, Family

#: Categories in one call of a linear model, which is one piece of work.
TOGETHER = 30
#: Numbers of features of table 3.
SIZES = (500, 50, 5)
#: Every so many categories take part in a quick run.
QUICK_STEP = {"ModApte": 9, "RCV1-v2": 10, "OHSUMED": 6, "WebKB": 2, "20 NG": 6}

_MODULES = (
    "bayesift.experiments._genkin2007_fits",
    "bayesift.experiments._genkin2007_tasks",
    "bayesift.decide.cuts",
    "bayesift.linear",
    "bayesift.priors",
    "bayesift.select.scores",
    "bayesift.text",
)


def family(collection: str, *more_modules: str) -> Family:
    """Name what the fits to a collection depend on."""
    return Family("genkin2007", (*_MODULES, *more_modules), (COLLECTIONS[collection], "smart"))


def categories(collection: str, quick: bool) -> tuple[str, ...]:
    """Name the categories that take part."""
    step = QUICK_STEP[collection] if quick else 1
    return tuple(load(COLLECTIONS[collection]).categories)[::step]


def whole(bench: Bench, collection: str, algorithm: str, variance: str = "cv", deal: int = 0) -> list[Fit]:
    """Fit lasso or ridge on all features: for WebKB, each category once for each university."""
    names = categories(collection, bench.quick)
    settings = [
        {
            "collection": collection,
            "part": part,
            "algorithm": algorithm,
            "variance": variance,
            "deal": deal,
            "categories": names[start : start + TOGETHER],
        }
        for part in parts(collection, bench.quick)
        for start in range(0, len(names), TOGETHER)
    ]
    compute = partial(_whole, n_jobs=bench.n_jobs)
    stage = f"{collection}: {algorithm}, {variance}"
    found = bench.pieces(family(collection), settings, compute, stage=stage)
    return [Fit(*values) for piece in found for values in piece]


def _whole(setting: Mapping[str, Any], n_jobs: int) -> list[Fit]:
    return fit_many(task(setting["collection"], setting["part"]), setting, n_jobs)


def few_features(bench: Bench, collection: str) -> dict[str, list[Fit]]:
    """Fit ridge on few features; the keys are the number of features and the choice of the variance."""
    found = bench.pieces(
        family(collection),
        [setting | {"sizes": SIZES} for setting in _by_category(bench, collection)],
        _few_features,
        stage=f"{collection}: ridge with few features",
        processes=True,
    )
    return {key: [Fit(*piece[key]) for piece in found] for key in found[0]}


def _few_features(setting: Mapping[str, Any]) -> dict[str, Fit]:
    return fit_few_features(task(setting["collection"], setting["part"]), setting)


def support_vectors(bench: Bench, collection: str) -> list[Fit]:
    """Fit support vector machines; in a quick run with fewer folds and values of C."""
    search = {"folds": 3, "costs": COSTS[3:7]} if bench.quick else {"folds": 10, "costs": COSTS}
    settings = [setting | {"algorithm": "svm"} | search for setting in _by_category(bench, collection)]
    stage = f"{collection}: SVM"
    machines = family(collection, "bayesift.experiments._genkin2007_svm")
    found = bench.pieces(machines, settings, _support_vectors, stage=stage, processes=True)
    return [Fit(*values) for values in found]


def _support_vectors(setting: Mapping[str, Any]) -> Fit:
    return fit_svm(task(setting["collection"], setting["part"]), setting)


def _by_category(bench: Bench, collection: str) -> list[dict[str, Any]]:
    return [
        {"collection": collection, "part": part, "category": name}
        for part in parts(collection, bench.quick)
        for name in categories(collection, bench.quick)
    ]
