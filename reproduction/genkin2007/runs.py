"""The fits of Genkin, Lewis & Madigan (2007) as pieces of work that are kept."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from bayesift.datasets import load
from reproduction.catalogue import Family, Runner
from reproduction.genkin2007.fits import COSTS, Fit, fit_few_features, fit_many, fit_svm
from reproduction.genkin2007.tasks import COLLECTIONS, parts, task

#: Categories in one call of a linear model, which is one piece of work.
CATEGORIES_IN_A_CALL = 30
#: Numbers of features of table 3.
SIZES = (500, 50, 5)
#: How the C of a support vector machine on few features is chosen, which takes longest there.
FEW_SEARCH: dict[str, Any] = {"folds": 3, "costs": COSTS[3:6]}
#: Every so many categories take part in a quick run.
QUICK_STEP = {"ModApte": 9, "RCV1-v2": 10, "OHSUMED": 6, "WebKB": 2, "20 NG": 6}

_MODULES = (
    "reproduction.genkin2007.fits",
    "reproduction.genkin2007.tasks",
    "bayesift.decide",
    "bayesift.linear",
    "bayesift.priors",
    "bayesift.select",
    "bayesift.text",
)


def family(collection: str) -> Family:
    """Name what the fits to a collection depend on."""
    return Family("genkin2007", _MODULES, (COLLECTIONS[collection], "smart"))


def categories(collection: str, quick: bool) -> tuple[str, ...]:
    """Name the categories that take part."""
    step = QUICK_STEP[collection] if quick else 1
    return tuple(load(COLLECTIONS[collection]).categories)[::step]


def all_features(runner: Runner, collection: str, algorithm: str, variance: str = "cv", seed: int = 0) -> list[Fit]:
    """Fit lasso or ridge on all features: for WebKB, each category once for each university."""
    names = categories(collection, runner.quick)
    settings = [
        {
            "collection": collection,
            "part": part,
            "algorithm": algorithm,
            "variance": variance,
            "seed": seed,
            "categories": names[start : start + CATEGORIES_IN_A_CALL],
        }
        for part in parts(collection, runner.quick)
        for start in range(0, len(names), CATEGORIES_IN_A_CALL)
    ]
    compute = partial(_all_features, n_jobs=runner.n_jobs)
    stage = f"{collection}: {algorithm}, {variance}"
    found = runner.pieces(family(collection), settings, compute, stage=stage)
    return [Fit(*values) for piece in found for values in piece]


def _all_features(setting: Mapping[str, Any], n_jobs: int) -> list[Fit]:
    return fit_many(task(setting["collection"], setting["part"]), setting, n_jobs)


def few_features(
    runner: Runner,
    collection: str,
    score: str = "BNS",
    ways: tuple[str, ...] = ("ridge cv", "ridge norm"),
) -> dict[str, list[Fit]]:
    """Fit models to few features; the keys are the number of features and the way, such as ``50 ridge cv``."""
    options = {"score": score, "ways": ways, "sizes": SIZES, **(FEW_SEARCH if "svm" in ways else {})}
    found = runner.pieces(
        family(collection),
        [setting | options for setting in _by_category(runner, collection)],
        _few_features,
        stage=f"{collection}: {', '.join(ways)} with few features by {score}",
        processes=True,
    )
    return {key: [Fit(*piece[key]) for piece in found] for key in found[0]}


def _few_features(setting: Mapping[str, Any]) -> dict[str, Fit]:
    return fit_few_features(task(setting["collection"], setting["part"]), setting)


def support_vectors(runner: Runner, collection: str) -> list[Fit]:
    """Fit support vector machines; in a quick run with fewer folds and values of C."""
    search = {"folds": 3, "costs": COSTS[3:7]} if runner.quick else {"folds": 10, "costs": COSTS}
    settings = [setting | {"algorithm": "svm"} | search for setting in _by_category(runner, collection)]
    stage = f"{collection}: SVM"
    found = runner.pieces(family(collection), settings, _support_vectors, stage=stage, processes=True)
    return [Fit(*values) for values in found]


def _support_vectors(setting: Mapping[str, Any]) -> Fit:
    return fit_svm(task(setting["collection"], setting["part"]), setting)


def _by_category(runner: Runner, collection: str) -> list[dict[str, Any]]:
    return [
        {"collection": collection, "part": part, "category": name}
        for part in parts(collection, runner.quick)
        for name in categories(collection, runner.quick)
    ]
