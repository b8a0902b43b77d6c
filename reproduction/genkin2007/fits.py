"""The fits behind the tables of Genkin, Lewis & Madigan (2007), category by category: lasso, ridge and SVM."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from sklearn.svm import SVC, LinearSVC

from bayesift.decide import Threshold
from bayesift.evaluate import Outcomes
from bayesift.linear import BayesianLogisticRegression
from bayesift.select import binormal_separation
from reproduction.genkin2007.tasks import Task

Cut = Literal["default", "tuned"]

PRIORS = {"lasso": "laplace", "ridge": "gaussian"}

#: The variances that the paper chooses from; by itself the search looks between these as well.
GRIDS = {"lasso": 2.0 / 10.0 ** np.arange(5.0, -4.5, -1.0), "ridge": 10.0 ** np.arange(-4.0, 4.5, 1.0)}


class Fit(NamedTuple):
    """What came of one category: its size, the features in its model and the test outcomes by kind of threshold."""

    category: str
    positives: int
    kept: int
    default: list[int]
    tuned: list[int]

    def f1(self, cut: Cut) -> float:
        """Return F1 in per cent; 100 where there was nothing to find and nothing was accepted."""
        tp, fp, fn = getattr(self, cut)
        return 100.0 * 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 100.0

    def errors(self, cut: Cut) -> int:
        """Count the test documents that were decided wrongly."""
        _, fp, fn = getattr(self, cut)
        return int(fp + fn)


def fit_many(task: Task, setting: Mapping[str, Any], n_jobs: int = -1) -> list[Fit]:
    """Fit lasso or ridge on all features, several categories in one call that uses all cores."""
    columns = [task.column(name) for name in setting["categories"]]
    Y = task.Y_train[:, columns]
    model = _logistic(setting["algorithm"], setting["variance"], n_jobs, setting.get("seed", 0))
    with warnings.catch_warnings():
        # Categories with one positive document take the norm-based variance, as documented.
        warnings.simplefilter("ignore", UserWarning)
        model.fit(task.X_train, Y)
    scores = [model.decision_function(X).reshape(X.shape[0], -1) for X in (task.X_train, task.X_test)]
    return [
        decide_and_count(
            name, scores[0][:, k], Y[:, k], scores[1][:, k], task.Y_test[:, columns[k]], int(model.n_nonzero_[k])
        )
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
            found[f"{n_features} {variance}"] = decide_and_count(
                setting["category"], next(scores), y, next(scores), task.Y_test[:, column], int(model.n_nonzero_[0])
            )
    return found


def _logistic(algorithm: str, variance: Any, n_jobs: int, seed: int = 0) -> BayesianLogisticRegression:
    """Return lasso or ridge with the intercept penalised like any other coefficient (section 6.2)."""
    return BayesianLogisticRegression(
        PRIORS[algorithm], variance, intercept_variance="same", grid=GRIDS[algorithm], n_jobs=n_jobs, random_state=seed
    )


def decide_and_count(
    category: str,
    train: NDArray[np.float64],
    y: NDArray[Any],
    test: NDArray[np.float64],
    truth: NDArray[Any],
    kept: int,
) -> Fit:
    """Decide by the default and by the tuned threshold, the highest cut of least training errors (section 5.5)."""
    counts = []
    for policy in ("half", "min_error"):
        rule = Threshold(policy, scale="log_odds").fit(train, y)
        counts.append([int(count) for count in Outcomes.of(truth, rule.predict(test))[:3]])
    return Fit(category, int(y.sum()), kept, *counts)


#: Values of C to choose from.
COSTS = tuple(10.0**power for power in range(-4, 5))


def fit_svm(task: Task, setting: Mapping[str, Any]) -> Fit:
    """Fit an SVM with the C of the least held-out hinge loss in ten-fold cross-validation (section 5.3.1)."""
    column = task.column(setting["category"])
    y = task.Y_train[:, column]
    costs = setting["costs"]
    losses = np.sum(
        [_held_out(task, y, learn, held, costs) for learn, held in _folds(y.size, setting["folds"])], axis=0
    )
    model = _final(task.X_train, y, costs[int(np.argmin(losses))])
    train, test = (model.decision_function(X) for X in (task.X_train, task.X_test))
    return decide_and_count(setting["category"], train, y, test, task.Y_test[:, column], _n_features(model))


def _folds(n_documents: int, folds: int) -> Any:
    return KFold(folds, shuffle=True, random_state=0).split(np.empty(n_documents))


def _held_out(
    task: Task, y: NDArray[Any], learn: NDArray[Any], held: NDArray[Any], costs: tuple[float, ...]
) -> NDArray[np.float64]:
    """Return the sum of hinge losses of the documents left out, for each C, from the smallest on."""
    X, X_held, signs = task.X_train[learn], task.X_train[held], np.where(y[held] > 0, 1.0, -1.0)
    if y[learn].min() == y[learn].max():
        # Nothing to learn from: everything is rejected with the margin.
        return np.full(len(costs), np.maximum(0.0, 1.0 + signs).sum())
    losses: list[float] = []
    separated = False
    for cost in costs:
        if separated:
            # The documents are parted with a margin, and a greater C gives the same plane.
            losses.append(losses[-1])
            continue
        model = _svm(X, y[learn], cost)
        losses.append(float(np.maximum(0.0, 1.0 - signs * model.decision_function(X_held)).sum()))
        margins = np.where(y[learn] > 0, 1.0, -1.0) * model.decision_function(X)
        separated = bool(margins.min() > 0.99)
    return np.array(losses)


def _final(X: Any, y: NDArray[Any], cost: float) -> LinearSVC | SVC:
    """Fit all documents with a free intercept, as SVM_Light's is.

    ``LinearSVC`` penalises the intercept. With a small C only few documents can make up for that, and the plane turns
    towards the negatives; with a C of 1 or more the two give the same plane, and ``SVC`` takes a hundred times as long.
    """
    return SVC(kernel="linear", C=cost).fit(X, y) if cost < 1 else _svm(X, y, cost)


def _n_features(model: LinearSVC | SVC) -> int:
    """Count the coefficients that are not zero."""
    # Of sparse documents the coefficients of SVC are sparse, and read-only.
    return int(sp.csr_matrix(model.coef_, copy=True).count_nonzero())


def _svm(X: Any, y: NDArray[Any], cost: float) -> LinearSVC:
    with warnings.catch_warnings():
        # A large C on documents that cannot be parted takes very long to settle, and is never chosen.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return LinearSVC(loss="hinge", C=cost, tol=1e-3, random_state=0).fit(X, y)
