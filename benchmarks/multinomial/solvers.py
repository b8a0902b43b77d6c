"""The solvers: estimators fitted by their public method, which stop by a tolerance they are given."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from bayesift.linear import BayesianMultinomialRegression
from benchmarks.multinomial.problem import Problem

Coefficients = tuple[np.ndarray, np.ndarray]


class Solver(ABC):
    """What the runner asks: a name, tolerances from loose to tight, and the kinds it solves."""

    name: ClassVar[str]
    kinds: ClassVar[tuple[str, ...]] = ("laplace", "gaussian")
    tolerances: ClassVar[tuple[float, ...]] = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    @abstractmethod
    def solve(self, tolerance: float) -> Coefficients:
        """Fit; this is what is timed."""


class Ours(Solver):
    """The default solver of Bayesift."""

    name = "bayesift"

    def solve(self, tolerance: float) -> Coefficients:
        """Fit with a relative duality gap of ``tolerance``."""
        problem = self.problem
        variance = 2.0 / problem.weight**2 if problem.kind == "laplace" else 1.0 / problem.weight
        model = BayesianMultinomialRegression(
            problem.kind, variance, intercept_variance="same", tol=tolerance, n_jobs=1
        ).fit(problem.X, problem.y)
        return model.coef_, model.intercept_


class _ScikitLearn(Solver):
    """LogisticRegression on the matrix with a column of ones, so that intercepts are penalised."""

    solver: ClassVar[str]
    max_iter: ClassVar[int] = 2000

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.X = sp.csr_matrix(sp.hstack([problem.X, np.ones((problem.X.shape[0], 1))]))

    def solve(self, tolerance: float) -> Coefficients:
        """Fit without an intercept of its own."""
        from sklearn.linear_model import LogisticRegression

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ratio = {"l1_ratio": 1.0} if self.problem.kind == "laplace" else {}
            model: Any = LogisticRegression(
                C=1.0 / self.problem.weight,
                fit_intercept=False,
                solver=self.solver,
                tol=tolerance,
                max_iter=self.max_iter,
                random_state=0,
                **ratio,
            ).fit(self.X, self.problem.y)
        return model.coef_[:, :-1], model.coef_[:, -1]


class Saga(_ScikitLearn):
    """scikit-learn's saga."""

    name = "sklearn saga"
    solver = "saga"
    kinds = ("laplace",)
    # Minutes, in which it is within 1e-4 of the best at the smallest rate.
    max_iter = 300


class Lbfgs(_ScikitLearn):
    """scikit-learn's L-BFGS."""

    name = "sklearn lbfgs"
    solver = "lbfgs"
    kinds = ("gaussian",)


SOLVERS: tuple[type[Solver], ...] = (Ours, Saga, Lbfgs)
