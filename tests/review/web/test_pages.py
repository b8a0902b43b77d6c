from __future__ import annotations

import csv
import re
from concurrent.futures import ThreadPoolExecutor, as_completed
from io import StringIO
from threading import Event as Signal

import pytest

from bayesift.review.storage import Documents, Topic
from bayesift.review.storage import search as searching


def plain(answer) -> str:
    assert answer.status_code == 200, answer.text
    return re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", answer.text))


def test_a_topic_is_made_changed_and_listed(anna, service):
    answer = anna.form_post(
        "/new-topic",
        name="ships",
        description="Ships",
        keywords_for="ship, grain\nport",
        known="b\nships WAIT.\n",
        random="20",
    )
    assert answer.url.path == "/topics/2"
    topic = service.project.topics.get(2)
    assert (topic.keywords_for, topic.random, topic.informative) == (("ship", "grain", "port"), 0.2, 0.1)
    assert [event.action for event in service.project.history.since(2)] == ["known"]
    assert service.topic(2).decisions().status(1) == "relevant"
    assert "1 of 6 read · 1 relevant" in plain(anna.get("/"))
    form = anna.get("/topics/2/settings").text
    assert 'value="20"' in form
    answer = anna.form_post("/topics/2/settings", name="ships", queue="own", random="5", informative="10")
    assert answer.url.path == "/topics/2"
    assert service.project.topics.get(2) == Topic("ships", shared=False, id=2)
    assert service.topic(2).decisions().status(1) == "relevant"


def test_settings_that_somebody_else_has_changed_are_not_replaced_unseen(anna, ben, service):
    def opened(page):
        return re.search(r'name="opened" value="(\w+)"', page.text)[1]

    first = opened(anna.get("/topics/1/settings"))
    # The same settings read anew from the database.
    service.regroup()
    assert opened(anna.get("/topics/1/settings")) == first
    ben.form_post("/topics/1/settings", name="metals", description="of Ben", random="20", opened=first)
    assert service.project.topics.get(1).description == "of Ben"
    wrong = anna.form_post("/topics/1/settings", name="metals", random="many", opened=first)
    assert (wrong.status_code, opened(wrong)) == (422, first)
    told = anna.form_post("/topics/1/settings", name="metals", description="of Anna", opened=first)
    assert told.status_code == 422
    assert "somebody has changed these settings" in told.text
    assert "of Anna" in told.text
    assert service.topic(1).topic.description == service.project.topics.get(1).description == "of Ben"
    anna.form_post("/topics/1/settings", name="metals", description="of Anna", opened=opened(told))
    assert service.topic(1).topic.description == service.project.topics.get(1).description == "of Anna"


def test_a_form_that_is_wrong_comes_back_with_a_sentence(anna, service):
    for fields, sentence in (
        ({"name": " "}, "a topic needs a name"),
        ({"name": "metals"}, "a topic 'metals' already"),
        ({"name": "x", "known": "zzz"}, "no document is called 'zzz'"),
        ({"name": "x", "random": "60", "informative": "50"}, "more than 100 %"),
        ({"name": "x", "random": "many"}, "random: Input should be a valid number"),
        ({"name": "x", "random": "nan"}, "random: Input should be a finite number"),
        ({"name": "x", "target_recall": "100"}, "target recall: Input should be less than 100"),
        ({"name": "x", "queue": "both"}, "queue"),
    ):
        answer = anna.form_post("/new-topic", description="kept words", **fields)
        assert answer.status_code == 422
        text = answer.text.replace("&#39;", "'")
        assert sentence in text, text
        assert "kept words" in text
    assert len(service.project.topics.all()) == 1
    assert anna.form_post("/new-topic", name="a\0b").status_code == 422


def test_progress_tells_in_words_and_pictures(anna):
    before = plain(anna.get("/topics/1/progress"))
    assert "Keep going" in before
    for decision in ("relevant", "irrelevant", "unsure", "skip", "relevant"):
        anna.label(decision)
    page = anna.get("/topics/1/progress")
    words = plain(page)
    assert "2 of 3 decided" in words
    assert "drawn at random 5 %" in words
    for letter, assumes in (("A", "nothing"), ("B", "that the queue is no worse than chance"), ("C", "that the model")):
        assert f"{letter} {assumes}" in words
    labels = re.findall(r'role="img" aria-label="([^"]+)"', page.text)
    assert labels[0].startswith("Recall curve. After 4 documents, 2 relevant ones are found")
    assert labels[1].startswith("Probabilities of the unread documents. Of 2 unread")
    assert labels[2].startswith("Decisions over time. 4 documents decided")
    assert "nan" not in page.text.lower().replace("finance", "")


def test_a_search_has_limits_and_says_so(anna, monkeypatch):
    def told(query):
        return plain(anna.get("/topics/1/browse", params={"q": query}))

    assert "the search has 13 words; expected at most 12" in told("a b c d e f g h i j k l m")
    assert "0 documents" in told("%")
    assert "1 document" in told('"price of copper"')
    monkeypatch.setattr(searching, "MAX_FOUND", 1)
    assert "Only the first 1 documents with these words are listed" in told("tin")


def test_many_searches_of_one_reviewer_keep_nobody_from_a_card(anna, ben, service, monkeypatch):
    """Ten at once that take for ever: two are made, two wait, the others are refused."""
    go_on, search = Signal(), Documents.search

    def endless(documents, query):
        assert go_on.wait(120)
        return search(documents, query)

    monkeypatch.setattr(Documents, "search", endless)
    with ThreadPoolExecutor(10) as pool:
        asked = [pool.submit(anna.get, "/topics/1/browse", params={"q": "tin"}) for _ in range(10)]
        refused = []
        for answer in as_completed(asked):
            refused.append(answer.result().status_code)
            if len(refused) == 6:
                break
        assert refused == [429] * 6
        assert ben.label("relevant") is not None
        assert anna.label("relevant") is not None
        go_on.set()
        assert sorted(answer.result().status_code for answer in asked) == [200] * 4 + [429] * 6
    assert anna.get("/topics/1/browse", params={"q": "tin"}).status_code == 200


def test_browsing_orders_searches_and_filters(anna):
    anna.label("relevant", 0)
    anna.label("irrelevant", 1)

    def places(**query):
        page = anna.get("/topics/1/browse", params=query)
        assert page.status_code == 200
        return [int(place) for place in re.findall(r'href="/topics/1/documents/(\d+)"', page.text)]

    assert places(order="place") == list(range(6))
    scores = re.findall(r'class="score">\D*(\d+)', anna.get("/topics/1/browse").text)
    assert [int(score) for score in scores] == sorted(map(int, scores), reverse=True)
    assert places(q="price tin", order="place") == [0]
    assert places(q="%") == []
    assert places(show="unread", order="place") == [2, 3, 4, 5]
    assert places(show="decided", order="recent") == [1, 0]
    assert places(show="relevant") == [0]
    assert places(show="conflict") == []
    assert places(page=99, order="place") == list(range(6))
    assert anna.get("/topics/1/browse", params={"show": "x"}).status_code == 422
    assert anna.get("/topics/1/browse", params={"page": 0}).status_code == 422


def test_a_decision_is_changed_on_the_page_of_the_document_and_all_is_kept(anna, service):
    anna.label("relevant", 0)
    page = anna.form_post("/topics/1/documents/0", decision="irrelevant")
    assert page.url.path == "/topics/1/documents/0"
    words = plain(page)
    assert words.count("Anna") >= 2
    assert service.topic(1).decisions().status(0) == "irrelevant"
    anna.undo()
    assert service.topic(1).decisions().status(0) == "relevant"
    assert "undone" in plain(anna.get("/topics/1/documents/0"))
    assert anna.get("/topics/1/documents/6").status_code == 404
    assert anna.form_post("/topics/1/documents/6", decision="relevant").status_code == 404


def test_conflicts_are_shown_and_settled_once(anna, ben, service):
    for place, (first, second) in enumerate(
        [("relevant", "relevant"), ("relevant", "irrelevant"), ("irrelevant",) * 2]
    ):
        anna.label(first, place)
        ben.label(second, place)
    words = plain(anna.get("/topics/1/agreement"))
    assert "Anna and Ben 3 67 % 0.40" in words
    assert "Anna : relevant, Ben : irrelevant" in words.replace("Anna:", "Anna :").replace("Ben:", "Ben :")
    assert "Reviewers disagree" in plain(ben.get("/topics/1/documents/1"))
    answer = ben.form_post("/topics/1/conflicts/1", decision="relevant")
    assert "There are none." in plain(answer)
    assert service.topic(1).decisions().status(1) == "relevant"
    assert anna.form_post("/topics/1/conflicts/1", decision="irrelevant").status_code == 409
    assert ben.undo()["undone"] == "relevant"
    assert service.topic(1).decisions().status(1) == "conflict"


def test_labels_go_out_and_come_in_again(anna, ben, service):
    anna.label("relevant", 0)
    anna.label("irrelevant", 3)
    table = list(csv.DictReader(StringIO(anna.get("/topics/1/export").text)))
    assert [row["id"] for row in table] == list("abcdef")
    assert [row["included"] for row in table] == ["1", "", "", "0", "", ""]
    assert table[1]["year"] == "1987"
    assert table[4]["text"].startswith("<b>bold</b>")
    decided = anna.get("/topics/1/export", params={"format": "csv", "decided_only": True})
    assert decided.headers["content-disposition"] == 'attachment; filename="metals.csv"'
    assert len(anna.get("/topics/1/export", params={"format": "jsonl"}).text.splitlines()) == 6
    assert anna.get("/topics/1/export", params={"format": "ris"}).text.count("ER  - ") == 6
    service.add_topic(Topic("again"), 1)
    answer = ben.post("/topics/2/labels/import", data={"csrf": ben.csrf}, files={"file": ("x.csv", decided.content)})
    assert "Decisions imported: 2. Without a decision: 0. About other documents: 0." in plain(answer)
    assert [service.topic(2).decisions().status(place) for place in (0, 3)] == ["relevant", "irrelevant"]
    assert {event.action for event in service.project.history.since(2)} == {"import"}
    listed = {"csrf": ben.csrf, "all_are": "relevant"}
    answer = ben.post("/topics/2/labels/import", data=listed, files={"file": ("x.csv", b"id\nb\nzz\n")})
    assert "Decisions imported: 1. Without a decision: 0. About other documents: 1." in plain(answer)
    assert service.topic(2).decisions().status(1) == "relevant"
    for name, content in (("x.csv", b"\xff\x00"), ("x.ris", b"hello"), ("x.docx", b""), ("x.asreview", b"PK")):
        wrong = ben.post("/topics/2/labels/import", data={"csrf": ben.csrf}, files={"file": (name, content)})
        assert wrong.status_code == 422
        assert "Nothing was imported" in wrong.text
        assert name in wrong.text
        assert "/tmp" not in wrong.text
    assert ben.post("/topics/2/labels/import", data={"csrf": ben.csrf}).status_code == 422


@pytest.mark.parametrize("format", ["ris", "bib", "nbib", "xml", "asreview"])
def test_exports_for_managers_of_literature_come_in_again_with_reasons(anna, ben, service, format):
    service.change_topic(service.topic(1).topic._replace(reasons=("not about metals",)))
    review = service.topic(1)
    review.label(1, 0, "relevant")
    review.label(1, 3, "irrelevant", "not about metals")
    content = anna.get("/topics/1/export", params={"format": format}).content
    service.add_topic(Topic("again"), 1)
    answer = ben.post("/topics/2/labels/import", data={"csrf": ben.csrf}, files={"file": (f"x.{format}", content)})
    assert "Decisions imported: 2. Without a decision: 4. About other documents: 0." in plain(answer)
    again = service.topic(2).decisions()
    assert [again.status(place) for place in range(6)] == ["relevant", None, None, "irrelevant", None, None]
    assert again.exclusion(3) == "not about metals"
    # The same file changes nothing; nor does one without reasons.
    for file in ((f"x.{format}", content), ("x.csv", b"id,label\nd,0\n")):
        ben.post("/topics/2/labels/import", data={"csrf": ben.csrf}, files={"file": file})
    assert len(service.project.history.since(2)) == 2


def test_the_trained_model_goes_out(anna, service, tmp_path):
    from bayesift.formats import load

    for place, decision in enumerate(["relevant", "irrelevant", "irrelevant", "relevant"]):
        anna.label(decision, place)
    path = tmp_path / "metals.bayesift"
    path.write_bytes(anna.get("/topics/1/model").content)
    model = load(path)
    high, low = model.predict_proba(["The price of tin fell", "Ships wait before the port"])[:, 1]
    assert high > low
