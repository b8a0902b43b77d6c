"""The demo: what it finds, and what it prints in a process of its own."""

import functools
import subprocess
import sys

import pytest

from bayesift.cli import main
from bayesift.workflow.demo import N_STEPS, run_demo

five_terms = functools.cache(functools.partial(run_demo, 5))


def test_best_terms_of_every_topic_and_score():
    steps = []
    result = run_demo(5, steps.append)
    assert set(result.best_terms) == set(result.collection.categories)
    for by_score in result.best_terms.values():
        assert len(by_score) == 6
        assert all(len(terms) == 5 for terms in by_score.values())
    assert "farmers" in result.best_terms["agriculture"]["chi square"]
    assert len(steps) == N_STEPS


def test_every_topic_has_a_proved_and_useful_classifier():
    result = five_terms()
    assert set(result.topics) == set(result.collection.categories)
    reports = result.topics.values()
    assert all(report.relative_gap <= 1e-6 for report in reports)
    assert all(0 < report.words_kept < len(result.vectorizer.vocabulary_) / 4 for report in reports)
    assert sum(report.f1 for report in reports) / len(reports) > 0.7
    assert result.topics["courts"].heaviest[0][0] == "court"


def test_the_reasons_add_up_to_the_score():
    collection, vectorizer, _, model, _, reasons = five_terms()
    x = vectorizer.transform([reasons.text])
    for topic, (probability, words) in reasons.by_topic.items():
        k = collection.categories.index(topic)
        assert probability == pytest.approx(model.predict_proba(x)[0, k])
        contributions = dict(
            zip(vectorizer.get_feature_names_out()[x.indices], x.data * model.coef_[k, x.indices], strict=True)
        )
        assert all(added == pytest.approx(contributions[word]) for word, added in words)


def test_the_first_step_is_named_before_the_slow_imports():
    script = (
        "import sys; from bayesift.cli import _shell, demo\n"
        "def step(self, name): print(name, 'numpy' in sys.modules); sys.exit()\n"
        "_shell.Steps.__call__ = step\n"
        "demo.demo()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "loading the libraries False\n"


def test_of_equal_scores_the_term_in_more_documents_comes_first():
    collection, vectorizer, best_terms = run_demo(10)[:3]
    X = (vectorizer.transform(collection.train.texts) > 0).toarray()
    documents = dict(zip(vectorizer.get_feature_names_out(), X.sum(axis=0), strict=True))
    for topic, members in zip(collection.categories, collection.indicator("train").toarray().T, strict=True):
        elsewhere = X[members == 0].sum(axis=0)
        alone = sorted((X.sum(axis=0)[elsewhere == 0]).tolist(), reverse=True)
        found = [documents[term] for term in best_terms[topic]["yules q"]]
        assert found == alone[:10]  # Q is 1 for all of these
        assert found[0] > found[-1]


@pytest.mark.slow
def test_the_command_prints_a_table_for_each_topic():
    run = subprocess.run(
        [sys.executable, "-c", "from bayesift.cli import main; main()", "demo", "--all", "--terms", "3"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.startswith("newsroom: 316 training and 159 test documents")
    assert "of terms with equal scores, those in more documents come first" in " ".join(run.stdout.split())
    assert run.stderr == ""
    assert run.stdout.count("binormal separation") == 9


def test_without_all_the_command_prints_one_screen(monkeypatch, capfd):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "argv", ["bayesift", "demo"])
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code
    lines = capfd.readouterr().out.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert lines[0] == "newsroom: learned 9 topics from 316 documents, tested on 159"
    assert "demo --all" in lines[-1] + lines[-2]
    assert sum("court +" in line for line in lines) == 1


@pytest.mark.parametrize("value", ["0", "many"])
def test_bad_number_of_terms_is_a_usage_error(value):
    run = subprocess.run(
        [sys.executable, "-c", "from bayesift.cli import main; main()", "demo", "--terms", value],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 2
    assert "--terms" in run.stderr
