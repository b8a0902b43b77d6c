"""Processor time of posteriors: few labelled texts, and all of a collection."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from bayesift.datasets import load
from bayesift.posterior import (
    expectation_propagation,
    gibbs_sampling,
    laplace_approximation,
)
from bayesift.priors import Gaussian, Laplace
from benchmarks.measuring import show
from benchmarks.posterior.coverage import documents

#: Draws of each of four chains with all documents.
_MANY = 150


def _processor_seconds(work: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Return the median processor time of some runs, after one that is not timed, and the last result."""
    work()
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        seconds.append(time.process_time() - start)
    return float(np.median(seconds)), result


def few_labels(repeats: int) -> None:
    """Print the processor time of 300 labelled texts with 20,000 words on one core."""
    X = documents("reuters21578")
    X = X[:, np.argsort(-np.bincount(X.indices, minlength=X.shape[1]))[:20_000]]
    rng = np.random.default_rng(0)
    rows = rng.permutation(X.shape[0])
    beta = np.sqrt(10.0) * rng.normal(size=X.shape[1])
    y = (rng.random(X.shape[0]) < expit(X @ beta)).astype(int)
    X_train, y_train, new = X[rows[:300]], y[rows[:300]], X[rows[300:1300]]
    found: list[tuple[str, ...]] = []
    for link in ("logistic", "probit"):
        for method in (laplace_approximation, expectation_propagation):
            fit = partial(method, X_train, y_train, Gaussian(10.0), link=link)
            seconds, posterior = _processor_seconds(fit, repeats)
            asked, _ = _processor_seconds(partial(posterior.predict_interval, new), repeats)
            plain, _ = _processor_seconds(partial(posterior.predict_proba, new), repeats)
            found.append(
                (f"{method.__name__}, {link}", f"{seconds:.3f}", "–", f"{1e3 * asked:.1f}", f"{asked / plain:.2f}")
            )
        for prior in (Gaussian(1.0), Gaussian(10.0), Gaussian(100.0), Laplace(10.0)):
            fit = partial(gibbs_sampling, X_train, y_train, prior, link=link)
            seconds, posterior = _processor_seconds(fit, min(repeats, 3))
            least = posterior.diagnostics.effective.min()
            median = np.median(posterior.diagnostics.effective)
            per_thousand = f"{1e3 * seconds / median:.2f} ({1e3 * seconds / least:.2f})"
            found.append((f"gibbs_sampling, {link}, {prior}", f"{seconds:.2f}", per_thousand, "–", "–"))
    header = (
        "300 texts, 20,000 words",
        "s",
        "s for 1,000 effective draws: median (worst score)",
        "1,000 intervals, ms",
        "× averaged probabilities",
    )
    show("Processor time on one core", header, found)


def many_labels() -> None:
    """Print the processor time of Gibbs sampling with all documents of a collection."""
    collection = load("reuters21578")
    X = documents("reuters21578")
    found = []
    for category in ("earn", "grain"):
        y = collection.indicator("train")[:, collection.categories.index(category)].toarray().ravel()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            start = time.process_time()
            posterior = gibbs_sampling(X, y, Gaussian(10.0), n_draws=_MANY, warmup=_MANY // 5)
            seconds = time.process_time() - start
        effective = posterior.diagnostics.effective
        found.append(
            (
                category,
                f"{X.shape[0]:,}",
                f"{seconds:.1f}",
                f"{np.median(effective):.0f} ({effective.min():.0f})",
                f"{1e3 * seconds / np.median(effective):.0f} ({1e3 * seconds / effective.min():.0f})",
            )
        )
    header = ("category", "documents", f"s for {4 * _MANY} draws", "effective: median (worst)", "s for 1,000 effective")
    show("Gibbs sampling by conjugate gradients", header, found)
