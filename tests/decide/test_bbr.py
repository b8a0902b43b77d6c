"""The thresholds that the original BBRtrain tunes with ``-t …`` on its golden training file."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from sklearn.datasets import load_svmlight_file

from bayesift.decide import best_threshold

GOLDEN = Path(os.environ.get("BAYESIFT_DATA", "missing")).parent / "golden" / "bbr"


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="needs golden/bbr beside the folder that BAYESIFT_DATA names")
@pytest.mark.parametrize(
    ("option", "policy"), [(1, "min_error"), (2, "t11u"), (3, "max_f1"), (4, "balanced_error"), (5, "t13u")]
)
def test_the_same_threshold(option: int, policy: str) -> None:
    X, y = load_svmlight_file(str(GOLDEN / "binary.train"))
    model = (GOLDEN / f"bbr-laplace-t{option}.model").read_text()
    features, beta, threshold = (
        [float(number) for number in re.search(rf"{word} (.*)", model).group(1).split()]  # type: ignore[union-attr]
        for word in ("topicFeats", "beta", "threshold")
    )
    columns = [int(feature) - 1 for feature in features]
    scores = X[:, columns] @ beta[:-1] + beta[-1]
    assert best_threshold(scores, y, policy=policy, ties="lowest") == pytest.approx(threshold[0], abs=1e-10)
