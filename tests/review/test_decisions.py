from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from bayesift.review.decisions import Decisions, kappa
from bayesift.review.storage import Event

ANNA, BEN = 1, 2


def decisions(*steps):
    """Add (reviewer, document, decision) or (reviewer, 'undo')."""
    found = Decisions()
    for reviewer, *rest in steps:
        if rest == ["undo"]:
            taken = found.last_undoable(reviewer)
            event = Event(taken.document, reviewer, "undo", undoes=taken.id)
        else:
            event = Event(rest[0], reviewer, *(rest[2:] or ["label"]), decision=rest[1], why="random")
        found.add([event._replace(id=found.last + 1)])
    return found


def test_the_last_decision_holds_and_an_undo_brings_back_the_one_before():
    found = decisions((ANNA, 5, "relevant"), (ANNA, 6, "unsure"), (ANNA, 5, "irrelevant"))
    assert found.status(5) == found.status(5, ANNA) == "irrelevant"
    found = decisions((ANNA, 5, "relevant"), (ANNA, 6, "unsure"), (ANNA, 5, "irrelevant"), (ANNA, "undo"))
    assert found.status(5) == "relevant"
    assert found.undone(ANNA).document == 5
    found = decisions((ANNA, 5, "relevant"), (ANNA, 6, "unsure"), (ANNA, "undo"), (ANNA, "undo"))
    assert found.status(5) is None
    assert found.status(6) is None
    assert found.last_undoable(ANNA) is None
    assert found.undone(ANNA).document == 5
    assert found.decided() == []
    assert len(found.history(5)) == 2


def test_an_undo_takes_back_only_own_decisions():
    found = decisions((ANNA, 1, "relevant"), (BEN, 2, "relevant"), (ANNA, "undo"))
    assert found.status(1) is None
    assert found.status(2) == "relevant"
    assert found.undone(BEN) is None


def test_what_is_decided_again_is_no_longer_waiting():
    found = decisions(
        (ANNA, 1, "relevant"), (ANNA, 2, "relevant"), (ANNA, "undo"), (ANNA, "undo"), (ANNA, 1, "irrelevant")
    )
    assert found.undone(ANNA).document == 2


def test_reviewers_contradict_each_other_until_somebody_resolves_it():
    found = decisions((ANNA, 1, "relevant"), (BEN, 1, "irrelevant"), (ANNA, 2, "relevant"), (BEN, 2, "unsure"))
    assert found.conflicts() == [1]
    assert found.status(1) == "conflict"
    assert found.status(1, BEN) == "irrelevant"
    assert found.status(2) == "relevant"
    resolved = decisions((ANNA, 1, "relevant"), (BEN, 1, "irrelevant"), (BEN, 1, "relevant", "resolve"))
    assert resolved.conflicts() == []
    assert resolved.status(1) == resolved.status(1, BEN) == "relevant"
    assert resolved.reason(1) == "random"
    back = decisions((ANNA, 1, "relevant"), (BEN, 1, "irrelevant"), (BEN, 1, "relevant", "resolve"), (BEN, "undo"))
    assert back.conflicts() == [1]


def test_documents_given_with_the_topic_are_not_undone_by_the_key():
    found = decisions((ANNA, 1, "relevant", "known"), (ANNA, 2, "relevant", "import"))
    assert found.last_undoable(ANNA) is None
    assert found.status(1) == found.status(2) == "relevant"


def test_skipped_documents_come_back_after_a_while():
    found = decisions((ANNA, 1, "skip"), (ANNA, 2, "relevant"), (BEN, 3, "skip"))
    assert found.recently_skipped(ANNA, 2) == [1]
    assert found.recently_skipped(ANNA, 1) == []
    assert found.recently_skipped(BEN, 5) == [3]


answers = st.sampled_from(["relevant", "irrelevant", "unsure", "skip"])
steps = st.lists(st.one_of(st.tuples(st.sampled_from([1, 2]), st.integers(0, 3), answers), st.sampled_from([1, 2])))


@given(steps)
def test_decisions_are_the_history_without_what_was_undone(path):
    found, kept = Decisions(), []
    for step in path:
        if isinstance(step, int):
            mine = [event for event in kept if event.reviewer == step]
            assert found.last_undoable(step) == (mine[-1] if mine else None)
            if not mine:
                continue
            kept.remove(mine[-1])
            event = Event(mine[-1].document, step, "undo", undoes=mine[-1].id, id=found.last + 1)
        else:
            event = Event(step[1], step[0], "label", step[2], id=found.last + 1)
            kept.append(event)
        found.add([event])
    for document in range(4):
        for reviewer in (1, 2):
            own = [event.decision for event in kept if (event.document, event.reviewer) == (document, reviewer)]
            assert found.status(document, reviewer) == (own[-1] if own else None)
    assert Decisions(found.events).by_reviewer(0) == found.by_reviewer(0)


@given(steps)
def test_judgements_follow_the_events_as_if_made_of_them_at_once(path):
    found = Decisions()
    live = {reviewer: found.judgements(4, reviewer) for reviewer in (None, 1, 2)}
    for step in path:
        if isinstance(step, int):
            last = found.last_undoable(step)
            if last is None:
                continue
            event = Event(last.document, step, "undo", undoes=last.id, id=found.last + 1)
        else:
            event = Event(step[1], step[0], "label", step[2], why="random", id=found.last + 1)
        found.add([event])
    for reviewer, judgements in live.items():
        again = Decisions(found.events).judgements(4, reviewer)
        assert sorted(judgements, key=str) == sorted(again, key=str)
        assert (judgements.found, judgements.irrelevant, judgements.unsure, judgements.unjudged) == (
            again.found, again.irrelevant, again.unsure, again.unjudged,
        )  # fmt: skip
        assert judgements.open.tolist() == again.open.tolist()
        for document in range(4):
            status = found.status(document, reviewer)
            assert (document in judgements) == (status not in (None, "skip"))
            if document in judgements:
                expected = {"relevant": True, "irrelevant": False}.get(status)
                assert judgements.get(document).relevant is expected


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1))
def test_kappa_is_that_of_scikit_learn(answers):
    first, second = zip(*answers, strict=True)
    if len({*first, *second}) == 1:
        assert kappa(answers) is None
    else:
        assert kappa(answers) == pytest.approx(cohen_kappa_score(first, second))


def test_only_documents_that_both_decided_count():
    said = [
        (1, 0, "relevant"), (2, 0, "relevant"), (1, 1, "relevant"), (2, 1, "irrelevant"), (1, 2, "unsure"),
        (2, 2, "relevant"), (1, 3, "relevant"), (2, 4, "irrelevant"), (1, 4, "irrelevant"),
    ]  # fmt: skip
    events = [Event(document, who, "label", what, id=number) for number, (who, document, what) in enumerate(said, 1)]
    (found,) = Decisions([*events, Event(1, 2, "resolve", "relevant", id=99)]).agreements([1, 2, 3])
    assert found[:3] == (1, 2, 3)
    assert found.share == pytest.approx(2 / 3)
    assert found.kappa == pytest.approx(cohen_kappa_score([1, 1, 0], [1, 0, 0]))


def test_a_copy_with_further_events_is_what_all_events_give():
    """Also where most documents have one event, for which there is a short way."""
    choice = random.Random(3)
    for double in (False, True):
        events: list[Event] = []
        known = copy = Decisions(double=double)
        for number in range(1, 100):
            undoable = known.last_undoable(who := choice.randint(1, 3))
            if undoable is not None and choice.random() < 0.2:
                event = Event(undoable.document, who, "undo", undoes=undoable.id, id=number)
            else:
                action = choice.choices(["label", "import", "resolve"], [8, 1, 1])[0]
                decision = choice.choice(["relevant", "irrelevant", "unsure", "skip"][: 2 if action != "label" else 4])
                why = choice.choice(["random", None])
                event = Event(choice.randrange(30), who, action, decision, id=number, why=why)
            events.append(event)
            before = copy.events.copy()
            known, copy, earlier = Decisions(events, {1: 0}, double=double), copy.with_events([event]), copy
            assert earlier.events == before
            if number == 1:
                copy = known
            for reviewer in (None, 1, 2):
                assert copy.decided(reviewer) == known.decided(reviewer)
                assert copy.in_force(reviewer) == known.in_force(reviewer)
                for said in known.in_force(reviewer):
                    status = known.status(said.document, reviewer)
                    assert said.decision == (None if status == "conflict" else status)
                    assert said.why == known.reason(said.document, reviewer)
            assert copy.statuses() == known.statuses()
            assert [copy.undone(who) for who in (1, 2, 3)] == [known.undone(who) for who in (1, 2, 3)]
