"""Earlier reviews on the page: a file in the form of a topic, where it is named, and what is refused."""

from __future__ import annotations

import pytest

from bayesift.review.storage import Topic

OLD = b"title,text,included\nTin,mines of tin,1\nShips wait,ports,0\n"


def send(visitor, path, content=OLD, name="old.csv", **fields):
    files = {"earlier_file": (name, content)}
    return visitor.post(path, data={"csrf": visitor.csrf, "name": "update", **fields}, files=files)


def test_a_file_comes_with_a_new_topic_and_is_named_where_it_counts(anna, service):
    answer = send(anna, "/new-topic")
    assert answer.status_code == 200
    (kept,) = service.project.earlier.all()
    assert (kept.source, kept.relevant, kept.irrelevant, kept.in_project, kept.reviewer) == ("old.csv", 1, 1, 1, 1)
    assert service.topic(2).topic.earlier == (kept.id,)
    assert "tin" in service.project.documents.get(anna.card(2)).text.lower()
    told = "The ranking also learns from an earlier review, whose records are not counted here:"
    progress = anna.get("/topics/2/progress").text
    assert told in progress
    assert "old.csv (1 relevant, 1 irrelevant)." in progress
    assert told not in anna.get("/topics/1/progress").text
    assert "Relevant in the earlier review: n = 1" in anna.get("/topics/2/report").text
    protocol = anna.get("/topics/2/protocol").text
    assert "<strong>Earlier review:</strong> old.csv, 1 relevant and 1 irrelevant records" in protocol
    assert "0 of 6 read" in " ".join(anna.get("/").text.split())


def test_what_the_project_keeps_is_chosen_in_the_form(anna, service):
    send(anna, "/topics/1/settings", at_most="5")
    topic = service.topic(1).topic
    assert (topic.earlier, topic.at_most) == ((1,), 5)
    assert "or at most this many left: 5," in " ".join(anna.get("/topics/1/progress").text.split())
    assert 'name="earlier" value="1" checked' in anna.get("/topics/1/settings").text
    assert 'name="earlier" value="1" checked' in anna.get("/new-topic").text
    # The same file again is the same earlier review.
    send(anna, "/topics/1/settings", name="other.csv", earlier="1")
    assert service.topic(1).topic.earlier == (1,)
    anna.form_post("/topics/1/settings", name="metals")
    assert service.topic(1).topic.earlier == ()
    assert 'name="earlier" value="1">' in anna.get("/topics/1/settings").text


def test_a_file_stays_selected_although_the_settings_are_refused(anna, service):
    service.add_topic(Topic("update"), 1)
    # Settings that somebody else has changed; a name that is taken.
    for path in ("/topics/1/settings", "/new-topic"):
        told = send(anna, path, opened="another state")
        assert told.status_code == 422
        assert 'name="earlier" value="1" checked' in told.text
    assert service.topic(1).topic.earlier == ()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("old.sqlite", OLD, "expected one that ends in .csv, .tsv"),
        ("../../old", OLD, "the file is called &#39;old&#39;"),
        ("old.csv", b"title,text\nTin,mines\n", "no column of old.csv holds decisions"),
        ("old.csv", b"title,text,included\nTin,mines,0\n", "old.csv has no record that was decided relevant"),
        ("old.csv", b"\xff\xfe\x00", "the earlier review was not read"),
        (
            "old.csv",
            b"SQLite format 3\0" + b"x" * 100,
            "is a project, which only the command line accepts, with --earlier",
        ),
        ("old.asreview", b"PK nothing", "the earlier review was not read"),
        ("old.xml", b"<!DOCTYPE x><xml/>", "the earlier review was not read"),
    ],
)
def test_wrong_files_are_answered_by_the_form(anna, service, name, content, message):
    answer = send(anna, "/new-topic", content, name)
    assert answer.status_code == 422
    assert message in answer.text
    assert "/tmp" not in answer.text
    assert service.project.earlier.all() == []
    assert len(service.project.topics.all()) == 1


def test_numbers_that_are_none_are_refused(anna, service):
    for wrong in ({"earlier": "7"}, {"earlier": "x"}, {"at_most": "-1"}, {"at_most": "many"}):
        assert anna.form_post("/topics/1/settings", name="metals", **wrong).status_code == 422, wrong
    assert "there is no earlier review 7; expected one that is listed" in (
        anna.form_post("/topics/1/settings", name="metals", earlier="7").text
    )
    assert service.topic(1).topic.earlier == ()
