"""The demo: what it finds, and what it prints in a process of its own."""

import subprocess
import sys

import pytest

from bayesift.cli.demo import run_demo


def test_best_terms_of_every_topic_and_score():
    steps = []
    result = run_demo(5, steps.append)
    assert set(result.best_terms) == set(result.collection.categories)
    for by_score in result.best_terms.values():
        assert len(by_score) == 6
        assert all(len(terms) == 5 for terms in by_score.values())
    assert "farmers" in result.best_terms["agriculture"]["chi square"]
    assert len(steps) == 8


def test_the_command_prints_a_table_for_each_topic():
    run = subprocess.run(
        [sys.executable, "-c", "from bayesift.cli import main; main()", "demo", "--terms", "3"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "316 training and 159 test documents" in run.stdout
    assert run.stdout.count("binormal separation") == 9


@pytest.mark.parametrize("value", ["0", "many"])
def test_bad_number_of_terms_is_a_usage_error(value):
    run = subprocess.run(
        [sys.executable, "-c", "from bayesift.cli import main; main()", "demo", "--terms", value],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 2
    assert "--terms" in run.stderr
