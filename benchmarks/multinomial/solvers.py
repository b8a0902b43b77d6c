"""The solvers: estimators fitted by their public method, which stop by a tolerance they are given."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from bayesift.linear import BayesianMultinomialRegression
from benchmarks import glmnet
from benchmarks.multinomial.problem import Problem

Coefficients = tuple[np.ndarray, np.ndarray]


class Solver(ABC):
    """What the runner asks: a name, tolerances from loose to tight, and the kinds it solves."""

    name: ClassVar[str]
    kinds: ClassVar[tuple[str, ...]] = ("laplace", "gaussian")
    tolerances: ClassVar[tuple[float, ...]] = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    @classmethod
    def takes(cls, problem: Problem) -> bool:
        """Whether it solves this kind, with penalised intercepts."""
        return problem.kind in cls.kinds and not problem.free

    @abstractmethod
    def solve(self, tolerance: float) -> Coefficients:
        """Fit; this is what is timed."""


class Ours(Solver):
    """The default solver of Bayesift."""

    name = "bayesift"

    @classmethod
    def takes(cls, problem: Problem) -> bool:
        """Every problem."""
        return True

    def solve(self, tolerance: float) -> Coefficients:
        """Fit with a relative duality gap of ``tolerance``."""
        problem = self.problem
        variance = 2.0 / problem.weight**2 if problem.kind == "laplace" else 1.0 / problem.weight
        intercept: Any = np.inf if problem.free else "same"
        model = BayesianMultinomialRegression(
            problem.kind, variance, intercept_variance=intercept, tol=tolerance, n_jobs=1
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


class GlmnetOfR(Solver):
    """R's glmnet, down a path of ten penalties; the data are in its process before the clock starts."""

    name = "glmnet"
    kinds = ("laplace",)
    tolerances = (1e-4, 1e-6, 1e-8)

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.session = glmnet.Glmnet(problem.X.tocsc(), problem.y, "multinomial", 1.0)
        indicator = np.eye(problem.y.max() + 1)[problem.y]
        self.largest = float(np.abs(problem.X.T @ (indicator - indicator.mean(axis=0))).max())

    @classmethod
    def takes(cls, problem: Problem) -> bool:
        """Only unpenalised intercepts: glmnet leaves out a column of ones."""
        return problem.free and problem.kind in cls.kinds and glmnet.there()

    def solve(self, tolerance: float) -> Coefficients:
        """Fit in the process of R."""
        beta = self.session.fit(self.problem.weight, tolerance, self.largest)
        return beta[:, 1:], beta[:, 0]


SOLVERS: tuple[type[Solver], ...] = (Ours, Saga, Lbfgs, GlmnetOfR)
