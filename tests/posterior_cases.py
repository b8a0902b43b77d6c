"""Small problems whose posteriors can be integrated, and texts to try."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.special import log_expit, log_ndtr

LOG_P = {"logistic": log_expit, "probit": log_ndtr}


def small_problem(n=12, d=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (rng.random(n) < 1 / (1 + np.exp(-2 * X[:, 0] - 0.5))).astype(int)
    y[:2] = [0, 1]
    return X, y


def by_integration(X, y, variance, mode=0.0, link="logistic", weights=1.0, reach=6.0, points=41):
    """Evidence, mean and covariance of all coefficients (the intercept last), the grid and its masses.

    An infinite variance is a flat prior. The last grid covers ``reach`` standard deviations around the mean; sums at
    equal steps are exact for smooth functions of that width.
    """
    A = np.column_stack([X, np.ones(len(X))])
    signs = np.where(np.asarray(y) > 0, 1.0, -1.0)
    variance = np.asarray(variance, dtype=float)
    mode = np.broadcast_to(mode, variance.shape).astype(float)
    flat = np.isinf(variance)

    def log_joint(beta):
        scores = beta @ A.T
        prior = -0.5 * ((beta - mode) ** 2 / variance + np.log(2 * np.pi * np.where(flat, 1.0, variance)))
        prior[:, flat] = 0.0
        return (weights * LOG_P[link](signs * scores)).sum(axis=1) + prior.sum(axis=1)

    centre, widths = mode.copy(), np.where(flat, 4.0, np.sqrt(np.where(flat, 1.0, variance)))
    for _ in range(3):
        axes = [np.linspace(m - reach * w, m + reach * w, points) for m, w in zip(centre, widths, strict=True)]
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(variance))
        logs = log_joint(grid)
        top = logs.max()
        mass = np.exp(logs - top)
        cell = np.prod([axis[1] - axis[0] for axis in axes])
        total = mass.sum()
        mean = mass @ grid / total
        covariance = (grid - mean).T @ ((grid - mean) * mass[:, None]) / total
        centre, widths = mean, np.sqrt(np.diag(covariance))
    return top + np.log(total * cell), mean, covariance, grid, mass / total


def few_texts(n=30, d=200, words=8, seed=0, coefficient=1.5):
    """Draw sparse texts, and labels from coefficients of the prior."""
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, d + 1)
    rows = [np.unique(rng.choice(d, size=words, p=shares / shares.sum())) for _ in range(n)]
    X = sp.lil_matrix((n, d))
    for i, columns in enumerate(rows):
        X[i, columns] = 1 / np.sqrt(len(columns))
    X = X.tocsr()
    beta = coefficient * rng.normal(size=d)
    y = (rng.random(n) < 1 / (1 + np.exp(-X @ beta))).astype(int)
    y[:2] = [0, 1]
    return X, y, beta
