"""Do probabilities mean what they say? Ours with and without calibration, beside scikit-learn's on the same matrix.

The matrix is that of ``TextClassifier``: words of two texts and more, its usual weights. The same decisions are judged
for all: every label of every test text, of two labels one. ``LogisticRegressionCV`` tries C of 1, 10 and 100 in three
folds (by default ten values in five folds: too slow here) by log loss, and fits labels of fewer than three texts with
C = 1; ``CalibratedClassifierCV`` calibrates ``LinearSVC`` in five folds, or as many as the label has texts.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.svm import LinearSVC

from bayesift.datasets import load
from bayesift.evaluate import brier, calibration_interval, log_loss, logistic_recalibration, top_label
from bayesift.workflow import TextClassifier
from benchmarks.measuring import show
from benchmarks.model_choice import Labels, Parts, cohen, synergy


class Case(NamedTuple):
    """The numbers of training and test texts, and a 0/1 indicator of their labels; one column for two labels."""

    X: Any
    Y: np.ndarray
    X_test: Any
    Y_test: np.ndarray
    exclude: bool


class Row(NamedTuple):
    """Which decisions a system was asked for, what it said, and its processor seconds."""

    truth: np.ndarray
    probabilities: np.ndarray
    exclude: bool
    seconds: float


def split_of(name: str, **options: Any) -> Parts:
    """Return the texts of a collection by its own split."""
    found = load(name, **options)
    return Parts(found.train.texts, found.train.labels, found.test.texts, found.test.labels)


#: Collections, of one part or several that are judged together.
COLLECTIONS: dict[str, Callable[[], list[Parts]]] = {
    "newsroom": lambda: [split_of("newsroom")],
    "SI650": lambda: [split_of("si650")],
    "SMS spam": lambda: [split_of("sms")],
    "Cohen, 4 reviews": lambda: [cohen(name, 0) for name in ("ADHD", "ACEInhibitors", "Opioids", "Triptans")],
    "SYNERGY, 2 reviews": lambda: [synergy(name, 0) for name in ("Menon_2022", "van_der_Valk_2021")],
    "WebKB": lambda: [split_of("webkb")],
    "Ohsumed": lambda: [split_of("ohsumed")],
    "Reuters-21578 (ModApte)": lambda: [split_of("reuters21578")],
    "20 Newsgroups": lambda: [split_of("20newsgroups")],
}

#: Our models; the softmax ones where labels exclude each other.
MODELS = ("ridge", "lasso", "polytomous-ridge", "polytomous")


def indicator(labels: Labels, names: list[str]) -> np.ndarray:
    """Return which texts have which labels."""
    return np.array([[name in own for name in names] for own in labels], dtype=int)


def ours(parts: Parts, model: str) -> dict[str, Row]:
    """Return what a model says with and without calibration, which leaves its coefficients as they are."""
    classifier = TextClassifier(model, threshold="half", keep_posterior=False, calibration="sigmoid")
    begin = time.process_time()
    classifier.fit(parts.training, _one_or_sets(parts.training_labels))
    seconds = time.process_time() - begin
    truth = indicator(parts.test_labels, [str(label) for label in classifier.classes_])
    wanted = slice(1, None) if classifier.target_type_ == "binary" else slice(None)
    exclude = classifier.target_type_ != "multilabel-indicator"
    rows = {}
    for name in (f"{model}, calibrated", model):
        p = classifier.predict_proba(parts.test)
        rows[name] = Row(truth[:, wanted], p[:, wanted], exclude, seconds)
        vars(classifier.model_).pop("calibration_", None)
    return rows


def _one_or_sets(labels: Labels) -> list[Any]:
    return [own[0] for own in labels] if all(len(own) == 1 for own in labels) else list(labels)


def case_of(parts: Parts) -> Case:
    """Return the matrix of our classifiers for others."""
    made = TextClassifier("ridge", variance=1.0, threshold="half", keep_posterior=False, calibration=None)
    made.fit(parts.training, _one_or_sets(parts.training_labels))
    names = [str(label) for label in made.classes_]
    wanted = slice(1, None) if made.target_type_ == "binary" else slice(None)
    Y, Y_test = (indicator(labels, names)[:, wanted] for labels in (parts.training_labels, parts.test_labels))
    exclude = made.target_type_ != "multilabel-indicator"
    return Case(made.matrix(parts.training), Y, made.matrix(parts.test), Y_test, exclude)


def searched(y: np.ndarray) -> Any:
    """Return scikit-learn's logistic regression with a search, or without where a class is too small."""
    if np.unique(y, return_counts=True)[1].min() < 3:
        return LogisticRegression()
    return LogisticRegressionCV(
        Cs=(1.0, 10.0, 100.0), cv=3, l1_ratios=(0.0,), scoring="neg_log_loss", use_legacy_attributes=False
    )


def calibrated(y: np.ndarray) -> Any:
    """Return scikit-learn's calibrated support vectors, or logistic regression for a class of a single text."""
    fewest = int(np.unique(y, return_counts=True)[1].min())
    return LogisticRegression() if fewest < 2 else CalibratedClassifierCV(LinearSVC(), cv=min(fewest, 5))


PEERS: dict[str, Callable[[np.ndarray], Any]] = {
    "LogisticRegressionCV": searched,
    "CalibratedClassifierCV": calibrated,
}


def peer(parts: Parts, name: str) -> dict[str, Row]:
    """Return what one of scikit-learn's says: all classes at once where they exclude each other."""
    case = case_of(parts)
    begin = time.process_time()
    if case.exclude and case.Y.shape[1] > 1:
        y = np.argmax(case.Y, axis=1)
        p = PEERS[name](y).fit(case.X, y).predict_proba(case.X_test)
    else:
        p = np.column_stack([PEERS[name](y).fit(case.X, y).predict_proba(case.X_test)[:, 1] for y in case.Y.T])
    return {name: Row(case.Y_test, p, case.exclude, time.process_time() - begin)}


def systems(collection: str) -> Iterator[Callable[[Parts], dict[str, Row]]]:
    """Return the systems that can take a collection."""
    parts = COLLECTIONS[collection]()[0]
    one_of_many = all(len(own) == 1 for own in parts.training_labels) and len(set(parts.training_labels)) > 2
    for model in MODELS:
        if one_of_many or not model.startswith("polytomous"):
            yield lambda parts, model=model: ours(parts, model)  # type: ignore[misc]
    for name in PEERS:
        yield lambda parts, name=name: peer(parts, name)  # type: ignore[misc]


def judged(name: str, rows: list[Row]) -> tuple[str, ...]:
    """Return the measures of a system, its parts taken together."""
    tiny = float(np.finfo(np.float64).eps)
    if len(rows) > 1:
        truth, p = (np.concatenate([getattr(row, part).ravel() for row in rows]) for part in Row._fields[:2])
    else:
        truth, p = rows[0].truth, rows[0].probabilities
    p = np.clip(p, tiny, 1 - tiny)
    line = logistic_recalibration(truth, p, average="micro")
    if p.ndim == 1 or p.shape[1] == 1:
        p, truth = p.reshape(-1, 1), truth.reshape(-1, 1)
        p, truth = np.hstack([1 - p, p]), np.hstack([1 - truth, truth])
    if rows[0].exclude:
        found, right = calibration_interval(*top_label(truth, p), n_resamples=500), top_label(truth, p)
        shares = f"{right.confidence.mean():.3f}", f"{right.right.mean():.3f}"
    else:
        found, shares = calibration_interval(truth, p, average="micro", n_resamples=500), ("–", "–")
    halved = slice(1, None) if truth.shape[1] == 2 else slice(None)
    return (
        name,
        f"{log_loss(truth[:, halved], p[:, halved], average='micro'):.4f}",
        f"{brier(truth[:, halved], p[:, halved], average='micro'):.4f}",
        f"{line.slope:.2f} ± {line.slope_error:.2f}",
        f"{line.intercept:+.2f} ± {line.intercept_error:.2f}",
        f"{found.error:.3f} ({found.low:.3f}–{found.high:.3f}; {found.by_chance:.3f})",
        *shares,
        f"{sum(row.seconds for row in rows):.1f}",
    )


def measured(collection: str) -> list[tuple[str, ...]]:
    """Return the rows of a collection."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = []
        for system in systems(collection):
            by_part = [system(parts) for parts in COLLECTIONS[collection]()]
            found += [judged(name, [one[name] for one in by_part]) for name in by_part[0]]
    return found


HEADER = (
    "system",
    "log loss",
    "Brier",
    "slope",
    "intercept",
    "calibration error (95 %; by chance)",
    "said",
    "right",
    "CPU s",
)


def run(repeats: int) -> None:
    """Print a table of each collection; calibration errors are those of the most probable label where there is one."""
    for collection in COLLECTIONS:
        show(collection, HEADER, measured(collection))
