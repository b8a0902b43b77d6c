from __future__ import annotations

import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor


def body(answer) -> str:
    assert answer.status_code == 200, answer.text
    return answer.text


def test_the_first_card_comes_from_the_words_of_the_topic_alone(anna):
    page = body(anna.get("/topics/1"))
    assert "Copper rises" in re.sub("<[^>]+>", "", page) or "Tin falls" in re.sub("<[^>]+>", "", page)
    assert "Most probable among the unread" in page
    assert re.search(r'<mark class="for level-\d" title="speaks for: \+[\d.]+">', page)
    assert "model: prior" in page


def test_a_card_stays_until_it_is_decided(anna):
    first = anna.card()
    assert anna.card() == first
    assert anna.label("relevant") == first
    assert anna.card() != first
    assert "1</span> relevant" in body(anna.get("/topics/1"))


def test_undo_goes_back_as_far_as_one_likes_and_shows_what_was_taken_back(anna, service):
    decided = [anna.label(decision) for decision in ("relevant", "irrelevant", "unsure", "skip")]
    current = anna.card()
    for document, decision in zip(reversed(decided), ("skip", "unsure", "irrelevant", "relevant"), strict=True):
        answer = anna.undo()
        assert (answer["undone"], answer["document"]) == (decision, document)
        assert anna.card() == document
    assert anna.undo()["undone"] is None
    # Decided again, the others that were taken back come first, then new ones.
    assert [anna.label("relevant") for _ in decided] == decided
    assert anna.card() == current
    events = service.project.history.since(1)
    assert Counter(event.action for event in events) == {"label": 8, "undo": 4}


def test_what_is_shown_again_keeps_the_reason_for_which_it_was_shown(anna, service):
    for _ in range(6):
        anna.label("irrelevant")
    before = {event.document: event.why for event in service.project.history.since(1)}
    for _ in range(6):
        anna.undo()
    for _ in range(6):
        anna.label("irrelevant")
    after = {event.document: event.why for event in service.project.history.since(1) if event.action == "label"}
    assert before == after


def test_every_label_keeps_who_when_which_model_rank_and_why(anna, service):
    document = anna.label("relevant")
    (event,) = service.project.history.since(1)
    assert (event.document, event.decision, event.why, event.model, event.rank) == (
        document, "relevant", "probable", "prior", 1,
    )  # fmt: skip
    assert 0 < event.probability < 1
    assert service.project.reviewers.all()[0].id == event.reviewer
    assert event.at.endswith("Z")
    other = next(place for place in range(6) if place not in (document, anna.card()))
    anna.label("relevant", other)
    assert service.project.history.since(1)[-1].why == "chosen"


def test_a_skipped_document_comes_back_when_nothing_else_is_left(anna):
    skipped = anna.label("skip")
    others = {anna.label("irrelevant") for _ in range(5)}
    assert skipped not in others
    assert anna.card() == skipped
    anna.label("skip")
    assert anna.card() == skipped
    anna.label("relevant")
    assert anna.card() is None
    page = body(anna.get("/topics/1"))
    assert "Nothing is left to read" in page


def test_reviewers_share_a_queue_and_never_see_the_same_card(anna, ben):
    seen = []
    for _ in range(3):
        assert anna.card() != ben.card()
        seen += [anna.label("irrelevant"), ben.label("irrelevant")]
    assert sorted(seen) == list(range(6))
    assert anna.card() is None
    assert ben.undo()["document"] == seen[-1]
    assert anna.card() is None


def test_reviewers_with_queues_of_their_own_read_everything(anna, ben, service):
    service.change_topic(service.topic(1).topic._replace(shared=False))
    assert anna.card() == ben.card()
    assert {anna.label("irrelevant") for _ in range(6)} == {ben.label("irrelevant") for _ in range(6)} == set(range(6))


def test_the_state_after_a_restart_is_the_state_before(anna, service, visitor):
    for decision in ("relevant", "irrelevant", "unsure", "relevant"):
        anna.label(decision)
    anna.undo()
    service.wait_for_fits()
    card = anna.card()
    service._reviews.clear()
    assert visitor("Anna").card() == card
    assert service.topic(1).counts(1) == (3, 1)
    service.topic(1).queue(1)
    assert service.topic(1).counts(1) == (3, 1)


def test_two_programs_on_one_database_learn_from_each_other(project, documents, words):
    from bayesift.review.service import Service
    from bayesift.review.storage import Topic

    person = project.reviewers.add("Anna").id
    here, there = Service(project, words), Service(project, words)
    try:
        review, other = here.add_topic(Topic("metals", "tin"), person), there.topic(1)
        for _ in range(3):
            review.label(person, review.card(person).document, "relevant")
            other.label(person, other.card(person).document, "irrelevant")
        review.refresh()
        other.refresh()
        assert review.counts(person) == other.counts(person) == (6, 3)
        assert other.undo(person).decision == "irrelevant"
        assert review.undo(person).decision == "relevant"
        other.refresh()
        assert other.counts(person) == (4, 2)
    finally:
        here.close()
        there.close()


def test_a_full_fit_follows_in_the_background(anna, service):
    for _ in range(5):
        anna.label("irrelevant" if anna.card() == 1 else "relevant")
    service.wait_for_fits()
    assert service.topic(1).suggestion(1, anna.card()).model == "refit 5"


WRONG = [
    ("/api/topics/9/labels", {"document": 0, "decision": "relevant"}, 404),
    ("/api/topics/1/labels", {"document": 6, "decision": "relevant"}, 404),
    ("/api/topics/1/labels", {"document": -1, "decision": "relevant"}, 422),
    ("/api/topics/1/labels", {"document": 10**30, "decision": "relevant"}, 422),
    ("/api/topics/1/labels", {"document": 0, "decision": "perhaps"}, 422),
    ("/api/topics/99999999999999999999/undo", {}, 422),
]


def test_what_can_not_be_is_refused_and_changes_nothing(anna, service):
    for path, body, status in WRONG:
        assert anna.json_post(path, body).status_code == status, (path, body)
    assert service.project.history.since(1) == []


def test_what_neither_json_nor_utf_8_can_hold_is_an_answer_and_no_failure(anna):
    for body in ('{"document": NaN, "decision": "relevant"}', '{"document": "\\ud800", "decision": "relevant"}'):
        headers = {"X-CSRF-Token": anna.csrf, "Content-Type": "application/json"}
        answer = anna.post("/api/topics/1/labels", content=body, headers=headers)
        assert answer.status_code == 422
        assert answer.json()["detail"][0]["loc"] == ["body", "document"]


def test_the_sentence_about_stopping(anna):
    assert anna.get("/api/topics/1/stopping").json()["verdict"] == "go on"
    for _ in range(6):
        anna.label("relevant")
    answer = anna.get("/api/topics/1/stopping").json()
    assert answer["verdict"] == "may stop"
    assert "every document has been judged" in answer["sentence"]


def test_a_check_draws_at_random_until_a_relevant_document_turns_up(anna, service):
    anna.label("relevant", 0)
    assert anna.json_post("/api/topics/1/check", {"on": True}).json()["checking"]
    for _ in range(3):
        anna.label("irrelevant")
    drawn = [event.why for event in service.project.history.since(1)]
    # The card that was open already is decided first.
    assert drawn == ["chosen", "probable", "random", "random"]
    anna.label("relevant")
    assert not anna.get("/api/topics/1/stopping").json()["checking"]
    assert anna.json_post("/api/topics/1/check", {"on": True}).json()["checking"]
    assert not anna.json_post("/api/topics/1/check", {"on": False}).json()["checking"]


def test_pages_can_be_read_while_others_decide(anna, ben, service):
    paths = ["/topics/1/progress", "/topics/1/browse", "/topics/1/agreement", "/topics/1/export", "/"]

    def read():
        return {ben.get(path).status_code for _ in range(4) for path in paths}

    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read)
        while not reading.done():
            anna.label("relevant")
            anna.undo()
        assert reading.result() == {200}
