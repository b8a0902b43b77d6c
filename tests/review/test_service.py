"""A project at work: what many reviewers, long imports and long fits do to each other."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import groupby
from threading import Event as Signal
from time import sleep

import pytest
from sqlalchemy import event

from bayesift.review.engine import Corpus, ReviewEngine
from bayesift.review.service import Service
from bayesift.review.storage import COMMAND_LINE, Document, Event, NotSavedError, Project, Topic

WORDS = ["tin", "copper", "ship", "grain", "court", "mine", "price", "metal", "port", "strike"]
DOCUMENTS = [
    Document(f"p{number}", f"Paper {number}", " ".join(WORDS[(number * k) % 10] for k in range(1, 9)))
    for number in range(1500)
]


@pytest.fixture
def service(tmp_path) -> Iterator[Service]:
    with (
        closing(Project.create(tmp_path / "project.sqlite", "News", DOCUMENTS)) as project,
        closing(Service(project, Corpus.build(project.documents.texts()))) as made,
    ):
        yield made


def test_criteria_rank_before_any_decision(service):
    anna = service.project.reviewers.add("Anna").id
    bare, told, narrowed = (
        service.add_topic(topic, anna).queue(anna).probabilities()
        for topic in (
            Topic("metals"),
            Topic("metals, told", inclusion="strike at the port"),
            Topic("metals, narrowed", "strike at the port", inclusion="grain", exclusion="ship"),
        )
    )
    strike, ship = (
        [place for place, document in enumerate(DOCUMENTS) if word in document.text] for word in ("strike", "ship")
    )
    assert told[strike].mean() > bare[strike].mean()
    # A description goes before the inclusion criteria; what is excluded counts against it.
    assert narrowed[ship].mean() < told[ship].mean()


def imported(reviewer, n=1500):
    return [Event(place, reviewer, "import", "irrelevant", why="import") for place in range(n)]


def test_others_label_while_many_decisions_are_imported(service):
    anna, ben = (service.project.reviewers.add(name).id for name in ("Anna", "Ben"))
    review = service.add_topic(Topic("metals", keywords_for=("tin",), shared=False), anna)
    with ThreadPoolExecutor(1) as pool:
        importing = pool.submit(review.add, imported(anna))
        while not importing.done():
            review.label(ben, review.card(ben).document, "relevant")
        importing.result()
    events = service.project.history.since(review.topic.id)
    turns = [(action, len(list(some))) for action, some in groupby(events, key=lambda event: event.action)]
    # Not all of them at once, and none of them twice.
    assert [action for action, _ in turns].count("import") > 2
    assert sum(n for action, n in turns if action == "import") == 1500
    service.wait_for_fits()
    assert review.counts(anna) == (1500, 0)
    review.add(imported(anna))
    assert len(service.project.history.since(review.topic.id)) == len(events)


def test_an_import_that_stops_halfway_says_so_and_can_be_repeated(service):
    anna = service.project.reviewers.add("Anna").id
    review = service.add_topic(Topic("metals"), anna)

    def little_space(connection, *_):
        connection.execute(f"PRAGMA max_page_count = {limit}")

    limit = 10**6
    event.listen(service.project._engine, "checkout", little_space)
    review.card(anna)
    with service.project._engine.connect() as connection:
        limit = connection.exec_driver_sql("PRAGMA page_count").scalar() + 12
    with pytest.raises(NotSavedError, match=r"Only \d+ of 1500 decisions could be saved: .*full. They are kept"):
        review.add(imported(anna))
    kept = len(service.project.history.since(review.topic.id))
    assert 0 < kept < 1500
    assert review.counts(anna) == (kept, 0)
    limit = 10**6
    review.add(imported(anna))
    assert review.counts(anna) == (1500, 0)
    assert len(service.project.history.since(review.topic.id)) == 1500


def test_undo_waits_for_no_fit(service, monkeypatch):
    """The next card comes from the ranking there is, while a fit that takes long is under way."""
    anna = service.project.reviewers.add("Anna").id
    review = service.add_topic(Topic("metals", keywords_for=("tin",)), anna)
    for _ in range(12):
        review.label(anna, review.card(anna).document, "relevant")
    service.wait_for_fits()
    go_on, fit = Signal(), ReviewEngine._fit

    def slow_fit(engine, judged):
        assert go_on.wait(60)
        return fit(engine, judged)

    monkeypatch.setattr(ReviewEngine, "_fit", slow_fit)
    undone = [review.undo(anna) for _ in range(12)]
    assert None not in undone
    assert review.card(anna).document == undone[-1].document
    go_on.set()
    service.wait_for_fits()
    queue = review.queue(anna)
    assert not queue._engine.behind
    assert review.card(anna).probability is not None
    assert queue.suggestion(0, "chosen").model == "prior"


def overtaken(monkeypatch, place, name, service_call, other_call):
    """Make a call whose result another call could overtake, and the other one at that moment."""
    real, reached, passed = getattr(place, name), Signal(), Signal()

    def slowly(*arguments):
        found = real(*arguments)
        if not reached.is_set():
            reached.set()
            # Where the other call has to wait for this one, it does not come by.
            passed.wait(0.5)
        return found

    monkeypatch.setattr(place, name, slowly)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(service_call)
        reached.wait(30)
        other_call()
        passed.set()
        first.result(30)


def test_of_two_changes_of_a_topic_the_one_that_was_saved_last_holds(service, monkeypatch):
    anna = service.project.reviewers.add("Anna").id
    topic = service.add_topic(Topic("metals"), anna).topic
    one, other = topic._replace(description="tin"), topic._replace(description="grain")
    overtaken(
        monkeypatch, service.project.topics, "change",
        lambda: service.change_topic(one), lambda: service.change_topic(other),
    )  # fmt: skip
    assert service.topic(topic.id).topic == service.project.topics.get(topic.id) == other


def test_of_two_joins_both_are_known(service, monkeypatch):
    duplicates = service.project.duplicates

    def join(one, other):
        duplicates.join(one, other, COMMAND_LINE)
        service.regroup()

    overtaken(monkeypatch, duplicates, "all", lambda: join(0, 1), lambda: join(2, 3))
    assert sorted(service.copies) == sorted(duplicates.all()) == [1, 3]


@pytest.mark.parametrize("call", ["undo", "resolve"])
def test_a_decision_of_the_moment_before_is_the_one_to_take_back_or_to_resolve(service, call):
    anna, ben = (service.project.reviewers.add(name).id for name in ("Anna", "Ben"))
    review = service.add_topic(Topic("metals"), anna)
    review.label(anna, 0, "relevant")
    with ThreadPoolExecutor(1) as pool:
        with review._lock:
            waiting = (
                pool.submit(review.undo, anna) if call == "undo" else pool.submit(review.resolve, ben, 1, "relevant")
            )
            # It has begun, and waits for the lock.
            sleep(0.2)
            review.change(review.topic._replace(description="tin"))
            review.label(anna, 1, "relevant")
            review.label(ben, 1, "irrelevant")
        done = waiting.result(30)
    if call == "undo":
        assert (done.document, review.decisions().by_reviewer(1)[ben].decision) == (1, "irrelevant")
        assert set(review.decisions().by_reviewer(0)) == {anna}
    else:
        assert done is not None
        assert review.decisions().status(1) == "relevant"
