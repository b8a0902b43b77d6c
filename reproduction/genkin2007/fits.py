"""The fits behind the tables of Genkin, Lewis & Madigan (2007), category by category: lasso, ridge and SVM."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
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
from bayesift.select import binormal_separation, chi_square, pearson
from reproduction.genkin2007.tasks import Task

Cut = Literal["default", "tuned"]

PRIORS = {"lasso": "laplace", "ridge": "gaussian"}
#: The measures of features of section 5.3.2.
SCORES: dict[str, Callable[[Any, Any], Any]] = {"BNS": binormal_separation, "χ²": chi_square, "Pearson": pearson}

#: The variances that the paper chooses from; by itself the search looks between these as well.
GRIDS: dict[str, list[float]] = {
    "lasso": [2.0 / rate**2 for rate in (10.0 ** np.arange(2.5, -2.25, -0.5)).tolist()],
    "ridge": (10.0 ** np.arange(-4.0, 4.5, 1.0)).tolist(),
}


class Fit(NamedTuple):
    """What came of one category: its size, the features in its model and the test outcomes by kind of threshold.

    ``constant`` says whether the intercept is in the model as well.
    """

    category: str
    positives: int
    kept: int
    default: list[int]
    tuned: list[int]
    constant: bool = True

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
        )._replace(constant=bool(model.intercept_[k] != 0))
        for k, name in enumerate(setting["categories"])
    ]


def fit_few_features(task: Task, setting: Mapping[str, Any]) -> dict[str, Fit]:
    """Fit the best features by a measure, for each number of them and each way: ``ridge cv``, ``lasso norm``, ``svm``.

    Machines have the search of the setting: its folds and values of C.
    """
    y = task.Y_train[:, task.column(setting["category"])]
    best = np.argsort(-np.abs(SCORES[setting["score"]](task.X_train, y)), kind="stable")
    found = {}
    for n_features in setting["sizes"]:
        columns = np.sort(best[:n_features])
        part = task._replace(X_train=task.X_train[:, columns], X_test=task.X_test[:, columns])
        for way in setting["ways"]:
            if way == "svm":
                found[f"{n_features} svm"] = fit_svm(part, setting)
            else:
                algorithm, variance = way.split()
                chosen = {"algorithm": algorithm, "variance": variance, "categories": [setting["category"]]}
                found[f"{n_features} {way}"] = fit_many(part, chosen, n_jobs=1)[0]
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
    default, tuned = counts
    return Fit(category, int(y.sum()), kept, default, tuned)


#: Values of C to choose from.
COSTS = tuple(10.0**power for power in range(-4, 5))


def fit_svm(task: Task, setting: Mapping[str, Any]) -> Fit:
    """Fit an SVM with the C of the least held-out hinge loss in ten-fold cross-validation (section 5.3.1)."""
    column = task.column(setting["category"])
    y = task.Y_train[:, column]
    folds = [_Fold(task, y, learn, held) for learn, held in _folds(y.size, setting["folds"])]
    model = _final(task.X_train, y, _best_cost(folds, setting["costs"]))
    train, test = (model.decision_function(X) for X in (task.X_train, task.X_test))
    return decide_and_count(setting["category"], train, y, test, task.Y_test[:, column], _n_features(model))


def _folds(n_documents: int, folds: int) -> Any:
    return KFold(folds, shuffle=True, random_state=0).split(np.empty(n_documents))


#: From this C on, the search ends where the loss is above the least by more than this share. Planes of documents that
#: cannot be parted take nearly all of the time there; in the categories looked at, losses only rose further.
LARGE, WORSE = 10.0, 0.01


def _best_cost(folds: Sequence[_Fold], costs: Sequence[float]) -> float:
    """Return the C of the least held-out loss, values tried from the smallest on."""
    losses: list[float] = []
    for cost in costs:
        losses.append(sum(fold.loss(cost) for fold in folds))
        if cost >= LARGE and losses[-1] > (1.0 + WORSE) * min(losses):
            break
    return costs[int(np.argmin(losses))]


class _Fold:
    """Documents to learn from, and documents left out whose hinge loss is asked for, from the smallest C on."""

    def __init__(self, task: Task, y: NDArray[Any], learn: NDArray[Any], held: NDArray[Any]) -> None:
        self._X, self._X_held = task.X_train[learn], task.X_train[held]
        self._y, self._signs = y[learn], np.where(y[held] > 0, 1.0, -1.0)
        # Nothing to learn from: everything is rejected with the margin.
        alone = self._y.min() == self._y.max()
        self._settled = float(np.maximum(0.0, 1.0 + self._signs).sum()) if alone else None

    def loss(self, cost: float) -> float:
        """Return the sum of hinge losses; once documents are parted with a margin a greater C gives the same plane."""
        if self._settled is not None:
            return self._settled
        model = _svm(self._X, self._y, cost)
        loss = float(np.maximum(0.0, 1.0 - self._signs * model.decision_function(self._X_held)).sum())
        margins = np.where(self._y > 0, 1.0, -1.0) * model.decision_function(self._X)
        if margins.min() > 0.99:
            self._settled = loss
        return loss


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
