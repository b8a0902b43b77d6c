"""The contract of an estimator: scikit-learn's checks.

Those that compare weighted documents with copies in another order are expected to fail: the order of documents matters.
That a weight of two is two looks in a row is tested beside the models.
"""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesift.online import BayesianPerceptron, OnlineGaussianProcess

PERCEPTRONS = [
    BayesianPerceptron(),
    BayesianPerceptron("flip", covariance="diagonal", forgetting=0.999),
    BayesianPerceptron(covariance="low-rank", rank=3, shuffle=True),
]

PROCESSES = [OnlineGaussianProcess(budget=12), OnlineGaussianProcess("rbf", budget=8, removal="kl")]

#: Each posterior is replaced by a Gaussian, so that the order of the documents matters.
BY_ORDER = {
    f"check_sample_weight_equivalence_on_{form}_data": "the copies come in another order"
    for form in ("dense", "sparse")
}


@parametrize_with_checks([*PERCEPTRONS, *PROCESSES], expected_failed_checks=lambda model: BY_ORDER)
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)
