"""The thresholds that the original BBRtrain tunes with ``-t …`` on its golden training file."""

import pytest

import golden
from bayesift.decide import best_threshold


@golden.needs_golden
@pytest.mark.parametrize(
    ("option", "policy"), [(1, "min_error"), (2, "t11u"), (3, "max_f1"), (4, "balanced_error"), (5, "t13u")]
)
def test_the_same_threshold(option, policy):
    X, y = golden.documents("binary.train")
    model = golden.model(f"bbr-laplace-t{option}")
    scores = X @ model.coef + model.intercept
    assert best_threshold(scores, y, policy=policy, ties="lowest") == pytest.approx(model.threshold, abs=1e-10)
