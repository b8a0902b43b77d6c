"""What averaging over the posterior changes on real labels, and how variances are chosen best with few of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from rich.console import Console
from rich.progress import track
from sklearn.exceptions import ConvergenceWarning

from bayesift.datasets import load
from bayesift.evaluate import expected_calibration_error
from bayesift.linear import BayesianLogisticRegression
from bayesift.posterior import gibbs_sampling
from bayesift.priors import Gaussian, Prior, from_frequencies
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
#: Numbers of labels, and how often the labelled texts are drawn; then all texts but those asked for, once.
DRAWN = {10: 10, 50: 6, 200: 4}
ASKED = 1000
#: With more documents than these, all of them, the posterior is sampled with the variance of cross-validation.
_MOST_BY_PROPAGATION = 2000
#: What is compared: how the variance was chosen comes after the comma.
WAYS = (
    "averaged, evidence",
    "averaged at temperature 1, evidence",
    "mode, evidence",
    "averaged, folds",
    "mode, folds",
    "averaged, evidence, by frequency",
    "mode, evidence, by frequency",
)
Probabilities = dict[str, np.ndarray]


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
    kept = np.clip(np.where(y > 0, p, 1.0 - p), 1e-12, None)
    return float(-np.mean(np.log(kept))), float(expected_calibration_error(y, p))


def _fitted(X: sp.csr_matrix, y: np.ndarray, prior: Prior, variance: str) -> BayesianLogisticRegression:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return BayesianLogisticRegression(prior, variance, posterior="auto").fit(X, y)


def _by_few(X: sp.csr_matrix, y: np.ndarray, new: sp.csr_matrix) -> Probabilities:
    """Return probabilities by several ways, with the variance by evidence, or by cross-validation."""
    found: Probabilities = {}
    for name, prior, variance in (
        ("evidence", Gaussian(), "evidence"),
        ("folds", Gaussian(), "cv"),
        ("evidence, by frequency", from_frequencies(X), "evidence"),
    ):
        model = _fitted(X, y, prior, variance)
        found[f"averaged, {name}"] = model.predict_proba(new)[:, 1]
        if name == "evidence":
            found["averaged at temperature 1, evidence"] = model.posteriors_[0].predict_proba(new)
        found[f"mode, {name}"] = np.exp(model.scores_to_log_proba(model.mode_scores(new)))[:, 1]
    return found


def _by_all(X: sp.csr_matrix, y: np.ndarray, new: sp.csr_matrix) -> Probabilities:
    """Return probabilities averaged over draws, and at the mode, with the variance by cross-validation."""
    model = BayesianLogisticRegression("gaussian", "cv").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        drawn = gibbs_sampling(X, y, Gaussian(float(model.variance_[0])), n_draws=100, warmup=30)
    return {"averaged, folds": drawn.predict_proba(new), "mode, folds": model.predict_proba(new)[:, 1]}


def real_labels(tasks: tuple[tuple[str, str], ...] = TASKS, sizes: tuple[int, ...] = (*DRAWN, 0)) -> None:
    """Print log loss and calibration error of averaged and of plain probabilities on real labels; 0 stands for all."""
    rows, apart = [], []
    for name, category in tasks:
        collection, X = load(name), documents(name)
        y = collection.indicator("train")[:, collection.categories.index(category)].toarray().ravel()
        for size in sizes:
            n = size or y.size - ASKED
            ways = _by_few if n <= _MOST_BY_PROPAGATION else _by_all
            measured: dict[str, list[tuple[float, float]]] = {}
            for train, test in _draws(y, n, DRAWN.get(size, 1)):
                for way, p in ways(X[train], y[train], X[test]).items():
                    measured.setdefault(way, []).append(_measured(y[test], p))
            task = f"{name}, {category}", f"{n:,}" if size else f"all, {n:,}"
            rows.append((*task, *(_both_measures(measured.get(way, [])) for way in WAYS)))
            apart.append((*task, *(_from_mode(measured, way) for way in WAYS if way.startswith("averaged"))))
    show(f"log loss / calibration error, {ASKED:,} texts", ("task", "labels", *WAYS), rows)
    header = ("task", "labels", *(way for way in WAYS if way.startswith("averaged")))
    show("log loss less that of the mode with the same variance (standard error)", header, apart)


def _both_measures(values: list[tuple[float, float]]) -> str:
    return "{:.3f} / {:.3f}".format(*np.mean(values, axis=0)) if values else "–"


def _from_mode(measured: dict[str, list[tuple[float, float]]], way: str) -> str:
    """Return by how much averages have the greater log loss, over the draws of labels."""
    if way not in measured:
        return "–"
    losses, of_mode = (np.array(measured[one])[:, 0] for one in (way, "mode," + way.split(",", 1)[1]))
    error = f" ({(losses - of_mode).std(ddof=1) / np.sqrt(losses.size):.3f})" if losses.size > 1 else ""
    return f"{(losses - of_mode).mean():+.3f}{error}"


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
