from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bayesift.review.ledger import Ledger
from bayesift.review.storage import Event

ANNA, BEN = 1, 2


def ledger(*steps):
    """Enter (reviewer, document, decision) or (reviewer, 'undo')."""
    book = Ledger()
    for reviewer, *rest in steps:
        if rest == ["undo"]:
            taken = book.last_undoable(reviewer)
            event = Event(taken.document, reviewer, "undo", undoes=taken.id)
        else:
            event = Event(rest[0], reviewer, *(rest[2:] or ["label"]), decision=rest[1], why="random")
        book.enter([event._replace(id=book.last + 1)])
    return book


def test_the_last_decision_holds_and_an_undo_brings_back_the_one_before():
    book = ledger((ANNA, 5, "relevant"), (ANNA, 6, "unsure"), (ANNA, 5, "irrelevant"))
    assert book.standing(5) == book.standing(5, ANNA) == "irrelevant"
    book = ledger((ANNA, 5, "relevant"), (ANNA, 6, "unsure"), (ANNA, 5, "irrelevant"), (ANNA, "undo"))
    assert book.standing(5) == "relevant"
    assert book.undone(ANNA).document == 5
    book = ledger((ANNA, 5, "relevant"), (ANNA, 6, "unsure"), (ANNA, "undo"), (ANNA, "undo"))
    assert book.standing(5) is None
    assert book.standing(6) is None
    assert book.last_undoable(ANNA) is None
    assert book.undone(ANNA).document == 5
    assert list(book.decided()) == []
    assert len(book.history(5)) == 2


def test_an_undo_takes_back_only_own_decisions():
    book = ledger((ANNA, 1, "relevant"), (BEN, 2, "relevant"), (ANNA, "undo"))
    assert book.standing(1) is None
    assert book.standing(2) == "relevant"
    assert book.undone(BEN) is None


def test_what_is_decided_again_is_no_longer_waiting():
    book = ledger((ANNA, 1, "relevant"), (ANNA, 2, "relevant"), (ANNA, "undo"), (ANNA, "undo"), (ANNA, 1, "irrelevant"))
    assert book.undone(ANNA).document == 2


def test_reviewers_contradict_each_other_until_somebody_settles_it():
    book = ledger((ANNA, 1, "relevant"), (BEN, 1, "irrelevant"), (ANNA, 2, "relevant"), (BEN, 2, "unsure"))
    assert book.conflicts() == [1]
    assert book.standing(1) == "conflict"
    assert book.standing(1, BEN) == "irrelevant"
    assert book.standing(2) == "relevant"
    settled = ledger((ANNA, 1, "relevant"), (BEN, 1, "irrelevant"), (BEN, 1, "relevant", "resolve"))
    assert settled.conflicts() == []
    assert settled.standing(1) == settled.standing(1, BEN) == "relevant"
    assert settled.reason(1) == "random"
    back = ledger((ANNA, 1, "relevant"), (BEN, 1, "irrelevant"), (BEN, 1, "relevant", "resolve"), (BEN, "undo"))
    assert back.conflicts() == [1]


def test_documents_given_with_the_topic_are_not_undone_by_the_key():
    book = ledger((ANNA, 1, "relevant", "known"), (ANNA, 2, "relevant", "import"))
    assert book.last_undoable(ANNA) is None
    assert book.standing(1) == book.standing(2) == "relevant"


def test_skipped_documents_come_back_after_a_while():
    book = ledger((ANNA, 1, "skip"), (ANNA, 2, "relevant"), (BEN, 3, "skip"))
    assert book.recently_skipped(ANNA, 2) == [1]
    assert book.recently_skipped(ANNA, 1) == []
    assert book.recently_skipped(BEN, 5) == [3]


decisions = st.sampled_from(["relevant", "irrelevant", "unsure", "skip"])
steps = st.lists(st.one_of(st.tuples(st.sampled_from([1, 2]), st.integers(0, 3), decisions), st.sampled_from([1, 2])))


@given(steps)
def test_the_ledger_is_the_history_without_what_was_undone(path):
    book, kept = Ledger(), []
    for step in path:
        if isinstance(step, int):
            mine = [event for event in kept if event.reviewer == step]
            assert book.last_undoable(step) == (mine[-1] if mine else None)
            if not mine:
                continue
            kept.remove(mine[-1])
            event = Event(mine[-1].document, step, "undo", undoes=mine[-1].id, id=book.last + 1)
        else:
            event = Event(step[1], step[0], "label", step[2], id=book.last + 1)
            kept.append(event)
        book.enter([event])
    for document in range(4):
        for reviewer in (1, 2):
            own = [event.decision for event in kept if (event.document, event.reviewer) == (document, reviewer)]
            assert book.standing(document, reviewer) == (own[-1] if own else None)
    assert Ledger(book.events).held(0) == book.held(0)
