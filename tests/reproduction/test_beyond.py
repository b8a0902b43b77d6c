"""Our models beside their peers."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.metrics import f1_score, log_loss

from bayesift.linear import BayesianLogisticRegression
from bayesift.text import TextVectorizer
from reproduction.beyond.experiments import EXPERIMENTS, level
from reproduction.beyond.measuring import Row, measure, signs
from reproduction.beyond.systems import SYSTEMS, systems_for
from reproduction.beyond.tasks import TASKS, Task, tasks_of
from reproduction.beyond.unknown_terms import MEASURES, better_rule, measured
from reproduction.catalogue import Cell, PieceCache, Runner, Table, run

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


@pytest.mark.parametrize(
    ("ours", "theirs", "sign", "holds"),
    [
        (54.0, 47.0, "~", True),
        (54.0, 47.0, ">", True),
        (54.0, 47.0, "", True),
        (46.0, 47.0, "~", True),
        (46.0, 47.0, "", False),
        (46.0, 47.0, ">", False),
        (46.0, 47.0, "<", False),
        # A higher F1 with significantly more wrong decisions is not level.
        (54.0, 47.0, "≪", False),
        (54.0, 47.0, "<", False),
    ],
)
def test_level_needs_f1_and_the_sign_test(ours, theirs, sign, holds):
    def row(value, mark=""):
        return {"micro F1": Cell(ours=value, mark=mark), "macro F1": Cell(ours=value, mark=mark)}

    rows = {"lasso": row(ours, sign), "DCM": row(10.0, "≪"), "LinearSVC": row(theirs), "ComplementNB": row(5.0)}
    claims = level((Table.of("made up", rows),))
    assert [claim.holds for claim in claims] == [holds, holds]
    assert claims[0].detail.startswith(f"lasso {ours:.2f}, LinearSVC {theirs:.2f}")


def test_the_experiment_of_the_embedded_corpus(tmp_path):
    experiment = next(e for e in EXPERIMENTS if e.name == "beyond/newsroom")
    outcome = run(experiment, Runner(PieceCache(tmp_path), quick=True))
    table = outcome.tables[0]
    assert set(table.rows) == {"lasso", "naive Bayes", "LinearSVC", "ComplementNB"}
    assert table.ours("lasso", "macro F1") > table.ours("LinearSVC", "macro F1") > 70
    assert all(claim.holds for claim in outcome.claims)
    assert len(outcome.claims) == 2
    again = run(experiment, Runner(PieceCache(tmp_path), quick=True))
    assert again.tables == outcome.tables


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.collection(name)) for name in TASKS])
def test_tasks_of_real_collections(name):
    for task in tasks_of(name):
        assert task.train.shape == (len(task.train_texts), len(task.categories))
        assert task.test.shape == (len(task.test_texts), len(task.categories))
        assert task.train.any(axis=0).all()
        assert task.test.any(axis=0).all()
        if task.kind == "one":
            assert (task.train.sum(axis=1) == 1).all()


def test_both_rules_of_unknown_terms_have_the_same_model():
    found = measured("newsroom", {"model": "lasso"}, n_jobs=1)
    assert len(found) == 2 * len(MEASURES)
    task = next(tasks_of("newsroom"))
    vectorizer = TextVectorizer("lsc", unknown_terms="normalize")
    model = BayesianLogisticRegression("laplace", n_jobs=1).fit(vectorizer.fit_transform(task.train_texts), task.train)
    p = model.predict_proba(vectorizer.transform(task.test_texts))
    assert found["log loss, normalize"] == pytest.approx(log_loss(task.test.ravel(), p.ravel()))
    assert found["macro F1, normalize"] == pytest.approx(100 * f1_score(task.test, p >= 0.5, average="macro"))
    assert found["log loss, ignore"] != found["log loss, normalize"]


@pytest.mark.parametrize("turned", [False, True])
def test_the_better_rule_of_unknown_terms_can_be_either(turned):
    good, bad = ("normalize", "ignore") if turned else ("ignore", "normalize")
    row = {
        f"{name}, {rule}": (2.0 if (rule == good) == more else 1.0)
        for name, (_, more) in MEASURES.items()
        for rule in (good, bad)
    }
    claims = better_rule((Table.of("made up", {"a": row, "b": row}),))
    assert [claim.holds for claim in claims] == [not turned] * len(MEASURES)
