"""Posteriors: how often intervals hold the truth, how far approximations are from Gibbs sampling, and speed.

Truths are drawn from the prior and labels from the truths, for the texts of real collections: only then is it known
what an interval should hold.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from rich.console import Console
from rich.progress import track
from scipy.special import expit
from scipy.stats import chi2
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from bayesift.datasets import load
from bayesift.linear import BayesianLogisticRegression
from bayesift.posterior import (
    Posterior,
    expectation_propagation,
    gibbs_sampling,
    greatest_evidence,
    laplace_approximation,
)
from bayesift.priors import Gaussian, Laplace
from bayesift.text import TextVectorizer
from benchmarks.measuring import show

MASSES = (0.5, 0.8, 0.9, 0.95)
LABELLED, REPETITIONS, ASKED = (10, 50, 200), 84, 100
#: Prior variances of scores (texts have norm 1), and means of the intercept: balanced, rare and frequent categories.
VARIANCES, INTERCEPTS, INTERCEPT_VARIANCE = (4.0, 30.0), (0.0, -4.0, 4.0), 1.0
RANKS = 20
#: How often labelled texts are drawn from those with real labels.
DRAWN = 10
METHODS: dict[str, Callable[..., Posterior]] = {
    "Gibbs": partial(gibbs_sampling, n_draws=250, warmup=100),
    "EP": expectation_propagation,
    "Laplace": laplace_approximation,
}


@cache
def documents(name: str) -> sp.csr_matrix:
    """Return the texts of a collection as rows of norm 1."""
    return TextVectorizer("ltc", min_df=1).fit_transform(load(name).train.texts)


class Case(NamedTuple):
    """A truth, its labelled texts, and the texts whose probabilities are asked for."""

    X: sp.csr_matrix
    y: np.ndarray
    prior: Gaussian
    new: sp.csr_matrix
    truth: np.ndarray
    strata: dict[str, np.ndarray]


def cases(name: str, seed: int) -> Iterator[Case]:
    """Draw truths from the prior, and labels from them."""
    rng, X = np.random.default_rng(seed), documents(name)
    for repetition in range(REPETITIONS):
        for n in LABELLED:
            variance = VARIANCES[repetition % 2]
            intercept = INTERCEPTS[repetition // 2 % 3]
            rows = rng.permutation(X.shape[0])[: n + ASKED]
            chosen = X[rows]
            beta = np.sqrt(variance) * rng.normal(size=X.shape[1])
            constant = intercept + np.sqrt(INTERCEPT_VARIANCE) * rng.normal()
            truth = expit(chosen @ beta + constant)
            y = (rng.random(n) < truth[:n]).astype(int)
            seen = np.zeros(X.shape[1])
            seen[chosen[:n].indices] = 1.0
            new = chosen[n:]
            words = np.diff(new.indptr)
            unseen = 1.0 - (new != 0) @ seen / np.maximum(words, 1)
            strata = {
                "all": np.ones(ASKED, bool),
                f"{n} labels": np.ones(ASKED, bool),
                "rare: at most 20 positives": np.full(ASKED, intercept < 0 and y.sum() <= 20),
                "at most 8 words": words <= 8,
                "most words unseen": unseen > 0.5,
            }
            prior = Gaussian(variance, intercept_mode=intercept, intercept_variance=INTERCEPT_VARIANCE)
            yield Case(chosen[:n], y, prior, new, truth[n:], strata)


class Coverage:
    """Counts how often intervals hold the truth."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, str], list[np.ndarray]] = {}

    def add(self, method: str, posterior: Posterior, case: Case, only: str | None = None) -> None:
        """Ask for the intervals of all texts of a case."""
        held = np.column_stack(
            [
                (ends[:, 0] <= case.truth) & (case.truth <= ends[:, 1])
                for ends in (posterior.predict_interval(case.new, mass) for mass in MASSES)
            ]
        )
        p = posterior.predict_proba(case.new)
        strata = {**case.strata, "averaged p < 0.05": p < 0.05, "averaged p > 0.95": p > 0.95}
        for stratum, rows in ({only: np.ones(ASKED, bool)} if only else strata).items():
            self._held.setdefault((stratum, method), []).append(held[rows])

    def rows(self) -> list[tuple[str, ...]]:
        """Return a row for each stratum and method."""
        found = []
        for (stratum, method), parts in self._held.items():
            held = np.vstack(parts)
            shares = [f"{100 * share:.1f}" for share in held.mean(axis=0)] if held.size else ["–"] * len(MASSES)
            found.append((stratum, method, f"{held.shape[0]:,}", *shares))
        return sorted(found, key=lambda row: row[0] != "all")


def coverage(name: str) -> None:
    """Print how often intervals hold the truth, the ranks of truths among draws, and distances from Gibbs sampling."""
    counted, ranks = Coverage(), []
    ends: dict[str, list[np.ndarray]] = {"EP": [], "Laplace": []}
    total = REPETITIONS * len(LABELLED)
    for k, case in enumerate(
        track(cases(name, 0), f"posterior, {name}", total=total, transient=True, console=Console(stderr=True))
    ):
        exact = METHODS["Gibbs"](case.X, case.y, case.prior, random_state=k)
        counted.add("Gibbs", exact, case)
        draws = expit(exact.score_draws(case.new[0])[:: 1000 // (RANKS * 5)])
        ranks.append((draws[:, 0] < case.truth[0]).mean())
        reference = exact.predict_interval(case.new, 0.9)
        for method in ("EP", "Laplace"):
            found = METHODS[method](case.X, case.y, case.prior)
            counted.add(method, found, case)
            ends[method].append(np.abs(found.predict_interval(case.new, 0.9) - reference).ravel())
        if 0 < case.y.sum() < case.y.size:
            open_prior = Gaussian(intercept_mode=case.prior.intercept_mode, intercept_variance=INTERCEPT_VARIANCE)
            chosen = open_prior.scaled(greatest_evidence(case.X, case.y, open_prior).variance)
            counted.add("EP", expectation_propagation(case.X, case.y, chosen), case, "variance by evidence")
    header = ("texts", "method", "intervals", *(f"{100 * mass:g} %" for mass in MASSES))
    show(f"{name}: share of intervals that hold the truth, in %", header, counted.rows())
    counts = np.histogram(ranks, bins=RANKS, range=(0.0, 1.0 + 1e-9))[0]
    statistic = float(((counts - len(ranks) / RANKS) ** 2 / (len(ranks) / RANKS)).sum())
    rows = [("Gibbs", f"{len(ranks)}", f"{statistic:.1f}", f"{chi2(RANKS - 1).sf(statistic):.2f}")]
    show(f"{name}: ranks of truths among draws, {RANKS} bins", ("method", "repetitions", "chi-square", "p"), rows)
    rows = [
        (method, *(f"{value:.4f}" for value in np.quantile(np.concatenate(found), [0.5, 0.9, 0.99])))
        for method, found in ends.items()
    ]
    show(f"{name}: distance of the ends of 90 % intervals from Gibbs", ("method", "median", "90 %", "99 %"), rows)


def _loss(y: np.ndarray, p: np.ndarray) -> float:
    return float(-np.mean(np.log(np.where(y > 0, p, 1.0 - p))))


def real_labels() -> None:
    """Print the log loss of averaged and of plain probabilities on real labels."""
    rows = []
    tasks = (("sms", "spam"), ("reuters21578", "earn"), ("reuters21578", "crude"))
    for name, category in track(tasks, "posterior, labels", transient=True, console=Console(stderr=True)):
        collection, X = load(name), documents(name)
        y = collection.indicator("train")[:, collection.categories.index(category)].toarray().ravel()
        for n in LABELLED:
            rng, losses = np.random.default_rng(0), []
            while len(losses) < DRAWN:
                order = rng.permutation(X.shape[0])
                train, test = order[:n], order[n : n + 1000]
                if not 0 < y[train].sum() < n:
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)
                    fits = [
                        BayesianLogisticRegression("gaussian", variance, posterior=posterior).fit(X[train], y[train])
                        for variance, posterior in (("evidence", "ep"), ("evidence", None), ("cv", None))
                    ]
                losses.append([_loss(y[test], model.predict_proba(X[test])[:, 1]) for model in fits])
            means, errors = np.mean(losses, axis=0), np.std(losses, axis=0) / np.sqrt(DRAWN)
            shown = (f"{mean:.3f} ± {error:.3f}" for mean, error in zip(means, errors, strict=True))
            rows.append((f"{name}, {category}", f"{n}", *shown))
    header = ("", "labels", "averaged, evidence", "mode, evidence", "mode, cross-validation")
    show(f"Log loss on 1,000 texts, {DRAWN} draws of the labelled ones", header, rows)


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
            fit = partial(gibbs_sampling, X, y, Gaussian(10.0), n_draws=50, warmup=25, n_chains=2)
            start = time.process_time()
            posterior = fit()
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
    header = ("category", "documents", "s for 100 draws", "effective: median (worst)", "s for 1,000 effective")
    show("Gibbs sampling by conjugate gradients", header, found)


def run(repeats: int) -> None:
    """Print the tables."""
    with threadpool_limits(1):
        for name in ("sms", "reuters21578"):
            coverage(name)
        real_labels()
        few_labels(repeats)
        many_labels()
