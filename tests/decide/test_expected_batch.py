"""Decisions about a batch: no other decisions have a greater expected value."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayesift.decide import SUM_OF_ERRORS, T11U, Utility, decide, exact_expected_f1, expected_f1


def expected_utility(p: np.ndarray, mask: np.ndarray, utility: Utility) -> float:
    """Over all 2ⁿ truths."""
    y = np.array(list(product([0, 1], repeat=len(p))))
    chance = np.where(y, p, 1 - p).prod(axis=1)
    tp, fp = y @ mask, (1 - y) @ mask
    values = utility.value(tp, fp, y.sum(1) - tp, (1 - y).sum(1) - fp)
    return float(chance @ values)


@settings(deadline=None, max_examples=40)
@given(
    p=st.lists(st.floats(0, 1), min_size=1, max_size=6),
    gains=st.tuples(*[st.integers(-5, 5)] * 4),
    per_class=st.booleans(),
)
def test_the_greatest_expected_utility_of_all_decisions(p: list[float], gains: tuple, per_class: bool) -> None:
    utility = Utility(*gains, per_class=per_class)
    mask, value = decide(p, utility)
    assert value == pytest.approx(expected_utility(np.array(p), mask, utility), abs=1e-11)
    masks = np.array(list(product([0, 1], repeat=len(p))))
    assert value == pytest.approx(max(expected_utility(np.array(p), other, utility) for other in masks), abs=1e-11)


@pytest.mark.parametrize(("policy", "choose"), [("expected_f1", expected_f1), ("exact_expected_f1", exact_expected_f1)])
def test_the_most_probable_are_accepted(policy: str, choose: object) -> None:
    p = np.random.default_rng(6).random(50) ** 3
    for beta in (0.5, 1.0, 2.0):
        n_accepted, value = choose(p, beta=beta)
        mask, expected = decide(p, policy, beta=beta)
        assert expected == value
        assert mask.sum() == n_accepted
        assert p[mask].min() >= p[~mask].max()


def test_of_equal_probabilities_the_earlier_are_accepted() -> None:
    mask, _ = decide([0.01, 0.9, 0.01], "expected_f1")
    assert_array_equal(mask, [False, True, False])
    assert_array_equal(decide([0.0, 1.0, 1.0]).mask, [False, True, True])


@pytest.mark.parametrize("policy", ["expected_f1", "exact_expected_f1", "min_error", "balanced_error", T11U, {"tp": 1}])
def test_categories_one_by_one(policy: object) -> None:
    p = np.random.default_rng(7).random((30, 3)) ** [1, 3, 9]
    mask, values = decide(p, policy)
    columns = [decide(column, policy) for column in p.T]
    assert_array_equal(mask, np.column_stack([column.mask for column in columns]))
    assert_allclose(values, [column.expected_value for column in columns])


def test_named_utilities() -> None:
    p = [0.5, 0.49, 0.3, 0.04]
    assert_array_equal(decide(p, "min_error").mask, [1, 0, 0, 0])
    assert_array_equal(decide(p, "t11u").mask, [1, 1, 0, 0])
    assert_array_equal(decide(p, "t13u").mask, [1, 1, 1, 0])
    assert decide(p, "min_error").expected_value == decide(p, SUM_OF_ERRORS).expected_value
    assert decide(p, "min_error").expected_value == pytest.approx(-(0.5 + 0.49 + 0.3 + 0.04))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"policy": "max_f1"}, "policy is 'max_f1'; expected one of"),
        ({"policy": "half"}, "policy is 'half'"),
        ({"policy": None}, "policy is None"),
        ({"policy": {"hits": 1}}, "gains name 'hits'"),
        ({"beta": 0}, "beta is 0"),
        ({"probabilities": [2.0]}, "probabilities has values from 2 to 2"),
        ({"probabilities": []}, "0 sample"),
    ],
)
def test_bad_input_is_named(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        decide(**{"probabilities": [0.1, 0.2], **arguments})
