"""Our models beside their peers."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.metrics import f1_score, log_loss

from reproduction.beyond.experiments import EXPERIMENTS
from reproduction.beyond.measuring import Row, measure, signs
from reproduction.beyond.systems import SYSTEMS, systems_for
from reproduction.beyond.tasks import TASKS, Task, tasks_of
from reproduction.catalogue import PieceCache, Runner

SUBJECTS = ("the quick brown fox jumps over a dog", "green tea and coffee in a cup", "rain falls on grey roofs")


def task_of_kind(kind):
    """Texts about three subjects, such that every system can tell them."""
    texts = [f"{SUBJECTS[i % 3]} {i % 7}" for i in range(60)]
    labels = np.array([np.arange(3) == i % 3 for i in range(60)], dtype=np.int64)
    if kind == "yes-no":
        labels = labels[:, :1]
    return Task(kind, ("fox", "tea", "rain")[: labels.shape[1]], texts, labels, texts, labels)


@pytest.mark.parametrize("kind", ["yes-no", "one", "sets"])
def test_every_system_learns_what_is_plain(kind):
    task = task_of_kind(kind)
    for system in systems_for(kind):
        if system.needs and find_spec(system.needs) is None:
            continue
        row = measure(system, [task])
        assert row.macro_f1 == 100.0, system.name
        assert row.wrong == []
        assert row.accuracy == (None if kind == "sets" else 100.0)
        assert row.n_words is None or 0 < row.n_words <= 20


def test_measures_are_those_of_scikit_learn():
    task = next(tasks_of("newsroom"))
    ridge = next(system for system in SYSTEMS if system.name == "ridge")
    row = measure(ridge, [task])
    answer = ridge.fit(task).answer(task.test_texts)
    assert row.macro_f1 == pytest.approx(100 * f1_score(task.test, answer.decisions, average="macro"))
    assert row.micro_f1 == pytest.approx(100 * f1_score(task.test, answer.decisions, average="micro"))
    assert row.log_loss == pytest.approx(log_loss(task.test.ravel(), answer.probabilities.ravel()))
    assert row.wrong == np.flatnonzero(task.test.ravel() != answer.decisions.ravel()).tolist()


def test_parts_are_counted_together():
    task = task_of_kind("yes-no")
    turned = task._replace(categories=("tea",), train=1 - task.train, test=task.test)
    bayes = next(system for system in SYSTEMS if system.name == "naive Bayes")
    row = measure(bayes, [task, turned])
    assert row.f1 == [1.0, 0.0]
    assert row.macro_f1 == 50.0
    assert row.accuracy == 50.0
    assert row.wrong == list(range(60, 120))


def _row(wrong, f1):
    return Row(0.0, 0.0, None, None, None, None, 1.0, 1.0, 100, wrong, f1)


def test_signs_follow_the_sign_tests():
    good, bad = _row([0, 1], [0.9] * 8), _row([*range(20)], [0.5] * 8)
    assert signs(good, bad) == ("≫", "≫")
    assert signs(bad, good) == ("≪", "≪")
    assert signs(good, good) == ("~", "~")
    assert signs(good._replace(f1=[0.9]), bad._replace(f1=[0.5])) == ("≫", "")


def test_the_experiment_of_the_embedded_corpus(tmp_path):
    experiment = next(e for e in EXPERIMENTS if e.name == "beyond/newsroom")
    outcome = experiment.run(Runner(PieceCache(tmp_path), quick=True))
    table = outcome.tables[0]
    assert set(table.rows) == {"lasso", "naive Bayes", "LinearSVC", "ComplementNB"}
    assert table.ours("lasso", "macro F1") > table.ours("LinearSVC", "macro F1") > 70
    assert all(claim.holds for claim in outcome.claims)
    again = experiment.run(Runner(PieceCache(tmp_path), quick=True))
    assert again.tables == outcome.tables


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.collection(name)) for name in TASKS])
def test_tasks_of_real_collections(name):
    for task in tasks_of(name):
        assert task.train.shape == (len(task.train_texts), len(task.categories))
        assert task.test.shape == (len(task.test_texts), len(task.categories))
        assert task.train.any(axis=0).all()
        assert task.test.any(axis=0).all()
        if task.kind == "one":
            assert (task.train.sum(axis=1) == 1).all()
