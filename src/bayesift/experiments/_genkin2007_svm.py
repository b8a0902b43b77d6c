"""Support vector machines as in section 5.3.1 of Genkin, Lewis & Madigan (2007)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from sklearn.svm import SVC, LinearSVC

from bayesift._typing import AnyArray, FloatArray
from bayesift.experiments._genkin2007_fits import Fit, judged
from bayesift.experiments._genkin2007_tasks import Task

#: Values of C to choose from.
COSTS = tuple(10.0**power for power in range(-4, 5))


def fit_svm(task: Task, setting: Mapping[str, Any]) -> Fit:
    """Fit an SVM with the C of the least held-out hinge loss in ten-fold cross-validation (section 5.3.1)."""
    column = task.column(setting["category"])
    y = task.Y_train[:, column]
    costs = setting["costs"]
    losses = np.sum([_held_out(task, y, learn, held, costs) for learn, held in _deal(y.size, setting["folds"])], axis=0)
    model = _final(task.X_train, y, costs[int(np.argmin(losses))])
    train, test = (model.decision_function(X) for X in (task.X_train, task.X_test))
    return judged(setting["category"], train, y, test, task.Y_test[:, column], _n_features(model))


def _deal(n_documents: int, folds: int) -> Any:
    return KFold(folds, shuffle=True, random_state=0).split(np.empty(n_documents))


def _held_out(task: Task, y: AnyArray, learn: AnyArray, held: AnyArray, costs: tuple[float, ...]) -> FloatArray:
    """Sum of hinge losses of the documents left out, for each C, from the smallest on."""
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


def _final(X: Any, y: AnyArray, cost: float) -> LinearSVC | SVC:
    """Fit all documents with a free intercept, as SVM_Light's is.

    ``LinearSVC`` penalises the intercept. With a small C only few documents can make up for that, and the plane turns
    towards the negatives; with a C of 1 or more the two give the same plane, and ``SVC`` takes a hundred times as long.
    """
    return SVC(kernel="linear", C=cost).fit(X, y) if cost < 1 else _svm(X, y, cost)


def _n_features(model: LinearSVC | SVC) -> int:
    """Count the coefficients that are not zero."""
    # Of sparse documents the coefficients of SVC are sparse, and read-only.
    return int(sp.csr_matrix(model.coef_, copy=True).count_nonzero())


def _svm(X: Any, y: AnyArray, cost: float) -> LinearSVC:
    with warnings.catch_warnings():
        # A large C on documents that cannot be parted takes very long to settle, and is never chosen.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return LinearSVC(loss="hinge", C=cost, tol=1e-3, random_state=0).fit(X, y)
