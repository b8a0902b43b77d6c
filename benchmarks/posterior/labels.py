"""What averaging over the posterior changes on real labels, and how variances are chosen best with few of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from rich.console import Console
from rich.progress import track

from bayesift.datasets import load
from bayesift.evaluate import expected_calibration_error
from bayesift.linear import BayesianLogisticRegression
from bayesift.priors import Gaussian, from_frequencies
from bayesift.workflow import TextClassifier
from benchmarks.measuring import show
from benchmarks.posterior.coverage import documents

TASKS = (
    ("sms", "spam"),
    ("reuters21578", "earn"),
    ("reuters21578", "crude"),
    ("ohsumed", "C14"),
    ("webkb", "student"),
)
#: Numbers of labels, and how often the labelled texts are drawn. The last is all texts of SMS but those asked for.
DRAWN = {10: 4, 50: 4, 200: 4, 674: 1}
ASKED = 1000


def _draws(y: np.ndarray, n: int, times: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield labelled texts of both classes, and others."""
    rng = np.random.default_rng(0)
    while times:
        order = rng.permutation(y.size)
        train, test = order[:n], order[n : n + ASKED]
        if 0 < y[train].sum() < n:
            times -= 1
            yield train, test


def _measured(y: np.ndarray, p: np.ndarray) -> tuple[float, float]:
    """Return log loss and calibration error."""
    return float(-np.mean(np.log(np.where(y > 0, p, 1.0 - p)))), float(expected_calibration_error(y, p))


def real_labels(tasks: tuple[tuple[str, str], ...] = TASKS) -> None:
    """Print log loss and calibration error of averaged and of plain probabilities on real labels."""
    rows = []
    for name, category in track(tasks, "posterior, labels", transient=True, console=Console(stderr=True)):
        collection, X = load(name), documents(name)
        y = collection.indicator("train")[:, collection.categories.index(category)].toarray().ravel()
        for n, times in DRAWN.items():
            measured = []
            for train, test in _draws(y, n, times):
                found = []
                for prior in (Gaussian(), from_frequencies(X[train])):
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", UserWarning)
                        model = BayesianLogisticRegression(prior, "evidence", posterior="ep").fit(X[train], y[train])
                    at_mode = np.exp(model.scores_to_log_proba(model.mode_scores(X[test])))[:, 1]
                    found += [_measured(y[test], p) for p in (model.predict_proba(X[test])[:, 1], at_mode)]
                measured.append(found)
            mean = np.mean(measured, axis=0)
            rows.append((f"{name}, {category}", f"{n}", *(f"{loss:.3f} / {error:.3f}" for loss, error in mean)))
    header = ("", "labels", "averaged", "mode", "averaged, by frequency", "mode, by frequency")
    show(f"Log loss / calibration error on {ASKED} texts, variance by evidence", header, rows)


def words_and_vectors(tasks: tuple[tuple[str, str], ...] = TASKS[1:2] + TASKS[3:]) -> None:
    """Print the log loss with vectors of a pile, their variance and that of words chosen by evidence or by folds."""
    rows = []
    for name, category in track(tasks, "posterior, vectors", transient=True, console=Console(stderr=True)):
        collection = load(name)
        texts = np.array(collection.train.texts, dtype=object)
        y = collection.indicator("train")[:, collection.categories.index(category)].toarray().ravel()
        pile = texts[np.random.default_rng(1).permutation(y.size)[:2000]].tolist()
        for n in (10, 50, 200):
            measured = []
            for train, test in _draws(y, n, 3):
                found = []
                for variance, posterior in (("evidence", "ep"), ("evidence", None), ("cv", None)):
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", UserWarning)
                        model = TextClassifier("ridge", variance=variance, posterior=posterior)
                        model.fit(texts[train].tolist(), y[train], unlabelled=pile)
                    found.append(_measured(y[test], model.predict_proba(texts[test].tolist())[:, 1])[0])
                measured.append(found)
            rows.append((f"{name}, {category}", f"{n}", *(f"{loss:.3f}" for loss in np.mean(measured, axis=0))))
    header = ("", "labels", "averaged, evidence", "mode, evidence", "mode, cross-validation")
    show(f"Words and vectors of a pile: log loss on {ASKED} texts, 3 draws", header, rows)
