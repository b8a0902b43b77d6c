"""The experiments run on parts of the real collections and give tables of the promised form."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from rich.console import Console

from bayesift.experiments.murphy2012 import (
    MODELS,
    PUBLISHED_INFORMATION,
    Task,
    burst_bands,
    compare,
    figures,
    newsgroups_task,
    reuters_task,
    show,
    table_3_1,
)


@pytest.mark.collection("20newsgroups")
def test_table_3_1_has_the_books_words_with_probabilities_near_the_books():
    printed, telling = table_3_1()
    probabilities = [row for row in printed if row.what.startswith("p(")]
    assert len(probabilities) == 10
    assert_allclose([row.ours for row in probabilities], [row.published for row in probabilities], atol=0.05)
    assert {row.word for row in printed[10:]} == set(PUBLISHED_INFORMATION)
    assert telling[0].word == "windows"
    assert sum(row.word in PUBLISHED_INFORMATION for row in telling) >= 3


@pytest.mark.collection("20newsgroups")
def test_bursty_words_speak_for_the_compound_model():
    task = newsgroups_task()
    small = Task(task.X_train[::4], task.y_train[::4], task.X_test[::4], task.y_test[::4])
    rows = compare(small, [model._replace(choices=model.choices[3:5]) for model in MODELS], folds=2)
    found = {(row.model, row.prior, row.values): row for row in rows}
    assert all(0.6 < value < 0.95 for row in rows for value in (row.test, row.validation))
    words = found["multinomial, plugged in", "flat", "counts"]
    for prior in ("flat", "background"):
        own = found["multinomial, plugged in", prior, "counts"]
        assert found["DCM", prior, "counts"].test > own.test + 0.01
    assert found["multinomial, plugged in", "flat", "ln(1 + count)"].test > words.test
    bands = burst_bands(small.X_train)
    assert np.array_equal(np.sort(np.concatenate(list(bands.values()))), np.arange(small.X_train.shape[1]))


@pytest.mark.collection("reuters21578")
def test_reuters_has_documents_of_one_topic():
    task = reuters_task()
    assert len(np.unique(task.y_train)) == 8 or len(np.unique(task.y_train)) == 10
    [row] = compare(task, [model._replace(choices=(0.03,)) for model in MODELS[1:2]], folds=2)
    assert row.test > 0.93


@pytest.mark.collection("20newsgroups")
def test_the_figures_of_the_chapter(tmp_path):
    made = figures(tmp_path / "figures")
    assert [path.stem for path in made] == [*(f"figure-3.{k}" for k in range(2, 9)), "bursts"]
    assert all(path.stat().st_size > 5000 for path in made)


def test_rows_are_shown_as_a_table():
    from bayesift.experiments.murphy2012 import WordRow

    console = Console(record=True, width=100)
    show("A title", [WordRow("p", "sea", np.nan, 0.25), WordRow("p", "ship", 1.5, 0.125)], console)
    text = console.export_text()
    assert "A title" in text
    assert "sea" in text
    assert "0.25" in text
    assert "nan" not in text
