"""Outcomes of every threshold, against counting by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from bayesift.decide import best_threshold, outcomes_by_threshold
from bayesift.decide.tuning import measure_of

documents = st.lists(st.tuples(st.integers(-4, 4), st.booleans()), min_size=1, max_size=12)


@given(documents, st.sampled_from(["midpoint", "accepted"]))
def test_the_counts_are_those_of_the_decisions(drawn, cut):
    scores, y = np.array([s / 4 for s, _ in drawn]), np.array([label for _, label in drawn])
    found = outcomes_by_threshold(scores, y, cut=cut)
    assert len(found.thresholds) == len(np.unique(scores)) + 1
    assert np.all(np.diff(found.thresholds) < 0)
    for threshold, tp, fp, fn, tn in zip(*found, strict=True):
        accepted = scores >= threshold
        assert tp == np.sum(accepted & y)
        assert fp == np.sum(accepted & ~y)
        assert fn == np.sum(~accepted & y)
        assert tn == np.sum(~accepted & ~y)


@given(documents, st.sampled_from(["min_error", "max_f1", "t11u", "balanced_error"]))
def test_the_best_threshold_is_one_of_them(drawn, policy):
    scores, y = [s / 4 for s, _ in drawn], [int(label) for _, label in drawn]
    found = outcomes_by_threshold(scores, y)
    chosen = best_threshold(scores, y, policy=policy)
    values = measure_of(policy)(*found[1:])
    assert values[list(found.thresholds).index(chosen)] == pytest.approx(values.max())


def test_documents_count_as_often_as_their_weights_say():
    found = outcomes_by_threshold([0.2, 0.8, 0.5], [0, 1, 1], sample_weight=[3, 0.5, 0])
    assert_array_equal(found.tp, [0, 0.5, 0.5])
    assert_array_equal(found.fp, [0, 0, 3])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scores": [[0.1]], "y": [1]}, "scores has shape"),
        ({"scores": [0.1, 0.2], "y": [0, 1], "cut": "low"}, "cut is 'low'; expected one of"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        outcomes_by_threshold(**arguments)
