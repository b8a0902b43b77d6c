"""Criteria, reasons for exclusion, tags, notes and links of a card."""

from __future__ import annotations

import csv
import re
from io import StringIO

import pytest

from bayesift.review.storage import Remark
from bayesift.review.web.cards import links_of

SETTINGS = {
    "name": "metals",
    "inclusion": "Prices of <metals>",
    "exclusion": "No ships",
    "reasons": "wrong subject\nno price, or none given\n\nwrong subject",
    "tags": "London\nstrike",
}


@pytest.fixture
def settled(anna):
    """A topic with criteria, two reasons and two tags."""
    assert anna.form_post("/topics/1/settings", **SETTINGS).status_code == 200
    return anna


def test_criteria_reasons_and_tags_of_a_topic_are_kept_and_shown(settled, service):
    topic = service.project.topics.get(1)
    assert topic.reasons == ("wrong subject", "no price, or none given")
    assert topic.tags == ("London", "strike")
    page = settled.get("/topics/1").text
    assert "Prices of &lt;metals&gt;" in page
    assert re.findall('data-reason="([^"]+)"', page) == list(topic.reasons)
    assert re.findall('data-tag="([^"]+)"', page) == list(topic.tags)
    assert "wrong subject\nno price, or none given</textarea>" in settled.get("/topics/1/settings").text
    refused = settled.form_post("/topics/1/settings", **SETTINGS | {"tags": "x" * 121})
    assert refused.status_code == 422
    assert "at most 40 lines of at most 120 characters" in refused.text


def test_an_exclusion_names_its_reason_and_only_an_exclusion_does(settled, service):
    def decide(document, decision, reason):
        body = {"document": document, "decision": decision, "reason": reason}
        return settled.json_post("/api/topics/1/labels", body).status_code

    assert decide(1, "irrelevant", "wrong subject") == 200
    assert decide(2, "relevant", "wrong subject") == 422
    assert decide(2, "irrelevant", "because") == 422
    assert settled.form_post("/topics/1/documents/2", decision="irrelevant", reason="because").status_code == 422
    settled.form_post("/topics/1/documents/2", decision="irrelevant", reason="no price, or none given")
    settled.form_post("/topics/1/documents/0", decision="relevant", reason="wrong subject")
    decisions = service.topic(1).decisions()
    assert [decisions.exclusion(place) for place in range(4)] == [
        None, "wrong subject", "no price, or none given", None,
    ]  # fmt: skip
    assert "irrelevant: wrong subject" in settled.get("/topics/1/documents/1").text
    settled.undo()
    settled.undo()
    assert service.topic(1).decisions().exclusion(2) is None


def test_who_resolves_a_conflict_says_why(settled, visitor, service):
    ben = visitor("Ben")
    settled.label("relevant", 1)
    ben.label("irrelevant", 1)
    assert ben.form_post("/topics/1/conflicts/1", decision="irrelevant", reason="no").status_code == 422
    ben.form_post("/topics/1/conflicts/1", decision="irrelevant", reason="wrong subject")
    assert service.topic(1).decisions().exclusion(1) == "wrong subject"


def test_notes_and_tags_are_kept_for_each_reviewer_and_go_out(settled, visitor, service):
    ben = visitor("Ben")

    def note(who, **what):
        return who.json_post("/api/topics/1/remarks", {"document": 0, **what})

    assert note(settled, tags=["strike", "London"]).json() == {"note": "", "tags": ["London", "strike"]}
    assert note(settled, note=" =look again ").json() == {"note": "=look again", "tags": ["London", "strike"]}
    assert note(settled, tags=["strike"]).json() == {"note": "=look again", "tags": ["strike"]}
    note(ben, note="<b>mine</b>")
    assert service.project.remarks.of(1, 0) == {1: Remark("=look again", ("strike",)), 2: Remark("<b>mine</b>")}
    assert "&lt;b&gt;mine&lt;/b&gt;" in settled.get("/topics/1/documents/0").text
    settled.label("irrelevant", 0)
    row = next(csv.DictReader(StringIO(settled.get("/topics/1/export").text)))
    assert (row["tags"], row["notes"]) == ("strike", "Anna: =look again\nBen: <b>mine</b>")
    assert "N1  - Bayesift tags: strike" in settled.get("/topics/1/export?format=ris").text
    note(ben, note="")
    assert service.project.remarks.all(1) == {0: {1: Remark("=look again", ("strike",))}}


def test_wrong_remarks_are_refused(settled, service):
    for body, status in (
        ({"document": 6, "note": "x"}, 404),
        ({"document": 0, "tags": ["unknown"]}, 422),
        ({"document": 0, "note": "x" * 20_001}, 422),
        ({"document": 0, "note": "a\0b"}, 422),
        ({"document": 0, "tags": ["strike"] * 101}, 422),
    ):
        assert settled.json_post("/api/topics/1/remarks", body).status_code == status, body
    assert service.project.remarks.all(1) == {}


def test_only_addresses_of_the_web_become_links():
    given = {
        "DOI": "https://dx.doi.org/10.1000/A<b>.",
        "PMID": 31415,
        "url": "javascript:alert(1); http://[bad https://example.org/paper.pdf ftp://x.org",
        "pdf_url": "https://example.org/x?y=<z>",
        "urls": "https://pubs.example.org/1",
    }
    assert [tuple(link) for link in links_of(given)] == [
        ("DOI", "https://doi.org/10.1000/a%3Cb%3E"),
        ("PubMed", "https://pubmed.ncbi.nlm.nih.gov/31415/"),
        ("PDF", "https://example.org/x?y=<z>"),
        ("PDF", "https://example.org/paper.pdf"),
        ("pubs.example.org", "https://pubs.example.org/1"),
    ]
    assert links_of({"doi": "see 10.1", "an": "WOS:12", "url": None}) == []
