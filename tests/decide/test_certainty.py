"""Sure decisions: by brute force over draws, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri

from bayesift.decide import mass_of_certainty, unsure

RNG = np.random.default_rng(0)
MEANS, DEVIATIONS = RNG.normal(scale=3.0, size=(40, 3)), RNG.uniform(0.2, 3.0, size=(40, 3))
DRAWS = MEANS + DEVIATIONS * RNG.normal(size=(20_000, 40, 3))
THRESHOLDS = np.array([0.0, 1.0, -0.5])


def ends_for(certainty):
    tail = 0.5 * (1.0 - mass_of_certainty(certainty))
    return MEANS[..., None] + DEVIATIONS[..., None] * ndtri([tail, 1.0 - tail])


@pytest.mark.parametrize("certainty", [0.6, 0.9, 0.99])
def test_a_decision_is_sure_if_the_score_is_probably_on_its_side(certainty):
    decisions = MEANS >= THRESHOLDS
    right = np.mean((DRAWS >= THRESHOLDS) == decisions, axis=0)
    clear = np.abs(right - certainty) > 0.02
    found = unsure(decisions, ends_for(certainty), THRESHOLDS)
    np.testing.assert_array_equal(found[clear], right[clear] < certainty)
    one = unsure(decisions[:, 1], ends_for(certainty)[:, 1], 1.0)
    np.testing.assert_array_equal(one, found[:, 1])


def test_of_exclusive_categories_the_sure_one_is_probably_above_each_other_one():
    margins, drawn = MEANS - THRESHOLDS, DRAWS - THRESHOLDS
    decisions = np.argmax(margins, axis=1)[:, None] == np.arange(3)
    found = unsure(decisions, ends_for(0.9), THRESHOLDS, exclusive=True)
    sure = ~found.any(axis=1)
    assert 3 < sure.sum() < 37
    best = np.take_along_axis(drawn, np.argmax(decisions, axis=1)[None, :, None], axis=2)
    above = np.mean(best >= drawn, axis=0)
    assert np.all(above[sure] >= 0.89)
    # Somebody who has to choose does so between two or more, the one decided for among them.
    assert np.all(found[~sure].sum(axis=1) >= 2)
    assert np.all(found[~sure][decisions[~sure]])


def test_a_decision_against_the_interval_is_not_sure():
    # The averaged score may be on the other side of a tuned threshold than the interval.
    assert unsure([False, True], [[1.0, 2.0], [-2.0, -1.0]]).all()
    assert unsure([True, False], [[0.0, 1.0], [-1.0, -1e-300]]).tolist() == [False, False]
    assert unsure([True], [[-np.inf, np.inf]]).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0], [[0, 1]]), "decisions are float64"),
        (([True], [0, 1]), r"ends have shape \(2,\); expected \(1, 2\)"),
        (([True], [[np.nan, 1]]), "ends is nan"),
        (([True], [[0, 1]], [0.0, 0.0]), r"thresholds have shape \(2,\)"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        unsure(*arguments)


def test_an_interval_that_ends_where_the_best_one_begins_does_not_reach_it():
    ends = np.array([[[1.0, 2.0], [0.0, 1.0], [-1.0, 0.5]]])
    assert not unsure([[True, False, False]], ends, exclusive=True).any()
    ends[0, 1, 1] = 1.0 + 1e-9
    assert unsure([[True, False, False]], ends, exclusive=True).tolist() == [[True, True, False]]


def test_exclusive_categories_have_one_decision_each():
    with pytest.raises(ValueError, match="without exactly one category"):
        unsure([[True, True]], np.zeros((1, 2, 2)), exclusive=True)


@pytest.mark.parametrize("certainty", [0.5, 1.0, -1, np.nan])
def test_a_certainty_is_more_than_a_half(certainty):
    with pytest.raises(ValueError, match=r"certainty is .*; expected a number between 0\.5 and 1"):
        mass_of_certainty(certainty)
