"""The learning curves with few labels: what is drawn, how peers answer, and how draws are compared."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bayesift.text import TextVectorizer
from benchmarks.few_labels import measured, settings
from benchmarks.few_labels.peers import naive_bayes_by_em
from benchmarks.few_labels.report import sign_of, write_report
from benchmarks.few_labels.tasks import NAMES, Material
from benchmarks.measuring import SHOWN


@pytest.fixture(scope="module")
def newsroom():
    return Material("newsroom")


def test_each_class_gets_its_labels(newsroom):
    rows = newsroom.draw(3, seed=1)
    assert np.all(newsroom.task.train[rows].sum(axis=0) >= 3)
    assert rows.size <= 3 * (newsroom.task.train.shape[1] + 1)
    assert_array_equal(rows, newsroom.draw(3, seed=1))
    assert not np.array_equal(rows, newsroom.draw(3, seed=2))
    assert_array_equal(newsroom.draw(None, seed=0), np.arange(len(newsroom.task.train)))
    assert newsroom.draw_any(10, seed=0).size == 10


def test_sizes_that_most_classes_have(newsroom):
    sizes = list(newsroom.sizes())
    assert sizes[:3] == [1, 2, 5]
    assert sizes[-1] is None
    assert 200 not in sizes


def test_a_system_is_measured_on_the_test_texts(newsroom):
    setting = next(one for one in settings("newsroom", 0) if one["system"].startswith("LSA") and one["size"] == 10)
    found = measured(setting)
    assert found["n_decisions"] == newsroom.task.test.size
    assert 60 < found["score"] <= 100
    assert len(found["wrong"]) < 0.2 * found["n_decisions"]


class TwoSubjects:
    """Texts of two subjects; only the pile tells that "corn" is a word of the first."""

    def __init__(self):
        vectorizer = TextVectorizer("nnn")
        texts = ["wheat rye", "gold tin", *["wheat corn", "gold mine"] * 20]
        self.counts = vectorizer.fit_transform(texts), vectorizer.transform(["corn", "mine"])

    def labels(self, rows):
        return np.array([0, 1] * 21)[rows]


def test_naive_bayes_learns_from_the_pile():
    assert_array_equal(naive_bayes_by_em(TwoSubjects(), np.array([0, 1])), [0, 1])


def curve(wrong):
    return {"score": 100.0 - len(wrong), "n_decisions": 100, "wrong": wrong, "n_labelled": 5}


def test_differences_are_judged_by_the_sign_test():
    assert sign_of(curve(list(range(30))), curve([0])) == "≫"
    assert sign_of(curve([0]), curve(list(range(30)))) == "≪"
    assert sign_of(curve([0, 1]), curve([2, 1])) == "~"


def test_tables_and_pictures(tmp_path):
    by_system = {"words": {0: curve(list(range(30))), 1: curve([1])}, "words and vectors": {0: curve([0])}}
    curves = {"20newsgroups": {"1": by_system, "5": by_system, "all": by_system}}
    write_report(curves, tmp_path)
    shown = SHOWN[-1]
    assert (shown.title, shown.header) == ("20newsgroups", ("system", "1", "5", "all"))
    assert shown.rows == [
        ("words", *["84.5 ± 20.5 (2)"] * 3),
        ("words and vectors", *["99.0"] * 3),
        ("*both against words*", *["1 ≫"] * 3),
        ("*draws*", *["1"] * 3),
    ]
    # A picture of several collections wants all of them.
    assert not list(tmp_path.iterdir())
    curves = dict.fromkeys(NAMES, curves["20newsgroups"])
    write_report(curves, tmp_path)
    assert (tmp_path / "few-labels.png").stat().st_size > 10_000
    drawn = (tmp_path / "few-labels-20newsgroups.svg").read_text(encoding="utf-8")
    # Twice the same is no change.
    write_report(curves, tmp_path)
    assert (tmp_path / "few-labels-20newsgroups.svg").read_text(encoding="utf-8") == drawn
