"""Measures of the filtering tracks, by hand and from published counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from bayesift.decide import SUM_OF_ERRORS, T11U, Utility
from bayesift.evaluate import Outcomes, f_beta, scaled_utility, t9p, t9u, t11f, t11nu, t11su, t11u, t13u

count = st.integers(0, 200)


@given(tp=count, fp=count, fn=count, tn=count)
def test_formulas(tp: int, fp: int, fn: int, tn: int) -> None:
    outcomes = Outcomes(tp, fp, fn, tn)
    assert t9p(outcomes) == pytest.approx(tp / max(50, tp + fp))
    assert t9u(outcomes) == max(2 * tp - fp, -100)
    assert t11u(outcomes) == 2 * tp - fp
    assert t13u(outcomes) == 20 * tp - fp
    assert t11f(outcomes) == f_beta(outcomes, beta=0.5)
    if tp + fn:
        assert t11nu(outcomes) == pytest.approx((2 * tp - fp) / (2 * (tp + fn)))
    else:
        assert t11nu(outcomes) == (-np.inf if fp else 0)
    assert t11su(outcomes) == pytest.approx((max(t11nu(outcomes), -0.5) + 0.5) / 1.5)
    assert 0 <= t11su(outcomes) <= 1
    assert scaled_utility(outcomes, utility=T11U, minimum=None) == t11nu(outcomes)


@pytest.mark.parametrize(
    ("retrieved", "relevant", "mean_utility"), [(2716, 1227, 15.318), (2391, 1128, 15.762), (1157, 772, 18.397)]
)
def test_mean_utilities_of_chai_ng_and_chieu(retrieved: int, relevant: int, mean_utility: float) -> None:
    """Table 4, 63 topics; none of these systems lost 100 in a topic, so that the mean follows from the sums."""
    outcomes = Outcomes(tp=relevant, fp=retrieved - relevant, fn=0, tn=0)
    assert t11u(outcomes) / 63 == pytest.approx(mean_utility, abs=6e-4)


def test_topics_together() -> None:
    topics = Outcomes(*np.array([[20, 0, 60], [10, 300, 40], [5, 3, 0], [900, 700, 9]]))
    assert_allclose(t9p(topics), [0.4, 0.0, 0.6])
    assert t9p(topics, average="macro") == pytest.approx(1 / 3)
    assert t9p(topics, target=10)[0] == pytest.approx(20 / 30)
    assert_allclose(t9u(topics), [30, -100, 80])
    assert t9u(topics, average="macro") == pytest.approx(10 / 3)
    assert t9u(topics, least=-20)[1] == -20
    assert t11su(topics, average="macro") == pytest.approx(np.mean(t11su(topics)))
    assert t11u(topics, average="micro") == 2 * 80 - 350


def test_perfect_and_empty_decisions() -> None:
    truth = np.array([1, 0, 1, 0])
    for utility in (T11U, Utility(tp=1, tn=1), {"tp": 3, "fn": -1}):
        assert scaled_utility(truth, truth, utility=utility) == pytest.approx(1)
    assert scaled_utility(truth, truth, utility=SUM_OF_ERRORS, minimum=None) == 0
    assert scaled_utility(truth, 1 - truth, utility=SUM_OF_ERRORS, minimum=None) == -np.inf
    assert scaled_utility(truth, 1 - truth) == 0
    assert t11su(truth, np.zeros(4)) == pytest.approx(1 / 3)


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="target is 0"):
        t9p([1], [1], target=0)
    with pytest.raises(ValueError, match="target is nan; expected a whole number of at least 1"):
        t9p([1], [1], target=np.nan)
    with pytest.raises(ValueError, match="least is nan; expected a number"):
        t9u([1], [1], least=np.nan)
    with pytest.raises(ValueError, match="minimum is 1; expected a share below 1"):
        scaled_utility([1], [1], minimum=1)
    with pytest.raises(ValueError, match="perfect decisions worth less than 0"):
        scaled_utility([1], [1], utility=Utility(tp=-1))
    with pytest.raises(ValueError, match="gains name 'hit'"):
        scaled_utility([1], [1], utility={"hit": 1})
