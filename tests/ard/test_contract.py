"""The contract of an estimator: scikit-learn's checks.

One of them takes even odds for a no. Objects without tags have such odds, and in this library they are a yes: what else
that check asks for is tested here.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesift.ard import RelevanceTaggingMachine, RelevanceVectorMachine, RelevanceVectorRegressor

# Where every feature is noise none is kept, and selecting them speaks up.
speaks_up = pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")


MACHINES = [RelevanceTaggingMachine(binarize=0.0), RelevanceTaggingMachine("em", binarize=0.0, max_iter=3)]


@speaks_up
@parametrize_with_checks(
    MACHINES, expected_failed_checks=lambda machine: {"check_classifiers_train": "even odds are a yes"}
)
def test_scikit_learn_estimator_checks_of_the_tagging_machine(estimator, check):
    check(estimator)


@speaks_up
@pytest.mark.parametrize("machine", MACHINES)
def test_decisions_of_the_tagging_machine_follow_scores_and_probabilities(machine):
    X, y = make_blobs(n_samples=300, random_state=0)
    X, y = StandardScaler().fit_transform(X[y != 2]), y[y != 2]
    machine = clone(machine).fit(X.tolist(), y.tolist())
    scores, probabilities, decisions = machine.decision_function(X), machine.predict_proba(X), machine.predict(X)
    even = scores == 0
    assert 0 < even.sum() < 100
    assert np.all(decisions[even] == 1)
    assert np.all(probabilities[even] == 0.5)
    np.testing.assert_array_equal(decisions[~even], scores[~even] > 0)
    np.testing.assert_array_equal(decisions[~even], probabilities[~even].argmax(axis=1))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.exp(machine.predict_log_proba(X)), probabilities, rtol=1e-12)
    assert machine.score(X[~even], y[~even]) > 0.83
    for method in (machine.predict, machine.decision_function, machine.predict_proba):
        with pytest.raises(ValueError, match="features"):
            method(X.T)


@speaks_up
# Re-estimation crawls, and checks give it few rounds.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        model(solver, max_iter=max_iter)
        for model in (RelevanceVectorMachine, RelevanceVectorRegressor)
        for solver, max_iter in (("fast", 1000), ("mackay", 100))
    ]
)
def test_scikit_learn_estimator_checks_of_the_vector_machines(estimator, check):
    check(estimator)
