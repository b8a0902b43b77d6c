"""What the tests of `bayesift.linear` share: solvers, the objective in plain numpy, scipy's optimum, small problems."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import log_ndtr
from sklearn.utils.fixes import parse_version

from bayesift.datasets import load
from bayesift.linear import BayesianLogisticRegression
from bayesift.priors import Gaussian, Laplace
from bayesift.text import TextVectorizer

each_solver = pytest.mark.parametrize("solver", ["clg", "newton"])

#: Rounds that are enough for either solver to be at the optimum to nearly all digits.
N_ROUNDS = 200_000

SKLEARN = parse_version(sklearn.__version__)
#: How scikit-learn's logistic regression is told its L1 penalty: in another way since 1.8.
L1_PENALTY = {"l1_ratio": 1.0} if parse_version("1.8") <= SKLEARN else {"penalty": "l1"}

FAMILIES = {"laplace": Laplace, "gaussian": Gaussian}


def tight(prior: Any = "laplace", variance: Any = 1.0, **options: Any) -> BayesianLogisticRegression:
    """Return an estimator that stops only at the optimum."""
    return BayesianLogisticRegression(prior, variance, **{"n_jobs": 1, **tightly(options.get("solver")), **options})


def tightly(solver: str | None = None) -> dict[str, Any]:
    """Return settings under which a solver is at the optimum to nearly all digits."""
    return {**stopping(solver, gap=1e-12, change=1e-13), "max_iter": N_ROUNDS}


def stopping(solver: str | None, gap: float | None, change: float) -> dict[str, Any]:
    """Return the tolerance of a solver: that of the gap for Newton, which is the default, else that of a change."""
    return {"tol": gap if solver in (None, "newton", "auto") else change}


class Penalties(NamedTuple):
    """Family, variance, mode and sign of every coefficient, the intercept last, straight from the definitions."""

    family: str
    variance: np.ndarray
    mode: np.ndarray
    sign: np.ndarray

    def rates(self) -> tuple[np.ndarray, np.ndarray]:
        """Weights of |δ| and of δ²/2; none for coefficients that are free or fixed."""
        proper = (self.variance > 0) & (self.variance < np.inf)
        v = np.where(proper, self.variance, 1.0)
        if self.family == "gaussian":
            return np.zeros_like(v), np.where(proper, 1 / v, 0.0)
        return np.where(proper, np.sqrt(np.where(self.sign == 0, 2.0, 1.0) / v), 0.0), np.zeros_like(v)

    def value(self, beta: np.ndarray) -> float:
        l1, l2 = self.rates()
        delta = beta - self.mode
        return float(np.sum(l1 * np.abs(delta) + l2 * delta**2 / 2))

    def allows(self, beta: np.ndarray) -> bool:
        """Whether all coefficients are on their side of the mode, and the fixed ones at it."""
        delta = beta - self.mode
        return bool(np.all(self.sign * delta >= 0) and np.all(delta[self.variance == 0] == 0))


def penalties(
    family: str,
    variance: Any,
    mode: Any,
    sign: Any,
    n_features: int,
    intercept: Any = np.inf,
    intercept_mode: float = 0,
) -> Penalties:
    """Spread numbers over the features and put the intercept last."""
    spread = [
        np.append(np.broadcast_to(np.asarray(a, float), n_features), b)
        for a, b in zip((variance, mode, sign), (intercept, intercept_mode, 0.0), strict=True)
    ]
    return Penalties(family, *spread)


def with_constant(X: Any) -> np.ndarray:
    dense = X.toarray() if sp.issparse(X) else np.asarray(X, float)
    return np.column_stack([dense, np.ones(len(dense))])


def logistic(margins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Loss and slope."""
    return np.logaddexp(0.0, -margins), -np.exp(-np.logaddexp(0.0, margins))


def probit(margins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Loss and slope."""
    loss = -log_ndtr(margins)
    return loss, -np.exp(loss - margins**2 / 2) / np.sqrt(2 * np.pi)


Loss = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def objective(X: Any, y: Any, beta: np.ndarray, p: Penalties, weights: Any = 1.0, loss: Loss = logistic) -> float:
    """F(β) of ``docs/symbols.md``; y is −1 or +1 and the intercept the last coefficient."""
    return float(np.sum(weights * loss(y * (with_constant(X) @ beta))[0])) + p.value(beta)


def reference(X: Any, y: Any, p: Penalties, weights: Any = 1.0, loss: Loss = logistic) -> tuple[np.ndarray, float]:
    """Minimise by scipy: δ = a − b with a, b ≥ 0 makes λ(a + b) smooth, and signs are bounds."""
    A = with_constant(X)
    l1, l2 = p.rates()
    free = p.variance > 0
    plus, minus = np.flatnonzero(free & (p.sign >= 0)), np.flatnonzero(free & (p.sign <= 0))
    # Without a kink one variable is enough, and keeps the problem strictly convex.
    single = np.isin(plus, minus) & (l1[plus] == 0)
    minus = minus[~np.isin(minus, plus[single])]
    if not len(plus) + len(minus):
        return p.mode, objective(X, y, p.mode, p, weights, loss)
    bounds = [(None if alone else 0, None) for alone in single] + [(0, None)] * len(minus)

    def delta(z: np.ndarray) -> np.ndarray:
        d = np.zeros(len(p.mode))
        d[plus] += z[: len(plus)]
        d[minus] -= z[len(plus) :]
        return d

    def value(z: np.ndarray) -> tuple[float, np.ndarray]:
        d = delta(z)
        losses, slopes = loss(y * (A @ (p.mode + d)))
        slope = A.T @ (weights * y * slopes) + l2 * d
        linear = np.append(l1[plus] * ~single, l1[minus]) @ z
        total = np.sum(weights * losses) + linear + np.sum(l2 * d**2) / 2
        return total, np.append(slope[plus] + l1[plus] * ~single, -slope[minus] + l1[minus])

    options = {"maxiter": 50_000, "maxfun": 100_000, "ftol": 1e-16, "gtol": 1e-10, "maxcor": 30}
    found = minimize(value, np.zeros(len(bounds)), jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    beta = p.mode + delta(found.x)
    return beta, objective(X, y, beta, p, weights, loss)


def coefficients(model: Any, row: int = 0) -> np.ndarray:
    """Coefficients of one category, the intercept last."""
    return np.append(model.coef_[row], model.intercept_[row])


class Documents(NamedTuple):
    """A small problem, labels −1 and +1."""

    X: np.ndarray
    y: np.ndarray


def documents(seed: int = 0, n: int = 40, d: int = 5, density: float = 0.7) -> Documents:
    """Noisy labels, so that no hyperplane parts the classes; both classes occur."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * (random.random((n, d)) < density)
    y = np.where(X @ random.normal(size=d) + 1.5 * random.normal(size=n) > 0.3, 1.0, -1.0)
    y[:2] = -1.0, 1.0
    return Documents(X, y)


def any_documents(least: int = 8, most: int = 30) -> st.SearchStrategy[Documents]:
    """Problems of a few features, some of them empty or nearly so."""
    return st.builds(
        documents,
        seed=st.integers(0, 10**6),
        n=st.integers(least, most),
        d=st.integers(1, 6),
        density=st.sampled_from([0.2, 0.6, 1.0]),
    )


class News(NamedTuple):
    """The embedded corpus as matrices."""

    X: sp.csr_matrix
    Y: np.ndarray
    terms: np.ndarray
    topics: tuple[str, ...]


@cache
def news() -> News:
    """Training documents of newsroom: term weights, topics as an indicator, names."""
    collection = load("newsroom")
    vectorizer = TextVectorizer(stop_words="english", min_df=2)
    X = vectorizer.fit_transform(collection.train.texts)
    indicator = collection.indicator("train")
    Y = indicator.toarray() if sp.issparse(indicator) else np.asarray(indicator)
    return News(X, Y.astype(int), vectorizer.get_feature_names_out(), tuple(collection.categories))
