"""LIBLINEAR by way of scikit-learn."""

import warnings

from benchopt import BaseSolver
from benchopt.stopping_criterion import SufficientProgressCriterion
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression


class Solver(BaseSolver):
    """The peer: ``LogisticRegression(solver="liblinear")``."""

    name = "sklearn-liblinear"
    sampling_strategy = "tolerance"
    # Several tolerances may give the same coefficients: that they stay the same does not mean that they are the best.
    stopping_criterion = SufficientProgressCriterion(patience=10, strategy="tolerance")

    def set_objective(self, X, y, lmbd, penalty):
        """Take the problem."""
        self.X, self.y = X, y
        self.model = LogisticRegression(
            C=1 / lmbd, l1_ratio=float(penalty == "l1"), solver="liblinear", fit_intercept=False, max_iter=100_000
        )

    def run(self, tolerance):
        """Fit to a tolerance of its own kind."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.model.set_params(tol=max(tolerance, 1e-14)).fit(self.X, self.y)

    def get_result(self):
        """Return the coefficients."""
        return {"beta": self.model.coef_.ravel()}
