"""The fits behind the tables of Genkin, Lewis & Madigan (2007): lasso and ridge, category by category."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from bayesift._typing import AnyArray, FloatArray
from bayesift.decide import Threshold
from bayesift.evaluate import Outcomes
from bayesift.experiments._genkin2007_tasks import Task
from bayesift.linear import BayesianLogisticRegression
from bayesift.select import binormal_separation

Cut = Literal["default", "tuned"]

PRIORS = {"lasso": "laplace", "ridge": "gaussian"}


class Fit(NamedTuple):
    """What came of one category: its size, the features in its model and the test outcomes by kind of threshold."""

    category: str
    positives: int
    kept: int
    default: list[int]
    tuned: list[int]

    def f1(self, cut: Cut) -> float:
        """F1 in per cent; 100 where there was nothing to find and nothing was accepted."""
        tp, fp, fn = getattr(self, cut)
        return 100.0 * 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 100.0

    def errors(self, cut: Cut) -> int:
        """Test documents that were decided wrongly."""
        _, fp, fn = getattr(self, cut)
        return int(fp + fn)


def fit_many(task: Task, setting: Mapping[str, Any], n_jobs: int = -1) -> list[Fit]:
    """Fit lasso or ridge on all features, several categories in one call that uses all cores."""
    columns = [task.column(name) for name in setting["categories"]]
    Y = task.Y_train[:, columns]
    model = _logistic(setting["algorithm"], setting["variance"], n_jobs, setting.get("deal", 0))
    with warnings.catch_warnings():
        # Categories with one positive document take the norm-based variance, as documented.
        warnings.simplefilter("ignore", UserWarning)
        model.fit(task.X_train, Y)
    scores = [model.decision_function(X).reshape(X.shape[0], -1) for X in (task.X_train, task.X_test)]
    return [
        judged(name, scores[0][:, k], Y[:, k], scores[1][:, k], task.Y_test[:, columns[k]], int(model.n_nonzero_[k]))
        for k, name in enumerate(setting["categories"])
    ]


def fit_few_features(task: Task, setting: Mapping[str, Any]) -> dict[str, Fit]:
    """Fit ridge on the best features by bi-normal separation, for each number of them and choice of the variance."""
    column = task.column(setting["category"])
    y = task.Y_train[:, column]
    best = np.argsort(-binormal_separation(task.X_train, y), kind="stable")
    found = {}
    for n_features in setting["sizes"]:
        X_train, X_test = (X[:, np.sort(best[:n_features])] for X in (task.X_train, task.X_test))
        for variance in ("cv", "norm"):
            model = _logistic("ridge", variance, 1)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                model.fit(X_train, y)
            scores = (model.decision_function(X) for X in (X_train, X_test))
            found[f"{n_features} {variance}"] = judged(
                setting["category"], next(scores), y, next(scores), task.Y_test[:, column], int(model.n_nonzero_[0])
            )
    return found


def _logistic(algorithm: str, variance: Any, n_jobs: int, deal: int = 0) -> BayesianLogisticRegression:
    """Return lasso or ridge with the intercept penalised like any other coefficient (section 6.2)."""
    return BayesianLogisticRegression(
        PRIORS[algorithm], variance, intercept_variance="same", n_jobs=n_jobs, random_state=deal
    )


def judged(category: str, train: FloatArray, y: AnyArray, test: FloatArray, truth: AnyArray, kept: int) -> Fit:
    """Decide by the default and by the tuned threshold, the highest cut of least training errors (section 5.5)."""
    counts = []
    for policy in ("half", "min_error"):
        rule = Threshold(policy, scale="log_odds").fit(train, y)
        counts.append([int(count) for count in Outcomes.of(truth, rule.predict(test))[:3]])
    return Fit(category, int(y.sum()), kept, *counts)
