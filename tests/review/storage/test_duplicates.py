"""Documents that are the same: found, judged once, and kept apart where a person knows better."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesift.review.decisions import Decisions
from bayesift.review.storage import COMMAND_LINE, Copy, Document, Event, Project
from bayesift.review.storage.duplicates import DuplicateFinder

TITLE = "Opioids for chronic pain after surgery: a randomised trial"
GIVEN = [
    Document("a", TITLE, "First.", {"year": 2019, "doi": "10.1000/abc"}),
    Document("b", TITLE.upper() + ".", "", {"PY": "2019/03/01"}),
    Document("c", "Something else", "", {"DOI": "https://doi.org/10.1000/ABC"}),
    Document("d", TITLE, "Third.", {"year": 2019, "doi": "10.1000/other"}),
    Document("e", TITLE, "Fourth.", {"year": 2020}),
    Document("f", "Opioids for chronic pain after surgery: a randomized trial", "", {"year": "2020"}),
    Document("g", "Opioids for chronic pain after surgery: a randomised trial 2", "", {"year": "2020"}),
    Document("h", "Editorial", "", {"year": 2020}),
    Document("i", "Editorial", "", {"year": 2020}),
    Document("j", "A title of some length without a year", "One text.", {}),
    Document("k", "A title of some length without a year", "Another text.", {}),
    Document("l", "A title of some length without a year", "One  text.", {}),
]


def found_in(documents):
    finder = DuplicateFinder()
    for place, document in enumerate(documents):
        finder.add(place, document)
    return finder.found()


def test_the_same_doi_or_nearly_the_same_title_and_year_is_the_same_document():
    assert found_in(GIVEN) == {1: Copy(0, "title"), 2: Copy(0, "doi"), 5: Copy(4, "title"), 11: Copy(9, "title")}


@given(st.permutations(range(len(GIVEN))))
def test_groups_do_not_depend_on_the_order_unless_dois_differ(order):
    """But for d, whose DOI contradicts that of a, and which b may join as well."""
    order = [place for place in order if place != 3]
    copies = found_in([GIVEN[place] for place in order])
    groups = {}
    for place in range(len(order)):
        root = copies[place].original if place in copies else place
        groups.setdefault(root, set()).add(GIVEN[order[place]].key)
    assert sorted(map(sorted, groups.values())) == [
        ["a", "b", "c"], ["e", "f"], ["g"], ["h"], ["i"], ["j", "l"], ["k"],
    ]  # fmt: skip
    assert all(copy.original < place for place, copy in copies.items())


def test_a_project_knows_its_copies_and_what_persons_say(database):
    project = Project.create(database, "News", GIVEN)
    copies = project.duplicates
    assert copies.all() == found_in(GIVEN)
    copies.separate(0, COMMAND_LINE)
    assert {place: copy.original for place, copy in copies.all().items()} == {2: 1, 5: 4, 11: 9}
    assert copies.look(COMMAND_LINE) == 0
    copies.join(2, 11, COMMAND_LINE)
    assert {place: copy.original for place, copy in copies.all().items()} == {2: 1, 5: 4, 9: 1, 11: 1}
    with pytest.raises(ValueError, match="expected two that are not"):
        copies.join(1, 11, COMMAND_LINE)
    with pytest.raises(ValueError, match="is not in a group"):
        copies.separate(7, COMMAND_LINE)
    assert {entry.action for entry in project.audit} == {"duplicates changed"}
    project.close()


def test_a_decision_about_one_is_a_decision_about_all():
    events = [
        Event(5, 1, "label", "relevant", id=1),
        Event(4, 2, "label", "irrelevant", id=2),
        Event(0, 1, "label", "skip", id=3),
    ]
    decisions = Decisions(events, {5: 4, 6: 4})
    judgements = decisions.judgements(8)
    assert {decisions.status(place) for place in (4, 5, 6)} == {"conflict"}
    assert decisions.decided() == [4, 0]
    assert [event.id for event in decisions.history(6)] == [1, 2]
    assert (len(judgements), judgements.found, judgements.unjudged) == (3, 0, 5)
    assert not judgements.open[[4, 5, 6]].any()
    decisions.add([Event(4, 2, "undo", undoes=2, id=4)])
    assert (decisions.status(6), judgements.found) == ("relevant", 1)
    assert [event.document for event in decisions.in_force()] == [4]


def test_a_text_is_mended_found_and_what_was_there_is_kept(project):
    assert project.documents.without_text() == []
    for text in ("A wholly new abstract about bismuth.", ""):
        project.documents.mend(0, text, COMMAND_LINE)
        assert project.documents.get(0).text == text
        assert project.documents.search("bismuth").places == ([0] if text else [])
        assert project.documents.search("exchange").places == []
        assert project.documents.search("london").places == [0]
    assert project.documents.without_text() == [0]
    assert [entry.detail for entry in project.audit] == ["a", "a"]
