from __future__ import annotations

import csv

import pytest

from bayesift.cli.review import show_replays
from bayesift.review.importing import Columns, relevance
from bayesift.review.simulate import read_review, replay
from bayesift.review.storage import Document


@pytest.fixture
def labelled(tmp_path):
    path = tmp_path / "papers.csv"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "title", "abstract", "label_included"])
        for number in range(40):
            metal = number % 8 == 0
            text = f"the price of tin and copper number {number}" if metal else f"ships in the port number {number}"
            writer.writerow([number, "", text, int(metal)])
    return path


def test_a_labelled_file_is_replayed_and_reported(labelled, capsys):
    found = replay(*read_review(labelled, Columns()), description="tin and copper", seeds=2)
    assert (found.n_documents, found.n_relevant, len(found.runs)) == (40, 5, 2)
    # The most probable come first, but for the random share.
    assert all(run.recall_at(0.25) == 1.0 for run in found.runs)
    assert all(run.start == () for run in found.runs)
    show_replays(found)
    words = capsys.readouterr().out
    assert "40 documents, 5 relevant; means over 2 replays" in words
    assert "50 in a row" in words
    paired = replay(*read_review(labelled, Columns(), label="label_included"), seeds=1)
    assert [document % 8 == 0 for document in paired.runs[0].start] == [True, False]


def test_labels_that_are_none_are_named():
    with pytest.raises(ValueError, match="label must name a column with decisions; the columns are year"):
        relevance([Document("a", "", "", {"year": 1})])
    with pytest.raises(ValueError, match="record b of the file has the decision 'perhaps'"):
        relevance([Document("a", "", "", {"included": 1}), Document("b", "", "", {"included": "perhaps"})])
    with pytest.raises(ValueError, match="record b of the file is not decided; expected relevant or irrelevant"):
        relevance([Document("a", "", "", {"included": 1}), Document("b", "", "", {"included": ""})])
    with pytest.raises(ValueError, match="label must name a column with decisions; the columns are included"):
        relevance([Document("a", "", "", {"included": 1})], "other")
    with pytest.raises(ValueError, match="no documents"):
        relevance([])


def test_notes_of_a_record_are_labels_too():
    noted = ("Bayesift decision: relevant", "ASReview_irrelevant")
    assert relevance([Document(note, "", "", {"N1": note}) for note in noted]) == [True, False]
