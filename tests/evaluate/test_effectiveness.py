"""Precision, recall, F and break-even beside scikit-learn and by counting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.metrics import fbeta_score, hamming_loss, precision_score, recall_score

from bayesift.evaluate import Outcomes, break_even, error_rate, f_beta, precision, recall


def tables(max_documents: int = 8, max_categories: int = 3) -> st.SearchStrategy:
    """Truth and decisions of the same shape."""
    shape = st.tuples(st.integers(1, max_documents), st.integers(1, max_categories))
    return shape.flatmap(
        lambda s: st.lists(st.booleans(), min_size=2 * s[0] * s[1], max_size=2 * s[0] * s[1]).map(
            lambda flat: np.array(flat).reshape(2, *s)
        )
    )


@settings(deadline=None, max_examples=40)
@given(table=tables(), beta=st.sampled_from([0.5, 1.0, 2.0]), empty=st.sampled_from([0.0, 1.0, np.nan]))
def test_as_scikit_learn(table: np.ndarray, beta: float, empty: float) -> None:
    truth, decisions = table
    for average in ("micro", "macro", None):
        # A matrix of one column is no multi-label indicator for scikit-learn.
        padded = [np.column_stack([part, np.zeros(len(part), dtype=bool)]).astype(int) for part in table]
        options = {"average": average, "zero_division": empty, "labels": range(truth.shape[1])}
        assert_allclose(precision(truth, decisions, average=average, empty=empty), precision_score(*padded, **options))
        assert_allclose(recall(truth, decisions, average=average, empty=empty), recall_score(*padded, **options))
        ours = f_beta(truth, decisions, beta=beta, average=average, empty=empty)
        assert_allclose(ours, fbeta_score(*padded, beta=beta, **options))
    assert error_rate(truth, decisions, average="micro") == pytest.approx(
        hamming_loss(truth.ravel(), decisions.ravel())
    )


@given(table=tables())
def test_categories_one_by_one_and_counted_beforehand(table: np.ndarray) -> None:
    truth, decisions = table
    outcomes = Outcomes.of(truth, decisions)
    assert sum(np.sum(count) for count in outcomes) == truth.size
    for measure in (precision, recall, f_beta, error_rate):
        values = measure(truth, decisions)
        assert_array_equal(values, [measure(t, d) for t, d in zip(truth.T, decisions.T, strict=True)])
        assert_array_equal(values, measure(outcomes))
        assert measure(truth, decisions, average="macro") == pytest.approx(values.mean())
        assert measure(truth, decisions, average="micro") == measure(truth.ravel(), decisions.ravel())


def test_all_ways_to_mark_documents() -> None:
    truth = np.array([[1, 0], [0, 1], [1, 1]])
    decisions = np.array([[1, 1], [0, 0], [0, 1]])
    expected = Outcomes.of(truth, decisions)
    assert_array_equal(expected, [[1, 1], [0, 1], [1, 1], [1, 0]])
    for way in (csr_array, lambda table: table.astype(bool), lambda table: 2 * table - 1, lambda table: table * 1.0):
        assert_array_equal(Outcomes.of(way(truth), decisions), expected)
        assert_array_equal(Outcomes.of(truth, way(decisions)), expected)
    assert_array_equal(Outcomes.of([-1, -1], [0, 1]), [0, 1, 0, 1])


def test_three_conventions_for_nothing_to_find() -> None:
    truth, decisions = [[1, 0], [1, 0]], [[1, 0], [0, 0]]
    assert f_beta(truth, decisions, average="macro") == pytest.approx((2 / 3 + 1) / 2)
    assert f_beta(truth, decisions, average="macro", empty=0) == pytest.approx(1 / 3)
    assert f_beta(truth, decisions, average="macro", empty=np.nan) == pytest.approx(2 / 3)
    assert np.isnan(f_beta([[0, 0]], [[0, 0]], average="macro", empty=np.nan))


def break_even_by_ranks(truth: np.ndarray, scores: np.ndarray) -> float:
    """The mean over random orders of tied documents."""
    rng = np.random.default_rng(0)
    values = []
    for _ in range(4000):
        order = np.lexsort((rng.random(len(scores)), -scores))
        values.append(truth[order[: truth.sum()]].mean())
    return float(np.mean(values))


def test_break_even() -> None:
    truth = np.array([1, 0, 1, 0, 0, 1])
    assert break_even(truth, [6, 5, 4, 3, 2, 1]) == pytest.approx(2 / 3)
    assert break_even(truth, np.zeros(6)) == pytest.approx(0.5)
    tied = np.array([3, 3, 2, 2, 2, 1])
    assert break_even(truth, tied) == pytest.approx(break_even_by_ranks(truth, tied), abs=0.02)
    both = np.column_stack([truth, 1 - truth])
    scores = np.column_stack([[6, 5, 4, 3, 2, 1], [1, 9, 2, 9, 9, 3]])
    assert_allclose(break_even(both, scores), [2 / 3, 1])
    assert break_even(both, scores, average="macro") == pytest.approx(5 / 6)
    assert break_even(both, scores, average="micro") == break_even(both.ravel(), scores.ravel())
    assert break_even([0, 0], [1, 2]) == 1
    assert break_even([0, 0], [1, 2], empty=0) == 0


@given(table=tables(12, 1), data=st.data())
def test_precision_is_recall_at_break_even(table: np.ndarray, data: st.DataObject) -> None:
    truth = table[0][:, 0]
    scores = np.array(data.draw(st.permutations(range(len(truth)))))
    decisions = scores >= len(truth) - truth.sum()
    assert precision(truth, decisions) == pytest.approx(recall(truth, decisions))
    assert break_even(truth, scores) == pytest.approx(precision(truth, decisions))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"truth": []}, r"truth has shape \(0,\)"),
        ({"truth": [[[1]]]}, r"truth has shape \(1, 1, 1\); expected one value per document"),
        ({"truth": [1, 2]}, "truth holds 2; expected zeros and ones"),
        ({"truth": [0, -1]}, "truth holds -1"),
        ({"truth": ["a", "b"]}, "truth holds .*'a'.*; expected zeros and ones"),
        ({"truth": [0.0, np.nan]}, "truth holds nan"),
        ({"decisions": [0.5, 1]}, "decisions holds 0.5"),
        ({"decisions": [1]}, r"decisions has shape \(1,\); expected \(2,\), the shape of truth"),
        ({"decisions": None}, "decisions is None; expected truth and decisions, or Outcomes alone"),
        ({"truth": Outcomes(1, 0, 0, 1)}, "decisions were given together with Outcomes"),
        ({"average": "weighted"}, "average is 'weighted'; expected 'micro', 'macro' or None"),
        ({"empty": 2}, "empty is 2; expected a number from 0 to 1"),
        ({"beta": 0}, "beta is 0; expected a number greater than 0"),
        ({"beta": 10**400}, "beta is 1000000000.*; expected a number greater than 0 and at most 1e.100"),
    ],
)
def test_bad_input_is_named(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        f_beta(**{"truth": [0, 1], "decisions": [1, 1], **arguments})


@pytest.mark.parametrize("beta", [10**9, np.int64(10**9), 10**10, 1e10])
def test_squares_of_large_weights_of_recall_do_not_overflow(beta) -> None:
    assert f_beta(Outcomes(tp=5, fp=0, fn=10, tn=0), beta=beta) == pytest.approx(1 / 3)


def test_break_even_refuses_other_shapes() -> None:
    with pytest.raises(ValueError, match=r"scores has shape \(1,\); expected \(2,\)"):
        break_even([0, 1], [0.5])
    with pytest.raises(ValueError, match="average is 'all'"):
        break_even([0, 1], [0.5, 0.4], average="all")
