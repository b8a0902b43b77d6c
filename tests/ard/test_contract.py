"""The contract of an estimator: scikit-learn's checks, none skipped."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesift.ard import RelevanceTaggingMachine, RelevanceVectorMachine, RelevanceVectorRegressor

# Where every feature is noise none is kept, and selecting them speaks up.
speaks_up = pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")


@speaks_up
@parametrize_with_checks(
    [RelevanceTaggingMachine(binarize=0.0), RelevanceTaggingMachine("em", binarize=0.0, max_iter=3)]
)
def test_scikit_learn_estimator_checks_of_the_tagging_machine(estimator, check):
    check(estimator)


@speaks_up
# Re-estimation crawls, and checks give it few rounds.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        model(method, max_iter=max_iter)
        for model in (RelevanceVectorMachine, RelevanceVectorRegressor)
        for method, max_iter in (("fast", 1000), ("mackay", 100))
    ]
)
def test_scikit_learn_estimator_checks_of_the_vector_machines(estimator, check):
    check(estimator)
