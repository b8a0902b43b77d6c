"""Shares of the work, and documents that two reviewers read."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesift.review.decisions import Decisions
from bayesift.review.queues import assigned
from bayesift.review.storage import Event


def test_shares_are_kept_and_few_documents_move_when_somebody_joins():
    three = assigned({1: 50, 2: 30, 3: 20}, 20_000, 1, seed=4)
    assert sum(mine.astype(int) for mine in three.values()).tolist() == [1] * 20_000
    assert [three[who].mean() for who in (1, 2, 3)] == pytest.approx([0.5, 0.3, 0.2], abs=0.01)
    two = assigned({1: 50, 2: 30, 3: 0}, 20_000, 1, seed=4)
    # Whoever had a document keeps it.
    assert not (three[1] & ~two[1]).any()
    assert not (three[2] & ~two[2]).any()
    assert assigned({1: 0.0}, 5, 1, seed=0) == {}
    double = assigned({1: 1, 2: 1, 3: 1}, 3000, 2, seed=4)
    assert set(sum(mine.astype(int) for mine in double.values()).tolist()) == {2}


def test_two_readers_decide_and_a_third_resolves():
    decisions = Decisions(double=True)
    mine, third = decisions.judgements(4, 1), decisions.judgements(4, 3)
    decisions.add([Event(0, 1, "label", "relevant", id=1)])
    assert (decisions.status(0), decisions.status(0, 1)) == (None, "relevant")
    assert (mine.get(0).relevant, third.get(0)) == (True, None)
    decisions.add([Event(0, 2, "label", "irrelevant", id=2)])
    assert decisions.status(0) == "conflict"
    assert third.get(0).why == "elsewhere"
    decisions.add([Event(0, 3, "resolve", "irrelevant", id=3, reason="animals")])
    assert (decisions.status(0), decisions.exclusion(0)) == ("irrelevant", "animals")
    assert mine.get(0).relevant is False
    decisions.add([Event(1, 1, "known", "relevant", id=4), Event(2, 1, "label", "skip", id=5)])
    assert (decisions.status(1), decisions.status(2)) == ("relevant", None)
    decisions.add([Event(0, 3, "undo", undoes=3, id=6), Event(0, 2, "undo", undoes=2, id=7)])
    assert (decisions.status(0), third.get(0)) == (None, None)


LABELS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(1, 3), st.sampled_from(["relevant", "irrelevant", "unsure", "skip"])),
    max_size=25,
)


@given(LABELS)
def test_judgements_that_follow_are_those_of_a_new_start(said):
    """Of three reviewers with shares, where two read each document."""
    mine = assigned({1: 2, 2: 1, 3: 1}, 4, 2, seed=1)
    following = Decisions(double=True, mine=mine, same={3: 0})
    held = {who: following.judgements(4, who) for who in (None, 1, 2, 3)}
    events = [Event(place, who, "label", what, id=number) for number, (place, who, what) in enumerate(said, 1)]
    for event in events:
        following.add([event])
    fresh = Decisions(events, double=True, mine=mine, same={3: 0})
    for who, judgements in held.items():
        again = fresh.judgements(4, who)
        assert sorted(map(str, judgements)) == sorted(map(str, again))
        assert np.array_equal(judgements.open, again.open)
