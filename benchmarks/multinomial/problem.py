"""What is solved: 20 Newsgroups by date, and the objective by which every solver is judged."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp

from bayesift.datasets import load
from bayesift.text import TextVectorizer

#: Laplace rates and Gaussian precisions. At smaller ones the peers take many minutes.
WEIGHTS = {"laplace": (10.0, 3.16, 1.0), "gaussian": (10.0, 1.0, 0.1)}


class Problem(NamedTuple):
    """All classes with a penalty; the intercepts are penalised like other coefficients, as in 2007, or ``free``."""

    name: str
    X: sp.csr_matrix
    y: np.ndarray
    kind: str  # "laplace" with a rate, or "gaussian" with a precision
    weight: float
    free: bool = False

    def objective(self, coef: np.ndarray, intercept: np.ndarray) -> float:
        """Sum of losses plus penalties, computed here and never by a solver."""
        beta = coef if self.free else np.column_stack([coef, intercept])
        z = self.X @ coef.T + intercept
        loss = np.sum(logsumexp(z, axis=1) - z[np.arange(self.y.size), self.y])
        penalty = np.abs(beta).sum() if self.kind == "laplace" else 0.5 * np.square(beta).sum()
        return float(loss + self.weight * penalty)


@cache
def matrix() -> tuple[sp.csr_matrix, np.ndarray]:
    """Training documents (log TF × IDF, cosine; every word a term) and their classes."""
    data = load("20newsgroups")
    X = TextVectorizer("lsc").fit_transform(data.train.texts)
    return sp.csr_matrix(X), np.asarray(data.indicator("train").argmax(axis=1)).ravel()


def problems(kind: str, free: bool) -> list[Problem]:
    """Three strengths of the penalty."""
    X, y = matrix()
    return [Problem(f"{weight:g}", X, y, kind, weight, free) for weight in WEIGHTS[kind]]
