"""Two readers who do not see each other, shares of the work, and full texts."""

from __future__ import annotations

import re

import pytest


@pytest.fixture
def cleo(ben, visitor):
    return visitor("Cleo")


def settle(anna, **fields):
    given = {"name": "metals", "keywords_for": "tin, copper", "reasons": "wrong subject", **fields}
    answer = anna.form_post("/topics/1/settings", **given)
    assert answer.status_code == 200, answer.text


def test_two_read_each_document_unseen_and_a_third_resolves(anna, ben, cleo, service):
    settle(anna, queue="double")
    assert anna.card() == ben.card()
    shared = anna.label("relevant")
    secret = ben.get(f"/topics/1/documents/{shared}").text
    assert "<h2>History</h2>" not in secret
    anna.json_post("/api/topics/1/remarks", {"document": shared, "note": "my secret"})
    assert "my secret" not in ben.get(f"/topics/1/documents/{shared}").text
    assert ben.label("irrelevant") == shared
    assert "my secret" in ben.get(f"/topics/1/documents/{shared}").text
    # Two have read it: the third is not asked, but may resolve.
    assert cleo.card() != shared
    assert ben.form_post(f"/topics/1/conflicts/{shared}", decision="relevant").status_code == 409
    assert "resolves this conflict" in anna.get("/topics/1/agreement").text
    page = cleo.form_post(f"/topics/1/conflicts/{shared}", decision="irrelevant", reason="wrong subject")
    assert "There are none." in page.text
    assert service.topic(1).decisions().exclusion(shared) == "wrong subject"
    assert ben.get("/topics/1/export").status_code == 403
    assert anna.get("/topics/1/export").status_code == 200
    for who in (anna, ben, cleo):
        while who.card() is not None:
            who.label("irrelevant")
    decisions = service.topic(1).decisions()
    assert {len(decisions.readers(place)) for place in range(6)} == {2}
    assert "6 of 6 read" in re.sub("<[^>]+>", "", anna.get("/").text) or service.topic(1).counts(None)[0] == 6


def test_the_work_is_split_by_shares(anna, ben, cleo, service):
    settle(anna, shares="Anna: 1\nBen: 1")
    read = {}
    for who in (anna, ben):
        read[who] = set()
        while who.card() is not None:
            read[who].add(who.label("irrelevant"))
    assert not read[anna] & read[ben]
    assert read[anna] | read[ben] == set(range(6))
    assert "Anna: 1\nBen: 1" in anna.get("/topics/1/settings").text
    for shares in ("Nobody: 1", "Anna: many", "Anna: -1", "Anna: nan"):
        answer = anna.form_post("/topics/1/settings", name="metals", shares=shares)
        assert (answer.status_code, "shares: " in answer.text) == (422, True), shares


def test_full_texts_of_what_is_relevant_are_judged(anna, ben, service):
    settle(anna, full_text="yes")
    for place in range(6):
        anna.label("relevant" if place in (0, 3, 5) else "irrelevant", place)

    def card(who):
        return who.get("/api/topics/1/card?stage=full text").json()

    def decide(who, decision, document, reason=None):
        body = {"document": document, "decision": decision, "reason": reason, "stage": "full text"}
        return who.json_post("/api/topics/1/labels", body)

    first = card(anna)["document"]
    assert card(anna)["document"] == first
    assert card(ben)["document"] in {0, 3, 5} - {first}
    # What somebody has open is shown to nobody else, so that Ben has to put it back.
    service.topic(1)._open_full.clear()
    assert 'data-reason="report not retrieved"' in anna.get("/topics/1/full-text").text
    assert decide(anna, "relevant", 1).status_code == 422
    assert decide(anna, "irrelevant", first, "no such reason").status_code == 422
    assert decide(anna, "irrelevant", first, "report not retrieved").json()["counts"] == {
        "decided": 1, "relevant": 0, "documents": 3,
    }  # fmt: skip
    undone = anna.json_post("/api/topics/1/undo", {"stage": "full text"}).json()
    assert (undone["undone"], undone["document"]) == ("irrelevant", first)
    # By title and abstract nothing has changed.
    assert service.topic(1).counts(None) == (6, 3)
    decide(anna, "irrelevant", first, "wrong subject")
    skipped = card(anna)["document"]
    decide(anna, "skip", skipped)
    last = card(anna)["document"]
    decide(anna, "relevant", last)
    assert card(anna)["document"] == skipped
    anna.form_post(f"/topics/1/documents/{skipped}", decision="relevant", stage="full text")
    assert card(anna)["document"] is None
    full = service.topic(1).decisions("full text")
    assert [full.status(place) for place in (first, skipped, last)] == ["irrelevant", "relevant", "relevant"]
    ben.form_post(f"/topics/1/documents/{last}", decision="irrelevant", stage="full text")
    assert "full text</span>" in anna.get("/topics/1/agreement").text
    anna.form_post(f"/topics/1/conflicts/{last}", decision="relevant", stage="full text")
    assert service.topic(1).decisions("full text").status(last) == "relevant"
    service._reviews.clear()
    assert sorted(service.topic(1).decisions("full text").decided()) == sorted(full.decided())
