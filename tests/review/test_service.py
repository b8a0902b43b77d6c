"""A project at work: what many reviewers, long imports and long fits do to each other."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import groupby
from threading import Event as Signal

import pytest
from sqlalchemy import event

from bayesift.review.engine import Corpus, ReviewEngine
from bayesift.review.service import Service
from bayesift.review.storage import Document, Event, NotSavedError, Project, Topic

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
