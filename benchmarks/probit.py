"""Probit regression: the fast solver beside EM, beside the logistic model, and EM beside its linear algebra."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from rich.console import Console
from rich.progress import track
from scipy.linalg import lapack
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from bayesift.linear import BayesianLogisticRegression, BayesianProbitRegression
from bayesift.select import TermSelector
from bayesift.text import TextVectorizer
from benchmarks.measuring import ratio, show, take_turns
from reproduction.eyheramendy2003.fits import CATEGORIES, reuters

#: Laplace rates from the strongest to the weakest: those of the paper's table 3 and one more.
RATES = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1)
#: EM is as good as the fast solver when its objective is this near to the best, relatively.
QUALITY = 1e-6
#: Categories and rates of the comparison with EM, which takes thousands of rounds at smaller rates.
EM_CATEGORIES, EM_RATES = ("earn", "interest", "wheat"), (1.0, 10.0)
SHARED = {"intercept_variance": "same", "n_jobs": 1}


class Category(NamedTuple):
    """The 300 best terms of a category, and its labels."""

    name: str
    X: sp.csr_matrix
    y: np.ndarray


@cache
def categories() -> list[Category]:
    """Return log TF of 7,770 documents of Reuters-21578, 300 terms by Pearson correlation for each category."""
    runs = reuters()
    X = TextVectorizer("lnn", stop_words="smart").fit_transform(runs.train)
    labels = zip(CATEGORIES, runs.Y_train.T, strict=True)
    return [Category(name, TermSelector("pearson", k=300).fit_transform(X, y), y) for name, y in labels]


def fit(category: Category, rate: float, **options: Any) -> BayesianProbitRegression:
    """Fit one category with a Laplace rate on one thread."""
    return BayesianProbitRegression(variance=2.0 / rate**2, **{**SHARED, **options}).fit(category.X, category.y)


def coarsest_tolerance(category: Category, rate: float) -> tuple[float, int]:
    """Find where EM may stop and still be as good, and how many rounds that takes."""
    best = fit(category, rate, tol=1e-10).certificate_.objective[0]
    for tolerance in 10.0 ** -np.arange(3.0, 9.0, 0.5):
        found = fit(category, rate, solver="em", tol=tolerance, max_iter=100_000).certificate_
        if found.objective[0] <= (1.0 + QUALITY) * best:
            break
    return float(tolerance), int(found.passes[0])


def beside_em(repeats: int) -> None:
    """Print the time of EM as a multiple of that of the fast solver, at equal log posterior."""
    rows = []
    chosen = [(one, rate) for one in categories() if one.name in EM_CATEGORIES for rate in EM_RATES]
    for category, rate in track(chosen, "probit, EM", transient=True, console=Console(stderr=True)):
        tolerance, rounds = coarsest_tolerance(category, rate)
        seconds = take_turns(
            {
                "newton": partial(fit, category, rate, tol=QUALITY),
                "em": partial(fit, category, rate, solver="em", tol=tolerance, max_iter=100_000),
            },
            min(repeats, 3),
        )
        fast = 1e3 * np.median(seconds["newton"])
        rows.append(
            (f"{category.name}, rate {rate:g}", f"{fast:.0f}", f"{rounds}", f"{ratio(seconds, 'em', 'newton'):.0f}")
        )
    title = f"300 terms × 7,770 documents, objectives within {QUALITY:g} of the best"
    show(title, ("", "newton, ms", "rounds of EM", "EM / newton"), rows)


def path(make: Callable[[float], Any]) -> None:
    """Fit all categories for all rates, each fit from the one before."""
    for category in categories():
        model = make(RATES[0])
        for rate in RATES:
            model.set_params(variance=2.0 / rate**2).fit(category.X, category.y)


def beside_logistic(repeats: int) -> None:
    """Print the time of ten categories and seven rates as a multiple of that of the logistic model."""
    options = {**SHARED, "warm_start": True}
    seconds = take_turns(
        {
            "logistic": partial(path, lambda rate: BayesianLogisticRegression(**options)),
            "probit": partial(path, lambda rate: BayesianProbitRegression(**options)),
        },
        repeats,
    )
    rows = [(name, f"{np.median(values):.2f}") for name, values in seconds.items()]
    rows.append(("probit / logistic", f"{ratio(seconds, 'probit', 'logistic'):.2f}"))
    show("Ten categories × seven rates, one thread, seconds", ("", ""), rows)


def beside_linear_algebra(repeats: int, rounds: int = 50) -> None:
    """Print the time of one round of EM as a multiple of that of its linear algebra alone.

    That is a Cholesky solution of 301 equations, a product with X and one with Xᵀ.
    """
    category = categories()[0]
    X = sp.csc_matrix(sp.hstack([category.X, np.ones((category.X.shape[0], 1))]))
    matrix = np.asfortranarray((X.T @ X).toarray() + np.eye(X.shape[1]))
    v = np.ones(X.shape[0])

    def linear_algebra() -> None:
        for _ in range(rounds):
            _, beta, _ = lapack.dposv(matrix, X.T @ v, lower=1)
            X @ beta

    def em(limit: int) -> float:
        start = time.perf_counter()
        # No coefficient leaves at this rate in so few rounds.
        fit(category, 1e-3, solver="em", tol=1e-12, max_iter=limit)
        return time.perf_counter() - start

    ratios, milliseconds = [], []
    with threadpool_limits(1, "blas"):
        linear_algebra()
        for _ in range(repeats):
            start = time.perf_counter()
            linear_algebra()
            alone = (time.perf_counter() - start) / rounds
            whole = (em(5 + rounds) - em(5)) / rounds
            ratios.append(whole / alone)
            milliseconds.append((1e3 * whole, 1e3 * alone))
    whole, alone = np.median(milliseconds, axis=0)
    rows = [("a round of EM, ms", f"{whole:.2f}"), ("its linear algebra, ms", f"{alone:.2f}")]
    show("EM on 301 coefficients, one thread", ("", ""), [*rows, ("ratio", f"{np.median(ratios):.2f}")])


def by_blocks(n_documents: int = 10_000, n_terms: int = 100_000) -> None:
    """Print how ECM by blocks does where no matrix of all coefficients can be built: made-up documents of 60 terms."""
    random = np.random.default_rng(0)
    frequency = 1.0 / np.arange(1, n_terms + 1) ** 0.8
    columns = random.choice(n_terms, n_documents * 60, p=frequency / frequency.sum())
    X = sp.csr_matrix((np.ones(columns.size), columns, np.arange(0, columns.size + 1, 60)), (n_documents, n_terms))
    X.sum_duplicates()
    weights = np.zeros(n_terms)
    weights[random.choice(3000, 60, replace=False)] = 2.0 * random.normal(size=60)
    made = Category("", X, np.where(X @ weights + random.normal(size=n_documents) > 1.0, 1, 0))
    rows = []
    for rate, tolerance, limit in ((5.0, 1e-2, 1000), (5.0, 1e-3, 1000), (1.0, 1e-4, 20)):
        least = fit(made, rate).certificate_
        found = fit(made, rate, solver="block-em", tol=tolerance, max_iter=limit).certificate_
        above = found.objective[0] / least.objective[0] - 1.0
        seconds = f"{found.seconds[0]:.0f}", f"{least.seconds[0]:.1f}"
        rows.append((f"{rate:g}", f"{tolerance:g}", f"{found.passes[0]}", *seconds, f"{above:.0e}"))
    title = f"ECM by blocks of 100, {n_documents:,} documents × {n_terms:,} terms"
    show(title, ("rate", "tolerance", "rounds", "seconds", "by Newton", "objective above the least"), rows)


def run(repeats: int) -> None:
    """Print all tables."""
    with warnings.catch_warnings():
        # Rounds are limited on purpose.
        warnings.simplefilter("ignore", ConvergenceWarning)
        beside_linear_algebra(repeats)
        by_blocks()
    beside_logistic(repeats)
    beside_em(repeats)
