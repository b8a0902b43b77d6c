"""The contract of an estimator: scikit-learn's checks, none skipped."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesift.ard import RelevanceTaggingMachine


# Where every tag is noise none is kept, and selecting them speaks up.
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
@parametrize_with_checks(
    [RelevanceTaggingMachine(binarize=0.0), RelevanceTaggingMachine("em", binarize=0.0, max_iter=3)]
)
def test_scikit_learn_estimator_checks_of_the_tagging_machine(estimator, check):
    check(estimator)
