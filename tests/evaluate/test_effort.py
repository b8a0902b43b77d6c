"""Reading effort by simulation of the reading."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from bayesift.evaluate import average_time_to_discovery, recall_at_effort, recall_curve, wss

readings = st.lists(st.tuples(st.booleans(), st.integers(0, 3)), min_size=1, max_size=6).filter(
    lambda rows: any(relevant for relevant, _ in rows)
)


def orders(rows: list[tuple[bool, int]]) -> list[np.ndarray]:
    """Truth in every order of reading in which scores do not rise."""
    kept = [order for order in permutations(rows) if all(a[1] >= b[1] for a, b in pairwise(order))]
    return [np.array([relevant for relevant, _ in order]) for order in kept]


@settings(deadline=None)
@given(rows=readings, effort=st.floats(0, 1), level=st.floats(0, 1))
def test_the_mean_over_all_orders_of_tied_documents(rows: list, effort: float, level: float) -> None:
    truth, scores = (np.array(part) for part in zip(*rows, strict=True))
    n, found = len(truth), [np.flatnonzero(order) + 1 for order in orders(rows)]
    read = int(effort * n + 1e-9)
    assert recall_at_effort(truth, scores, effort=effort) == pytest.approx(
        np.mean([np.mean(places <= read) for places in found])
    )
    times = [places.mean() for places in found]
    assert average_time_to_discovery(truth, scores) == pytest.approx(np.mean(times) / n)
    assert average_time_to_discovery(truth, scores, share=False) == pytest.approx(np.mean(times))
    needed = int(np.ceil(level * truth.sum() - 1e-9))
    last = np.mean([places[needed - 1] if needed else 0 for places in found])
    assert wss(truth, scores, recall=level) == pytest.approx((n - last) / n - (1 - level))
    curve = recall_curve(truth, scores)
    assert_allclose(curve.recall, np.mean([np.append(0, np.cumsum(o)) / o.sum() for o in orders(rows)], axis=0))
    assert_allclose(curve.effort, np.arange(n + 1) / n)


def test_wss_by_its_definition() -> None:
    rng = np.random.default_rng(2)
    truth = rng.random(1000) < 0.05
    scores = truth + rng.normal(size=1000)
    order = np.argsort(-scores)
    found = np.cumsum(truth[order])
    read = int(np.argmax(found >= 0.95 * truth.sum())) + 1
    unread = 1000 - read  # TN + FN
    assert wss(truth, scores) == pytest.approx(unread / 1000 - 0.05)
    assert wss(truth, -scores) < 0 < wss(truth, scores) <= 0.95


def test_random_order_saves_nothing() -> None:
    truth = np.arange(2000) % 20 == 0
    # The 95th of 100 is expected after 95/101 of the documents, a little before 95 %.
    assert wss(truth, np.zeros(2000)) == pytest.approx(0.95 - 95 / 101 * 2001 / 2000)
    assert average_time_to_discovery(truth, np.zeros(2000)) == pytest.approx(0.5, abs=1e-3)
    assert recall_at_effort(truth, np.zeros(2000), effort=0.3) == pytest.approx(0.3)


def test_documents_in_the_order_read() -> None:
    truth = [0, 1, 1, 0, 0, 0, 0, 1, 0, 0]
    assert recall_at_effort(truth, effort=0.3) == pytest.approx(2 / 3)
    assert recall_at_effort(truth, effort=0.29) == pytest.approx(1 / 3)
    assert average_time_to_discovery(truth, share=False) == pytest.approx((2 + 3 + 8) / 3)
    assert wss(truth) == pytest.approx(0.2 - 0.05)


def test_shares_do_not_lose_documents_to_rounding() -> None:
    truth = np.zeros(100)
    truth[28] = 1
    assert 0.29 * 100 < 29
    assert recall_at_effort(truth, effort=0.29) == 1


def test_categories_and_their_mean() -> None:
    truth = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 0]])
    scores = np.random.default_rng(1).random((4, 3))
    for measure in (recall_at_effort, wss, average_time_to_discovery):
        values = measure(truth, scores)
        assert_allclose(values[:2], [measure(truth[:, j], scores[:, j]) for j in (0, 1)])
        assert np.isnan(values[2])
        assert measure(truth, scores, average="macro") == pytest.approx(values[:2].mean())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: recall_at_effort([1, 0], effort=1.5), "effort is 1.5; expected a share from 0 to 1"),
        (lambda: wss([1, 0], recall=-1), "recall is -1"),
        (lambda: wss([1, 0], [1.0]), r"scores has shape \(1,\); expected \(2,\)"),
        (lambda: wss([1, 0], [1.0, np.nan]), "scores contains NaN"),
        (lambda: wss([1, 0], average="micro"), "average is 'micro'; expected 'macro' or None"),
        (lambda: recall_curve([0, 0]), "truth has no relevant document"),
        (lambda: recall_curve([[1, 0], [0, 1]]), "truth has 2 categories; expected one"),
    ],
)
def test_bad_input_is_named(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
