"""The benchmarks fit the package as it is: all can be imported, and a small one runs."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.__main__ import BENCHMARKS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_benchmark_can_be_imported(name):
    assert callable(import_module(f"benchmarks.{name}").run)


def test_the_measuring_of_the_review_page_can_be_imported():
    assert callable(import_module("benchmarks.review.page").write_documents)
    assert callable(import_module("benchmarks.review.load").main)


def run(*words):
    path = os.pathsep.join(filter(None, [str(ROOT / "src"), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-m", "benchmarks.compare_versions", *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": path})


@pytest.mark.slow
def test_a_version_beside_itself_gives_the_same_result():
    done = run(".", ".", "vectorizer-transform", "--small", "--repeats", "1")
    assert done.returncode == 0, done.stderr
    [row] = [line for line in done.stdout.splitlines() if "vectorizer-transform" in line]
    assert row.split()[-2] == "same"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [((".", ".", "nothing"), "no case begins with 'nothing'"), (("tests", ".", "vectorizer"), "expected a checkout")],
)
def test_what_cannot_be_compared_is_told(words, complaint):
    done = run(*words)
    assert done.returncode != 0
    assert complaint in done.stderr
