"""Bayesift's certified solvers; also for benchmark_logreg_l1 and benchmark_logreg_l2."""

import warnings

import numpy as np
from benchopt import BaseSolver
from benchopt.stopping_criterion import SufficientProgressCriterion
from sklearn.exceptions import ConvergenceWarning

from bayesift.linear import BayesianLogisticRegression


class Solver(BaseSolver):
    """Laplace priors are the L1 penalty, Gaussian ones the L2 penalty: rate λ has the variance 2/λ², weight λ 1/λ."""

    name = "bayesift"
    sampling_strategy = "tolerance"
    # Several tolerances may give the same coefficients: that they stay the same does not mean that they are the best.
    stopping_criterion = SufficientProgressCriterion(patience=10, strategy="tolerance")
    requirements = ["pip::bayesift"]

    def set_objective(self, X, y, lmbd, fit_intercept=False, penalty="l1"):
        """Take the problem."""
        self.X, self.y, self.fit_intercept = X, y, fit_intercept
        prior, variance = ("laplace", 2 / lmbd**2) if penalty == "l1" else ("gaussian", 1 / lmbd)
        free = float("inf") if fit_intercept else 0.0
        self.model = BayesianLogisticRegression(prior, variance=variance, intercept_variance=free, n_jobs=1)

    def run(self, tolerance):
        """Fit to a relative duality gap."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.model.set_params(tol=float(np.clip(tolerance, 1e-14, 0.5))).fit(self.X, self.y)

    def get_result(self):
        """Return the coefficients, and the intercept last."""
        beta = np.asarray(self.model.coef_).ravel()
        return {"beta": np.append(beta, self.model.intercept_) if self.fit_intercept else beta}
