"""The contract of an estimator: scikit-learn's checks, none skipped."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesift.linear import BayesianLogisticRegression
from linear_cases import stopping

# The checks compare fits of equivalent data to seven digits, so solvers must stop at the optimum.
TIGHT = {"folds": 3, "grid": (0.1, 1.0, 10.0)}
# Checks want `predict` to agree with the sign of `decision_function`, so that thresholds stay at one half.
VARIANCES = [("laplace", 1.0), ("gaussian", 1.0), ("laplace", "norm"), ("laplace", "cv"), ("laplace", "auto")]

# Some checks have a class of one document, or leave one class only by their weights.
speaks_up = pytest.mark.filterwarnings("ignore:category:UserWarning")


def estimators(solver: str, max_iter: int, variances: list[tuple[str, object]]) -> list[BayesianLogisticRegression]:
    options = {"solver": solver, "max_iter": max_iter, **stopping(solver, gap=1e-12, change=1e-13), **TIGHT}
    return [BayesianLogisticRegression(*prior, **options) for prior in variances]


@pytest.mark.slow
@speaks_up
# Coordinate by coordinate is slow on columns far from zero, of which several checks are made.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
# How a variance is chosen does not depend on the solver, but for folds, which call it.
@parametrize_with_checks(estimators("clg", 3000, [("laplace", 1.0), ("gaussian", 1.0), ("laplace", "cv")]))
def test_scikit_learn_estimator_checks_of_the_reference_solver(estimator, check):
    check(estimator)


@speaks_up
@parametrize_with_checks(estimators("newton", 1000, VARIANCES))
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)
