"""The features that the original BBRtrain keeps with ``-f 10 -u …`` on its golden training file."""

import pytest
from numpy.testing import assert_array_equal

import golden
from bayesift.select import TermSelector


@golden.needs_golden
@pytest.mark.parametrize(
    ("utility", "score"), [(0, "pearson"), (1, "yules_q"), (2, "chi_square"), (3, "binormal_separation")]
)
def test_the_same_ten_features(utility, score):
    kept = TermSelector(score_func=score, k=10).fit(*golden.documents("binary.train")).get_support(indices=True)
    assert_array_equal(kept, golden.model(f"bbr-f10-u{utility}").columns)
