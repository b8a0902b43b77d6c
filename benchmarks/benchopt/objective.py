"""Logistic loss, summed, plus a penalty: lmbd ‖β‖₁, or lmbd/2 ‖β‖²."""

import numpy as np
from benchopt import BaseObjective


class Objective(BaseObjective):
    """The objective of the public benchmarks, with the penalty as a parameter."""

    name = "Penalised logistic regression"
    parameters = {"penalty": ["l1", "l2"], "share": [0.1, 0.01]}
    min_benchopt_version = "1.6"

    def set_data(self, X, y):
        """Take the data; the weight of the penalty is a share of the least one for which all coefficients are 0."""
        self.X, self.y = X, y
        self.lmbd = self.share * abs(X.T @ y).max() / 2

    def evaluate_result(self, beta):
        """Compute the objective."""
        beta = np.ravel(beta)
        size = np.abs(beta).sum() if self.penalty == "l1" else beta @ beta / 2
        return {"value": np.logaddexp(0, -self.y * (self.X @ beta)).sum() + self.lmbd * size}

    def get_one_result(self):
        """Return coefficients to try the evaluation with."""
        return {"beta": np.zeros(self.X.shape[1])}

    def get_objective(self):
        """Hand the problem to a solver."""
        return {"X": self.X, "y": self.y, "lmbd": self.lmbd, "penalty": self.penalty}
