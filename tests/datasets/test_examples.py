"""The examples of the docstrings and of the page for users run."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import bayesift.datasets

PUBLIC = [getattr(bayesift.datasets, name) for name in bayesift.datasets.__all__]
MODULES = sorted({item.__module__ for item in PUBLIC})


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder()
    found = [test for name in MODULES for test in finder.find(importlib.import_module(name)) if test.examples]
    assert len(found) >= 8


def test_examples_of_the_page():
    page = Path(__file__).parents[2] / "docs" / "datasets.md"
    result = doctest.testfile(str(page), module_relative=False)
    assert result.attempted > 10
    assert result.failed == 0
