"""How often intervals hold the truth, where it is known: drawn from the prior, for the texts of real collections."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from rich.console import Console
from rich.progress import track
from scipy.special import expit
from scipy.stats import chi2

from bayesift.datasets import load
from bayesift.posterior import (
    Posterior,
    expectation_propagation,
    gibbs_sampling,
    integrate_variance,
    laplace_approximation,
)
from bayesift.priors import Gaussian
from bayesift.text import TextVectorizer
from benchmarks.measuring import show

#: How often truths are drawn for each number of labels.
COLLECTIONS = {"sms": 84, "reuters21578": 84, "ohsumed": 30, "webkb": 30}
#: And so often where the variance is not known, for each of the variances below.
UNKNOWN = 12
MASSES = (0.5, 0.8, 0.9, 0.95)
LABELLED, ASKED = (10, 50, 200), 100
#: Prior variances of scores (texts have norm 1), and means of the intercept: balanced, rare and frequent categories.
VARIANCES, INTERCEPTS, INTERCEPT_VARIANCE = (4.0, 30.0), (0.0, -4.0, 4.0), 1.0
#: The prior of a variance that is not known, which is log-normal: median, and deviation of the logarithm.
MEDIAN, SPREAD = 10.0, np.log(10.0)
RANKS = 20
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


def cases(name: str, seed: int, repetitions: int, variances: tuple[float | None, ...] = VARIANCES) -> Iterator[Case]:
    """Draw truths from the prior, and labels from them; where a variance is None it is drawn too."""
    rng, X = np.random.default_rng(seed), documents(name)
    for repetition in range(repetitions):
        for n in LABELLED:
            variance = variances[repetition % len(variances)]
            if variance is None:
                variance = float(MEDIAN * np.exp(SPREAD * rng.normal()))
            intercept = INTERCEPTS[repetition // len(variances) % 3]
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

    def add(self, method: str, posterior: Posterior, case: Case) -> None:
        """Ask for the intervals of all texts of a case."""
        held = np.column_stack(
            [
                (ends[:, 0] <= case.truth) & (case.truth <= ends[:, 1])
                for ends in (posterior.predict_interval(case.new, mass) for mass in MASSES)
            ]
        )
        p = posterior.predict_proba(case.new)
        strata = {**case.strata, "averaged p < 0.05": p < 0.05, "averaged p > 0.95": p > 0.95}
        for stratum, rows in strata.items():
            self._held.setdefault((stratum, method), []).append(held[rows])

    def rows(self) -> list[tuple[str, ...]]:
        """Return a row for each stratum and method."""
        found = []
        for (stratum, method), parts in self._held.items():
            held = np.vstack(parts)
            shares = [f"{100 * share:.1f}" for share in held.mean(axis=0)] if held.size else ["–"] * len(MASSES)
            found.append((stratum, method, f"{held.shape[0]:,}", *shares))
        return sorted(found, key=lambda row: row[0] != "all")


def _tracked(name: str, drawn: Iterator[Case], repetitions: int) -> Iterator[tuple[int, Case]]:
    total = repetitions * len(LABELLED)
    return enumerate(track(drawn, f"posterior, {name}", total=total, transient=True, console=Console(stderr=True)))


def _show(title: str, counted: Coverage) -> None:
    header = ("texts", "method", "intervals", *(f"{100 * mass:g} %" for mass in MASSES))
    show(f"{title}: share of intervals that hold the truth, in %", header, counted.rows())


def coverage(name: str, repetitions: int | None = None) -> None:
    """Print how often intervals hold the truth, the ranks of truths among draws, and distances from Gibbs sampling."""
    counted, ranks = Coverage(), []
    ends: dict[str, list[np.ndarray]] = {"EP": [], "Laplace": []}
    repetitions = repetitions or COLLECTIONS[name]
    for k, case in _tracked(name, cases(name, 0, repetitions), repetitions):
        exact = METHODS["Gibbs"](case.X, case.y, case.prior, random_state=k)
        counted.add("Gibbs", exact, case)
        draws = expit(exact.score_draws(case.new[0])[:: 1000 // (RANKS * 5)])
        ranks.append((draws[:, 0] < case.truth[0]).mean())
        reference = exact.predict_interval(case.new, 0.9)
        for method in ("EP", "Laplace"):
            found = METHODS[method](case.X, case.y, case.prior)
            counted.add(method, found, case)
            ends[method].append(np.abs(found.predict_interval(case.new, 0.9) - reference).ravel())
    _show(name, counted)
    counts = np.histogram(ranks, bins=RANKS, range=(0.0, 1.0 + 1e-9))[0]
    statistic = float(((counts - len(ranks) / RANKS) ** 2 / (len(ranks) / RANKS)).sum())
    rows = [("Gibbs", f"{len(ranks)}", f"{statistic:.1f}", f"{chi2(RANKS - 1).sf(statistic):.2f}")]
    show(f"{name}: ranks of truths among draws, {RANKS} bins", ("method", "repetitions", "chi-square", "p"), rows)
    rows = [
        (method, *(f"{value:.4f}" for value in np.quantile(np.concatenate(found), [0.5, 0.9, 0.99])))
        for method, found in ends.items()
    ]
    show(f"{name}: distance of the ends of 90 % intervals from Gibbs", ("method", "median", "90 %", "99 %"), rows)


def unknown_variance(name: str, repetitions: int = UNKNOWN) -> None:
    """Print how often intervals hold the truth where the variance is chosen or integrated out.

    Truths have a variance from its prior, or a given one.
    """
    for shown, variance in (("drawn from its prior", None), *((f"{value:g}", value) for value in VARIANCES)):
        counted = Coverage()
        for _, case in _tracked(name, cases(name, 1, repetitions, (variance,)), repetitions):
            open_prior = Gaussian(intercept_mode=case.prior.intercept_mode, intercept_variance=INTERCEPT_VARIANCE)
            mixed = integrate_variance(case.X, case.y, open_prior)
            counted.add("EP, integrated out", mixed, case)
            counted.add("EP, best variance", mixed.components[int(np.argmax(mixed.weights))], case)
        _show(f"{name}, variance not known, in truth {shown}", counted)
