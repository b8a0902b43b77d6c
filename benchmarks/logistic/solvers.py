"""The solvers: each prepares outside the clock, is timed by the runner, and stops by a tolerance it is given."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np

from bayesift.linear._fit import problem as fitting
from bayesift.linear._fit.problem import design_of
from bayesift.priors import Gaussian, Laplace
from benchmarks import glmnet
from benchmarks.logistic.problem import Problem

Coefficients = tuple[np.ndarray, float]


class Solver(ABC):
    """What the runner asks: a name, tolerances from loose to tight, the package needed, and the kinds it solves."""

    name: ClassVar[str]
    package: ClassVar[str] = "sklearn"
    kinds: ClassVar[tuple[str, ...]] = ("laplace", "gaussian")
    tolerances: ClassVar[tuple[float, ...]] = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    @classmethod
    def takes(cls, problem: Problem) -> bool:
        """Tell whether the package is there and solves this kind, with a penalised intercept."""
        return find_spec(cls.package) is not None and problem.kind in cls.kinds and not problem.free

    @abstractmethod
    def solve(self, tolerance: float) -> Coefficients:
        """Fit; this is what is timed."""


class Ours(Solver):
    """The default solver of Bayesift; like for the others, the data are brought into its form before the clock."""

    name = "bayesift"
    package = "bayesift"
    tolerances = (3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5)

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        weight = problem.weight
        prior = Laplace(2.0 / weight**2) if problem.kind == "laplace" else Gaussian(1.0 / weight)
        intercept = prior.resolve_intercept(np.inf if problem.free else "same")
        arrays = prior.resolve(problem.X.shape[1]).extended(intercept)
        self.fit = fitting.Problem(design_of(problem.X), problem.y, np.ones(problem.y.size), arrays)

    @classmethod
    def takes(cls, problem: Problem) -> bool:
        """Take every problem."""
        return True

    def solve(self, tolerance: float) -> Coefficients:
        """Fit with a relative duality gap of ``tolerance``."""
        beta = self.fit.solve(fitting.SolverOptions("newton", tolerance, 1000)).beta
        return beta[:-1], float(beta[-1])


class Liblinear(Solver):
    """LIBLINEAR (-s 6 for L1, -s 0 for L2), with its bias term penalised."""

    name = "LIBLINEAR"
    package = "liblinear"
    tolerances = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5)

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        from liblinear.liblinearutil import problem as liblinear_problem

        self.data = liblinear_problem(problem.y, problem.X, bias=1.0)

    def solve(self, tolerance: float) -> Coefficients:
        """Train with the library itself; its own conversion of the data stands before the clock."""
        from liblinear.liblinear import liblinear, parameter, toPyModel

        kind = 6 if self.problem.kind == "laplace" else 0
        options = parameter(f"-s {kind} -c {1.0 / self.problem.weight} -e {tolerance} -q")
        model = toPyModel(liblinear.train(self.data, options))
        beta = np.ctypeslib.as_array(model.w, (self.problem.X.shape[1] + 1,)).copy()
        beta = beta if model.label[0] == 1 else -beta
        return beta[:-1], float(beta[-1])


class _ScikitLearn(Solver):
    """LogisticRegression on the matrix with a column of ones."""

    solver: ClassVar[str]

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.X = problem.with_constant.tocsr()

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
                max_iter=2000,
                **ratio,
            ).fit(self.X, self.problem.y)
        return model.coef_[0, :-1], float(model.coef_[0, -1])


class Saga(_ScikitLearn):
    """scikit-learn's saga."""

    name = "sklearn saga"
    solver = "saga"
    tolerances = (1e-2, 1e-3, 1e-4, 1e-5)


class Lbfgs(_ScikitLearn):
    """scikit-learn's L-BFGS."""

    name = "sklearn lbfgs"
    solver = "lbfgs"
    kinds = ("gaussian",)


class NewtonCg(_ScikitLearn):
    """scikit-learn's Newton with conjugate gradients."""

    name = "sklearn newton-cg"
    solver = "newton-cg"
    kinds = ("gaussian",)


class Skglm(Solver):
    """skglm's proximal Newton."""

    name = "skglm"
    package = "skglm"
    kinds = ("laplace",)
    tolerances = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        from skglm.datafits import Logistic
        from skglm.penalties import L1
        from skglm.utils.jit_compilation import compiled_clone

        self.X = problem.with_constant
        self.loss = compiled_clone(Logistic())
        # skglm takes the mean of the losses.
        self.scale = problem.weight / problem.X.shape[0]
        self.penalty = compiled_clone(L1(self.scale))

    def solve(self, tolerance: float) -> Coefficients:
        """Fit with a tolerance in units of the rate."""
        from skglm.solvers import ProxNewton

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            solver = ProxNewton(tol=tolerance * self.scale, fit_intercept=False)
            beta = solver.solve(self.X, self.problem.y, self.loss, self.penalty)[0]
        return beta[:-1], float(beta[-1])


class Celer(Solver):
    """celer's working sets with dual extrapolation."""

    name = "celer"
    package = "celer"
    kinds = ("laplace",)
    tolerances = (1e-2, 1e-3, 1e-4, 1e-5)

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.X = problem.with_constant

    def solve(self, tolerance: float) -> Coefficients:
        """Fit without an intercept of its own."""
        from celer import LogisticRegression

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = LogisticRegression(C=1.0 / self.problem.weight, tol=tolerance, fit_intercept=False)
            model.fit(self.X, self.problem.y)
        return model.coef_.ravel()[:-1], float(model.coef_.ravel()[-1])


class GlmnetOfR(Solver):
    """R's glmnet, down a path of ten penalties; the way to R and back, under a millisecond, is in its time."""

    name = "glmnet"
    tolerances = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        labels = (problem.y > 0).astype(int)
        self.session = glmnet.Glmnet(problem.X.tocsc(), labels, "binomial", float(problem.kind == "laplace"))
        largest = np.abs(problem.X.T @ (labels - labels.mean())).max()
        # For a Gaussian prior there is no penalty at which all is zero; glmnet starts where it is nearly so.
        self.largest = float(largest) * (1.0 if problem.kind == "laplace" else 1000.0)

    @classmethod
    def takes(cls, problem: Problem) -> bool:
        """Take only unpenalised intercepts: glmnet leaves out a column of ones."""
        return problem.free and glmnet.there()

    def solve(self, tolerance: float) -> Coefficients:
        """Fit in the process of R."""
        beta = self.session.fit(self.problem.weight, tolerance, self.largest)[0]
        return beta[1:], float(beta[0])


SOLVERS: tuple[type[Solver], ...] = (Ours, Liblinear, Skglm, Celer, GlmnetOfR, Saga, Lbfgs, NewtonCg)
