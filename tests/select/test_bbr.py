"""The features that the original BBRtrain keeps with ``-f 10 -u …`` on its golden training file."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_svmlight_file

from bayesift.select import TermSelector

GOLDEN = Path(os.environ.get("BAYESIFT_DATA", "missing")).parent / "golden" / "bbr"


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="needs golden/bbr beside the folder that BAYESIFT_DATA names")
@pytest.mark.parametrize(
    ("utility", "score"), [(0, "pearson"), (1, "yules_q"), (2, "chi_square"), (3, "binormal_separation")]
)
def test_the_same_ten_features(utility: int, score: str) -> None:
    X, y = load_svmlight_file(str(GOLDEN / "binary.train"))
    model = (GOLDEN / f"bbr-f10-u{utility}.model").read_text()
    line = re.search(r"topicFeats (.*)", model)
    assert line is not None
    kept = TermSelector(score=score, k=10).fit(X, y).get_support(indices=True)
    assert_array_equal(kept + 1, [int(number) for number in line.group(1).split()])
