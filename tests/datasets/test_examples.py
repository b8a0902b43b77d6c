"""The examples of the docstrings run."""

from __future__ import annotations

import doctest
import importlib

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
