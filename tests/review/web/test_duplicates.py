"""Copies of documents on the page."""

from __future__ import annotations

import csv
import re
from io import StringIO

import pytest

from bayesift.review.engine import Corpus
from bayesift.review.service import Service
from bayesift.review.storage import Document, Project, Topic


@pytest.fixture
def documents():
    """Two of them are the same, and one has no text."""
    return [
        Document("a", "Tin falls in London", "The price of tin fell.", {"doi": "10.1000/1"}),
        Document("b", "Ships wait", "A hundred ships wait for grain."),
        Document("c", "The price of tin falls", "", {"doi": "https://doi.org/10.1000/1"}),
        Document("d", "Copper rises", ""),
    ]


@pytest.fixture
def service(tmp_path, documents):
    project = Project.create(tmp_path / "project.sqlite", "News", documents)
    made = Service(project, Corpus.build(project.documents.texts()))
    yield made
    made.close()
    project.close()


def test_copies_are_judged_once_and_seen_as_a_group(anna, service):
    assert "3 documents, without" in re.sub("<[^>]+>", "", anna.get("/").text)
    read = {anna.label("irrelevant") for _ in range(3)}
    assert read == {0, 1, 3}
    assert anna.card() is None
    assert service.topic(1).counts(None) == (3, 0)
    page = anna.get("/topics/1/documents/2").text
    assert 'href="/topics/1/documents/0">a</a>' in page
    anna.form_post("/topics/1/documents/2", decision="relevant")
    assert service.topic(1).decisions().status(0) == "relevant"
    table = {row["id"]: row for row in csv.DictReader(StringIO(anna.get("/topics/1/export").text))}
    assert [table[key]["included"] for key in "abcd"] == ["1", "0", "1", "0"]
    assert [table[key]["duplicate of"] for key in "abcd"] == ["", "", "a", ""]
    assert [row["id"] for row in table.values()] == list("abcd")
    listed = anna.get("/topics/1/browse?show=copies").text
    assert re.findall(r"/documents/(\d)", listed) == ["2"]
    assert "0 documents" in anna.get("/topics/1/browse?show=unread").text
    labels = {"file": ("x.csv", b"doi,label\n10.1000/1,0\n")}
    service.add_topic(Topic("again"), 1)
    answer = anna.post("/topics/2/labels/import", data={"csrf": anna.csrf}, files=labels)
    assert "Decisions imported: 1. " in answer.text
    assert service.topic(2).decisions().status(2) == "irrelevant"


def test_a_person_knows_better(anna, service):
    anna.label("relevant", 0)
    assert "same DOI" in anna.get("/duplicates").text
    anna.form_post("/duplicates/2/separate")
    assert service.copies == {}
    assert service.topic(1).decisions().status(2) is None
    assert anna.form_post("/duplicates/2/separate").status_code == 409
    anna.form_post("/duplicates/look")
    assert service.copies == {}
    wrong = anna.form_post("/duplicates/join", one="c", other="z")
    assert (wrong.status_code, "no document is called" in wrong.text) == (422, True)
    assert anna.form_post("/duplicates/join", one="c", other="c").status_code == 422
    assert "joined by hand" in anna.form_post("/duplicates/join", one="d", other="b").text
    assert {place: copy.original for place, copy in service.copies.items()} == {3: 1}
    assert service.topic(1).counts(None) == (1, 1)


def test_a_missing_abstract_is_added_by_hand(anna, service):
    page = anna.get("/topics/1/browse?show=empty").text
    assert re.findall(r"/documents/(\d)", page) in (["2", "3"], ["3", "2"])
    answer = anna.form_post("/topics/1/documents/3/text", text="Copper rose to <i>heights</i>\r\nby tin.")
    assert "Copper rose to &lt;i&gt;heights&lt;/i&gt;\nby tin." in answer.text
    assert service.project.documents.search("heights").places == [3]
    assert anna.form_post("/topics/1/documents/3/text", text="x" * 20_001).status_code == 422
    assert anna.form_post("/topics/1/documents/9/text", text="x").status_code == 404
