"""The contract of an estimator: scikit-learn's checks, none skipped."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesift.linear import BayesianMultinomialRegression

# The checks compare fits of equivalent data to seven digits, so solvers must stop at the optimum.
TIGHT = {"folds": 3, "grid": (0.1, 1.0, 10.0)}
VARIANCES = [("laplace", 1.0), ("gaussian", 1.0), ("laplace", "norm"), ("laplace", "cv"), ("laplace", "auto")]

# Some checks have a class of one document, or leave one class only by their weights.
speaks_up = pytest.mark.filterwarnings("ignore:too few documents:UserWarning", "ignore:class:UserWarning")


@speaks_up
# Coordinate by coordinate is slow on columns far from zero, of which several checks are made.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [BayesianMultinomialRegression("laplace", 1.0, solver="clg", tol=1e-13, max_iter=1000, **TIGHT)]
)
def test_scikit_learn_estimator_checks_of_the_reference_solver(estimator, check):
    check(estimator)


@speaks_up
@parametrize_with_checks([BayesianMultinomialRegression(*prior, tol=1e-12, **TIGHT) for prior in VARIANCES])
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)
