"""How often intervals hold the truth, where it is known: drawn from the prior, for the texts of real collections."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
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
#: The rows of a table; those of a number of labels share one.
STRATA = (
    "all",
    " / ".join(f"{n} labels" for n in LABELLED),
    "rare: at most 20 positives",
    "at most 8 words",
    "most words unseen",
    "averaged p < 0.05",
    "averaged p > 0.95",
)
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

    def add_all(self, other: Coverage) -> None:
        """Add what another one has counted."""
        for key, parts in other._held.items():
            self._held.setdefault(key, []).extend(parts)

    def held(self, stratum: str, method: str) -> np.ndarray:
        """Return which intervals held the truth, a column for each of the masses."""
        return np.vstack(self._held.get((stratum, method), [np.zeros((0, len(MASSES)), bool)]))

    def rows(self) -> list[tuple[str, ...]]:
        """Return a row for each stratum and method; strata of a number of labels share a row."""
        found = []
        for stratum in STRATA:
            for method in METHODS:
                parts = [self.held(part, method) for part in stratum.split(" / ")]
                if any(map(len, parts)):
                    shares = (" / ".join(_share(part[:, k]) for part in parts) for k in range(len(MASSES)))
                    found.append((stratum, method, " / ".join(f"{len(part):,}" for part in parts), *shares))
        return found


def _share(held: np.ndarray) -> str:
    return f"{100 * held.mean():.1f}" if held.size else "–"


def _tracked(name: str, drawn: Iterator[Case], repetitions: int) -> Iterator[tuple[int, Case]]:
    total = repetitions * len(LABELLED)
    return enumerate(track(drawn, f"posterior, {name}", total=total, transient=True, console=Console(stderr=True)))


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


def unknown_variance(names: Iterable[str] = COLLECTIONS, repetitions: int = UNKNOWN) -> None:
    """Print how often 90 % intervals hold the truth where the variance is integrated out, or chosen.

    Truths have a variance from its prior, or a given one. Beside shares of fewer than 300 intervals is their number.
    """
    rows = []
    truths = {"from its prior": None} | {f"{value:g}": value for value in VARIANCES}
    together = {told: Coverage() for told in truths}
    for name in names:
        for told, variance in truths.items():
            counted = Coverage()
            for _, case in _tracked(name, cases(name, 1, repetitions, (variance,)), repetitions):
                open_prior = Gaussian(intercept_mode=case.prior.intercept_mode, intercept_variance=INTERCEPT_VARIANCE)
                mixed = integrate_variance(case.X, case.y, open_prior)
                counted.add("integrated out", mixed, case)
                counted.add("best", mixed.components[int(np.argmax(mixed.weights))], case)
            rows.append((name, told, *_by_stratum(counted)))
            together[told].add_all(counted)
    rows += [("all of them", told, *_by_stratum(counted)) for told, counted in together.items()]
    header = ("collection", "variance in truth", *STRATA, "best variance alone, all")
    show("variance not known: share of 90 % intervals that hold the truth, in %", header, rows)


def _by_stratum(counted: Coverage) -> list[str]:
    """Return the shares of 90 % intervals with the variance integrated out, and that with the best one."""
    place, few = MASSES.index(0.9), 300
    cells = []
    for stratum in STRATA:
        parts = [counted.held(part, "integrated out")[:, place] for part in stratum.split(" / ")]
        number = f" ({parts[0].size})" if len(parts) == 1 and 0 < parts[0].size < few else ""
        cells.append(" / ".join(map(_share, parts)) + number)
    return [*cells, _share(counted.held("all", "best")[:, place])]
