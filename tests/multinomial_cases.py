"""What the tests of the softmax model share: the objective in plain numpy, scipy's optimum, small problems."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from bayesift.linear import BayesianMultinomialRegression
from linear_cases import Penalties, tightly, with_constant

each_solver = pytest.mark.parametrize("solver", ["clg", "newton"])


def tight(prior: Any = "laplace", variance: Any = 1.0, **options: Any) -> BayesianMultinomialRegression:
    """Return an estimator that stops only at the optimum."""
    return BayesianMultinomialRegression(prior, variance, **{"n_jobs": 1, **tightly(options.get("solver")), **options})


class Documents(NamedTuple):
    """A small problem, classes 0, 1, ..."""

    X: np.ndarray
    y: np.ndarray


def documents(seed: int = 0, n: int = 50, d: int = 4, k: int = 3, density: float = 0.7) -> Documents:
    """Noisy classes, so that nothing parts them; every class occurs."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * (random.random((n, d)) < density)
    y = np.argmax(X @ random.normal(size=(d, k)) + 1.5 * random.normal(size=(n, k)), axis=1)
    y[: 2 * k] = np.arange(2 * k) % k
    return Documents(X, y)


def any_documents(least: int = 10, most: int = 30) -> st.SearchStrategy[Documents]:
    """Problems of a few features and classes, some features empty or nearly so."""
    return st.builds(
        documents,
        seed=st.integers(0, 10**6),
        n=st.integers(least, most),
        d=st.integers(1, 4),
        k=st.integers(2, 5),
        density=st.sampled_from([0.2, 0.6, 1.0]),
    )


def coefficients(model: BayesianMultinomialRegression) -> np.ndarray:
    """A row for each class, the intercept last."""
    coef = model.class_coef_.toarray() if sp.issparse(model.class_coef_) else model.class_coef_
    return np.column_stack([coef, model.class_intercept_])


def scores(X: Any, beta: np.ndarray) -> np.ndarray:
    return with_constant(X) @ beta.T


def objective(X: Any, y: np.ndarray, beta: np.ndarray, ps: list[Penalties], weights: Any = 1.0) -> float:
    """F(β) of ``docs/symbols.md``; a row of β and an entry of ``ps`` for each class, the intercept last."""
    z = scores(X, beta)
    loss = np.sum(weights * (logsumexp(z, axis=1) - z[np.arange(len(y)), y]))
    return float(loss) + sum(p.value(row) for p, row in zip(ps, beta, strict=True))


def stacked(ps: list[Penalties]) -> dict[str, np.ndarray]:
    """Rates, modes, signs and variances of all classes as tables."""
    rates = [p.rates() for p in ps]
    return {
        "l1": np.array([l1 for l1, _ in rates]),
        "l2": np.array([l2 for _, l2 in rates]),
        "mode": np.array([p.mode for p in ps]),
        "sign": np.array([p.sign for p in ps]),
        "variance": np.array([p.variance for p in ps]),
    }


def reference(X: Any, y: np.ndarray, ps: list[Penalties], weights: Any = 1.0) -> tuple[np.ndarray, float]:
    """Minimise by scipy: δ = a − b with a, b ≥ 0 makes λ(a + b) smooth, and signs are bounds."""
    A = with_constant(X)
    table = stacked(ps)
    l1, l2, mode = table["l1"], table["l2"], table["mode"]
    free = table["variance"] > 0
    positive = np.where(free & (table["sign"] >= 0), np.inf, 0.0).ravel()
    # Without a kink one variable is enough, and keeps the problem strictly convex.
    single = (free & (table["sign"] == 0) & (l1 == 0)).ravel()
    negative = np.where((free & (table["sign"] <= 0)).ravel() & ~single, np.inf, 0.0)
    bounds = [(-np.inf if alone else 0, top) for alone, top in zip(single, positive, strict=True)]
    bounds += [(0, top) for top in negative]
    indicator = np.eye(len(ps))[y]

    def value(v: np.ndarray) -> tuple[float, np.ndarray]:
        plus, minus = v.reshape(2, *mode.shape)
        delta = plus - minus
        z = A @ (mode + delta).T
        loss = np.sum(weights * (logsumexp(z, axis=1) - np.sum(z * indicator, axis=1)))
        slope = ((softmax(z, axis=1) - indicator) * np.reshape(weights, (-1, 1))).T @ A + l2 * delta
        total = loss + np.sum(l1 * (plus + minus)) + np.sum(l2 * delta**2) / 2
        return total, np.concatenate([(slope + l1).ravel(), (-slope + l1).ravel()])

    options = {"maxiter": 50_000, "maxfun": 100_000, "ftol": 1e-16, "gtol": 1e-10, "maxcor": 30}
    found = minimize(value, np.zeros(len(bounds)), jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    for _ in range(5):
        # Where its line search gives up, it goes on from there with a memory that is empty.
        found = minimize(value, found.x, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    plus, minus = found.x.reshape(2, *mode.shape)
    beta = mode + plus - minus
    return beta, objective(X, y, beta, ps, weights)


def same_shift(beta: np.ndarray) -> np.ndarray:
    """The coefficients up to what may be added to all classes of a feature: those of the first class are zero."""
    return beta - beta[:1]
