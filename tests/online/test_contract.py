"""The contract of an estimator: scikit-learn's checks, none skipped."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesift.online import BayesianPerceptron

PERCEPTRONS = [
    BayesianPerceptron(),
    BayesianPerceptron("flip", covariance="diagonal", forgetting=0.999),
    BayesianPerceptron(covariance="low-rank", rank=3, shuffle=True),
]


@parametrize_with_checks(PERCEPTRONS)
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)
