"""Earlier reviews: read from every kind of file, kept with a project, learned by the ranking and never counted."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from bayesift.review import serve
from bayesift.review.decisions import Decisions
from bayesift.review.earlier import read_all_earlier, read_earlier, rows_of
from bayesift.review.engine import Corpus, Earlier, ReviewEngine
from bayesift.review.engine.earlier import MOST
from bayesift.review.exporting import rows, to_csv, to_jsonl, to_ris
from bayesift.review.literature import asreview_project, to_bibtex, to_endnote, to_pubmed
from bayesift.review.service import Service
from bayesift.review.simulate import replay
from bayesift.review.storage import Document, EarlierRecord, Event, Project, ProjectError, Topic

#: Two records of an earlier review that were relevant, two that were not, and three without such a decision.
OLD = [
    Document(str(place), f"Title {place}", text)
    for place, text in enumerate(["tin mines", "tin smelters", "ships", "ports", "gold", "silver", "copper"])
]
DECIDED = {0: "relevant", 1: "relevant", 2: "irrelevant", 3: "irrelevant", 4: "unsure", 5: "skip"}
EXPECTED = [(f"Title {place}", OLD[place].text, place < 2) for place in range(4)]

WRITERS = {"csv": to_csv, "jsonl": to_jsonl, "ris": to_ris, "bib": to_bibtex, "nbib": to_pubmed, "xml": to_endnote}


@pytest.fixture
def found():
    """The rows of an export."""
    placed = [document._replace(place=place) for place, document in enumerate(OLD)]
    events = [Event(place, 1, "label", said, id=place + 1) for place, said in DECIDED.items()]
    return list(rows(placed, np.full(len(OLD), 0.5), Decisions(events), {1: "Anna"}, decided_only=False))


@pytest.fixture
def old_project(tmp_path):
    path = tmp_path / "old.review.sqlite"
    with closing(Project.create(path, "Old", OLD)) as project:
        anna = project.reviewers.add("Anna").id
        topic = project.topics.add(Topic("metals")).id
        with project.history.turn(topic) as turn:
            turn.add_all([Event(place, anna, "label", said) for place, said in DECIDED.items()])
    return path


@pytest.mark.parametrize("ending", WRITERS)
def test_every_export_of_ours_is_read(tmp_path, found, ending):
    path = tmp_path / f"old.{ending}"
    path.write_text("".join(WRITERS[ending](found, ())), encoding="utf-8")
    assert [tuple(record) for record in read_earlier(path)] == EXPECTED


def test_a_project_of_asreview_is_read(tmp_path, found):
    path = tmp_path / "old.asreview"
    path.write_bytes(asreview_project(found, "old"))
    assert [tuple(record) for record in read_earlier(path)] == EXPECTED


def test_a_project_of_ours_is_read_and_stays_as_it_is(old_project):
    before = old_project.read_bytes()
    assert [tuple(record) for record in read_earlier(old_project)] == EXPECTED
    assert old_project.read_bytes() == before


def test_a_project_of_an_older_version_is_read_and_not_migrated(tmp_path):
    path = tmp_path / "old.review.sqlite"
    path.write_bytes(Path(__file__).with_name("storage").joinpath("version-1.sqlite").read_bytes())
    assert any(record.relevant for record in read_earlier(path))
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT value FROM facts WHERE name = 'version'").fetchone() == ("1",)


def test_of_several_topics_one_is_named(old_project):
    with closing(Project.open(old_project)) as project:
        project.topics.add(Topic("ships"))
    with pytest.raises(ProjectError, match=r"no topic is named .* which are: 'metals', 'ships'"):
        read_earlier(old_project)
    with pytest.raises(ProjectError, match="there is no topic 'tin'"):
        read_earlier(old_project, topic="tin")
    assert len(read_earlier(old_project, topic="metals")) == 4
    with pytest.raises(ValueError, match="has no record that was decided relevant"):
        read_earlier(old_project, topic="ships")


def test_notes_of_asreview_in_ris_are_decisions(tmp_path):
    path = tmp_path / "old.ris"
    entries = [("Tin", "ASReview_relevant"), ("Ships", "ASReview_irrelevant"), ("Gold", "ASReview_not_seen")]
    path.write_text("".join(f"TY  - JOUR\nTI  - {title}\nN1  - {note}\nER  - \n\n" for title, note in entries))
    assert [(record.title, record.relevant) for record in read_earlier(path)] == [("Tin", True), ("Ships", False)]


def test_a_record_counts_once_and_the_last_decision_holds(tmp_path):
    path = tmp_path / "old.csv"
    path.write_text("title,text,included\nTin,mines,0\nShips,ports,no\nTin,mines,1\n,,1\n")
    assert read_earlier(path) == [EarlierRecord("Tin", "mines", True), EarlierRecord("Ships", "ports", False)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("title,text\nTin,mines\n", "no column of old.csv holds decisions; expected one named decision, "),
        (
            "title,text,included\nTin,mines,perhaps\n",
            "has the decision 'perhaps'; expected 1 or 0, yes or no, or unsure",
        ),
        ("title,text,included\nTin,mines,0\n", "old.csv has no record that was decided relevant; expected at least"),
        ("title,text,included\nTin,mines,\n", "old.csv has no record that was decided relevant"),
    ],
)
def test_files_without_decisions_are_refused(tmp_path, content, message):
    path = tmp_path / "old.csv"
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        read_earlier(path)


def test_what_is_missing_or_does_not_fit_is_said(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no earlier review at .*none.csv; expected a file"):
        read_all_earlier([tmp_path / "none.csv"])
    with pytest.raises(ValueError, match="earlier_topic is 'tin', but there is no earlier review"):
        read_all_earlier([], "tin")
    path = tmp_path / "old.csv"
    path.write_text("title,text,included\nTin,mines,1\n")
    with pytest.raises(ValueError, match=r"topic is 'tin', but old.csv is not a project"):
        read_all_earlier([path], "tin")
    # Files of one name in two folders are two earlier reviews.
    again = tmp_path / "again" / "old.csv"
    again.parent.mkdir()
    again.write_text("title,text,included\nIron,ore,1\n")
    assert [(name, records[0].title) for name, records in read_all_earlier([path, again])] == [
        ("old.csv", "Tin"),
        ("old.csv", "Iron"),
    ]
    own = tmp_path / "new.review.sqlite"
    own.touch()
    with (
        pytest.raises(ValueError, match="the project itself; expected another review"),
        serve.open_page(project=own, earlier=[own]),
    ):
        pass


def test_the_ranking_learns_and_nothing_is_counted():
    texts = ["ships and ports", "tin in mines", "harvest", "a port", "smelters of tin", "wheat"]
    corpus = Corpus.build(texts)
    earlier = rows_of([EarlierRecord(*record) for record in EXPECTED], corpus)
    engine = ReviewEngine(corpus, earlier=earlier)
    assert {card.document for card in engine.next(2)} == {1, 4}
    assert engine.next()[0].why == "probable"
    told = engine.stopping()
    assert (told.found, told.irrelevant, told.unjudged) == (0, 0, 6)
    engine.label(1, True, why="probable")
    engine.label(0, False, why="probable")
    engine.adopt(engine.refit())
    assert engine.next()[0].document == 4
    assert (engine.stopping().found, engine.stopping().unjudged) == (1, 4)
    # Without the earlier review there is nothing to go by, and the first card is drawn at random.
    assert ReviewEngine(corpus).next()[0].why == "random"


def test_very_many_records_are_represented_by_some():
    corpus = Corpus.build(["tin", "ships"])
    n = 3 * MOST
    earlier = Earlier.of(corpus, ["ships"] * n + ["tin"] * 3, [False] * n + [True] * 3)
    assert earlier.rows.shape == (MOST + 3, corpus.n_terms)
    assert earlier.counts[earlier.relevant].tolist() == [1.0] * 3
    assert earlier.counts.sum() == pytest.approx(n + 3)


def test_examples_have_one_answer_each():
    corpus = Corpus.build(["tin", "ships"])
    for wrong, shape in (([True], r"\(1,\)"), (True, r"\(\)"), ([[True, False]], r"\(1, 2\)")):
        with pytest.raises(ValueError, match=f"relevant has shape {shape}; expected 2 booleans, one for each text"):
            Earlier.of(corpus, ["tin", "gold"], wrong)
    for wrong, found in (([True, 2], "2"), (["yes", "no"], "'yes'"), ([1, None], "None"), ([1.0, np.nan], "nan")):
        place = 0 if found == "'yes'" else 1
        with pytest.raises(ValueError, match=f"relevant has {found} at place {place}; expected booleans: True for"):
            Earlier.of(corpus, ["tin", "gold"], wrong)


def test_a_replay_from_an_earlier_review_needs_no_pair():
    corpus = Corpus.build(["ships and ports", "tin in mines", "harvest", "a port", "smelters of tin", "wheat"])
    truth = [False, True, False, False, True, False]
    earlier = rows_of([EarlierRecord(*record) for record in EXPECTED], corpus)
    run = replay(corpus, truth, seeds=1, earlier=earlier).runs[0]
    assert (run.start, sorted(run.order.tolist())) == ((), list(range(6)))
    assert rows_of([], corpus) is None


def test_an_earlier_review_is_kept_once_with_the_project(tmp_path, documents):
    records = [EarlierRecord(*record) for record in EXPECTED]
    records.append(EarlierRecord(documents[0].title.upper() + "!", "", False))
    with closing(Project.create(tmp_path / "new.review.sqlite", "New", documents)) as project:
        kept = project.earlier.add("old.csv", records)
        assert (kept.source, kept.relevant, kept.irrelevant, kept.in_project) == ("old.csv", 2, 3, 1)
        assert project.earlier.add("again.csv", records) == kept
        assert project.earlier.records([kept.id]) == records
        assert project.earlier.records([]) == []
        assert [entry.detail for entry in project.audit] == ["old.csv: 2 of 5 relevant"]
        with pytest.raises(ValueError, match=r"old\.csv has no record that was decided relevant"):
            project.earlier.add("old.csv", records[2:])
        assert len(project.documents) == len(documents)


def test_names_and_texts_that_no_database_can_hold_are_mended(database, documents):
    with closing(Project.create(database, "New", documents)) as project:
        kept = project.earlier.add("a\0\ud800.csv", [EarlierRecord("Tin\0", "\ud800", True)])
        assert kept.source == "a\ufffd?.csv"
        assert project.earlier.records([kept.id]) == [EarlierRecord("Tin\ufffd", "?", True)]
        assert [entry.detail for entry in project.audit] == ["a\ufffd?.csv: 1 of 1 relevant"]


def test_a_topic_learns_from_the_earlier_reviews_it_names(tmp_path, documents):
    with closing(Project.create(tmp_path / "new.review.sqlite", "New", documents)) as project:
        kept = project.earlier.add("old.csv", [EarlierRecord(*record) for record in EXPECTED])
        anna = project.reviewers.add("Anna").id
        with closing(Service(project, Corpus.build(project.documents.texts()))) as service:
            with_it = service.add_topic(Topic(".", earlier=(kept.id,), at_most=3), anna)
            without = service.add_topic(Topic(".."), anna)
            assert project.topics.get(with_it.topic.id).earlier == (kept.id,)
            assert project.topics.get(with_it.topic.id).at_most == 3
            assert "tin" in documents[with_it.card(anna).document].text.lower()
            assert without.card(anna).why == "random"
            assert with_it.counts(anna) == (0, 0)
            service.change_topic(without.topic._replace(earlier=(kept.id,)))
            assert without.card(anna).document == with_it.card(anna).document
