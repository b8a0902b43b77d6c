"""The contract of an estimator: scikit-learn's checks, none skipped."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesift.linear import BayesianProbitRegression
from bayesift.priors import Laplace

# The checks compare fits of equivalent data to seven digits, so solvers must stop at the optimum.
TIGHT = {"tol": 1e-12, "folds": 3}
FAST = [
    BayesianProbitRegression(variance=1.0, **TIGHT),
    BayesianProbitRegression("gaussian", variance=1.0, covariance="full", **TIGHT),
    BayesianProbitRegression(variance="cv", grid=(20.0, 2.0, 0.2), **TIGHT),
]
EM = [
    BayesianProbitRegression("gaussian", variance=0.01, solver="em", **TIGHT),
    BayesianProbitRegression(Laplace.of_rate(5.0), intercept_variance="same", solver="em", max_iter=500, **TIGHT),
    BayesianProbitRegression(Laplace.of_rate(5.0), solver="block-em", max_iter=200, **TIGHT),
    BayesianProbitRegression("jeffreys", max_iter=500, **TIGHT),
]

# Some checks have a class of one document, or leave one class only by their weights.
speaks_up = pytest.mark.filterwarnings("ignore:category:UserWarning")


@speaks_up
@parametrize_with_checks(FAST)
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@speaks_up
# EM is slow on columns far from zero and classes far apart, of which several checks are made.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(EM)
def test_scikit_learn_estimator_checks_of_em(estimator, check):
    check(estimator)
