"""What is solved: the matrices, and the objective by which every solver is judged."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from bayesift.datasets import load
from bayesift.text import TextVectorizer

RATES = (0.1, 0.316, 1.0, 3.16)
CATEGORIES = ("earn", "acq", "interest", "wheat")

#: The ten Laplace rates of the 2007 paper's grid, from the strongest penalty to the weakest.
GRID = tuple(10.0 ** np.arange(2.5, -2.25, -0.5))

#: A solver's time counts when its objective is this near to the best known, relatively.
QUALITY = 1e-5


class Problem(NamedTuple):
    """One category with a penalty; the intercept is penalised too, as in the 2007 paper, unless it is free."""

    name: str
    X: sp.csr_matrix
    y: np.ndarray
    kind: str  # "laplace" with a rate, or "gaussian" with a precision
    weight: float
    free: bool = False

    def objective(self, coef: np.ndarray, intercept: float) -> float:
        """Return the sum of losses plus penalties, computed here and never by a solver."""
        beta = coef if self.free else np.append(coef, intercept)
        loss = np.logaddexp(0.0, -self.y * (self.X @ coef + intercept)).sum()
        penalty = np.abs(beta).sum() if self.kind == "laplace" else 0.5 * np.square(beta).sum()
        return float(loss + self.weight * penalty)

    @property
    def with_constant(self) -> sp.csc_matrix:
        """The matrix with a column of ones, for solvers that do not penalise an intercept of their own."""
        return sp.csc_matrix(sp.hstack([self.X, np.ones((self.X.shape[0], 1))]))


@cache
def matrix(collection: str) -> tuple[sp.csr_matrix, np.ndarray, tuple[str, ...]]:
    """Return documents (log TF × IDF, cosine; SMART stop words, Porter), labels −1 and +1, and names of categories."""
    data = load(collection)
    X = TextVectorizer("lsc", stop_words="smart", stemmer="porter").fit_transform(data.train.texts)
    Y = 2.0 * data.indicator("train").toarray() - 1.0
    return X, Y, data.categories


def single_fits(kind: str, free: bool = False) -> list[Problem]:
    """Return sixteen problems on Reuters-21578 ModApte: four categories, four strengths of the penalty.

    Eight with free intercepts, for glmnet, which needs minutes with the weaker penalties.
    """
    X, Y, names = matrix("reuters21578")
    return [
        Problem(f"{name}, {weight:g}", X, np.ascontiguousarray(Y[:, names.index(name)]), kind, weight, free)
        for name in CATEGORIES
        for weight in (RATES[2:] if free else RATES)
    ]
